"""Loads a pipeline once, or raises an error with the reason.

Nothing is downloaded here: weights are gigabytes, and the user should decide when to download
them. `files` finds them.
"""

from __future__ import annotations

import inspect
import re
import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from zorank.errors import InvalidInput, MissingExtra, unreadable
from zorank.renderers.diffusers import adapters
from zorank.renderers.diffusers.adapters import Adapter
from zorank.renderers.diffusers.files import (
    INDEX,
    locate,
    locate_config,
    missing,
    missing_config,
    read_index,
)

KEPT = 2
"""The number of loaded pipelines that are cached: more might not fit into memory."""

DEVICE = re.compile(r"auto|cpu|mps|cuda(:\d+)?")
DTYPES = ("auto", "float16", "bfloat16", "float32")

Encoded: TypeAlias = dict[str, Any]


@dataclass(eq=False)
class Model:
    """A loaded pipeline. Callers must hold its lock: a pipeline is not thread-safe.

    Attributes:
        pipeline: it makes a picture from a prompt and latents.
        device, dtype: where and in which precision it computes.
        scheduler: its own sampler.
        adapters: the names of its LoRAs.
        lock: held by whoever uses the pipeline.
        weights: the weights of its LoRAs at present; None before they are set.
        prompts_differ: whether LoRAs also change how prompts are encoded.
        encoded, shapes, fits, photos: caches of `painting` and `photos`.
        with_photo: the same pipeline, made to start from a photo; None before it is needed.
    """

    pipeline: Any
    device: str
    dtype: Any
    scheduler: Any
    adapters: tuple[str, ...] = ()
    lock: threading.RLock = field(default_factory=threading.RLock)
    weights: tuple[float, ...] | None = None
    prompts_differ: bool = False
    encoded: dict[tuple[Any, ...], Encoded] = field(default_factory=dict)
    shapes: dict[tuple[int, int], tuple[int, ...]] = field(default_factory=dict)
    fits: dict[tuple[int, ...], int] = field(default_factory=dict)
    photos: dict[tuple[Any, ...], Any] = field(default_factory=dict)
    with_photo: Any = None

    @property
    def takes(self) -> set[str]:
        """The names of the parameters of the pipeline's call."""
        return set(inspect.signature(type(self.pipeline).__call__).parameters)

    @property
    def pixels_per_latent(self) -> int:
        """The side, in pixels, of one place of the latents."""
        return int(getattr(self.pipeline, "vae_scale_factor", 8))

    def weigh(self, weights: tuple[float, ...]) -> None:
        """Set the weights of the LoRAs."""
        if self.adapters and weights != self.weights:
            self.pipeline.set_adapters(list(self.adapters), list(weights))
            self.weights = weights


_loaded: OrderedDict[tuple[str, ...], Model] = OrderedDict()
_loading = threading.Lock()
_OWN = "_zorank_model"
"""The attribute of a user's pipeline that holds its `Model`, with caches and lock."""


def load(
    name: str,
    device: str = "auto",
    dtype: str = "auto",
    loras: Sequence[Adapter] = (),
    config: str = "",
) -> Model:
    """Return the pipeline of a folder, file or hub id; it is loaded once and cached."""
    place = locate(name)
    adapters.check(loras)
    with _loading:  # two threads that need the same pipeline load it once
        key = (str(place), config, device, dtype, *(lora.file for lora in loras))
        if key not in _loaded:
            while len(_loaded) >= KEPT:
                _loaded.popitem(last=False)
            _loaded[key] = _load(place, device, dtype, loras, config)
        _loaded.move_to_end(key)
        return _loaded[key]


def given(pipeline: Any) -> Model:
    """Return the model of a pipeline that a Python program has made."""
    with _loading:
        found = getattr(pipeline, _OWN, None)
        if not isinstance(found, Model):
            import diffusers

            check_kind(type(pipeline).__name__, type(pipeline), "that was given", diffusers)
            device = str(pipeline.device)
            found = Model(pipeline, device, pipeline.dtype, pipeline.scheduler)
            setattr(pipeline, _OWN, found)
        return found


def _load(place: Path, device: str, dtype: str, loras: Sequence[Adapter], config: str) -> Model:
    try:
        import diffusers
        import torch
        import transformers

        if loras:
            import peft  # noqa: F401  (diffusers applies LoRAs with it)
    except ModuleNotFoundError as error:
        raise missing(error) from error
    for library in (diffusers, transformers):  # zorank raises errors of its own
        library.utils.logging.set_verbosity_error()
        library.utils.logging.disable_progress_bar()
    folder = _config_of(place, config) if place.is_file() else place
    index = read_index(folder)
    name = str(index.get("_class_name"))
    kind = getattr(diffusers, name, None)
    check_kind(name, kind, f"in {folder}", diffusers)
    device = _device(torch) if device == "auto" else device
    number = _dtype(torch, device, index) if dtype == "auto" else getattr(torch, dtype)
    advice = "if files are missing or cut short, download it again"
    with unreadable(f"the pipeline in {place} cannot be loaded", advice):
        pipeline = _from_files(diffusers, kind, place, folder, number)
        pipeline.to(device)
    names = adapters.load(pipeline, loras, str(place))
    pipeline.set_progress_bar_config(disable=True)
    torch.backends.cudnn.benchmark = False  # benchmark mode may choose another algorithm each time
    torch.backends.cudnn.deterministic = True
    model = Model(pipeline, device, number, pipeline.scheduler, names)
    model.prompts_differ = bool(names) and adapters.change_text(pipeline)
    return model


def _from_files(diffusers: Any, kind: Any, place: Path, folder: Path, number: Any) -> Any:
    """Load a pipeline from its folder, or from a single file and its family's folder."""
    load: Any
    if place.is_file():
        load = kind.from_single_file
        return load(str(place), config=str(folder), torch_dtype=number, local_files_only=True)
    load = diffusers.DiffusionPipeline.from_pretrained
    variant = {"variant": "fp16"} if _only_half(place) else {}
    return load(place, local_files_only=True, dtype=number, **variant)


def _config_of(file: Path, config: str) -> Path:
    """Return the folder with the configuration of a single file's family."""
    from diffusers.loaders import single_file_utils as single
    from safetensors import safe_open

    with unreadable(f"the model {file} cannot be read", "download it again"):
        with safe_open(file, "pt") as opened:
            names = list(opened.keys())
            if any("lora" in name for name in names):
                raise InvalidInput(
                    f"{file} is a LoRA, which changes another model; pass it as lora, and the "
                    "model it was trained for as model"
                )
            if config:
                return locate_config(config, file)
            shapes = {name: _Shaped(tuple(opened.get_slice(name).get_shape())) for name in names}
        recognise: Any = single.fetch_diffusers_config
        family = str(recognise(shapes)["pretrained_model_name_or_path"])
    try:
        return locate_config(family, file)
    except MissingExtra:
        raise
    except InvalidInput as error:
        raise missing_config(file, family) from error


@dataclass(frozen=True)
class _Shaped:
    """The shape of a weight, which is enough to recognise a family of models."""

    shape: tuple[int, ...]


def check_kind(name: str, kind: Any, where: str, diffusers: Any) -> None:
    """Raise unless a pipeline makes a picture from a prompt and given latents."""
    if kind is None:
        raise InvalidInput(
            f"the pipeline {where} is a {name}, which diffusers {diffusers.__version__} does "
            "not know; upgrade diffusers"
        )
    takes = inspect.signature(kind.__call__).parameters
    lacks = [needed for needed in ("prompt", "latents", "height") if needed not in takes]
    wants = [other for other in ("image", "num_frames", "audio_length_in_s") if other in takes]
    if not lacks and not wants:
        return
    reason = f"takes no {lacks[0]}" if lacks else f"works on {wants[0]}"
    raise InvalidInput(
        f"the pipeline {where} is a {name}, which {reason}; needed is one that makes a "
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


__all__ = ["DEVICE", "DTYPES", "INDEX", "Encoded", "Model", "given", "load", "locate"]
