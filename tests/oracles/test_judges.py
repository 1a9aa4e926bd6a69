"""Judges of pictures: any scorer, CLIP from a folder, and what they say if something is wrong."""

import shutil
from io import BytesIO

import numpy as np
import pytest
from PIL import Image

from tests.test_bare import message_without
from zorank import InvalidInput, Ranking, Run, Slate, Values
from zorank.errors import install_command
from zorank.oracles import CLIP, PictureOracle, judge_maker, make_judge, pictures
from zorank.renderers import Landscape
from zorank.slates import Points
from zorank.types import Exhibit


class Greys:
    """A renderer of one grey, as bright as the candidate says; it counts what it draws."""

    dim = 1

    def __init__(self):
        self.drawn = 0

    def render(self, candidates):
        exhibits = []
        for x in candidates:
            self.drawn += 1
            picture = Image.new("L", (4, 4), round(float(np.clip(x[0], 0, 255))))
            exhibits.append(Exhibit("image/png", png(picture)))
        return exhibits


def png(picture):
    file = BytesIO()
    picture.save(file, "PNG")
    return file.getvalue()


def slate(*values, question="rank", k=None):
    return Slate(Points(np.array(values, dtype=float)[:, None]), question, k)


def brightness(shown):
    return [np.asarray(picture).mean() for picture in shown]


def test_the_brightest_is_best_to_the_depth_that_is_asked():
    judge = PictureOracle(Greys(), brightness)
    assert judge.answer(slate(10, 200, 90)) == Ranking.of([1, 2, 0])
    assert judge.answer(slate(10, 200, 90, k=2)) == Ranking.of([1, 2])
    assert judge.answer(slate(10, 200, 10)) == Ranking.of([1, [0, 2]])
    assert judge.answer(slate(10, 200, 90, question="best")) == Ranking.of([1])
    assert judge.answer(slate(10, 200, question="values")) == Values((-10.0, -200.0))
    assert PictureOracle(Greys(), brightness, k=1).answer(slate(9, 5, 7)) == Ranking.of([0])


def test_a_judge_sees_rgb_pictures_in_batches():
    seen = []

    def score(shown):
        seen.append([(picture.mode, picture.size) for picture in shown])
        return brightness(shown)

    PictureOracle(Greys(), score, batch=2).answer(slate(1, 2, 3, 4, 5))
    assert [len(part) for part in seen] == [2, 2, 1]
    assert {look for part in seen for look in part} == {("RGB", (4, 4))}


def test_scores_are_cached_and_the_cache_is_bounded(monkeypatch):
    renderer = Greys()
    judge = PictureOracle(renderer, brightness)
    assert judge.answer(slate(10, 200, 10)) == judge.answer(slate(10, 200, 10))
    assert renderer.drawn == 2
    judge.answer(slate(200, 30))
    assert renderer.drawn == 3
    monkeypatch.setattr(pictures, "REMEMBERED", 2)
    assert judge.answer(slate(1, 2, 3, 4)) == Ranking.of([3, 2, 1, 0])
    assert len(judge._known) == 2
    judge.answer(slate(3, 4))
    assert renderer.drawn == 7


@pytest.mark.parametrize(
    ("score", "words"),
    [
        (lambda shown: [1.0], "3 numbers for 3 pictures"),
        (lambda shown: 1.0, "3 numbers for 3 pictures"),
        (lambda shown: ["a", "b", "c"], "must return numbers"),
        (lambda shown: [1, np.nan, 2], "finite"),
        (lambda shown: None, "must return 3 numbers"),
    ],
)
def test_scores_that_are_none_are_refused(score, words):
    with pytest.raises(InvalidInput, match=words):
        PictureOracle(Greys(), score).answer(slate(1, 2, 3))


def test_a_judge_of_pictures_cannot_look_at_texts():
    class Texts:
        dim = 1

        def render(self, candidates):
            return [Exhibit("text/plain", b"hello") for _ in candidates]

    with pytest.raises(InvalidInput, match="cannot decode text/plain"):
        PictureOracle(Texts(), brightness).answer(slate(1, 2))


@pytest.mark.parametrize("batch", [0, -1, 1.5, True])
def test_impossible_batches_are_refused(batch):
    with pytest.raises(InvalidInput, match="batch"):
        PictureOracle(Greys(), brightness, batch=batch)


def test_a_judge_instead_of_its_score_is_refused_with_the_remedy():
    with pytest.raises(InvalidInput, match=r"judge\.score"):
        PictureOracle(Greys(), CLIP("snow"))


def test_a_model_alone_makes_pictures_better():
    def blueness(shown):
        means = np.array([np.asarray(picture).mean(axis=(0, 1)) for picture in shown])
        return means[:, 2] - means[:, 0]

    judge = PictureOracle(Landscape(size=32), blueness)
    run = Run("rank-process", np.random.default_rng(0).standard_normal(Landscape().dim), seed=0)
    first = judge.scores([run.best()])[0]
    for _ in range(12):
        run.tell(judge.answer(run.ask()))
    assert judge.scores([run.best()])[0] > first + 20


# One of a user's own.


def test_a_function_an_object_and_a_class_become_judges():
    class Constant:
        def __init__(self, value=1.0):
            self.value = value

        def score(self, shown):
            return [self.value] * len(shown)

    def by_channel(shown, channel=0):
        return [np.asarray(picture)[..., channel].mean() for picture in shown]

    red = Image.new("RGB", (2, 2), (200, 10, 0))
    assert judge_maker(Constant)(value=3.0).score([red]) == [3.0]
    assert judge_maker(Constant(2.0))().score([red]) == [2.0]
    assert judge_maker(by_channel)().score([red]) == [200.0]
    assert judge_maker(by_channel)(channel=1).score([red]) == [10.0]
    for wrong in (3, "text", dict, object()):
        with pytest.raises(InvalidInput, match="mine:it is not a judge"):
            judge_maker(wrong, "mine:it")


def test_whatever_a_judge_of_ones_own_raises_is_one_sentence():
    class Picky:
        def __init__(self, colour):
            raise KeyError(colour)

        def score(self, shown):
            return []

    with pytest.raises(InvalidInput, match=r"picky cannot be made from .*KeyError: 'red'"):
        make_judge("picky", {"colour": "red"}, {"picky": Picky})


def test_what_is_not_installed_is_named_with_its_remedy():
    looks = "zorank.oracles.pictures.decode(zorank.Exhibit('image/png', b''))"
    assert install_command("studio") in message_without(["PIL"], looks)
    for missing in ("torch", "transformers"):
        said = message_without([missing], "zorank.oracles.CLIP('snow').score([])")
        assert f"clip needs {missing}" in said
        assert install_command("diffusion") in said


def test_unknown_judges_and_options_are_named():
    with pytest.raises(InvalidInput, match="did you mean clip"):
        make_judge("clipp", {"prompt": "snow"})
    with pytest.raises(InvalidInput, match=r"the judge clip cannot be made from .*colour"):
        make_judge("clip", {"prompt": "snow", "colour": 1})
    with pytest.raises(InvalidInput, match="needs a prompt"):
        make_judge("clip")
    with pytest.raises(InvalidInput, match="needs a prompt"):
        make_judge("clip", {"prompt": " "})
    assert isinstance(make_judge("clip", {"prompt": "snow"}), CLIP)


# CLIP.


def landscapes(count, size=48):
    draws = np.random.default_rng(0).standard_normal((count, Landscape().dim))
    return [Image.fromarray(Landscape(size=size).picture(x)) for x in draws]


def test_clip_scores_are_the_cosines_that_the_model_itself_gives(tiny_clip):
    import torch
    from transformers import CLIPImageProcessorPil, CLIPModel, CLIPTokenizer

    shown = landscapes(3)
    model = CLIPModel.from_pretrained(tiny_clip).eval()
    inputs = dict(CLIPTokenizer.from_pretrained(tiny_clip)("a snowy night", return_tensors="pt"))
    inputs |= CLIPImageProcessorPil.from_pretrained(tiny_clip)(shown, return_tensors="pt")
    with torch.inference_mode():
        said = model(**inputs)
    expected = (said.image_embeds @ said.text_embeds.T)[:, 0].numpy()
    found = CLIP("a snowy night", model=tiny_clip).score(shown)
    assert found == pytest.approx(expected, abs=1e-5)
    assert len(set(found.tolist())) == 3
    assert CLIP("a desert", model=tiny_clip).score(shown) != pytest.approx(found, abs=1e-4)


def test_clip_ranks_a_slate_alike_in_any_batch(tiny_clip):
    judge = CLIP("a snowy night", model=str(tiny_clip))
    draws = Slate(Points(np.random.default_rng(1).standard_normal((6, Landscape().dim))))
    renderer = Landscape(size=48)
    answers = [PictureOracle(renderer, judge.score, batch=b).answer(draws) for b in (1, 4, 8)]
    assert answers[0] == answers[1] == answers[2]
    assert len(answers[0].best) == 6


def test_a_long_prompt_is_cut(tiny_clip):
    assert np.isfinite(CLIP("snow " * 500, model=tiny_clip).score(landscapes(1))).all()


def test_a_prompt_is_read_once_and_a_model_loaded_once(tiny_clip):
    from zorank.oracles import clip

    for prompt in ("one", "two", "one"):
        CLIP(prompt, model=tiny_clip).score(landscapes(1))
    reader = clip._reader(str(tiny_clip), None)
    assert reader.embed_text.cache_info().hits >= 1
    assert clip._reader(str(tiny_clip), None) is reader


def test_missing_weights_say_what_to_download(tmp_path, monkeypatch):
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path))
    with pytest.raises(InvalidInput, match=r"hf download nobody/clip-none, or give model= the pa"):
        CLIP("snow", model="nobody/clip-none").score(landscapes(1))
    with pytest.raises(InvalidInput, match=r"no folder '/nowhere/clip'.*hf download openai/clip"):
        CLIP("snow", model="/nowhere/clip").score(landscapes(1))


@pytest.mark.parametrize(
    ("harm", "words"),
    [
        (lambda f: (f / "config.json").unlink(), "no config.json"),
        (lambda f: (f / "config.json").write_text('{"model_type": "bert"}'), "type 'bert'"),
        (lambda f: (f / "config.json").write_text("{"), "cannot load"),
        (lambda f: (f / "model.safetensors").unlink(), "cannot load"),
        (lambda f: (f / "model.safetensors").write_bytes(b"abc"), "cannot load"),
        (lambda f: (f / "preprocessor_config.json").unlink(), "cannot load"),
        (lambda f: (f / "tokenizer.json").unlink(), "tokenizer"),
    ],
)
def test_a_folder_that_is_no_clip_model_says_what_is_needed(tiny_clip, tmp_path, harm, words):
    broken = tmp_path / "broken"
    shutil.copytree(tiny_clip, broken)
    harm(broken)
    with pytest.raises(InvalidInput, match=words) as refused:
        CLIP("snow", model=broken).score(landscapes(1))
    assert "hf download" in str(refused.value)
    assert "\n" not in str(refused.value)


def test_weights_that_lack_a_layer_are_refused(tiny_clip, tmp_path):
    from safetensors.torch import load_file, save_file

    broken = tmp_path / "broken"
    shutil.copytree(tiny_clip, broken)
    weights = load_file(broken / "model.safetensors")
    weights.pop("visual_projection.weight")
    save_file(weights, broken / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(InvalidInput, match="weights are incomplete"):
        CLIP("snow", model=broken).score(landscapes(1))
