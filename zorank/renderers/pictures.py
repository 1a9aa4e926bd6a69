"""Encoding, decoding and resizing of pictures."""

from io import BytesIO
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zorank.errors import InvalidInput, required_by, short

_SIZES = (16, 4096)


def check_size(found: Any, what: str = "the size of a picture") -> int:
    """Return a valid size in pixels, or raise."""
    smallest, largest = _SIZES
    whole = isinstance(found, Integral) and not isinstance(found, bool)
    if not whole or not smallest <= found <= largest:
        raise InvalidInput(
            f"{what} must be a whole number from {smallest} to {largest}, found {short(found)}"
        )
    return int(found)


def jpeg(picture: NDArray[np.uint8]) -> bytes:
    """Encode a (rows, columns, 3) picture as JPEG without chroma subsampling."""
    file = BytesIO()
    _pillow().fromarray(picture).save(file, "JPEG", quality=92, subsampling=0)
    return file.getvalue()


def opened(file: bytes) -> NDArray[np.uint8]:
    """Decode a file into a (rows, columns, 3) picture."""
    return np.asarray(_pillow().open(BytesIO(file)).convert("RGB"))


def resized(picture: NDArray[np.uint8], size: int) -> NDArray[np.uint8]:
    """Resize a (rows, columns, 3) picture to `size` pixels per side."""
    if picture.shape[:2] == (size, size):
        return picture
    image = _pillow()
    return np.asarray(image.fromarray(picture).resize((size, size), image.Resampling.LANCZOS))


def _pillow() -> Any:
    with required_by("pictures", "pillow", "studio"):
        from PIL import Image
    return Image
