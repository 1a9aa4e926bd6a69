"""Copies the node of `zorank_noise.py` into ComfyUI's folder."""

from __future__ import annotations

from pathlib import Path

from zorank.errors import InvalidInput

NODE = Path(__file__).with_name("zorank_noise.py")
"""The file of the node."""


def install(folder: Path) -> Path:
    """Copy the node into ComfyUI's folder, or its folder `custom_nodes`; return where it is."""
    target = folder / "custom_nodes" if (folder / "custom_nodes").is_dir() else folder
    if target.resolve().name != "custom_nodes" or not target.is_dir():
        raise InvalidInput(
            f"{folder} is not the folder of a ComfyUI: it should contain custom_nodes"
        )
    path = target / NODE.name
    try:
        path.write_bytes(NODE.read_bytes())
    except OSError as error:
        raise InvalidInput(f"{path} cannot be written: {error.strerror}") from error
    return path
