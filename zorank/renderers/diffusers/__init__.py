"""Pictures of a text-to-image diffusion model: Stable Diffusion 1, 2, XL and their relatives.

The model's weights are fixed. A candidate is the initial noise and, optionally, a change of the
prompt's embedding and of the guidance. `tuning` maps candidates to these parts, `samplers` selects
deterministic samplers, `models` finds and loads pipelines, `painting` calls them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zorank._arrays import is_real, plain
from zorank.errors import InvalidInput, RenderError, ZorankError, short
from zorank.renderers import latents
from zorank.renderers.diffusers import models, painting, samplers
from zorank.renderers.diffusers.models import DTYPES, Model
from zorank.renderers.diffusers.tuning import PARTS, Layout, Point, parts_of
from zorank.renderers.interface.hooks import Preview, Progress
from zorank.renderers.options import option
from zorank.renderers.pictures import jpeg
from zorank.types import Exhibit, Vector

LIMITS: dict[str, tuple[float, float]] = {
    "steps": (1, 1000),
    "guidance": (0, 100),
    "width": (0, 8192),
    "height": (0, 8192),
    "prompt_rank": (1, 256),
    "prompt_spread": (0, 10),
    "guidance_spread": (0, 10),
    "noise_seed": (0, 2**63 - 1),
    "batch": (0, 64),
}


@dataclass(frozen=True)
class Diffusers:
    """Renders with a diffusers pipeline that is on this machine.

    Attributes:
        prompt: what the picture shows.
        negative_prompt: what it should not show.
        model: the folder of a pipeline, or the hub id of one that was downloaded.
        tune: what a candidate stands for: latents, prompt, guidance, or several joined by +.
        sampler: dpm++, ddim, or own (the pipeline's, if it adds no noise).
        steps: denoising steps; more are slower and finer.
        guidance: how closely the prompt is followed; if it is tuned, its median.
        width: of the picture in pixels; 0 is the default of the model.
        height: of the picture in pixels; 0 is the default of the model.
        prompt_rank: coordinates of a tuned prompt.
        prompt_spread: standard deviation of a tuned prompt, relative to its embedding's norm.
        guidance_spread: standard deviation of the logarithm of a tuned guidance.
        noise_seed: the seed of the latents, if they are not tuned.
        batch: pictures in one pass; 0 is one on a CPU, on a GPU as many as memory takes.
        device: cuda, cuda:1, mps or cpu; auto finds the best.
        dtype: float16, bfloat16 or float32; auto chooses by device.
    """

    prompt: str = option("", "What the picture shows.", more=False)
    negative_prompt: str = option("", "What it should not show.", more=False)
    model: str = option(
        "", "A pipeline's folder, or the hub id of one that was downloaded.", more=False
    )
    tune: str = option("latents", "latents, prompt, guidance, or several joined by +.")
    sampler: str = option("dpm++", "Only samplers that add no noise.", choices=samplers.SAMPLERS)
    steps: int = option(20, "Denoising steps; more are slower and finer.")
    guidance: float = option(7.5, "How closely the prompt is followed.")
    width: int = option(0, "In pixels; 0 is the default of the model.")
    height: int = option(0, "In pixels; 0 is the default of the model.")
    prompt_rank: int = option(8, "Coordinates of a tuned prompt.")
    prompt_spread: float = option(0.2, "How far one standard deviation moves a tuned prompt.")
    guidance_spread: float = option(0.25, "Standard deviation of log guidance, if it is tuned.")
    noise_seed: int = option(0, "The seed of the latents, if they are not tuned.")
    batch: int = option(0, "Pictures in one pass; 0 lets the device decide.")
    device: str = option("auto", "cuda, mps or cpu.")
    dtype: str = option("auto", "The precision.", choices=DTYPES)

    # Without annotations these are not fields: a stored configuration does not have them.
    title = "Diffusion"
    description = "A Stable Diffusion model of yours: the prompt stays, the picture gets better."

    def __post_init__(self) -> None:
        for each in fields(self):
            _check_type(each.name, getattr(self, each.name), type(each.default))
        for name, (lowest, highest) in LIMITS.items():
            found = getattr(self, name)
            if not lowest <= found <= highest:
                raise InvalidInput(
                    f"{name} must be from {lowest} to {highest}, found {short(found)}"
                )
        if bool(self.width) != bool(self.height):  # pipelines would then ignore the one given
            raise InvalidInput(
                f"give both width and height, or neither; found {self.width} × {self.height}"
            )
        if self.dtype not in DTYPES:
            raise InvalidInput(
                f"dtype must be one of {', '.join(DTYPES)}, found {short(self.dtype)}"
            )
        if not models.DEVICE.fullmatch(self.device):
            raise InvalidInput(
                f"device must be one of auto, cuda, cuda:1 and so on, mps, cpu, "
                f"found {short(self.device)}"
            )
        samplers.check_name(self.sampler)
        object.__setattr__(self, "tune", "+".join(parts_of(self.tune)))

    @property
    def dim(self) -> int:
        """The number of coordinates of a candidate; the first access loads the pipeline."""
        return self._layout(self._model()).dim

    @property
    def space(self) -> str:
        """`"gaussian"` if the latents are tuned, `"euclidean"` otherwise."""
        return "gaussian" if "latents" in parts_of(self.tune) else "euclidean"

    @property
    def together(self) -> int:
        """The best batch size of `render`."""
        if "guidance" in parts_of(self.tune):
            return 1  # a pass has one guidance
        if self.batch:
            return self.batch
        # Batches are not faster on a CPU, and change the last bit of a picture.
        return painting.MOST_TOGETHER if self._model().device.startswith("cuda") else 1

    def check(self) -> None:
        """Raise quickly if the model is not on this machine."""
        if self.model:
            models.locate(self.model)

    def warm_up(self) -> None:
        """Load the pipeline and encode the prompt."""
        self._layout(self._model())

    def render(
        self,
        candidates: Iterable[Vector],
        progress: Progress | None = None,
        preview: Preview | None = None,
    ) -> list[Exhibit]:
        """One JPEG picture for each candidate, in their order.

        `progress` gets the share of the work that is done after every denoising step; `preview`
        gets a few small previews of each candidate.
        """
        pictures = self._pictures(list(candidates), progress or (lambda share: None), preview)
        return [_exhibit(picture) for picture in pictures]

    def picture(self, candidate: Vector) -> NDArray[np.uint8]:
        """Return the picture of a candidate, (rows, columns, 3), RGB."""
        return self._pictures([candidate], lambda share: None)[0]

    def drift(self, candidate: Vector) -> dict[str, Any] | None:
        """How far tuned latents are from noise; see `zorank.renderers.latents.drift`."""
        if "latents" not in parts_of(self.tune):
            return None
        point = self._layout(self._model()).read(candidate)
        # Packed latents, (places, channels), have their channels last.
        first = point.latents if point.latents.ndim > 2 else point.latents.T
        return latents.drift(first.ravel().astype(float), first.shape)

    def _model(self) -> Model:
        return models.load(self.model, self.device, self.dtype)

    def _layout(self, model: Model) -> Layout:
        with model.lock:
            encoded = self._encoded(model)
            shape = painting.latent_shape(model, encoded, self.width, self.height)
        parts = parts_of(self.tune)
        if "prompt" in parts and "prompt_embeds" not in encoded:
            kind = type(model.pipeline).__name__
            raise InvalidInput(
                f"the prompt of a {kind} cannot be tuned: it takes no embedding of ours; "
                "tune latents or guidance"
            )
        rank, spread = self.prompt_rank, self.guidance_spread
        return Layout(parts, shape, rank, self.guidance, spread, self.noise_seed)

    def _encoded(self, model: Model) -> models.Encoded:
        try:
            return painting.encode(model, self.prompt, self.negative_prompt)
        except ZorankError:
            raise
        except Exception as error:
            raise _failed(error) from error

    def _pictures(
        self,
        candidates: list[Vector],
        progress: Progress,
        preview: Preview | None = None,
    ) -> list[NDArray[np.uint8]]:
        model = self._model()
        layout = self._layout(model)
        points = [layout.read(candidate) for candidate in candidates]
        with model.lock:
            encoded = self._encoded(model)

            def paint_some(some: Any, done: int) -> list[NDArray[np.uint8]]:
                def tell(share: float) -> None:
                    progress((done + share * len(some)) / len(points))

                def show(previews: list[NDArray[np.uint8]]) -> None:
                    for position, picture in enumerate(previews, done):
                        if preview is not None:
                            preview(position, _exhibit(picture))

                return self._paint(model, encoded, some, tell, show if preview else None)

            size = min(self.together, model.fits.get(layout.shape, self.together))
            pictures, fits = painting.in_batches(points, size, paint_some)
            if fits < size:
                model.fits[layout.shape] = fits
        return pictures

    def _paint(
        self,
        model: Model,
        encoded: models.Encoded,
        points: list[Point],
        progress: painting.Progress,
        preview: painting.Preview | None,
    ) -> list[NDArray[np.uint8]]:
        try:
            return painting.paint(
                model,
                encoded,
                points,
                scheduler=samplers.make(self.sampler, model.scheduler),
                steps=self.steps,
                width=self.width,
                height=self.height,
                prompt_spread=self.prompt_spread,
                progress=progress,
                preview=preview,
            )
        except ZorankError:
            raise
        except Exception as error:  # a model may raise anything
            if painting.is_out_of_memory(error):
                raise
            raise _failed(error) from error


MAX_NUMBER = 1e300
"""Larger numbers count as infinite."""


def _check_type(name: str, found: Any, wanted: type) -> None:
    """Raise unless an option, from a form or a command, has the type of its default."""
    number = is_real(found) and bool(abs(plain(found)) < MAX_NUMBER)
    fits = {
        str: isinstance(found, str),
        int: number and float(found).is_integer(),
        float: number,
    }
    if not fits[wanted]:
        words = {str: "a text", int: "a whole number", float: "a number"}
        raise InvalidInput(f"{name} must be {words[wanted]}, found {short(found)}")


def _exhibit(picture: NDArray[np.uint8]) -> Exhibit:
    return Exhibit("image/jpeg", jpeg(picture))


def _failed(error: Exception) -> RenderError:
    said = " ".join(f"{type(error).__name__}: {error}".split())
    return RenderError(f"the model failed ({said:.200}); the run is unchanged: try again")


__all__ = ["PARTS", "Diffusers"]
