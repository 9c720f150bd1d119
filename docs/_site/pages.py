"""Pages that the build writes: method cards, the API by family, and pages that live outside docs."""

import re
import shutil
from pathlib import Path

from sphinx.application import Sphinx

from _site import api, bibliography, cards, chart, commands, errors

ROOT = Path(__file__).resolve().parents[2]
#: Pages that live beside what writes them, and where the site shows them.
OUTSIDE = {
    "benchmarks/RESULTS.md": "evidence/benchmarks.md",
    "benchmarks/streaming_fs/README.md": "evidence/streaming_fs.md",
    "CONTRIBUTING.md": "contributing/contributing.md",
    "SECURITY.md": "evidence/security.md",
    **{
        f"studies/{page.name}": f"evidence/studies/{page.stem.lower()}.md"
        for page in sorted((ROOT / "studies").glob("*.md"))
    },
}


def setup(app: Sphinx) -> dict[str, bool]:
    """Write the pages before Sphinx looks for them, and mend links between pages as they are read."""
    app.connect("builder-inited", write, priority=1)  # before the gallery, which takes minutes
    app.connect("source-read", mend)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def write(app: Sphinx) -> None:
    """Write all generated pages below the source directory; a page that did not change is left alone."""
    docs = Path(app.srcdir)
    pages = {}
    for part in (cards, api, bibliography, chart, commands, errors):
        pages.update(part.pages())
    for source, target in OUTSIDE.items():
        text = (ROOT / source).read_text()
        pages[target] = _moved(text, Path(source).parent)
    for name, text in pages.items():
        path = docs / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists() or path.read_text() != text:
            path.write_text(text)
    for pictures in ("studies/images", "examples"):
        target = docs / "evidence" / pictures
        target.mkdir(parents=True, exist_ok=True)
        for picture in (ROOT / pictures).glob("*.png"):
            shutil.copy2(picture, target / picture.name)


def mend(_app: Sphinx, name: str, text: list[str]) -> None:
    """Point links of a page of docs to where the site shows what they lead to."""
    if f"{name}.md" not in OUTSIDE.values():
        text[0] = _moved(text[0], (Path("docs") / name).parent)


def _moved(text: str, here: Path) -> str:
    """Return a page of the repository's folder ``here`` with links that hold on the site.

    A link to a file that the site does not show, such as a module, becomes its text.
    """

    def link(match: re.Match[str]) -> str:
        target, hash_, anchor = match[3].partition("#")
        if not target or "://" in target or target.startswith(("mailto:", "/")):
            return match[0]
        shown = _shown(_resolved(here / target))
        return f"{match[1]}[{match[2]}]({shown}{hash_}{anchor})" if shown else match[2]

    return re.sub(r"(!?)\[([^\]]*)\]\(([^)\s]+)\)", link, text)


def _resolved(path: Path) -> str:
    """Return a path without ".." in it."""
    parts: list[str] = []
    for part in path.parts:
        if part == "..":
            parts.pop()
        else:
            parts.append(part)
    return "/".join(parts)


def _shown(target: str) -> str:
    """Return where the site shows a file of the repository, from the root of the site; "" if it does not."""
    if target in OUTSIDE:
        return "/" + OUTSIDE[target]
    if target.startswith("docs/"):
        return "/" + target.removeprefix("docs/")
    if target.endswith(".png"):
        return f"/evidence/{target}"
    return "/index.md" if target == "README.md" else ""
