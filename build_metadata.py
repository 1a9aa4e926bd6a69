"""Completes the metadata of a build: the README, and where the project lives.

The variable ZORANK_URL names the address of the repository for a release. Its links are then part
of the metadata, and relative links and pictures of the README become absolute, because a package
index shows the README without the repository. Without the variable, the README stays as it is.
"""

import os
import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

RELATIVE = re.compile(r"(!?)\[([^\]]*)\]\((?!https?:|#|mailto:)([^)]+)\)")


class CustomMetadataHook(MetadataHookInterface):
    """Sets `readme` and `urls`."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Fill in what pyproject.toml calls dynamic."""
        text = Path(self.root, "README.md").read_text(encoding="utf-8")
        address = os.environ.get("ZORANK_URL", "").rstrip("/")
        metadata["readme"] = {
            "content-type": "text/markdown",
            "text": with_absolute_links(text, address) if address else text,
        }
        metadata["urls"] = urls(address) if address else {}


def urls(address: str) -> dict[str, str]:
    """Return the project's links."""
    return {
        "Repository": address,
        "Documentation": f"{address}/tree/main/docs",
        "Changelog": f"{address}/blob/main/CHANGELOG.md",
        "Issues": f"{address}/issues",
    }


def with_absolute_links(text: str, address: str) -> str:
    """Return the README with links to files and pictures of the repository."""

    def absolute(match: re.Match[str]) -> str:
        mark, words, target = match.groups()
        return f"{mark}[{words}]({address}/{'raw' if mark else 'blob'}/main/{target})"

    return RELATIVE.sub(absolute, text)
