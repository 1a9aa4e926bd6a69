"""Finds and checks the files of a model; every error is one sentence.

A model is the folder of a pipeline, the hub id of a downloaded one, or a single .safetensors file
with the configuration of its family beside it. Nothing heavy is imported here.
"""

from __future__ import annotations

import json
import re
import struct
from pathlib import Path
from typing import Any

from zorank.errors import InvalidInput, MissingExtra

INDEX = "model_index.json"
HUB_ID = re.compile(r"[\w-][\w.-]*/[\w-][\w.-]*")
SAFE = ".safetensors"
PICKLED = (".ckpt", ".pt", ".pth", ".bin", ".pkl")
"""Suffixes of files that hold Python objects: opening one can run any program."""

CONFIG_FILES = {"scheduler": "scheduler_config.json", "tokenizer": "tokenizer_config.json"}
"""The configuration file of a part of a pipeline; of other parts, it is config.json."""

NOT_IN_FILES = ("safety_checker", "feature_extractor", "image_encoder")
"""Parts that single files do not have, and that pipelines do without."""


def locate(name: str) -> Path:
    """Return the folder or the single file of a model from its path or hub id."""
    if not name:
        raise InvalidInput(
            "no model is given; name the folder of a diffusers pipeline, a .safetensors file, or "
            "the hub id of a downloaded one, with --model or in the field Model"
        )
    path = Path(name).expanduser()
    if not path.exists():
        if path.suffix in (SAFE, *PICKLED):
            check_weights_file(path, "the model")
        path = _from_hub_cache(name)
    if path.is_file():
        return check_weights_file(path, "the model")
    return _check_folder(path)


def locate_config(name: str, file: Path) -> Path:
    """Return the folder with the configuration for a single file, from its path or hub id."""
    path = Path(name).expanduser()
    folder = _check_folder(path if path.exists() else _from_hub_cache(name))
    missing = [
        f"{part}/{wanted}"
        for part, wanted in _parts(read_index(folder))
        if not (folder / part / wanted).is_file()
    ]
    if missing:
        raise InvalidInput(
            f"the configuration in {folder} is not enough for {file}: it lacks "
            f"{', '.join(missing)}; pass a whole pipeline's folder as config, or download it: "
            f"{_download(name if HUB_ID.fullmatch(name) else 'ID')}"
        )
    return folder


def missing_config(file: Path, family: str) -> InvalidInput:
    """Return the error for a single file whose configuration is not on this machine."""
    return InvalidInput(
        f"{file} has weights only; it also needs the configuration of its family: {INDEX}, the "
        "folders scheduler and tokenizer, and config.json of the other parts, such as unet, vae "
        "and text_encoder; pass a pipeline's folder with these files as config, or download "
        f"them: {_download(family)}"
    )


def read_index(folder: Path) -> dict[str, Any]:
    """Return the index of a pipeline: the classes of its parts."""
    try:
        found: dict[str, Any] = json.loads((folder / INDEX).read_text())
    except (OSError, ValueError) as error:
        raise InvalidInput(f"{folder / INDEX} cannot be read: {error}") from error
    return found


def check_weights_file(path: Path, what: str) -> Path:
    """Return the path of a .safetensors file, or raise; only its first bytes are read."""
    if path.suffix in PICKLED:
        raise InvalidInput(
            f"{what} {path} is refused: a {path.suffix} file holds Python objects, and opening it "
            "can run any program; use the same weights as .safetensors"
        )
    if not path.is_file():
        raise InvalidInput(f"{what} {path} is not there; pass the path of a {SAFE} file")
    if path.suffix != SAFE:
        raise InvalidInput(
            f"{what} {path} has the suffix {path.suffix or 'none'!r}; pass a {SAFE} file"
        )
    try:
        with path.open("rb") as file:
            (size,) = struct.unpack("<Q", file.read(8))
            begins = file.read(1)
    except (OSError, struct.error):
        size, begins = 0, b""
    if begins != b"{" or 8 + size > path.stat().st_size:
        raise InvalidInput(f"{what} {path} is no {SAFE} file, or is cut short; download it again")
    return path


def missing(error: ModuleNotFoundError) -> MissingExtra:
    """Return the error for a library of the extra that is not installed."""
    library = {"huggingface_hub": "diffusers"}.get(error.name or "", error.name or "diffusers")
    return MissingExtra("the renderer diffusers", library, "diffusion")


def _check_folder(path: Path) -> Path:
    if not (path / INDEX).is_file():
        raise InvalidInput(
            f"the folder {path} holds no diffusers pipeline: it has no {INDEX}; pass the folder "
            "that save_pretrained wrote or that was downloaded from the hub"
        )
    return path


def _parts(index: dict[str, Any]) -> list[tuple[str, str]]:
    """Return the parts of a pipeline that a single file needs, and their configuration files."""
    return [
        (
            part,
            next(
                (f for start, f in CONFIG_FILES.items() if part.startswith(start)), "config.json"
            ),
        )
        for part, kind in index.items()
        if isinstance(kind, list) and kind and kind[0] and part not in NOT_IN_FILES
    ]


def _download(name: str) -> str:
    return f'hf download {name} --include "*.json" "*.txt"'


def _from_hub_cache(name: str) -> Path:
    if not HUB_ID.fullmatch(name):
        raise InvalidInput(
            f"there is no folder {name!r}; pass the folder of a diffusers pipeline, or a hub id "
            "such as stable-diffusion-v1-5/stable-diffusion-v1-5"
        )
    try:
        from huggingface_hub import try_to_load_from_cache
    except ModuleNotFoundError as error:
        raise missing(error) from error
    found = try_to_load_from_cache(name, INDEX)
    if not isinstance(found, str):
        raise InvalidInput(
            f"there is no folder {name!r}, and the hub's model of that name is not on this "
            f"machine; download it first: hf download {name} (huggingface-cli download {name} "
            "with older versions), or pass the path of a folder"
        )
    return Path(found).parent


def absolute(name: str) -> str:
    """Return the absolute path of a file or folder that exists; other names as they are."""
    path = Path(name).expanduser()
    return str(path.resolve()) if name and path.exists() else name
