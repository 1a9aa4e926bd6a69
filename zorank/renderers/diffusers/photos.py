"""Image to image: pictures start from a photo to which the candidate's noise is added.

`strength` says how much: at 1 hardly anything of the photo is left, at 0.3 its shapes stay. The
photo is encoded once; the noise that is added to it is the candidate's latents.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any

from zorank.errors import InvalidInput, required_by
from zorank.renderers.diffusers.models import Model

if TYPE_CHECKING:
    from collections.abc import Iterator

FORMATS = ("JPEG", "PNG", "WEBP", "TIFF", "BMP")
MOST_PIXELS = 100_000_000
MOST_ENCODED = 4
"""The number of encoded photos that a model keeps: of two runs, each with its drafts."""

BLOCK = 8
"""Sides are multiples of this many latent pixels: the model halves them three times."""


@dataclass(frozen=True)
class Photo:
    """The photo that pictures start from, and how much noise is added to it."""

    file: str
    strength: float


def check(file: str) -> None:
    """Raise unless the photo is there and can be read; its pixels are not decoded."""
    with _opened(file):
        pass


def size_of(file: str, default: tuple[int, int], scale: int) -> tuple[int, int]:
    """Return a width and height like the photo's, with about the pixels of the default size."""
    with _opened(file) as image:
        width, height = image.size
        if image.getexif().get(0x0112, 1) > 4:  # EXIF turns it by 90°
            width, height = height, width
    factor = (default[0] * default[1] / (width * height)) ** 0.5
    block = BLOCK * scale
    wide, high = (max(block, round(side * factor / block) * block) for side in (width, height))
    return wide, high


@contextmanager
def started(
    model: Model, photo: Photo, scheduler: Any, noise: Any, width: int, height: int
) -> Iterator[tuple[Any, dict[str, Any]]]:
    """Yield a pipeline that starts from the photo and this noise, and arguments of its call."""
    import torch

    pipeline = _pipeline(model)
    pipeline.scheduler = scheduler
    pixels, latents = _encoded(model, photo.file, width, height)

    def prepare(image: Any, timestep: Any, *_: Any, **__: Any) -> Any:
        repeated = latents.expand(len(noise), *latents.shape[1:])
        return scheduler.add_noise(repeated, noise, timestep)

    pipeline.prepare_latents = prepare
    try:
        shown = torch.cat([pixels / 2 + 0.5] * len(noise))  # the call takes pixels from 0 to 1
        yield pipeline, {"image": shown, "strength": photo.strength}
    finally:
        del pipeline.prepare_latents


def _pipeline(model: Model) -> Any:
    """Return the model's pipeline as one that starts from a picture; they share all weights."""
    if model.with_photo is None:
        import diffusers

        name = type(model.pipeline).__name__
        kind = getattr(diffusers, name.replace("Pipeline", "Img2ImgPipeline"), None)
        if kind is None:
            raise _unfit(name)
        plain = {"requires_safety_checker"} & set(signature(kind).parameters)
        found = kind(**model.pipeline.components, **dict.fromkeys(plain, False))
        found.set_progress_bar_config(disable=True)
        prepares = list(signature(found.prepare_latents).parameters)[:2] == ["image", "timestep"]
        if not prepares or not hasattr(model.scheduler, "add_noise"):
            raise _unfit(name)
        model.with_photo = found
    return model.with_photo


def _unfit(name: str) -> InvalidInput:
    return InvalidInput(
        f"a {name} cannot start from a photo here; leave image empty, or use a Stable Diffusion "
        "model (1, 2 or XL)"
    )


def _encoded(model: Model, file: str, width: int, height: int) -> tuple[Any, Any]:
    """Return the photo's pixels, from -1 to 1, and its latents; encoded once."""
    path = Path(file).expanduser()
    with _opened(file):  # raises if the file was removed
        key = (str(path), path.stat().st_mtime_ns, width, height)
    if key not in model.photos:
        if len(model.photos) >= MOST_ENCODED:
            model.photos.clear()
        model.photos[key] = _encode(model, file, width, height)
    found: tuple[Any, Any] = model.photos[key]
    return found


def _encode(model: Model, file: str, width: int, height: int) -> tuple[Any, Any]:
    import torch

    vae = model.pipeline.vae
    wide = torch.float32 if getattr(vae.config, "force_upcast", False) else vae.dtype
    narrow = vae.dtype
    with _opened(file) as image:
        pixels = model.pipeline.image_processor.preprocess(_cropped(image, width, height))
    try:
        if wide != narrow:
            vae.to(wide)  # half precision overflows in some encoders
        with torch.no_grad():
            mean = vae.encode(pixels.to(model.device, wide)).latent_dist.mode()
    finally:
        if wide != narrow:
            vae.to(narrow)
    centre, spread = (getattr(vae.config, name, None) for name in ("latents_mean", "latents_std"))
    if centre is not None and spread is not None:
        shape = (1, -1, 1, 1)
        mean = (mean - torch.tensor(centre).view(shape).to(mean)) / torch.tensor(spread).view(
            shape
        ).to(mean)
    latents = (mean * vae.config.scaling_factor).to(model.dtype)
    return pixels.to(model.device, model.dtype), latents


def _cropped(image: Any, width: int, height: int) -> Any:
    """Return the upright photo at this size; what does not fit the shape is cut off evenly."""
    from PIL import Image, ImageOps

    upright = ImageOps.exif_transpose(image).convert("RGB")
    return ImageOps.fit(upright, (width, height), Image.Resampling.LANCZOS)


@contextmanager
def _opened(file: str) -> Iterator[Any]:
    """Open a photo, or raise an error that says what is wrong with it."""
    path = Path(file).expanduser()
    if not path.is_file():
        raise InvalidInput(f"there is no photo {path}; pass the path of a JPEG, PNG or WebP file")
    with required_by("photos", "pillow", "studio"):
        from PIL import Image
    try:
        with Image.open(path, formats=FORMATS) as image:
            width, height = image.size
            if width * height > MOST_PIXELS:
                raise InvalidInput(
                    f"the photo {path} has {width} × {height} pixels, more than "
                    f"{MOST_PIXELS:,}; make it smaller"
                )
            yield image
    except InvalidInput:
        raise
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError) as error:
        raise InvalidInput(
            f"the photo {path} cannot be read; pass a JPEG, PNG or WebP file that other "
            "programs show"
        ) from error


__all__ = ["Photo", "check", "size_of", "started"]
