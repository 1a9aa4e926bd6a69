"""Sanitises photos: decodes them, turns them upright, reduces them and encodes them again.

The result is a JPEG of pixels only, without metadata, profile, thumbnail or further frames.
JPEG, PNG and WebP are read by Pillow's decoders of these formats and no others. A file that is too
large, damaged or something else is refused in one sentence. The size in pixels is read and checked
before anything is decoded.
"""

from __future__ import annotations

from io import BytesIO
from typing import Any

import numpy as np

from zorank.errors import InvalidInput, required_by
from zorank.types import Array32

FORMATS = ("JPEG", "PNG", "WEBP")
LARGEST_FILE = 20 * 2**20
"""The largest accepted photo, in bytes."""
MAX_PIXELS = 64_000_000
LEAST_SIDE = 32
LONGEST_RATIO = 6
KEPT_SIDE = 1024
"""The longest side of kept photos; the networks work on fewer pixels."""


def harmless(content: bytes) -> bytes:
    """Return a photo as a small upright JPEG of pixels only; InvalidInput if it is not one."""
    if not content:
        raise InvalidInput("the photo is an empty file; choose another one")
    if len(content) > LARGEST_FILE:
        raise InvalidInput(
            f"the photo has {len(content) / 2**20:.0f} MiB, more than the limit of "
            f"{LARGEST_FILE // 2**20}; make it smaller"
        )
    picture = _decoded(content)
    file = BytesIO()
    picture.save(file, "JPEG", quality=92, subsampling=0)
    return file.getvalue()


def as_array(content: bytes, longest: int) -> Array32:
    """Return a photo that `harmless` made, (rows, columns, 3) from 0 to 1."""
    with required_by("style", "pillow", "style"):
        from PIL import Image
    with Image.open(BytesIO(content), formats=("JPEG",)) as opened:
        picture = opened.convert("RGB")
    scale = longest / max(picture.size)
    width, height = (max(1, round(scale * side)) for side in picture.size)
    small = picture.resize((width, height), Image.Resampling.LANCZOS)
    return np.asarray(small, np.float32) / np.float32(255)


def _decoded(content: bytes) -> Any:
    """Return the first frame as an RGB picture without metadata."""
    with required_by("style", "pillow", "style"):
        from PIL import Image, ImageOps, UnidentifiedImageError
    try:
        with Image.open(BytesIO(content), formats=FORMATS) as opened:
            _check_size(*opened.size)
            opened.draft("RGB", (KEPT_SIDE, KEPT_SIDE))  # JPEGs are decoded at a reduced size
            opened.load()
            upright = ImageOps.exif_transpose(opened)
        upright = _eight_bits(upright)
        upright.thumbnail((KEPT_SIDE, KEPT_SIDE), Image.Resampling.LANCZOS)
        if upright.mode in ("RGBA", "LA", "PA") or "transparency" in upright.info:
            on_white = Image.new("RGBA", upright.size, "white")
            upright = Image.alpha_composite(on_white, upright.convert("RGBA"))
        return Image.fromarray(np.asarray(upright.convert("RGB")))
    except InvalidInput:
        raise
    except (Image.DecompressionBombError, Image.DecompressionBombWarning) as error:
        raise _too_large() from error
    except UnidentifiedImageError as error:
        raise InvalidInput("the photo is not a JPEG, PNG or WebP file; save it as JPEG") from error
    except Exception as error:  # a damaged file may raise anything
        raise InvalidInput(
            f"the photo cannot be decoded ({type(error).__name__}); it is damaged or incomplete: "
            "choose another one"
        ) from error


def _check_size(width: int, height: int) -> None:
    if width * height > MAX_PIXELS:
        raise _too_large()
    if min(width, height) < LEAST_SIDE or max(width, height) > LONGEST_RATIO * min(width, height):
        raise InvalidInput(
            f"a photo of {width} × {height} pixels cannot be painted: both sides need at least "
            f"{LEAST_SIDE}, and one may be at most {LONGEST_RATIO} times the other; crop it"
        )


def _too_large() -> InvalidInput:
    return InvalidInput(
        f"the photo has more than {MAX_PIXELS // 1_000_000} million pixels; make it smaller"
    )


def _eight_bits(picture: Any) -> Any:
    """Return a picture with 16 bits a channel, or with floats, in 8 bits."""
    if not picture.mode.startswith(("I", "F")):
        return picture
    from PIL import Image

    values = np.asarray(picture, np.float64)
    top = max(65535.0, float(values.max(initial=0.0)))
    return Image.fromarray((values * (255 / top)).clip(0, 255).astype(np.uint8))


__all__ = ["FORMATS", "LARGEST_FILE", "as_array", "harmless"]
