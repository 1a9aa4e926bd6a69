"""CLIP as a judge: how well a picture fits a sentence (Radford et al., 2021, arXiv:2103.00020).

Nothing is downloaded: a model is a folder, or a name in the local cache of the Hugging Face hub.
Pictures are preprocessed with Pillow and NumPy, so torchvision is not needed.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from zorank.errors import InvalidInput, MissingExtra, message_of, short
from zorank.types import Vector

if TYPE_CHECKING:
    from PIL.Image import Image

DEFAULT = "openai/clip-vit-base-patch32"

SMALLEST_VOCABULARY = 256
"""CLIP's tokenizer has at least one token for each byte."""

_REMEDY = (
    "give model= a folder with config.json, model.safetensors, preprocessor_config.json and the "
    f"tokenizer's files, such as one that `hf download {DEFAULT} --local-dir FOLDER` makes"
)
_loading = threading.Lock()


@dataclass(frozen=True)
class CLIP:
    """Scores pictures by the cosine between their embedding and the prompt's.

    Attributes:
        prompt: what the picture should show; truncated to the model's maximal length.
        model: a folder with a CLIP model, or the name of a downloaded one on the Hugging Face hub.
        device: where it runs, such as "cuda:1"; None chooses CUDA, MPS or the CPU.
    """

    prompt: str = ""
    model: str = DEFAULT
    device: str | None = None

    requires: ClassVar[tuple[str, ...]] = ("torch", "transformers")

    def __post_init__(self) -> None:
        prompt: Any = self.prompt
        if not isinstance(prompt, str) or not prompt.strip():
            raise InvalidInput(
                f"clip needs a prompt that says what pictures should show, found {short(prompt)}; "
                'for instance prompt="a snowy night"'
            )
        object.__setattr__(self, "model", str(self.model))

    def score(self, pictures: Sequence[Image]) -> Vector:
        """Return the cosine similarity of each picture and the prompt, from -1 to 1."""
        reader = _reader(self.model, self.device)
        return reader.embed_pictures(pictures) @ reader.embed_text(self.prompt)


class _Reader:
    """A loaded model: it embeds pictures and texts as unit vectors."""

    def __init__(self, model: Any, tokenizer: Any, processor: Any) -> None:
        self.model = model
        self.tokenizer = tokenizer
        self.processor = processor
        self.embed_text = lru_cache(maxsize=64)(self._embed_text)  # a prompt is embedded once

    def _embed_text(self, text: str) -> Vector:
        longest = self.model.config.text_config.max_position_embeddings
        tokens = self.tokenizer(text, truncation=True, max_length=longest, return_tensors="pt")
        embedding: Vector = self._embed(self.model.get_text_features, tokens)[0]
        return embedding

    def embed_pictures(self, pictures: Sequence[Image]) -> Vector:
        prepared = self.processor(list(pictures), return_tensors="pt")
        return self._embed(self.model.get_image_features, prepared)

    def _embed(self, features: Any, inputs: Any) -> Vector:
        import torch

        with torch.inference_mode():
            found = features(**inputs.to(self.model.device)).pooler_output
        embeddings = found.float().cpu().numpy().astype(np.float64)
        return np.asarray(embeddings / np.linalg.norm(embeddings, axis=-1, keepdims=True))


def _reader(model: str, device: str | None) -> _Reader:
    with _loading:  # concurrent callers wait and share one model
        return _load(model, device)


@lru_cache(maxsize=2)
def _load(model: str, device: str | None) -> _Reader:
    library = _library()
    folder = Path(model).expanduser()
    source = str(folder) if folder.exists() else model
    here = {"local_files_only": True}
    try:
        with _quiet(library.utils.logging):
            _check_kind(library, source)
            loaded, report = library.CLIPModel.from_pretrained(
                source, output_loading_info=True, **here
            )
            tokenizer = library.CLIPTokenizer.from_pretrained(source, **here)
            processor = library.CLIPImageProcessorPil.from_pretrained(source, **here)
    except InvalidInput:
        raise
    except Exception as error:  # each of these libraries has errors of its own
        raise _cannot_load(model, folder.exists(), error) from error
    # transformers initialises missing layers and tokenizer files silently at random.
    if report["missing_keys"] or len(tokenizer) < SMALLEST_VOCABULARY:
        what = "weights" if report["missing_keys"] else "tokenizer"
        raise InvalidInput(f"clip cannot use {model!r}: its {what} are incomplete; {_REMEDY}")
    return _Reader(loaded.to(device or _best_device()).eval(), tokenizer, processor)


def _library() -> Any:
    try:
        for needed in CLIP.requires:
            found = import_module(needed)
    except ModuleNotFoundError as error:
        raise MissingExtra("clip", error.name or "transformers", "diffusion") from error
    return found


def _check_kind(library: Any, source: str) -> None:
    """Refuse other architectures: their missing layers would be initialised at random."""
    config, _ = library.PretrainedConfig.get_config_dict(source, local_files_only=True)
    kind = config.get("model_type")
    if kind != "clip":
        found = f"a model of type {kind!r}" if kind else "no config.json of a model"
        raise InvalidInput(f"clip needs a CLIP model, found {found} in {source!r}; {_REMEDY}")


def _cannot_load(model: str, is_here: bool, error: Exception) -> InvalidInput:
    if is_here:
        return InvalidInput(f"clip cannot load {model!r} ({message_of(error)}); {_REMEDY}")
    return InvalidInput(
        f"there is no folder {model!r}, and no model of that name was downloaded; download it "
        f"once with: hf download {DEFAULT if model.startswith(('/', '.', '~')) else model}, or "
        "give model= the path of a folder that holds a CLIP model"
    )


@contextmanager
def _quiet(logging: Any) -> Iterator[None]:
    """No progress bars while a model is loaded."""
    shown = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        if shown:
            logging.enable_progress_bar()


def _best_device() -> str:
    import torch

    if torch.cuda.is_available():
        return "cuda"
    return "mps" if torch.backends.mps.is_available() else "cpu"
