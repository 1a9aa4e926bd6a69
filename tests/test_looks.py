"""What candidates look like: numbers that are near for what looks alike, and checked ones."""

import io
import threading
import time
import wave
from dataclasses import replace

import numpy as np
import pytest
from PIL import Image

from zorank import InvalidInput, _components, descriptors, looks
from zorank.errors import LookError
from zorank.looks import CHUNK, PLANS, LookPlan, RunLooks, for_renderer, look_of, plan_for
from zorank.renderers import Dream, Landscape
from zorank.renderers.interface import resolve
from zorank.types import Exhibit

DIM = 6
SMALL = LookPlan(pool=4, reference=30, begin=0)
MIXER = np.random.default_rng(1).standard_normal((DIM, 9))
DRAWS = np.random.default_rng(2).standard_normal((12, DIM))


def waves(candidates):
    return np.sin(np.asarray(candidates) @ MIXER)


def made(look=waves, seed=3, plan=SMALL, space="gaussian"):
    return RunLooks(look, DIM, space, seed, plan)


def distance(a, b):
    return float(np.linalg.norm(a - b))


# Descriptors


def png(pixels, form="PNG"):
    file = io.BytesIO()
    Image.fromarray(np.uint8(pixels)).save(file, form)
    return file.getvalue()


def blob(row, column, colour=(220, 40, 30), side=96):
    down, across = np.mgrid[:side, :side] / side
    near = np.exp(-((down - row) ** 2 + (across - column) ** 2) / 0.02)[..., None]
    return (40 + near * (np.array(colour) - 40)).clip(0, 255)


def wav(hertz, seconds=0.5, width=2, channels=1, rate=8000):
    t = np.arange(int(seconds * rate)) / rate
    tone = np.repeat(0.5 * np.sin(2 * np.pi * hertz * t), channels)
    form, middle = {1: ("u1", 128), 2: ("<i2", 0), 3: ("u1", 0), 4: ("<i4", 0)}[width]
    file = io.BytesIO()
    with wave.open(file, "wb") as opened:
        opened.setnchannels(channels)
        opened.setsampwidth(width)
        opened.setframerate(rate)
        data = (tone * 2.0 ** (8 * width - 2) + middle).astype(form) if width != 3 else b"abc" * 9
        opened.writeframes(bytes(data) if width == 3 else data.tobytes())
    return file.getvalue()


THREE = {
    "image/png": (png(blob(0.3, 0.3)), png(blob(0.33, 0.3)), png(blob(0.8, 0.8, (10, 60, 250)))),
    "image/jpeg": (
        png(blob(0.3, 0.3), "JPEG"),
        png(blob(0.33, 0.3), "JPEG"),
        png(blob(0.8, 0.8, (10, 60, 250)), "JPEG"),
    ),
    "audio/wav": (wav(440), wav(450), wav(3000)),
    "text/plain": (
        b"A calm lake below the mountains, at dawn.",
        b"A calm lake below a mountain, at dawn.",
        b"zxq vvw kkj 1234567890 !!! zxq vvw kkj 1234567890 !!!",
    ),
}


@pytest.mark.parametrize("media_type", THREE)
def test_near_is_near_and_far_is_far(media_type):
    exhibits = [Exhibit(media_type, data) for data in THREE[media_type]]
    one, near, far = rows = descriptors.of_exhibits(exhibits)
    assert np.isfinite(rows).all()
    assert rows.dtype == np.float64
    assert 0 < distance(one, near) < distance(one, far) / 2
    assert descriptors.of_exhibits(exhibits).tobytes() == rows.tobytes()
    assert descriptors.of_exhibits(exhibits[1:2])[0].tobytes() == near.tobytes()


def test_pictures_of_any_mode_and_size_have_one_width():
    grey = Image.new("L", (7, 5), 90)
    flat = [grey, grey.convert("RGBA"), grey.convert("1"), grey.convert("P"), grey.resize((1, 1))]
    rows = []
    for picture in flat:
        file = io.BytesIO()
        picture.save(file, "PNG")
        rows.append(descriptors.reader_of("image/png")(file.getvalue()))
    assert {row.shape for row in rows} == {rows[0].shape}
    assert np.isfinite(rows).all()


@pytest.mark.parametrize("channels", [1, 2])
def test_sounds_of_any_form_say_the_same(channels):
    read = descriptors.reader_of("audio/x-wav")
    coarse, usual, fine = (read(wav(440, width=w, channels=channels)) for w in (1, 2, 4))
    assert distance(fine, usual) < distance(read(wav(880)), usual) / 10
    assert coarse.shape == usual.shape
    assert np.isfinite(coarse).all()


@pytest.mark.parametrize("seconds", [0.0, 0.001, 0.128, 0.2, 3.0])
def test_sounds_of_any_length_have_one_width(seconds):
    found = descriptors.reader_of("audio/wav")(wav(440, seconds))
    assert found.shape == descriptors.reader_of("audio/wav")(wav(440)).shape
    assert np.isfinite(found).all()


def test_sounds_of_24_bits_are_refused():
    with pytest.raises(InvalidInput, match="24 bits per sample are not supported"):
        descriptors.reader_of("audio/wav")(wav(440, width=3))


@pytest.mark.parametrize("said", [b"", b"a", b"ab", b"\xff\xfe broken", "Grüße, 世界".encode()])
def test_any_text_is_described(said):
    found = descriptors.reader_of("text/plain; charset=utf-8")(said)
    assert found.shape == (descriptors.HASH_BUCKETS + 1,)
    assert np.isfinite(found).all()


@pytest.mark.parametrize(
    "media_type", ["image/svg+xml", "audio/mpeg", "application/pdf", "model/gltf", ""]
)
def test_what_has_no_description(media_type):
    assert descriptors.reader_of(media_type) is None
    with pytest.raises(
        InvalidInput, match=f"there is no descriptor for {media_type.split('+')[0]}"
    ):
        descriptors.of_exhibits([Exhibit(media_type, b"")])


def moving(speed, colour=(220, 40, 30), frames=16):
    steps = 0.2 + speed * np.arange(frames)
    return np.stack([blob(0.5, step, colour) for step in steps]).astype(np.float32)


def test_clips_by_what_is_seen_and_what_moves():
    small = [moving(s)[:, ::3, ::3].repeat(2, 1).repeat(2, 2) / 255 for s in (0.02, 0.022, 0.05)]
    one, near, far = (descriptors.clip(frames) for frames in small)
    assert 0 < distance(one, near) < distance(one, far) / 2
    still = descriptors.clip(small[0][:1])
    assert still.shape == one.shape
    assert np.isfinite(still).all()


@pytest.mark.filterwarnings("ignore::ResourceWarning")  # imageio-ffmpeg leaves its pipe open
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_clips_from_their_files():
    pytest.importorskip("imageio")
    pytest.importorskip("imageio_ffmpeg")
    from zorank.rl.clips import encode

    files = [
        encode(iter(moving(speed, colour).astype(np.uint8)), 12.0)
        for speed, colour in ((0.02, (220, 40, 30)), (0.022, (220, 40, 30)), (0.05, (10, 60, 250)))
    ]
    one, near, far = rows = descriptors.of_exhibits([Exhibit("video/mp4", f) for f in files])
    assert np.isfinite(rows).all()
    assert 0 < distance(one, near) < distance(one, far) / 2
    assert descriptors.reader_of("video/mp4")(files[0]).tobytes() == one.tobytes()


# Looks of a run


@pytest.mark.parametrize("space", ["gaussian", "euclidean"])
def test_the_reference_sample_is_of_the_space_and_of_unit_size(space):
    candidates, seen = made(space=space).reference()
    assert candidates.shape == (30, DIM)
    assert np.mean(np.sum(seen**2, axis=1)) == pytest.approx(1.0)
    np.testing.assert_allclose(seen.mean(axis=0), 0, atol=1e-12)
    norms = np.linalg.norm(candidates, axis=1)
    assert np.allclose(norms, np.sqrt(DIM)) == (space == "gaussian")
    assert made(seed=4, space=space).reference()[0].tobytes() != candidates.tobytes()


def test_components_are_fewer_than_a_third_of_the_reference_sample():
    assert made(plan=LookPlan(4, 12, 0))(DRAWS).shape == (12, 4)
    many = np.random.default_rng(0).standard_normal((DIM, 200))
    wide = made(lambda x: np.sin(x @ many), plan=LookPlan(4, 192, 0))
    assert wide(DRAWS).shape == (12, _components.COMPONENTS)
    assert made(lambda x: x[:, :1] ** 3)(DRAWS).shape == (12, 1)


def test_a_look_is_the_same_bit_for_bit_however_it_is_asked_for():
    at_once = made()(DRAWS)
    assert made()(DRAWS).tobytes() == at_once.tobytes()
    for several in (1, 5, CHUNK):
        again, parts = made(), range(0, len(DRAWS), several)
        found = np.concatenate([again(DRAWS[i : i + several]) for i in parts])
        assert found.tobytes() == at_once.tobytes()
    looking = made()
    candidates, seen = looking.reference()
    assert looking(candidates).tobytes() == seen.tobytes()


def test_the_same_however_many_threads_compute():
    from threadpoolctl import threadpool_limits

    many = np.random.default_rng(0).standard_normal((DIM, 500))
    found = set()
    for threads in (1, 2, 4):
        with threadpool_limits(threads, user_api="blas"):
            found.add(made(lambda x: np.sin(x[:, :, None] * many).sum(axis=1))(DRAWS).tobytes())
    assert len(found) == 1


def test_no_candidate_is_looked_at_twice():
    seen = []

    def noting(candidates):
        seen.extend(x.tobytes() for x in candidates)
        return waves(candidates)

    looking = made(noting)
    assert not looking.ready
    looking.reference()
    assert looking.ready
    seen.clear()
    looking(DRAWS[[0, 1, 0]])
    looking(DRAWS[:3])
    assert seen == [x.tobytes() for x in DRAWS[:3]]
    assert looking(DRAWS[:0]).shape == (0, looking(DRAWS).shape[1])


def test_the_oldest_looks_are_forgotten(monkeypatch):
    monkeypatch.setattr(looks, "CACHE_SIZE", 4)
    looking = made()
    assert looking(DRAWS).tobytes() == made()(DRAWS).tobytes()
    assert len(looking._cache) == 4
    assert looking(DRAWS[:9]).tobytes() == made()(DRAWS)[:9].tobytes()


def test_several_threads_may_look_at_once(monkeypatch):
    monkeypatch.setattr(looks, "CACHE_SIZE", 3)
    looking, wanted, found = made(), made()(DRAWS).tobytes(), []

    def look_often():
        found.extend(looking(DRAWS).tobytes() for _ in range(40))

    threads = [threading.Thread(target=look_often) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert set(found) == {wanted}
    assert len(found) == 160


def test_a_step_looks_at_a_few_and_says_when_all_is_done():
    seen, counts = [], []

    def noting(candidates):
        seen.extend(candidates)
        return waves(candidates)

    looking = made(noting)
    while looking.step():
        counts.append(len(seen))
        assert not looking.ready
    assert counts == [8, 16, 24, 30]
    assert len(seen) == 32  # two of them twice: whether they look the same again
    assert looking.ready
    assert looking.step() is False


def failing(_):
    raise OSError("the camera\nis out of film.")


def grows():
    """Another width at every call but the first."""
    calls = []

    def look(candidates):
        calls.append(1)
        return np.ones((len(candidates), len(calls))) * candidates[:, :1]

    return look


@pytest.mark.parametrize(
    ("look", "words"),
    [
        (failing, "fails with OSError: the camera is out of film$"),
        (lambda x: "nice", "fails with ValueError: could not convert"),
        (lambda x: None, r"finite numbers|a row of numbers for each candidate"),
        (lambda x: np.where(x > 0, x, np.nan), "finite numbers, found NaN or infinity"),
        (lambda x: np.full((len(x), 2), np.inf), "finite numbers, found NaN or infinity"),
        (lambda x: x[0], r"a row of numbers for each candidate, found an array of shape \(6,\)"),
        (lambda x: x.T, r"found an array of shape \(6, 1\) for one"),
        (lambda x: np.zeros((len(x), 0)), r"found an array of shape \(1, 0\) for one"),
        (lambda x: x[:, :, None], r"found an array of shape \(1, 6, 1\) for one"),
        (grows(), "returned 1 numbers before, now 2"),
        (lambda x: np.random.default_rng().random((len(x), 3)), "for the same candidate"),
        (lambda x: np.full((len(x), 3), 0.1), "the same numbers for all candidates"),
        (lambda x: np.zeros((len(x), 3)), "the same numbers for all candidates"),
    ],
)
def test_a_look_that_is_none_is_one_clear_sentence(look, words):
    looking = made(look)
    with pytest.raises(LookError, match=words) as caught:
        looking(DRAWS)
    said = str(caught.value)
    assert said.startswith("the look function ")
    assert "\n" not in said
    assert not said.endswith(".")
    assert not looking.ready


def test_a_look_that_changes_after_the_reference_sample():
    width = [9]
    looking = made(lambda x: waves(x)[:, : width[0]])
    looking.reference()
    width[0] = 4
    with pytest.raises(LookError, match="returned 9 numbers before, now 4"):
        looking(DRAWS)


class Unprintable(Exception):
    def __str__(self):
        raise ValueError


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (SystemExit(3), "the look function fails with SystemExit: 3"),
        (Unprintable(), "with Unprintable: "),
    ],
)
def test_whatever_a_look_raises_is_a_look_that_fails(error, words):
    def look(_):
        raise error

    with pytest.raises(LookError, match=words):
        made(look)(DRAWS)


def test_looks_that_are_too_large():
    with pytest.raises(LookError, match="numbers beyond 1e"):
        made(lambda x: 1e300 * waves(x)).reference()
    known = {x.tobytes() for x in made().reference()[0]}
    seen = made(lambda x: waves(x) * (1.0 if x[0].tobytes() in known else 1e200))
    seen.reference()
    with pytest.raises(LookError, match="a million times larger than those of random candidates"):
        seen(DRAWS)


@pytest.mark.parametrize("change", [{"pool": -1}, {"reference": 0}, {"begin": 0.5}])
def test_a_plan_that_makes_no_sense(change):
    with pytest.raises(InvalidInput, match=next(iter(change))):
        replace(SMALL, **change)


def test_a_look_may_change_what_it_is_given():
    def careless(candidates):
        found = waves(candidates)
        candidates[:] = 0.0
        return found

    kept = DRAWS.copy()
    assert made(careless)(kept).tobytes() == made()(DRAWS).tobytes()
    assert kept.tobytes() == DRAWS.tobytes()


def test_looks_that_are_not_as_the_log_says():
    seen = made()(DRAWS[:6])
    same = made()
    same.expect(DRAWS[:6], seen)
    assert same(DRAWS).tobytes() == made()(DRAWS).tobytes()
    others = [lambda x: np.cos(x @ MIXER), lambda x: waves(x)[:, :3], lambda x: waves(x * 1.01)]
    for other in others:
        looking = made(other)
        looking.expect(DRAWS[:6], seen)
        with pytest.raises(LookError, match="other numbers than when the run began"):
            looking(DRAWS)


# Plans and renderers


class Words:
    """A renderer with the two members that it must have, of text."""

    dim = DIM

    def render(self, candidates):
        return [Exhibit("text/plain", np.array2string(x).encode()) for x in candidates]


class Blobs(Words):
    """The same, of pictures."""

    def render(self, candidates):
        places = (np.tanh(x[:2]) / 2 + 0.5 for x in candidates)
        return [Exhibit("image/png", png(blob(*place))) for place in places]


class Slow(Blobs):
    def render(self, candidates, progress=None):
        return super().render(candidates)


class Drawings(Words):
    media_type = "image/svg+xml"


@pytest.mark.parametrize("kind", [Words, Blobs])
def test_two_members_are_enough_to_be_looked_at(kind):
    looking = for_renderer(kind(), 3, SMALL)
    assert looking(DRAWS).shape == (12, 10 if kind is Words else looking(DRAWS).shape[1])
    assert looking.reference()[1].shape[0] == 30
    assert plan_for(resolve(kind())) is not None


@pytest.mark.parametrize("kind", [Slow, Drawings])
def test_renderers_with_progress_or_svg_have_no_looks(kind):
    assert look_of(resolve(kind())) is None
    assert for_renderer(kind(), 3) is None
    assert plan_for(resolve(kind())) is None


def test_a_renderer_may_have_a_look_of_its_own():
    class Own(Slow):
        def look(self, candidates):
            return waves(candidates)

    assert for_renderer(Own(), 3, SMALL)(DRAWS).tobytes() == made()(DRAWS).tobytes()


@pytest.mark.parametrize(
    ("seconds", "plan"),
    [(0.0, 0.05), (0.05, 0.05), (0.051, 0.25), (0.25, 0.25), (0.26, None), (None, None)],
)
def test_the_plan_follows_what_a_look_takes(monkeypatch, seconds, plan):
    monkeypatch.setattr(looks, "_seconds", lambda look, dim: seconds)
    assert plan_for(resolve(Blobs())) == (None if plan is None else PLANS[plan])


def test_a_look_that_hangs_is_not_waited_for(monkeypatch):
    monkeypatch.setattr(looks, "SECONDS_TO_TRY", 0.01)
    go_on = threading.Event()

    class Hangs(Blobs):
        def look(self, candidates):
            go_on.wait(60)
            return waves(candidates)

    try:
        assert plan_for(resolve(Hangs())) is None
    finally:
        go_on.set()


def waiting(candidates):
    thread = threading.Thread(target=time.sleep, args=(0.3,))  # as for a server, or another thread
    thread.start()
    thread.join()
    return candidates


def test_a_look_that_waits_is_not_quick():
    class Remote(Words):
        def look(self, candidates):
            return waiting(candidates)

    assert plan_for(resolve(Remote())) is None


def test_a_look_that_hangs_later_is_given_up(monkeypatch):
    hangs, end = [], threading.Event()

    def look(candidates):
        if hangs:
            end.wait()
        return waves(candidates)

    seen = made(look)
    seen.reference()
    monkeypatch.setattr(looks, "LONGEST_LOOK", 0.3)  # a quick look may take longer than that
    hangs.append(1)
    for _ in range(2):  # at once, the second time
        with pytest.raises(LookError, match="a look takes longer than"):
            seen(DRAWS)
    end.set()


def test_a_look_that_fails_is_planned_for_and_told_where_it_is_used():
    class Fails(Blobs):
        look = staticmethod(failing)

    assert plan_for(resolve(Fails())) == PLANS[0.05]
    with pytest.raises(LookError, match="out of film"):
        for_renderer(Fails(), 3)(DRAWS)


def test_plans_are_few_and_in_order():
    assert list(PLANS) == sorted(PLANS)
    assert all(0 < plan.pool <= 4096 for plan in PLANS.values())


@pytest.mark.parametrize("renderer", [Landscape(size=32), Dream(steps=2)], ids=["land", "dream"])
def test_the_renderers_of_zorank_say_what_candidates_look_like(renderer):
    draws = np.random.default_rng(0).standard_normal((3, renderer.dim))
    near = draws[0] + 0.02 * draws[1]
    rows = renderer.look(np.array([*draws, near]))
    assert rows.shape[0] == 4
    assert np.isfinite(rows).all()
    assert renderer.look(near[None])[0].tobytes() == rows[3].tobytes()
    assert distance(rows[0], rows[3]) < distance(rows[0], rows[1]) / 2
    assert look_of(resolve(renderer)) == renderer.look


def test_the_size_of_a_landscape_does_not_change_its_look():
    draws = np.random.default_rng(0).standard_normal((2, Landscape().dim))
    assert Landscape(size=32).look(draws).tobytes() == Landscape().look(draws).tobytes()
