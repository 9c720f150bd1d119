"""Text and HTML representations of sources."""

from __future__ import annotations

from html import escape

from streamsieve._text import shown


class ShownSource:
    """Mixin with a representation by size and files, as far as they are known without reading."""

    def __repr__(self) -> str:
        known = self.__dict__
        parts = [f"{known[key]:,} {what}" for key, what in SIZES.items() if known.get(key) is not None]
        files = known.get("files")
        if files:
            parts.append(shown(files[0]) if len(files) == 1 else f"{len(files):,} files")
        return f"<{type(self).__name__}: {', '.join(parts) or 'of unknown size'}>"

    def _repr_html_(self) -> str:
        """Return the representation for notebooks, with the first names."""
        names = self.__dict__.get("names") or []
        some = ", ".join(map(shown, names[:SHOWN_NAMES])) + ", ..." * (len(names) > SHOWN_NAMES)
        return f"<p>{escape(repr(self))}</p><p>{escape(some)}</p>"


SIZES = {"n_rows": "rows", "n_columns": "columns"}
#: Number of names listed in the HTML.
SHOWN_NAMES = 20
