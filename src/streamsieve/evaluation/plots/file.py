"""Figures written to files: atomically, and the same bytes every time."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING, Any

from streamsieve._files import MAKER, refuse_foreign
from streamsieve.exceptions import ParameterError
from streamsieve.state import replacing

if TYPE_CHECKING:
    import os

#: What can be written, with the metadata of each format: its maker, and no time of day.
FORMATS = {
    ".png": {"Software": MAKER},
    ".svg": {"Creator": MAKER, "Date": None},
    ".pdf": {"Creator": MAKER, "CreationDate": None},
}


def check_path(path: str | os.PathLike[str]) -> Path:
    """Return the path of a picture; refuse an unknown suffix and a folder that does not exist."""
    target = Path(path)
    if target.suffix.lower() not in FORMATS:
        raise ParameterError(
            f"a picture ends in {', '.join(FORMATS)}; got {target.name!r}: choose one of these endings"
        )
    folder = target.absolute().parent
    if not folder.is_dir():
        raise ParameterError(f"the folder {folder} for {target.name} does not exist: make it first")
    return target


def save(figure: Any, path: str | os.PathLike[str], dpi: int = 130, *, overwrite: bool = False) -> None:
    """Write a figure as PNG, SVG or PDF, by the ending of its name.

    Parameters
    ----------
    figure : matplotlib Figure
    path : file to write; it takes its name when it is complete
    dpi : int, default=130
        Dots per inch, for PNG.
    overwrite : bool, default=False
        Whether a file that streamsieve did not write may be replaced.
    """
    import matplotlib as mpl  # noqa: PLC0415 - needs the cli extra

    target = check_path(path)
    refuse_foreign([target], overwrite=overwrite)
    suffix = target.suffix.lower()
    content = io.BytesIO()
    # without a fixed salt, the names of parts of an SVG are random
    with mpl.rc_context({"svg.hashsalt": "streamsieve"}):
        figure.savefig(content, format=suffix[1:], dpi=dpi, metadata=FORMATS[suffix])
    with replacing(target) as file:
        binary: Any = file
        binary.buffer.write(content.getvalue())
