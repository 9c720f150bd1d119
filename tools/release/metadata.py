"""What the index page of a release shows: the README as a text that stands alone, and where the project is.

A build hook of hatchling. No files are beside that page: links and pictures that lead to files are taken out.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

ROOT = Path(__file__).resolve().parents[2]
RELATIVE = r"(?!https?://|#|mailto:)[^)\s]+"


class CustomMetadataHook(MetadataHookInterface):
    """Set the long description and the addresses while a wheel or an sdist is built."""

    PLUGIN_NAME = "custom"

    def update(self, metadata: dict[str, Any]) -> None:
        """Put both into the metadata."""
        text = described((ROOT / "README.md").read_text(encoding="utf-8"))
        metadata["readme"] = {"content-type": "text/markdown", "text": text}
        metadata["urls"] = addresses(os.environ)


def described(text: str) -> str:
    """Return Markdown without relative pictures and their captions; relative links become their text."""
    text = re.sub(rf"!\[[^\]]*\]\({RELATIVE}\)\n\n(\*[^*]+\*\n\n)?", "", text)
    return re.sub(rf"(?<!!)\[([^\]]*)\]\({RELATIVE}\)", r"\1", text)


def addresses(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the addresses of the repository whose workflow builds the release; elsewhere none are known."""
    repository = environment.get("GITHUB_REPOSITORY", "")
    owner, _, name = repository.partition("/")
    if not name:
        return {}
    home = f"{environment['GITHUB_SERVER_URL']}/{repository}"
    return {
        "Documentation": f"https://{owner}.github.io/{name}/",
        "Source": home,
        "Issues": f"{home}/issues",
        "Changelog": f"{home}/blob/main/CHANGELOG.md",
    }
