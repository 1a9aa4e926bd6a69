"""Folders and tables: what is ranked, what is left out, and what changes later."""

import os
import shutil

import numpy as np
import pytest
from PIL import Image

from tests.helpers.folders import sound, write_pictures
from zorank import InvalidInput
from zorank.oracles.pictures import decode
from zorank.renderers.folder import Folder, exhibits, folder_kind
from zorank.renderers.folder.manifest import Manifest
from zorank.renderers.interface import resolve
from zorank.testing import RendererContract


def shown(path, index=0, **options):
    return Folder(str(path), **options).render([np.array([float(index)])])[0]


def left_out(path):
    return " | ".join(folder_kind(str(path))[1])


class TestFolderContract(RendererContract):
    @pytest.fixture(params=["pictures", "sounds", "texts", "table"])
    def renderer(self, request, tmp_path):
        if request.param == "pictures":
            write_pictures(tmp_path, 12)
        elif request.param == "sounds":
            for pitch in range(200, 212):
                (tmp_path / f"{pitch}.wav").write_bytes(sound(pitch))
        elif request.param == "texts":
            for number in range(12):
                (tmp_path / f"{number}.txt").write_text(f"text {number}")
        else:
            rows = "\n".join(f"name {number},{number}" for number in range(12))
            (tmp_path / "table.csv").write_text("name,size\n" + rows)
            return Folder(str(tmp_path / "table.csv"))
        return Folder(str(tmp_path))

    @pytest.fixture
    def candidates(self):
        return np.array([[1.0], [4.0], [7.0]])

    def test_one_exhibit_of_the_declared_type_for_each(self, resolved, candidates):
        exhibits = resolved.render(candidates)
        kind = resolved.media_type.partition("/")[0]  # each sound has its own media type
        assert {exhibit.media_type.partition("/")[0] for exhibit in exhibits} == {kind}


def test_names_sizes_and_digests_are_fixed(tmp_path):
    kind, said = folder_kind(str(write_pictures(tmp_path, 3)))
    assert said == []
    options = kind.defaults
    assert options["folder"] == str(tmp_path)
    listed = Manifest.parse(options["manifest"])
    assert [item.name for item in listed.items] == ["grey 0.png", "grey 1.png", "grey 2.png"]
    assert listed.items[0].size == (tmp_path / "grey 0.png").stat().st_size
    assert len({item.digest for item in listed.items}) == 3
    write_pictures(tmp_path, 4)  # a new run ranks what is there when it is created
    assert len(Manifest.parse(kind.defaults["manifest"]).items) == 4
    assert len(kind.restore(options).item_names()) == 3


def test_sub_folders_and_hidden_files_do_not_count(tmp_path):
    write_pictures(tmp_path, 3)
    write_pictures(tmp_path / "more", 9)
    shutil.copy(tmp_path / "more" / "grey 8.png", tmp_path / ".hidden.png")
    assert len(Folder(str(tmp_path)).item_names()) == 3


def test_pictures_are_encoded_again_without_what_else_the_file_has(tmp_path):
    write_pictures(tmp_path, 2)
    exif = Image.Exif()
    exif[0x010E] = "a secret place"
    exif[0x0112] = 6  # turned by 90 degrees
    Image.new("RGB", (90, 30), "red").save(tmp_path / "a.jpg", exif=exif)
    assert b"a secret place" in (tmp_path / "a.jpg").read_bytes()
    exhibit = shown(tmp_path, 0)
    assert exhibit.media_type == "image/jpeg"
    assert b"a secret place" not in exhibit.data
    assert decode(exhibit).size == (30, 90)
    assert decode(shown(tmp_path, 0, size=45)).size == (15, 45)


def test_transparent_pictures_are_shown_on_white(tmp_path):
    write_pictures(tmp_path, 1)
    Image.new("RGBA", (8, 8), (255, 0, 0, 0)).save(tmp_path / "a.png")
    assert decode(shown(tmp_path, 0)).getpixel((4, 4)) == (255, 255, 255)


def test_texts_and_cells_are_escaped(tmp_path):
    (tmp_path / "a.md").write_text("<script>alert(1)</script> 1 < 2")
    (tmp_path / "b.txt").write_text("b")
    data = shown(tmp_path).data
    assert b"&lt;script&gt;" in data
    assert b"<script>" not in data
    table = tmp_path / "t.csv"
    table.write_text('name;note\n"<b>x</b>";one\ny;"two; three"\n')
    data = shown(table).data
    assert b"<dt>note</dt><dd>one</dd>" in data
    assert b"&lt;b&gt;x&lt;/b&gt;" in data
    assert Folder(str(table)).item_names() == ["1: <b>x</b>", "2: y"]


def test_a_sound_is_served_as_it_is(tmp_path):
    for name, pitch in (("a.wav", 200), ("b.wav", 300)):
        (tmp_path / name).write_bytes(sound(pitch))
    exhibit = shown(tmp_path, 1)
    assert (exhibit.media_type, exhibit.data) == ("audio/wav", sound(300))


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("x.svg", b"<svg/>", "x.svg: SVG files can contain scripts"),
        ("x.html", b"<p>", "x.html: HTML files can contain scripts"),
        ("x.pdf", b"%PDF", "x.pdf: not a picture, a sound or a text that zorank knows"),
        ("x.png", b"no picture", "x.png: empty, damaged or not a picture, despite the name"),
        ("x.png", b"\x89PNG\r\n\x1a\nbroken", "x.png: empty, damaged or not a picture"),
        ("x.png", b"", "x.png: empty, damaged or not a picture"),
        ("x.wav", b"RIFF", "x.wav: empty, damaged or not a sound"),
        ("x.txt", b"\xff\xfe\xff", "x.txt: not a text in UTF-8; save it as UTF-8"),
        ("x.txt", b"words", "x.txt: most files here are pictures"),
        ("x\ny.png", b"\x89PNG", r"x\\ny.png: the name has control characters"),
        (b"x\xff.png", b"\x89PNG", "control characters or is not text; rename"),
    ],
)
def test_what_cannot_be_ranked_is_one_sentence(tmp_path, name, content, words):
    write_pictures(tmp_path, 2)
    try:
        with open(os.path.join(os.fsencode(tmp_path), os.fsencode(name)), "wb") as file:
            file.write(content)
    except OSError:
        pytest.skip("this file system does not allow such a name")
    assert words.replace("\\\\", "\\") in left_out(tmp_path)
    assert len(Folder(str(tmp_path)).item_names()) == 2


def test_unreadable_files_and_links_are_left_out(tmp_path):
    outside = write_pictures(tmp_path / "outside", 4)
    inside = write_pictures(tmp_path / "inside", 2)
    (inside / "link.png").symlink_to(outside / "grey 3.png")
    assert "link.png: links are not followed; copy the file" in left_out(inside)
    os.mkfifo(inside / "pipe.png")
    assert "pipe.png" in left_out(inside)
    shutil.copy(outside / "grey 3.png", inside / "secret.png")
    (inside / "secret.png").chmod(0)
    if os.geteuid() != 0:  # the superuser may read everything
        assert "secret.png: cannot be read (Permission denied)" in left_out(inside)


def test_copies_are_ranked_once(tmp_path):
    write_pictures(tmp_path, 3)
    shutil.copy(tmp_path / "grey 0.png", tmp_path / "twin.png")
    assert "twin.png: the same content as grey 0.png" in left_out(tmp_path)
    assert len(Folder(str(tmp_path)).item_names()) == 3


def test_odd_names_are_kept(tmp_path):
    names = ["%2e%2e.png", "a b'\"&<i>.png", "ümläut 🐈.png"]
    write_pictures(tmp_path, 3)
    for number, name in enumerate(names):
        (tmp_path / f"grey {number}.png").rename(tmp_path / name)
    folder = resolve(folder_kind(str(tmp_path))[0].make())
    assert list(folder.item_names()) == names
    assert len(folder.render([np.array([float(i)]) for i in range(3)])) == 3


@pytest.mark.parametrize(
    ("write", "words"),
    [
        (lambda p: p.mkdir(), "has no pictures, sounds or texts to rank"),
        (lambda p: write_pictures(p, 1), "has only one picture to rank, 'grey 0.png'; two"),
        (lambda p: p.write_text("x"), "is neither a folder nor a table"),
        (lambda p: None, "there is no folder"),
    ],
)
def test_a_folder_that_cannot_be_ranked_is_one_sentence(tmp_path, write, words):
    write(tmp_path / "it")
    with pytest.raises(InvalidInput, match=words):
        folder_kind(str(tmp_path / "it"))


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "has no rows to rank"),
        (b"name\n", "has no rows to rank"),
        (b"name\none\n", "has only one row to rank"),
        (b"name\none\none\n", "has only one row to rank"),
        (b"name\n\xff\xfe\n", "is not in UTF-8"),
    ],
)
def test_a_table_that_cannot_be_ranked_is_one_sentence(tmp_path, content, words):
    (tmp_path / "t.csv").write_bytes(content)
    with pytest.raises(InvalidInput, match=words):
        folder_kind(str(tmp_path / "t.csv"))
    with pytest.raises(InvalidInput, match="there is no table"):
        folder_kind(str(tmp_path / "u.tsv"))


def test_missing_changed_and_added_files_are_one_sentence(tmp_path):
    kind, _ = folder_kind(str(write_pictures(tmp_path, 5)))
    options = kind.defaults
    (tmp_path / "grey 1.png").unlink()
    Image.new("RGB", (99, 99)).save(tmp_path / "grey 2.png")
    Image.new("RGB", (50, 50), "red").save(tmp_path / "new.png")
    folder = kind.restore(options)
    assert folder.note == (
        "grey 1.png, grey 2.png are missing or changed since this run began, and no longer "
        "compared: put them back as before, or start a new run. new.png was added since this run "
        "began and is not part of it: start a new run to rank it as well."
    )
    assert [folder.absent(np.array([float(i)])) for i in range(5)] == [False, True, True] + [
        False
    ] * 2
    with pytest.raises(InvalidInput, match=r"'grey 1.png' is missing from the folder; put it"):
        folder.render([np.array([1.0])])
    with pytest.raises(InvalidInput, match=r"'grey 2.png' has changed since this run began"):
        folder.render([np.array([2.0])])


def test_a_changed_row_is_noticed_and_a_moved_one_is_found(tmp_path):
    table = tmp_path / "t.tsv"
    table.write_text("name\tsize\na\t1\nb\t2\nc\t3\n")
    kind, _ = folder_kind(str(table))
    options = kind.defaults
    table.write_text("name\tsize\nc\t3\nnew\t9\na\t1\nb\t7\n")
    folder = kind.restore(options)
    assert "2: b is missing or changed" in folder.note
    assert "new, b were added since this run began" in folder.note
    assert b"<dd>3</dd>" in folder.render([np.array([2.0])])[0].data
    with pytest.raises(InvalidInput, match="row 2: b is missing from the table"):
        folder.render([np.array([1.0])])


def test_nothing_outside_of_the_folder_is_read(tmp_path):
    inside = write_pictures(tmp_path / "inside", 2)
    (tmp_path / "secret.png").write_bytes((inside / "grey 0.png").read_bytes())
    kind, _ = folder_kind(str(inside))
    line = kind.defaults["manifest"].split("\n")[1]
    for name in ("../secret.png", str(tmp_path / "secret.png"), ".."):
        forged = "\n".join(["picture", line.replace("grey 0.png", name), line])
        folder = kind.restore({"folder": str(tmp_path), "manifest": forged})
        with pytest.raises(InvalidInput, match="is missing from the folder"):
            folder.render([np.array([0.0])])
    (inside / "grey 0.png").unlink()
    (inside / "grey 0.png").symlink_to(tmp_path / "secret.png")  # put there later
    with pytest.raises(InvalidInput, match="is missing from the folder"):
        kind.restore({"manifest": "\n".join(["picture", line, line])}).render([np.array([0.0])])
    with pytest.raises(InvalidInput, match="list of files of this run is damaged"):
        kind.restore({"manifest": "picture\nwhatever"})


def test_another_folder_than_the_runs_own_is_one_sentence(tmp_path):
    options = folder_kind(str(write_pictures(tmp_path / "a", 3)))[0].defaults
    (tmp_path / "b").mkdir()
    for number in (1, 2):
        (tmp_path / "b" / f"{number}.txt").write_text(str(number))
    other, _ = folder_kind(str(tmp_path / "b"))
    with pytest.raises(InvalidInput, match="none of the 3 pictures of this run is in"):
        other.restore(options)
    shutil.copytree(tmp_path / "a", tmp_path / "moved")
    assert folder_kind(str(tmp_path / "moved"))[0].restore(options).note == ""


def test_huge_and_damaged_pictures_are_one_sentence(tmp_path, monkeypatch):
    write_pictures(tmp_path, 2)
    monkeypatch.setattr(exhibits, "MAX_PIXELS", 1000)
    with pytest.raises(InvalidInput, match="48 × 48 pixels is too large"):
        shown(tmp_path)
    monkeypatch.undo()
    with pytest.raises(InvalidInput, match="a picture cannot be decoded"):
        exhibits.picture((tmp_path / "grey 0.png").read_bytes()[:60], 64)
