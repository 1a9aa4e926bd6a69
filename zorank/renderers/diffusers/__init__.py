"""Pictures of a text-to-image diffusion model: Stable Diffusion 1, 2, XL and their relatives.

The model's weights are fixed. A candidate is the initial noise and, optionally, a change of the
prompt's embedding, of the guidance and of the weights of LoRAs. `tuning` maps candidates to these
parts, `adapters` loads LoRAs, `samplers` selects deterministic samplers, `files` finds models and
`models` loads them, `photos` starts from a photo, `painting` calls pipelines.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zorank.errors import InvalidInput, RenderError, ZorankError, one_line
from zorank.renderers import latents
from zorank.renderers.diffusers import (
    adapters,
    checks,
    drafts,
    files,
    models,
    noise,
    painting,
    photos,
    samplers,
)
from zorank.renderers.diffusers.adapters import WeightRange
from zorank.renderers.diffusers.models import DTYPES, Model
from zorank.renderers.diffusers.painting import Sampling
from zorank.renderers.diffusers.tuning import PARTS, Layout, Point, parts_of
from zorank.renderers.interface.hooks import Preview, Progress
from zorank.renderers.options import option
from zorank.renderers.pictures import jpeg
from zorank.renderers.starts import Seed
from zorank.types import Exhibit, Vector, Vectors


@dataclass(frozen=True)
class Diffusers:
    """Renders with a diffusers pipeline that is on this machine.

    Attributes:
        prompt: what the picture shows.
        negative_prompt: what it should not show.
        model: the folder of a pipeline, a .safetensors file, or the hub id of a downloaded one.
        image: a photo that pictures start from; empty for noise alone.
        strength: how much noise is added to the photo, from 0 to 1.
        lora: LoRA files with their weights, such as "ink.safetensors:0.8, paper.safetensors:0.3".
        tune: what a candidate stands for: latents, prompt, guidance, adapters (the weights of the
            LoRAs), or several joined by +.
        config: the configuration of a single file's family: a pipeline's folder or hub id.
        sampler: dpm++, ddim, euler, lcm, or own (the pipeline's, if it adds no noise).
        spacing: which noise levels the steps use: trailing, leading, linspace, or own (the
            pipeline's setting).
        steps: denoising steps; more are slower and finer.
        guidance: how closely the prompt is followed; if it is tuned, its median.
        width: of the picture in pixels; 0 is the default of the model.
        height: of the picture in pixels; 0 is the default of the model.
        prompt_rank: coordinates of a tuned prompt.
        prompt_spread: standard deviation of a tuned prompt, relative to its embedding's norm.
        guidance_spread: standard deviation of the logarithm of a tuned guidance.
        adapter_limit: the largest weight of a tuned LoRA.
        adapter_total: the largest sum of the weights of tuned LoRAs.
        adapter_spread: how fast the weight of a LoRA changes, if it is tuned.
        noise_seed: the seed of the latents, if they are not tuned, and of the noise of LCM.
        batch: pictures in one pass; 0 is one on a CPU, on a GPU as many as memory takes.
        device: cuda, cuda:1, mps or cpu; auto finds the best.
        dtype: float16, bfloat16 or float32; auto chooses by device.
        drafts: denoising steps of small pictures from which runs learn what is liked; 0 for none.
        pipeline: a pipeline that your Python program made, in place of `model`.
    """

    prompt: str = option("", "What the picture shows.", more=False)
    negative_prompt: str = option("", "What it should not show.", more=False)
    model: str = option(
        "",
        "A pipeline's folder, a .safetensors file, or the hub id of a downloaded pipeline.",
        more=False,
        path=files.absolute,
    )
    image: str = option(
        "", "The path of a photo that pictures start from; empty for none.", path=files.absolute
    )
    strength: float = option(0.6, "How much noise is added to the photo, up to 1.")
    lora: str = option(
        "",
        "LoRA files with weights: ink.safetensors:0.8, paper.safetensors:0.3.",
        path=adapters.absolute,
        several=True,
    )
    tune: str = option("latents", "latents, prompt, guidance, adapters, or several joined by +.")
    config: str = option(
        "", "For a .safetensors model: a folder with the files of its family.", path=files.absolute
    )
    sampler: str = option("dpm++", "All give a point one picture.", choices=samplers.SAMPLERS)
    spacing: str = option("own", "trailing for Turbo and Lightning.", choices=samplers.SPACINGS)
    steps: int = option(20, "Denoising steps; more are slower and finer.")
    guidance: float = option(7.5, "How closely the prompt is followed.")
    width: int = option(0, "In pixels; 0 is the default of the model.")
    height: int = option(0, "In pixels; 0 is the default of the model.")
    prompt_rank: int = option(8, "Coordinates of a tuned prompt.")
    prompt_spread: float = option(0.2, "How far one standard deviation moves a tuned prompt.")
    guidance_spread: float = option(0.25, "Standard deviation of log guidance, if it is tuned.")
    adapter_limit: float = option(1.5, "The largest weight of a tuned LoRA.")
    adapter_total: float = option(2.0, "The largest sum of the weights of tuned LoRAs.")
    adapter_spread: float = option(0.5, "How far one standard deviation moves a LoRA's weight.")
    noise_seed: int = option(0, "The seed of the latents if they are not tuned, and of LCM.")
    batch: int = option(0, "Pictures in one pass; 0 lets the device decide.")
    device: str = option("auto", "cuda, mps or cpu.")
    dtype: str = option("auto", "The precision.", choices=DTYPES)
    drafts: int = option(0, "Steps of small drafts that show what is liked; 0 for no drafts.")
    pipeline: Any = field(default=None, repr=False)

    # Without annotations these are not fields: a stored configuration does not have them.
    title = "Diffusion"
    description = "A Stable Diffusion model of yours: the prompt stays, the picture gets better."

    def __post_init__(self) -> None:
        checks.check_options(self)
        object.__setattr__(self, "tune", "+".join(parts_of(self.tune)))

    @property
    def dim(self) -> int:
        """The number of coordinates of a candidate; the first access loads the pipeline."""
        return self.layout(self._model()).dim

    @property
    def space(self) -> str:
        """`"gaussian"` if the latents are tuned, `"euclidean"` otherwise."""
        return "gaussian" if "latents" in parts_of(self.tune) else "euclidean"

    @property
    def together(self) -> int:
        """The best batch size of `render`."""
        if {"guidance", "adapters"} & set(parts_of(self.tune)):
            return 1  # a pass has one guidance, and one weight for each LoRA
        if self.batch:
            return self.batch
        # Batches are not faster on a CPU, and change the last bit of a picture.
        return painting.MOST_TOGETHER if self._model().device.startswith("cuda") else 1

    def check(self) -> None:
        """Raise quickly if the model is not on this machine."""
        if self.model:
            place = files.locate(self.model)
            if self.config and place.is_file():
                files.locate_config(self.config, place)
        adapters.check(adapters.parse(self.lora))
        if self.image:
            photos.check(self.image)

    def warm_up(self) -> None:
        """Load the pipeline and encode the prompt."""
        self.layout(self._model())

    def start(self, seed: Seed) -> Vector:
        """Return the candidate with the noise that other programs draw from a seed."""
        model = self._model()
        layout = self.layout(model)
        if len(layout.shape) != 3:
            raise InvalidInput(
                f"the latents of a {type(model.pipeline).__name__} are packed, so the noise of a "
                "seed is not known; start from a vector"
            )
        scale = model.pixels_per_latent
        seed.check_size(scale * layout.shape[2], scale * layout.shape[1])
        return layout.placed(noise.drawn(seed, layout.shape))

    def stored_options(self) -> dict[str, Any]:
        """Return its options, with a description in place of a pipeline."""
        options = {each.name: getattr(self, each.name) for each in fields(self)}
        if self.has_pipeline:
            options["pipeline"] = f"a {type(self.pipeline).__name__} of a Python program"
        return options

    def with_options(self, stored: Mapping[str, Any]) -> Diffusers:
        """Return a renderer with a run's options and this pipeline."""
        return replace(self, **{**stored, "pipeline": self.pipeline})

    def render(
        self, candidates: Vectors, progress: Progress | None = None, preview: Preview | None = None
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

    @property
    def look(self) -> Callable[[Vectors], NDArray[np.float64]] | None:
        """Describes drafts of candidates; None without drafts."""
        if not self.drafts:
            return None
        return lambda candidates: drafts.described(self, list(candidates))

    def drift(self, candidate: Vector) -> dict[str, Any] | None:
        """How far tuned latents are from noise; see `zorank.renderers.latents.drift`."""
        if "latents" not in parts_of(self.tune):
            return None
        point = self.layout(self._model()).read(candidate)
        # Packed latents, (places, channels), have their channels last.
        first = point.latents if point.latents.ndim > 2 else point.latents.T
        return latents.drift(first.ravel().astype(float), first.shape)

    @property
    def pixels_per_latent(self) -> int:
        """The side, in pixels, of one place of the latents."""
        return self._model().pixels_per_latent

    @property
    def has_pipeline(self) -> bool:
        """Whether a Python program has passed a pipeline; a stored run only has its name."""
        return self.pipeline is not None and not isinstance(self.pipeline, str)

    def _model(self) -> Model:
        if self.has_pipeline:
            return models.given(self.pipeline)
        if self.pipeline and not self.model:
            raise InvalidInput(
                f"this run was made with {self.pipeline}, which is not in a file; open it in a "
                "Python program with Diffusers(pipeline=...), or name the same model's folder: "
                "zorank runs set NAME model=FOLDER"
            )
        loras = adapters.parse(self.lora)
        return models.load(self.model, self.device, self.dtype, loras, self.config)

    def weight_range(self) -> WeightRange:
        """Return the weights of the LoRAs, and how coordinates change them."""
        stated = tuple(lora.weight for lora in adapters.parse(self.lora))
        return WeightRange(stated, self.adapter_limit, self.adapter_total, self.adapter_spread)

    def _sampling(self, model: Model) -> Sampling:
        """Return the sampling; with a photo, in the model's size and the photo's shape."""
        width, height = self.width, self.height
        photo = photos.Photo(self.image, self.strength) if self.image else None
        if photo is not None and not width:
            scale = model.pixels_per_latent
            rows, columns = painting.latent_shape(model, self._encoded(model), 0, 0)[-2:]
            default = columns * scale, rows * scale
            width, height = photos.size_of(photo.file, default, scale)
        how = (self.sampler, self.spacing, self.steps, width, height, self.prompt_spread)
        return Sampling(*how, self.noise_seed, photo)

    def layout(self, model: Model | None = None) -> Layout:
        """Return the layout of a candidate's coordinates."""
        model = model or self._model()
        with model.lock:
            encoded = self._encoded(model)
            sampling = self._sampling(model)
            shape = painting.latent_shape(model, encoded, sampling.width, sampling.height)
        parts = parts_of(self.tune)
        if "prompt" in parts and "prompt_embeds" not in encoded:
            kind = type(model.pipeline).__name__
            raise InvalidInput(
                f"the prompt of a {kind} cannot be tuned, because it takes no prompt embedding; "
                "tune latents or guidance"
            )
        how = (self.prompt_rank, self.guidance, self.guidance_spread, self.noise_seed)
        return Layout(parts, shape, *how, self.weight_range())

    def _encoded(self, model: Model, weights: tuple[float, ...] | None = None) -> models.Encoded:
        stated = self.weight_range().stated
        try:
            return painting.encode(
                model,
                self.prompt,
                self.negative_prompt,
                stated if weights is None else weights,
            )
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
        layout = self.layout(model)
        for candidate in candidates:
            layout.check(candidate)
        with model.lock:

            def paint_some(some: Any, done: int) -> list[NDArray[np.uint8]]:
                def tell(share: float) -> None:
                    progress((done + share * len(some)) / len(candidates))

                def show(previews: list[NDArray[np.uint8]]) -> None:
                    for position, picture in enumerate(previews, done):
                        if preview is not None:
                            preview(position, _exhibit(picture))

                points = [layout.read(candidate) for candidate in some]
                return self._paint(model, points, tell, show if preview else None)

            size = min(self.together, model.fits.get(layout.shape, self.together))
            pictures, fits = painting.in_batches(candidates, size, paint_some)
            if fits < size:
                model.fits[layout.shape] = fits
        return pictures

    def _paint(
        self,
        model: Model,
        points: list[Point],
        progress: painting.Progress,
        preview: painting.Preview | None,
    ) -> list[NDArray[np.uint8]]:
        try:
            encoded = self._encoded(model, points[0].weights)
            return painting.paint(model, encoded, points, self._sampling(model), progress, preview)
        except ZorankError:
            raise
        except Exception as error:  # a model may raise anything
            if painting.is_out_of_memory(error):
                raise
            raise _failed(error) from error


def _exhibit(picture: NDArray[np.uint8]) -> Exhibit:
    return Exhibit("image/jpeg", jpeg(picture))


def _failed(error: Exception) -> RenderError:
    return RenderError(f"the model failed ({one_line(error)}); the run is unchanged: try again")


__all__ = ["PARTS", "Diffusers"]
