"""Which weights draw a run: with others, the same noise gives other pictures."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from zorank.dream import model
from zorank.protocols import Renderer
from zorank.renderers import Dream


def weights_of(renderer: Renderer) -> str:
    """A short name for the weights that draw; empty for renderers without any that come along."""
    return model.fingerprint() if isinstance(renderer, Dream) else ""


def words(meta: Mapping[str, Any], renderer: Renderer) -> str:
    """One plain sentence if a run began with other weights; empty if not, or if nobody knows."""
    began, now = meta.get("weights", ""), weights_of(renderer)
    if not began or not now or began == now:
        return ""
    return "The model’s weights have changed since this run began: its pictures may differ."
