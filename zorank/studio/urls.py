"""The URLs in responses. Every one is made here, so that all have the studio's path prefix."""

from __future__ import annotations

from dataclasses import dataclass

from zorank.renderers.interface import ResolvedRenderer
from zorank.studio.render_pool import fingerprint
from zorank.types import Vector


@dataclass(frozen=True)
class Urls:
    """Makes the paths that responses contain.

    Attributes:
        root: the path prefix of the studio, such as "/rank" behind a proxy.
    """

    root: str = ""

    def sample(self, renderer: str) -> str:
        """Return the URL of a renderer's example picture."""
        return f"{self.root}/api/renderers/{renderer}/sample"

    def photo(self, digest: str) -> str:
        """Return the URL of a kept photo."""
        return f"{self.root}/api/photos/{digest}"

    def run(self, name: str, path: str) -> str:
        """Return the URL of something that belongs to a run."""
        return f"{self.root}/api/runs/{name}/{path}"


def versioned(url: str, candidate: Vector, renderer: ResolvedRenderer) -> str:
    """Return a URL that changes with its content, so that browsers may cache it for ever."""
    return of_version(url, fingerprint(candidate), renderer)


def of_version(url: str, digest: str, renderer: ResolvedRenderer) -> str:
    """Return the versioned URL of the candidate with this fingerprint."""
    return f"{url}?v={digest}{weights_query(renderer)}"


def weights_query(renderer: ResolvedRenderer) -> str:
    """Return the part of a URL that changes with the renderer's weights."""
    weights = renderer.weights
    return f"&weights={weights}" if weights else ""
