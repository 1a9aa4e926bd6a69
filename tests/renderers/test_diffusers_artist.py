"""diffusers as artists use it: LoRAs, few steps, single files, photos, pipelines of one's own."""

import json
import math
from dataclasses import replace
from pathlib import Path
from shutil import copytree

import numpy as np
import pytest
from PIL import Image

from tests.helpers import tiny_pipelines
from zorank.errors import InvalidInput, MissingExtra, RenderError
from zorank.renderers import Diffusers
from zorank.renderers.diffusers import adapters, drafts, files, models, noise, samplers
from zorank.renderers.diffusers.adapters import WeightRange
from zorank.renderers.interface import resolve
from zorank.renderers.starts import start_of

# diffusers itself is not yet at peace with NumPy 2.
pytestmark = pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning")


def candidates(renderer, count=2, seed=0):
    return list(np.random.default_rng(seed).standard_normal((count, renderer.dim)))


def picture(renderer, candidate=None):
    return renderer.picture(candidates(renderer, 1)[0] if candidate is None else candidate)


@pytest.fixture(scope="module")
def loras(tmp_path_factory):
    folder = tmp_path_factory.mktemp("loras")
    ink = tiny_pipelines.save_lora(folder, "ink.safetensors", 1)
    return ink, tiny_pipelines.save_lora(folder, "paper.safetensors", 2, text=True)


@pytest.fixture(scope="module")
def single(sd, tmp_path_factory):
    return tiny_pipelines.save_single_file(sd, tmp_path_factory.mktemp("one") / "one.safetensors")


@pytest.fixture(scope="module")
def photo(tmp_path_factory):
    rows, columns = np.mgrid[:90, :120]
    pixels = np.stack([2 * columns, 2 * rows, columns + rows], axis=2).astype(np.uint8)
    file = tmp_path_factory.mktemp("photo") / "photo.jpg"
    Image.fromarray(pixels).save(file)
    return str(file)


# A pipeline that one has.


def loaded(folder):
    import diffusers

    pipeline = diffusers.DiffusionPipeline.from_pretrained(folder, local_files_only=True)
    pipeline.set_progress_bar_config(disable=True)
    return pipeline


def test_a_pipeline_that_one_has_paints_the_same_and_stays_as_it_was(sd, tiny):
    pipeline = loaded(sd)
    scheduler = pipeline.scheduler
    mine = Diffusers(pipeline=pipeline, prompt=tiny.prompt, steps=tiny.steps)
    assert np.array_equal(picture(mine), picture(tiny))
    assert pipeline.scheduler is scheduler
    assert models.given(pipeline) is models.given(pipeline)


def test_a_pipeline_of_another_kind_is_refused(sd):
    import diffusers

    pipeline = loaded(sd)
    parts = pipeline.components
    other = diffusers.StableDiffusionImg2ImgPipeline(**parts, requires_safety_checker=False)
    with pytest.raises(
        InvalidInput, match=r"that was given is a StableDiffusionImg2Img.*takes no"
    ):
        Diffusers(pipeline=other).dim  # noqa: B018
    with pytest.raises(InvalidInput, match="takes no lora option: load LoRAs into it"):
        Diffusers(pipeline=pipeline, lora="ink.safetensors")


# LoRAs.


def test_a_lora_changes_the_picture_as_much_as_its_weight_says(tiny, loras):
    plain = picture(tiny).astype(float)
    none, some, more = (
        picture(replace(tiny, lora=f"{loras[0]}:{weight}")).astype(float) for weight in (0, 0.2, 1)
    )
    assert np.array_equal(none, plain)
    assert 0 < np.abs(some - plain).mean() < np.abs(more - plain).mean()


@pytest.mark.filterwarnings("ignore:Already found a `peft_config`:UserWarning")
def test_two_loras_are_those_of_diffusers_itself(sd, tiny, loras):
    import torch

    pipeline = loaded(sd)
    for name, file in zip(["a", "b"], loras, strict=True):
        folder, _, weight_name = file.rpartition("/")
        pipeline.load_lora_weights(folder, weight_name=weight_name, adapter_name=name)
    pipeline.set_adapters(["a", "b"], [0.5, -0.3])
    renderer = replace(tiny, lora=f"{loras[0]}:0.5, {loras[1]}:-0.3")
    point = candidates(renderer, 1)[0]
    latents = torch.from_numpy(point.reshape(1, 4, 32, 32).astype(np.float32))
    pipeline.scheduler = samplers.make("dpm++", pipeline.scheduler)
    said = {"prompt": tiny.prompt, "negative_prompt": "", "num_inference_steps": tiny.steps}
    wanted = pipeline(**said, latents=latents, guidance_scale=7.5, output_type="np").images[0]
    assert np.array_equal(renderer.picture(point), (wanted * 255).round().astype(np.uint8))


def test_tuned_weights_are_coordinates_and_every_picture_can_be_made_again(tiny, loras):
    text = f"{loras[0]}:0.5,{loras[1]}:0.3"
    renderer = replace(tiny, lora=text, tune="latents+adapters")
    assert renderer.dim == 4096 + 2
    points = candidates(renderer, 3)
    painted = [exhibit.data for exhibit in renderer.render(points)]
    again = Diffusers(**json.loads(json.dumps(vars(renderer))))
    assert [again.render([point])[0].data for point in points[::-1]] == painted[::-1]
    only = replace(renderer, tune="adapters")
    still = np.zeros(2)
    assert np.array_equal(
        only.picture(still), replace(tiny, lora=text, tune="guidance").picture(np.zeros(1))
    )
    for moved in ([2.0, 0.0], [0.0, 2.0]):
        assert not np.array_equal(only.picture(np.array(moved)), only.picture(still))


def test_weights_stay_within_their_limit_and_their_sum_within_its_own():
    found = WeightRange(stated=(0.8, -0.4), limit=1.5, total=2.0, spread=0.5)
    assert found.at([0, 0]) == pytest.approx((0.8, -0.4))
    for z in np.random.default_rng(0).standard_normal((200, 2)) * 20:
        first, second = found.at(z)
        assert 0 <= first <= 1.5
        assert -1.5 <= second <= 0
        assert abs(first) + abs(second) <= 2.0 + 1e-12
    assert sum(map(abs, found.at([50, -50]))) == pytest.approx(1.5 + 0, abs=1e-6)
    assert sum(map(abs, found.at([50, 50]))) == pytest.approx(2.0)
    step = np.abs(np.subtract(found.at([1.01, 0]), found.at([1, 0])))
    assert step[0] < 0.01 * 0.5 * 1.5


def test_the_text_of_loras_is_read_and_made_absolute(tmp_path, monkeypatch, loras):
    one, two = adapters.parse(r" ink.safetensors:0.8, C:\paper.safetensors ")
    assert (one.file, one.weight) == ("ink.safetensors", 0.8)
    assert (two.file, two.weight) == (r"C:\paper.safetensors", 1.0)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ink.safetensors").touch()
    text = adapters.absolute("ink.safetensors:0.123456789,gone.safetensors")
    assert text == f"{tmp_path}/ink.safetensors:0.123456789,gone.safetensors:1.0"
    assert adapters.absolute("") == ""


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"tune": "adapters"}, "no LoRA whose weight could be tuned"),
        ({"lora": "a.safetensors:11"}, "weight of a LoRA must be from -10 to 10"),
        ({"lora": "a.safetensors:1.6", "tune": "adapters"}, "between 0 and adapter_limit = 1.5"),
        ({"lora": "a.safetensors:0", "tune": "adapters"}, "between 0 and adapter_limit"),
        (
            {"lora": ",".join(["a.safetensors:1"] * 3), "tune": "adapters"},
            "sum 3, above adapter_t",
        ),
        ({"lora": ",".join(["a"] * 17)}, "at most 16 LoRAs"),
        ({"spacing": "wide"}, "no spacing named 'wide'"),
        ({"image": "photo.jpg", "strength": 0}, "strength must be from 0.01 to 1"),
        ({"image": "photo.jpg", "strength": 0.1, "steps": 4}, "leaves none of 4 steps"),
    ],
)
def test_options_that_cannot_be_are_refused_in_a_sentence(options, words):
    with pytest.raises(InvalidInput, match=words):
        Diffusers(**options)


def test_files_that_are_no_loras_of_this_model_are_refused(tiny, loras, single, sdxl, tmp_path):
    def refused(text, words, **options):
        with pytest.raises(InvalidInput, match=words):
            replace(tiny, lora=text, **options).dim  # noqa: B018

    refused("gone.safetensors:0.5", "the LoRA gone.safetensors is not there")
    (tmp_path / "ink.ckpt").write_bytes(b"\x80\x02")
    refused(f"{tmp_path}/ink.ckpt", "opening it can run any program; use .* as .safetensors")
    (tmp_path / "cut.safetensors").write_bytes(Path(loras[0]).read_bytes()[:-50])
    refused(f"{tmp_path}/cut.safetensors:1", "does not fit the model|is cut short")
    (tmp_path / "text.safetensors").write_text("hello, I am not a file of weights")
    refused(f"{tmp_path}/text.safetensors:1", "is no .safetensors file, or is cut short")
    refused(single, "does not fit the model .* trained for a model of this family")
    refused(loras[0], "does not fit the model|changes nothing in the model", model=sdxl)


def test_without_peft_a_lora_is_refused_with_the_remedy(tiny, loras, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "peft", None)
    monkeypatch.setattr(models, "_loaded", type(models._loaded)())
    with pytest.raises(MissingExtra, match="needs peft, which is not installed; install it with"):
        replace(tiny, lora=loras[0]).dim  # noqa: B018


# Few steps.


def test_euler_with_trailing_steps_is_what_turbo_and_lightning_need(sd, tiny):
    saved = models.load(sd).scheduler
    made = samplers.make("euler", saved, "trailing")
    made.set_timesteps(4)
    assert type(made).__name__ == "EulerDiscreteScheduler"
    assert made.timesteps.tolist() == [999, 749, 499, 249]
    turbo = replace(tiny, sampler="euler", spacing="trailing", steps=1, guidance=0.0)
    points = candidates(turbo)
    first, second = (picture(turbo, point) for point in points)
    assert not np.array_equal(first, second)
    assert np.array_equal(first, picture(turbo, points[0]))


def test_lcm_has_one_picture_for_each_point_whatever_else_is_in_the_batch(tiny):
    renderer = replace(tiny, sampler="lcm", steps=4, batch=3)
    points = candidates(renderer, 3)
    together = renderer._pictures(points, lambda share: None)
    for point, found in zip(points, together, strict=True):
        assert np.abs(picture(renderer, point).astype(int) - found).max() <= 1
    assert not np.array_equal(picture(replace(renderer, noise_seed=1), points[0]), together[0])
    near = np.cos(0.05) * points[0] + np.sin(0.05) * points[1]
    pixels = [picture(renderer, x).astype(float) for x in (points[0], near, points[1])]
    small, large = (np.abs(pixels[0] - other).mean() for other in pixels[1:])
    assert small < 0.2 * large


def test_the_own_sampler_of_an_lcm_may_be_taken():
    import diffusers

    own = tiny_pipelines.scheduler(diffusers.LCMScheduler)
    assert type(samplers.make("own", own)) is diffusers.LCMScheduler


# Single files.


def test_a_single_file_paints_what_its_pipeline_paints(tiny, sd, single):
    one = replace(tiny, model=single, config=sd)
    one.check()
    assert np.array_equal(picture(one), picture(tiny))


def test_a_single_file_says_which_configuration_it_needs(tiny, sd, single, tmp_path, loras):
    def refused(words, **options):
        with pytest.raises(InvalidInput, match=words):
            replace(tiny, **options).dim  # noqa: B018

    refused(
        r"has weights only; it also needs .*model_index\.json, .*scheduler and tokenizer.* "
        r'hf download stable-diffusion-v1-5/stable-diffusion-v1-5 --include "\*\.json"',
        model=single,
    )
    copy = copytree(sd, tmp_path / "copy")
    (copy / "unet" / "config.json").unlink()
    refused("it lacks unet/config.json; pass a whole pipeline's", model=single, config=str(copy))
    refused("is a LoRA, which changes another model; pass it as lora", model=loras[0], config=sd)
    refused("holds no diffusers pipeline", model=single, config=str(tmp_path))
    empty = tmp_path / "empty.safetensors"
    empty.write_bytes(b"\x02\0\0\0\0\0\0\0{}")
    refused("cannot be loaded", model=str(empty), config=sd)


def test_files_that_could_run_programs_are_refused(tmp_path):
    for name in ("model.ckpt", "model.pt"):
        (tmp_path / name).write_bytes(b"\x80\x02")
        with pytest.raises(InvalidInput, match="opening it can run any program; use the same"):
            files.locate(str(tmp_path / name))
    with pytest.raises(InvalidInput, match=r"the model gone\.safetensors is not there"):
        files.locate("gone.safetensors")


# Photos.


def test_a_picture_starts_from_the_photo_and_the_candidate_is_the_noise(tiny, photo):
    renderer = replace(tiny, image=photo, steps=10, strength=0.1)
    renderer.check()
    assert renderer.dim == 4 * 24 * 40  # 3:4 in blocks of eight, with about as many pixels
    points = candidates(renderer)
    first, second = (picture(renderer, point) for point in points)
    assert first.shape == (48, 80, 3)
    assert not np.array_equal(first, second)
    assert np.array_equal(first, picture(renderer, points[0]))
    stronger = replace(renderer, strength=0.9)
    assert not np.array_equal(picture(stronger, points[0]), first)


def test_the_noise_is_what_diffusers_adds_to_the_photo(sd, tiny, photo):
    import diffusers
    import torch

    parts = loaded(sd).components
    pipeline = diffusers.StableDiffusionImg2ImgPipeline(**parts, requires_safety_checker=False)
    pipeline.set_progress_bar_config(disable=True)
    renderer = replace(tiny, image=photo, width=64, height=64, steps=4, strength=0.5)
    drawn = torch.randn((1, 4, 32, 32), generator=torch.Generator().manual_seed(5))
    pipeline.scheduler = samplers.make("dpm++", pipeline.scheduler)
    shown = Image.open(photo).convert("RGB").crop((15, 0, 105, 90)).resize((64, 64), 1)
    # Latents in place of a picture are not encoded again, so the generator draws the noise only.
    pixels = pipeline.image_processor.preprocess(shown)
    with torch.no_grad():
        latents = pipeline.vae.encode(pixels).latent_dist.mode()
    said = {"prompt": tiny.prompt, "negative_prompt": "", "guidance_scale": 7.5}
    wanted = pipeline(
        **said,
        image=latents * pipeline.vae.config.scaling_factor,
        strength=0.5,
        num_inference_steps=4,
        generator=torch.Generator().manual_seed(5),
        output_type="np",
    ).images[0]
    found = renderer.picture(drawn.numpy().ravel().astype(float))
    assert np.abs(found.astype(int) - (wanted * 255).round()).max() <= 1


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (None, "there is no photo"),
        (
            b"<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>",
            "cannot be r",
        ),
        (b"\xff\xd8\xff\xe0 not a photo", "cannot be read; pass a JPEG"),
    ],
)
def test_what_is_no_photo_is_refused(tiny, tmp_path, content, words):
    file = tmp_path / "photo.jpg"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(InvalidInput, match=words):
        replace(tiny, image=str(file)).check()


def test_a_photo_on_its_side_is_painted_upright(tiny, photo, tmp_path):
    exif = Image.Exif()
    exif[0x0112] = 6
    Image.open(photo).save(tmp_path / "side.jpg", exif=exif)
    renderer = replace(tiny, image=str(tmp_path / "side.jpg"), steps=4)
    assert picture(renderer).shape == (80, 48, 3)


# Drafts.


def test_drafts_are_looks_that_tell_pictures_apart(tiny):
    assert tiny.look is None
    renderer = replace(tiny, drafts=1, steps=4, tune="latents+guidance")
    here, there = candidates(renderer, 2)
    near = np.cos(0.05) * here + np.sin(0.05) * there
    looks = resolve(renderer).look(np.stack([here, near, there, here]))
    assert np.array_equal(looks[0], looks[3])
    small, large = (np.linalg.norm(looks[0] - other) for other in looks[1:3])
    assert 0 < small < 0.3 * large
    assert drafts.draft(renderer, here).shape == (32, 32, 3)
    small = drafts.shrunk(here, renderer.layout())
    assert small.size == 1024 + 1
    assert abs(small[:-1].std() - 1) < 0.1


def test_a_draft_of_a_photo_has_its_shape_and_a_step_at_least(tiny, photo):
    renderer = replace(tiny, image=photo, steps=10, strength=0.3, width=64, height=96, drafts=1)
    assert drafts.draft(renderer, candidates(renderer, 1)[0]).shape == (48, 32, 3)


# Starts.


def test_a_seed_gives_the_noise_that_torch_draws(sd, tiny):
    """The picture of diffusers itself, but for the length of the noise, which becomes √d."""
    import torch

    x0 = start_of(resolve(tiny), "seed:1234")
    drawn = torch.randn((1, 4, 32, 32), generator=torch.Generator("cpu").manual_seed(1234))
    assert np.array_equal(x0, drawn.numpy().ravel())
    wanted = loaded(sd)(
        tiny.prompt, generator=torch.Generator().manual_seed(1234), num_inference_steps=2,
        output_type="np",
    ).images[0]  # fmt: skip
    found = picture(replace(tiny, sampler="own"), x0)
    assert np.array_equal(found, (wanted * 255).round().astype(np.uint8))
    on_gpu = start_of(resolve(tiny), "seed:1234:cuda:64x64")
    assert np.array_equal(on_gpu, noise.cuda_normal(1234, 4096))
    both = start_of(resolve(replace(tiny, tune="latents+guidance")), "seed:1234")
    assert (both[:-1] == x0).all()
    assert both[-1] == 0
    with pytest.raises(InvalidInput, match="has 512 × 512 pixels, those of this run 64 × 64, and"):
        start_of(resolve(tiny), "seed:1234:cpu:512x512")
    with pytest.raises(InvalidInput, match="noise is not tuned, so a seed gives no start"):
        start_of(resolve(replace(tiny, tune="guidance")), "seed:1234")


# Memory.


def test_memory_that_is_not_there_is_one_sentence(tiny):
    """A real allocation that this process may not have, at a size that is too large for it."""
    import resource

    picture(tiny)
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    large = replace(tiny, width=2048, height=2048)
    point = candidates(large, 1)[0]
    resource.setrlimit(resource.RLIMIT_AS, (used + 2**28, hard))
    try:
        with pytest.raises(RenderError, match="not enough memory for a single picture; choose a"):
            large.render([point])
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
    assert math.isfinite(picture(tiny).mean())
