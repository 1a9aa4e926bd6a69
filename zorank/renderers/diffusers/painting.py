"""Renders points: the only place where a pipeline is called.

The pipeline itself scales the latents it is given to its sampler's first noise level, as it does
with noise that it draws.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from inspect import Parameter, signature
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zorank.errors import InvalidInput, RenderError
from zorank.renderers.diffusers import photos, samplers
from zorank.renderers.diffusers.models import Encoded, Model
from zorank.renderers.diffusers.photos import Photo
from zorank.renderers.diffusers.previews import Previews
from zorank.renderers.diffusers.tuning import Point, prompt_offset
from zorank.types import Vector

Picture = NDArray[np.uint8]
Progress = Callable[[float], None]
Preview = Callable[[list[Picture]], None]

MOST_TOGETHER = 8
MOST_PROMPTS = 64
"""The number of encoded prompts that are cached."""


OUT_OF_MEMORY = ("out of memory", "not enough memory", "can't allocate memory")
"""Parts of torch's messages if a GPU or this machine has no memory left."""


@dataclass(frozen=True, eq=False)
class Sampling:
    """The settings of sampling.

    Attributes:
        sampler, spacing: see `samplers`.
        steps: denoising steps.
        width, height: in pixels; 0 is the model's default.
        prompt_spread: how far a tuned prompt moves.
        seed: the seed of a sampler that adds noise.
        photo: what pictures start from, if it is not noise alone.
    """

    sampler: str
    spacing: str
    steps: int
    width: int
    height: int
    prompt_spread: float
    seed: int
    photo: Photo | None = None


class _Shape(Exception):
    """Returns the shape of the latents from inside a pipeline, before it starts to sample."""


def encode(
    model: Model, prompt: str, negative_prompt: str, weights: tuple[float, ...] = ()
) -> Encoded:
    """Encode the prompts once for all pictures; LoRAs with these weights may change that."""
    key = (prompt, negative_prompt, weights if model.prompts_differ else ())
    model.weigh(weights)
    if key not in model.encoded:
        if len(model.encoded) >= MOST_PROMPTS:
            model.encoded.clear()
        model.encoded[key] = _encode(model, prompt, negative_prompt)
    return model.encoded[key]


def _encode(model: Model, prompt: str, negative_prompt: str) -> Encoded:
    encoder = getattr(model.pipeline, "encode_prompt", None)
    wanted = signature(encoder).parameters if encoder else {}
    if encoder is None or "negative_prompt" not in wanted:
        # A pipeline with another kind of encoder gets the prompt as text in each call.
        said = {"prompt": prompt, "negative_prompt": negative_prompt}
        return {name: text for name, text in said.items() if name in model.takes and text}
    needed = {name: None for name, p in wanted.items() if p.default is Parameter.empty}
    given = {
        **needed,
        "prompt": prompt,
        "negative_prompt": negative_prompt,
        "device": model.device,
        "num_images_per_prompt": 1,
        "do_classifier_free_guidance": True,
    }
    import torch

    with torch.no_grad():
        tensors = encoder(**{name: value for name, value in given.items() if name in wanted})
    return dict(zip(_embeddings(model), tensors, strict=False))


def _embeddings(model: Model) -> list[str]:
    """Return the names of the values that encode_prompt returns, in their order."""
    if "pooled_prompt_embeds" in model.takes:
        prompts = ["prompt_embeds", "negative_prompt_embeds"]
        return [*prompts, "pooled_prompt_embeds", "negative_pooled_prompt_embeds"]
    if "prompt_attention_mask" in model.takes:
        prompts = ["prompt_embeds", "prompt_attention_mask"]
        return [*prompts, "negative_prompt_embeds", "negative_prompt_attention_mask"]
    return ["prompt_embeds", "negative_prompt_embeds"]


def latent_shape(model: Model, encoded: Encoded, width: int, height: int) -> tuple[int, ...]:
    """Return the shape of one picture's latents, as the pipeline prepares them."""
    if (width, height) in model.shapes:
        return model.shapes[width, height]
    prepare = getattr(model.pipeline, "prepare_latents", None)
    if prepare is None:
        kind = type(model.pipeline).__name__
        raise InvalidInput(
            f"a {kind} has no method prepare_latents, so its latents are unknown; use another "
            "pipeline, such as StableDiffusionPipeline"
        )

    def tell(*arguments: Any, **named: Any) -> None:
        latents = prepare(*arguments, **named)
        raise _Shape((latents[0] if isinstance(latents, tuple) else latents).shape[1:])

    model.pipeline.prepare_latents = tell
    try:
        model.pipeline(**encoded, **_size(width, height), num_inference_steps=1)
    except _Shape as found:
        model.shapes[width, height] = tuple(found.args[0])
    except ValueError as error:  # a size that the pipeline cannot paint
        raise InvalidInput(f"the pipeline refuses {width} × {height}: {error}") from error
    finally:
        del model.pipeline.prepare_latents
    return model.shapes[width, height]


def paint(
    model: Model,
    encoded: Encoded,
    points: Sequence[Point],
    sampling: Sampling,
    progress: Progress,
    preview: Preview | None = None,
) -> list[Picture]:
    """Render points that have the same guidance and weights of LoRAs in one batch."""
    import torch

    model.weigh(points[0].weights)
    scheduler = samplers.make(sampling.sampler, model.scheduler, sampling.spacing)
    noise = torch.from_numpy(np.stack([point.latents for point in points]))
    given = {
        **_repeated(encoded, len(points)),
        "num_inference_steps": sampling.steps,
        "guidance_scale": points[0].guidance,
        "generator": samplers.generators(scheduler, sampling.seed, len(points)),
        "output_type": "np",
        "callback_on_step_end": _after_step(scheduler, progress, preview),
    }
    if points[0].prompt is not None:
        moved = _moved_prompts(given["prompt_embeds"], points, sampling.prompt_spread)
        given["prompt_embeds"] = moved
    begun = _begun(model, sampling, scheduler, noise.to(model.device, model.dtype))
    with begun as (pipeline, more):
        takes = signature(type(pipeline).__call__).parameters
        known = {name: value for name, value in (given | more).items() if name in takes}
        images = np.asarray(pipeline(**known).images)
    if not np.isfinite(images).all():
        raise RenderError(
            "the model returned NaN: half precision may be too small for it; set dtype to float32"
        )
    return list((images * 255).round().astype(np.uint8))


def _after_step(
    scheduler: Any, progress: Progress, preview: Preview | None
) -> Callable[..., dict[str, Any]]:
    """Return the function that diffusers calls after each step, to report it."""
    previews = Previews(scheduler) if preview is not None else None

    def after_step(pipeline: Any, step: int, _: Any, kept: dict[str, Any]) -> dict[str, Any]:
        progress((step + 1) / (pipeline.num_timesteps + 1))  # the last part is the decoding
        if (
            preview is not None
            and previews is not None
            and previews.due(step, pipeline.num_timesteps)
        ):
            pictures = previews.pictures(pipeline)
            if pictures is not None:
                preview(pictures)
        return kept

    return after_step


@contextmanager
def _begun(
    model: Model, sampling: Sampling, scheduler: Any, noise: Any
) -> Iterator[tuple[Any, dict[str, Any]]]:
    """Yield the pipeline to call, and its arguments that say where sampling begins."""
    size = _size(sampling.width, sampling.height)
    if sampling.photo is not None:
        sides = sampling.width, sampling.height
        begun = photos.started(model, sampling.photo, scheduler, noise, *sides)
        with begun as (pipeline, more):
            yield pipeline, size | more
        return
    model.pipeline.scheduler = scheduler
    try:
        yield model.pipeline, size | {"latents": noise}
    finally:
        model.pipeline.scheduler = model.scheduler  # it may be a user's pipeline


def in_batches(
    candidates: Sequence[Vector],
    size: int,
    paint_some: Callable[[Sequence[Vector], int], list[Picture]],
) -> tuple[list[Picture], int]:
    """Render in batches of `size`, halved when memory is short; also return the final size."""
    pictures: list[Picture] = []
    while len(pictures) < len(candidates):
        some = candidates[len(pictures) : len(pictures) + size]
        try:
            pictures += paint_some(some, len(pictures))
        except Exception as error:
            if not is_out_of_memory(error):
                raise
            if len(some) == 1:
                raise RenderError(
                    "there is not enough memory for a single picture; choose a smaller width and "
                    "height, a smaller model, or close other programs that use memory"
                ) from error
            _free_memory()
            size = len(some) // 2
    return pictures, size


def is_out_of_memory(error: Exception) -> bool:
    """Whether an error means that a device is out of memory."""
    if isinstance(error, RenderError):
        return False
    said = str(error).lower()
    return isinstance(error, MemoryError) or any(words in said for words in OUT_OF_MEMORY)


def _free_memory() -> None:
    import gc

    import torch

    gc.collect()
    if torch.cuda.is_available():
        torch.cuda.empty_cache()


def _size(width: int, height: int) -> dict[str, int]:
    return {name: value for name, value in (("width", width), ("height", height)) if value}


def _repeated(encoded: Encoded, count: int) -> Encoded:
    """Repeat the encoding for `count` pictures."""
    return {
        name: [value] * count if isinstance(value, str) else value.repeat_interleave(count, dim=0)
        for name, value in encoded.items()
        if value is not None
    }


def _moved_prompts(embeds: Any, points: Sequence[Point], spread: float) -> Any:
    import torch

    base = embeds[0].float().cpu().numpy()
    offsets = [spread * prompt_offset(p.prompt, base) for p in points if p.prompt is not None]
    return embeds + torch.from_numpy(np.stack(offsets)).to(embeds.device, embeds.dtype)
