"""Finds a pipeline on this machine and loads it once, or raises an error with the reason.

Nothing is downloaded here: weights are gigabytes, and the user should decide when to download
them.
"""

from __future__ import annotations

import inspect
import json
import re
import threading
from collections import OrderedDict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from zorank.errors import InvalidInput, MissingExtra

INDEX = "model_index.json"
HUB_ID = re.compile(r"[\w-][\w.-]*/[\w-][\w.-]*")
KEPT = 2
"""The number of loaded pipelines that are cached: more might not fit into memory."""

DEVICE = re.compile(r"auto|cpu|mps|cuda(:\d+)?")
DTYPES = ("auto", "float16", "bfloat16", "float32")

Encoded: TypeAlias = dict[str, Any]


@dataclass(eq=False)
class Model:
    """A loaded pipeline. Callers must hold its lock: a pipeline is not thread-safe."""

    pipeline: Any
    device: str
    dtype: Any
    scheduler: Any
    lock: threading.RLock = field(default_factory=threading.RLock)
    encoded: dict[tuple[str, str], Encoded] = field(default_factory=dict)
    shapes: dict[tuple[int, int], tuple[int, ...]] = field(default_factory=dict)
    fits: dict[tuple[int, ...], int] = field(default_factory=dict)

    @property
    def takes(self) -> set[str]:
        """The names of the parameters of the pipeline's call."""
        return set(inspect.signature(type(self.pipeline).__call__).parameters)


_loaded: OrderedDict[tuple[str, str, str], Model] = OrderedDict()
_loading = threading.Lock()


def load(name: str, device: str = "auto", dtype: str = "auto") -> Model:
    """Return the pipeline of this folder or hub id; it is loaded once and cached."""
    folder = locate(name)
    with _loading:  # two threads that need the same pipeline load it once
        key = (str(folder), device, dtype)
        if key not in _loaded:
            while len(_loaded) >= KEPT:
                _loaded.popitem(last=False)
            _loaded[key] = _load(folder, device, dtype)
        _loaded.move_to_end(key)
        return _loaded[key]


def locate(name: str) -> Path:
    """Return the folder of a pipeline from its path or hub id, without heavy imports."""
    if not name:
        raise InvalidInput(
            "say which model is to paint: the folder of a diffusers pipeline, or the hub id of "
            "one that was downloaded, as --model or in the field Model"
        )
    path = Path(name).expanduser()
    if not path.exists():
        path = _from_hub_cache(name)
    if path.is_file():
        raise InvalidInput(
            f"{path} is a single file; a diffusers pipeline is a folder with {INDEX}: load the "
            "file with diffusers' from_single_file, and save it with save_pretrained"
        )
    if not (path / INDEX).is_file():
        raise InvalidInput(
            f"the folder {path} holds no diffusers pipeline: it has no {INDEX}; pass the folder "
            "that save_pretrained wrote or that was downloaded from the hub"
        )
    return path


def _from_hub_cache(name: str) -> Path:
    if not HUB_ID.fullmatch(name):
        raise InvalidInput(
            f"there is no folder {name!r}; pass the folder of a diffusers pipeline, or a hub id "
            "such as stable-diffusion-v1-5/stable-diffusion-v1-5"
        )
    try:
        from huggingface_hub import try_to_load_from_cache
    except ModuleNotFoundError as error:
        raise _missing(error) from error
    found = try_to_load_from_cache(name, INDEX)
    if not isinstance(found, str):
        raise InvalidInput(
            f"there is no folder {name!r}, and the hub's model of that name is not on this "
            f"machine; download it first: hf download {name} (huggingface-cli download {name} "
            "with older versions), or pass the path of a folder"
        )
    return Path(found).parent


def _load(folder: Path, device: str, dtype: str) -> Model:
    try:
        import diffusers
        import torch
        import transformers
    except ModuleNotFoundError as error:
        raise _missing(error) from error
    for library in (diffusers, transformers):  # our own errors are enough
        library.utils.logging.set_verbosity_error()
        library.utils.logging.disable_progress_bar()
    index = _index(folder)
    _check_kind(index, diffusers, folder)
    device = _device(torch) if device == "auto" else device
    number = _dtype(torch, device, index) if dtype == "auto" else getattr(torch, dtype)
    variant = {"variant": "fp16"} if _only_half(folder) else {}
    try:
        load: Any = diffusers.DiffusionPipeline.from_pretrained
        pipeline = load(folder, local_files_only=True, dtype=number, **variant)
        pipeline.to(device)
    except Exception as error:  # a damaged or incomplete folder may raise anything
        said = " ".join(f"{type(error).__name__}: {error}".split())
        raise InvalidInput(
            f"the pipeline in {folder} cannot be loaded ({said:.300}); if files are missing or "
            "cut short, download it again"
        ) from error
    pipeline.set_progress_bar_config(disable=True)
    torch.backends.cudnn.benchmark = False  # it may choose another algorithm each time
    torch.backends.cudnn.deterministic = True
    return Model(pipeline, device, number, pipeline.scheduler)


def _index(folder: Path) -> dict[str, Any]:
    try:
        found: dict[str, Any] = json.loads((folder / INDEX).read_text())
    except (OSError, ValueError) as error:
        raise InvalidInput(f"{folder / INDEX} cannot be read: {error}") from error
    return found


def _check_kind(index: dict[str, Any], diffusers: Any, folder: Path) -> None:
    """Raise unless the pipeline makes a picture from a prompt and given latents."""
    name = str(index.get("_class_name"))
    kind = getattr(diffusers, name, None)
    if kind is None:
        raise InvalidInput(
            f"the pipeline in {folder} is a {name}, which diffusers {diffusers.__version__} does "
            "not know; a newer diffusers may"
        )
    takes = inspect.signature(kind.__call__).parameters
    lacks = [needed for needed in ("prompt", "latents", "height") if needed not in takes]
    wants = [other for other in ("image", "num_frames", "audio_length_in_s") if other in takes]
    if not lacks and not wants:
        return
    reason = f"takes no {lacks[0]}" if lacks else f"works on {wants[0]}"
    raise InvalidInput(
        f"the pipeline in {folder} is a {name}, which {reason}; needed is one that makes a "
        "picture from a prompt and from latents it is given, such as StableDiffusionPipeline or "
        "StableDiffusionXLPipeline"
    )


def _device(torch: Any) -> str:
    if torch.cuda.is_available():
        return "cuda"
    return "mps" if torch.backends.mps.is_available() else "cpu"


def _dtype(torch: Any, device: str, index: dict[str, Any]) -> Any:
    """Half precision where it is fast; transformers need the range of bfloat16."""
    if not device.startswith("cuda"):
        return torch.float32
    brain = "transformer" in index and torch.cuda.is_bf16_supported()
    return torch.bfloat16 if brain else torch.float16


def _only_half(folder: Path) -> bool:
    """Whether a folder has weights of the variant fp16 only."""
    weights = [file.name for file in folder.glob("*/*.safetensors")]
    return bool(weights) and all(".fp16." in name for name in weights)


def _missing(error: ModuleNotFoundError) -> MissingExtra:
    library = {"huggingface_hub": "diffusers"}.get(error.name or "", error.name or "diffusers")
    return MissingExtra("the renderer diffusers", library, "diffusion")
