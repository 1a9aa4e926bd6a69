"""The renderer of diffusers pipelines, on tiny ones with random weights, the way a user goes."""

import json
from dataclasses import replace
from functools import wraps

import numpy as np
import pytest

from tests.helpers import tiny_pipelines
from tests.helpers.processes import python
from zorank.errors import InvalidInput, RenderError, install_command
from zorank.renderers import Diffusers
from zorank.renderers.diffusers import models, painting, previews, samplers
from zorank.renderers.diffusers.tuning import Layout, parts_of, prompt_offset
from zorank.renderers.pictures import opened, resized

# diffusers itself is not yet at peace with NumPy 2.
pytestmark = pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning")


def candidates(renderer, count=3, seed=0):
    return list(np.random.default_rng(seed).standard_normal((count, renderer.dim)))


def pictures(renderer, points):
    return [exhibit.data for exhibit in renderer.render(points)]


# What a candidate is.


def test_it_is_in_the_registry_and_made_without_loading_anything():
    program = (
        "import sys; from zorank.renderers import REGISTRY; REGISTRY['diffusers']();"
        "print([name for name in ('torch', 'diffusers', 'PIL') if name in sys.modules])"
    )
    assert python(program) == "[]\n"


def test_the_dimension_is_what_the_pipeline_says(tiny):
    assert tiny.dim == 4 * 32 * 32
    assert replace(tiny, width=32, height=48).dim == 4 * 16 * 24
    assert replace(tiny, tune="latents+guidance+prompt").dim == 4 * 32 * 32 + 8 + 1
    assert replace(tiny, tune="prompt", prompt_rank=5).dim == 5
    assert (tiny.space, replace(tiny, tune="prompt").space) == ("gaussian", "euclidean")


def test_the_picture_has_the_wanted_size(tiny):
    wide = replace(tiny, width=32, height=48)
    assert wide.picture(candidates(wide)[0]).shape == (48, 32, 3)
    with pytest.raises(InvalidInput, match=r"refuses 33 × 32: .*divisible by 8"):
        replace(tiny, width=33, height=32).dim  # noqa: B018


def test_a_candidate_of_another_length_is_refused(tiny):
    with pytest.raises(InvalidInput, match="needs a candidate of 4096 numbers, found 3"):
        tiny.render([np.zeros(3)])


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"tune": "everything"}, "joined by"),
        ({"tune": "latents+latents"}, "joined by"),
        ({"steps": 0}, "steps must be from 1"),
        ({"steps": 2.5}, "steps must be a whole number"),
        ({"steps": True}, "steps must be a whole number"),
        ({"guidance": "high"}, "guidance must be a number"),
        ({"guidance": float("nan")}, "guidance must be a number"),
        ({"prompt": 5}, "prompt must be a text"),
        ({"dtype": "int8"}, "dtype must be one of"),
        ({"width": 512}, "give both width and height"),
        ({"device": "toaster"}, "device must be one of"),
    ],
)
def test_nonsense_is_refused_in_a_sentence(options, words):
    with pytest.raises(InvalidInput, match=words):
        Diffusers(**options)


def test_the_parts_of_a_candidate_lie_in_one_order_however_they_are_named():
    assert parts_of("guidance + latents") == ("latents", "guidance")
    layout = Layout(parts_of("guidance+prompt+latents"), (2, 3), 2, 7.5, 0.25, 0)
    point = layout.read(np.arange(9.0))
    assert point.latents.tolist() == [[0, 1, 2], [3, 4, 5]]
    assert point.prompt.tolist() == [6, 7]
    assert point.guidance == pytest.approx(7.5 * np.exp(0.25 * 8))


def test_an_offset_of_the_prompt_is_as_long_as_the_prompt_and_of_low_rank():
    rng = np.random.default_rng(0)
    embedding = rng.standard_normal((20, 30)).astype(np.float32)
    offsets = [prompt_offset(rng.standard_normal(4), embedding) for _ in range(200)]
    assert np.linalg.matrix_rank(offsets[0], tol=1e-3) == 4
    lengths = np.linalg.norm(offsets, axis=(1, 2)) / np.linalg.norm(embedding)
    assert np.sqrt(np.mean(lengths**2)) == pytest.approx(1, abs=0.1)


# Pictures.


@pytest.mark.parametrize("sampler", ["dpm++", "ddim", "own"])
def test_the_latents_are_what_the_pipeline_would_have_drawn(sd, sampler):
    """Exactly the picture that the pipeline itself makes from this noise and this prompt."""
    import diffusers
    import torch

    pipeline = diffusers.DiffusionPipeline.from_pretrained(sd, local_files_only=True)
    pipeline.set_progress_bar_config(disable=True)
    if sampler != "own":
        pipeline.scheduler = samplers.make(sampler, pipeline.scheduler)
    seeded = torch.Generator().manual_seed(3)
    drawn = torch.randn((1, 4, 32, 32), generator=torch.Generator().manual_seed(3))
    said = {"prompt": "a red house", "negative_prompt": "rain", "guidance_scale": 4.0}
    wanted = pipeline(**said, num_inference_steps=3, generator=seeded, output_type="np").images[0]
    renderer = Diffusers(
        model=sd,
        prompt="a red house",
        negative_prompt="rain",
        sampler=sampler,
        steps=3,
        guidance=4.0,
    )
    found = renderer.picture(drawn.numpy().ravel().astype(float))
    assert np.array_equal(found, (wanted * 255).round().astype(np.uint8))


@pytest.mark.parametrize("family", ["sd", "sdxl"])
@pytest.mark.parametrize("tune", ["latents", "latents+guidance+prompt"])
def test_every_picture_can_be_made_again_alone(request, family, tune):
    model = request.getfixturevalue(family)
    renderer = Diffusers(model=model, prompt="a red house", steps=2, tune=tune)
    points = candidates(renderer)
    together = pictures(renderer, points)
    assert len(set(together)) == 3
    again = Diffusers(**json.loads(json.dumps(vars(renderer))))
    assert [pictures(again, [point])[0] for point in reversed(points)] == together[::-1]


def test_every_part_that_is_tuned_changes_the_picture_and_the_rest_does_not(tiny):
    for part in ("prompt", "guidance"):
        renderer = replace(tiny, tune=part)
        still, moved = np.zeros(renderer.dim), np.full(renderer.dim, 2.0)
        assert pictures(renderer, [still]) != pictures(renderer, [moved])
    only = replace(tiny, tune="guidance")
    assert pictures(only, [np.zeros(1)]) != pictures(replace(only, noise_seed=1), [np.zeros(1)])
    assert pictures(replace(tiny, prompt="a blue boat"), candidates(tiny)) != pictures(
        tiny, candidates(tiny)
    )


def test_a_small_step_is_a_small_change(tiny):
    here, there = candidates(tiny, 2)
    near = np.cos(0.05) * here + np.sin(0.05) * there
    pixels = [tiny.picture(x).astype(float) for x in (here, near, there)]
    small, large = (np.abs(pixels[0] - other).mean() for other in pixels[1:])
    assert small < 0.2 * large


def test_progress_rises_with_every_step_of_every_picture(tiny):
    shares = []
    tiny.render(candidates(tiny, 2), progress=shares.append)
    assert len(shares) == 2 * tiny.steps
    assert shares == sorted(set(shares))
    assert 0 < shares[0] < shares[-1] < 1


@pytest.mark.parametrize("family", ["sd", "sdxl"])
@pytest.mark.parametrize("sampler", ["dpm++", "ddim"])
def test_previews_come_nearer_to_the_picture_and_leave_it_as_it_is(
    request, monkeypatch, family, sampler
):
    monkeypatch.setattr(previews, "SIDE", 64)  # a decoder of random weights makes nothing of less
    model = request.getfixturevalue(family)
    renderer = Diffusers(model=model, prompt="a red house", steps=12, sampler=sampler)
    points, seen = candidates(renderer, 2), {0: [], 1: []}
    watched = renderer.render(points, preview=lambda position, one: seen[position].append(one))
    assert [one.data for one in watched] == pictures(renderer, points)
    for position, shown in seen.items():
        assert len(shown) == previews.MOST
        whole = opened(watched[position].data).astype(float)
        small = [resized(opened(one.data), len(whole)) for one in shown]
        away = [np.abs(one - whole).mean() for one in small]
        assert away[-1] < away[0]


def test_a_preview_that_fails_is_no_preview(tiny, monkeypatch):
    monkeypatch.setattr(previews, "_decoded", lambda pipeline, latents: 1 / 0)
    seen = []
    watched = tiny.render(candidates(tiny, 1), preview=lambda *shown: seen.append(shown))
    assert seen == []
    assert [one.data for one in watched] == pictures(tiny, candidates(tiny, 1))


def test_the_prompt_is_encoded_once_and_the_pipeline_loaded_once(sd, monkeypatch):
    model = models.load(sd)
    calls = []
    encode = model.pipeline.encode_prompt

    @wraps(encode)
    def counted(*given, **named):
        calls.append(named.get("prompt", *given[:1]))
        return encode(*given, **named)

    monkeypatch.setattr(model.pipeline, "encode_prompt", counted, raising=False)
    renderer = Diffusers(model=sd, prompt="once", steps=1)
    renderer.render(candidates(renderer, 2))
    replace(renderer).render(candidates(renderer, 1))
    # The pipeline calls it again with the embedding, which it then only passes on.
    assert calls.count("once") == 1
    assert models.load(sd) is model


def test_drift_of_a_draw_is_usual_and_of_a_tilted_one_is_not(tiny):
    (point,) = candidates(tiny, 1)
    assert not tiny.drift(point)["unusual"]
    tilted = point.copy()
    tilted[: tilted.size // 4] += 0.5  # the first of four channels
    found = tiny.drift(tilted)
    assert found["unusual"]
    assert found["mean"][0] > 10
    assert replace(tiny, tune="guidance").drift(np.zeros(1)) is None


# Memory.


class Bounded:
    """Stands at the boundary: a device that has room for so many pictures at once."""

    def __init__(self, monkeypatch, room, error):
        self.tried = []

        def bounded(model, encoded, points, *how):
            self.tried.append(len(points))
            if len(points) > room:
                raise error
            return [np.full((8, 8, 3), round(p.latents[0, 0, 0]), np.uint8) for p in points]

        monkeypatch.setattr(painting, "paint", bounded)


def out_of_memory():
    import torch

    return [
        torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB"),
        RuntimeError("MPS backend out of memory (MPS allocated: 5.92 GB)"),
        MemoryError(),
    ]


@pytest.mark.parametrize("kind", range(3))
def test_too_little_memory_halves_the_batch_and_is_remembered(tiny, monkeypatch, kind):
    renderer = replace(tiny, batch=6)
    points = [np.full(renderer.dim, 10.0 * number) for number in range(6)]
    monkeypatch.setattr(models.load(tiny.model), "fits", {})
    device = Bounded(monkeypatch, 2, out_of_memory()[kind])
    painted = renderer._pictures(points, lambda share: None)
    assert [picture[0, 0, 0] for picture in painted] == [0, 10, 20, 30, 40, 50]
    assert device.tried == [6, 3, 1, 1, 1, 1, 1, 1]
    device.tried.clear()
    renderer.render(points[:2])
    assert device.tried == [1, 1]


def test_too_little_memory_for_a_single_picture_is_said(tiny, monkeypatch):
    Bounded(monkeypatch, 0, out_of_memory()[0])
    with pytest.raises(RenderError, match="not enough memory for a single picture; choose a sm"):
        tiny.render(candidates(tiny, 1))


def test_a_batch_gives_the_pictures_of_single_ones_but_for_the_last_bit(tiny):
    renderer = replace(tiny, batch=3)
    points = candidates(tiny, 3)
    batched = renderer._pictures(points, lambda share: None)
    for point, picture in zip(points, batched, strict=True):
        assert np.abs(tiny.picture(point).astype(int) - picture).max() <= 1


# Samplers.


@pytest.mark.parametrize("sampler", ["euler a", "ddpm", "sde-dpmsolver++", "DPM++"])
def test_a_sampler_that_is_not_on_offer_is_refused_with_the_reason(sampler):
    with pytest.raises(InvalidInput, match="only samplers that add no noise"):
        Diffusers(sampler=sampler)


def own_scheduler(name, **settings):
    import diffusers

    return tiny_pipelines.scheduler(getattr(diffusers, name), **settings)


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("EulerAncestralDiscreteScheduler", {}),
        ("DDPMScheduler", {}),
        ("DPMSolverMultistepScheduler", {"algorithm_type": "sde-dpmsolver++"}),
    ],
)
def test_a_pipelines_own_sampler_is_refused_if_it_adds_noise(tiny, monkeypatch, name, settings):
    monkeypatch.setattr(models.load(tiny.model), "scheduler", own_scheduler(name, **settings))
    renderer = replace(tiny, sampler="own")
    with pytest.raises(InvalidInput, match=r"own sampler, \w+, .*noise.*choose sampler dpm"):
        renderer.render(candidates(tiny, 1))
    # Its noise schedule is good for the others all the same.
    assert len({*pictures(tiny, candidates(tiny)), *pictures(tiny, candidates(tiny))}) == 3


def test_a_flow_models_own_sampler_is_the_one_to_take():
    import diffusers

    flow = diffusers.FlowMatchEulerDiscreteScheduler()
    assert type(samplers.make("own", flow)) is type(flow)
    with pytest.raises(InvalidInput, match="choose sampler own"):
        samplers.make("dpm++", flow)
    noisy = diffusers.FlowMatchEulerDiscreteScheduler(stochastic_sampling=True)
    with pytest.raises(InvalidInput, match="stochastic"):
        samplers.make("own", noisy)


# Models that are not there, or of another kind.


def test_a_model_that_is_not_there(tmp_path, monkeypatch):
    with pytest.raises(InvalidInput, match="no model is given"):
        Diffusers().dim  # noqa: B018
    with pytest.raises(InvalidInput, match=r"there is no folder '\./nowhere'"):
        models.locate("./nowhere")
    with pytest.raises(InvalidInput, match=r"has no model_index\.json"):
        models.locate(str(tmp_path))
    with pytest.raises(InvalidInput, match="hf download somebody/some-model "):
        models.locate("somebody/some-model")


def damaged(sd, tmp_path, **changes):
    """A copy of the pipeline whose index says something else."""
    from pathlib import Path
    from shutil import copytree

    folder = Path(copytree(sd, tmp_path / "copy"))
    index = json.loads((folder / models.INDEX).read_text())
    (folder / models.INDEX).write_text(json.dumps({**index, **changes}))
    return folder


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("StableDiffusionImg2ImgPipeline", "takes no latents"),
        ("StableDiffusionInpaintPipeline", "works on image"),
        ("DDPMPipeline", "takes no prompt"),
        ("TomorrowsPipeline", r"diffusers \S+ does not know"),
    ],
)
def test_a_pipeline_of_another_kind_is_refused(sd, tmp_path, kind, words):
    folder = damaged(sd, tmp_path, _class_name=kind)
    with pytest.raises(InvalidInput, match=words):
        models.load(str(folder))


def test_a_half_downloaded_pipeline_is_refused(sd, tmp_path):
    folder = damaged(sd, tmp_path)
    (folder / "unet" / "diffusion_pytorch_model.safetensors").unlink()
    with pytest.raises(InvalidInput, match=r"cannot be loaded .* download it again"):
        models.load(str(folder))
    (folder / models.INDEX).write_text("{")
    with pytest.raises(InvalidInput, match="cannot be read"):
        models.load(str(folder))


def test_a_missing_library_is_named_with_its_remedy(sd):
    program = (
        "import sys; sys.modules['diffusers'] = None; from zorank.renderers import Diffusers\n"
        f"try: Diffusers(model={sd!r}).dim\n"
        "except ImportError as error: print(error)"
    )
    assert install_command("diffusion") in python(program)
