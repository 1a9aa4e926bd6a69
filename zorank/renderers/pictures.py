"""Pictures as files: what every renderer of pictures needs."""

from io import BytesIO
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zorank.errors import InvalidInput, MissingExtra

_SIZES = (16, 4096)


def check_size(found: Any, what: str = "the size of a picture") -> int:
    """A size in pixels that can be drawn."""
    smallest, largest = _SIZES
    whole = isinstance(found, Integral) and not isinstance(found, bool)
    if not whole or not smallest <= found <= largest:
        raise InvalidInput(
            f"{what} must be a whole number from {smallest} to {largest}, found {found!r}"
        )
    return int(found)


def jpeg(picture: NDArray[np.uint8]) -> bytes:
    """A (rows, columns, 3) picture as a JPEG file that keeps its colours at full resolution."""
    file = BytesIO()
    _pillow().fromarray(picture).save(file, "JPEG", quality=92, subsampling=0)
    return file.getvalue()


def opened(file: bytes) -> NDArray[np.uint8]:
    """The (rows, columns, 3) picture in a file."""
    return np.asarray(_pillow().open(BytesIO(file)).convert("RGB"))


def resized(picture: NDArray[np.uint8], size: int) -> NDArray[np.uint8]:
    """A (rows, columns, 3) picture at `size` pixels a side."""
    if picture.shape[:2] == (size, size):
        return picture
    image = _pillow()
    return np.asarray(image.fromarray(picture).resize((size, size), image.Resampling.LANCZOS))


def _pillow() -> Any:
    try:
        from PIL import Image
    except ModuleNotFoundError as error:
        raise MissingExtra("pictures", "pillow", "studio") from error
    return Image
