"""The long description of the package: the README without links and pictures that lead to files beside it.

A build hook of hatchling; an index page shows the text alone, where such links lead nowhere.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

ROOT = Path(__file__).resolve().parents[2]
RELATIVE = r"(?!https?://|#|mailto:)[^)\s]+"


class CustomMetadataHook(MetadataHookInterface):
    """Set the long description while a wheel or an sdist is built."""

    PLUGIN_NAME = "custom"

    def update(self, metadata: dict[str, Any]) -> None:
        """Put the text into the metadata."""
        text = described((ROOT / "README.md").read_text(encoding="utf-8"))
        metadata["readme"] = {"content-type": "text/markdown", "text": text}


def described(text: str) -> str:
    """Return Markdown without relative pictures and their captions; relative links become their text."""
    text = re.sub(rf"!\[[^\]]*\]\({RELATIVE}\)\n\n(\*[^*]+\*\n\n)?", "", text)
    return re.sub(rf"(?<!!)\[([^\]]*)\]\({RELATIVE}\)", r"\1", text)
