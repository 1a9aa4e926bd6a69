"""`zorank comfyui-node`: install zorank's node in ComfyUI."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from zorank.cli.common import out
from zorank.renderers.comfyui.node import install


def comfyui_node(
    folder: Annotated[Path, typer.Argument(help="ComfyUI's folder, or its custom_nodes.")],
) -> None:
    """Copy zorank's node, one file, into a ComfyUI on this machine, for --option noise=64.

    The node makes noise from the coordinates of a candidate. Restart ComfyUI afterwards.
    """
    path = install(folder)
    out.print(f"Wrote {path}. Restart ComfyUI.", markup=False, highlight=False, soft_wrap=True)
