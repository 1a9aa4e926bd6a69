"""The renderers of examples/renderers: one of each kind, short, and fit for the studio."""

import importlib
import sys
from pathlib import Path

import numpy as np
import pytest

from zorank.studio.catalog import select_renderers

FOLDER = Path(__file__).parents[1] / "examples" / "renderers"
CASES = {
    "spirals:Spirals": ("image/svg+xml", b"<svg"),
    "pendulums:Pendulums": ("video/mp4", b"ftyp"),
    "tones:Synthesiser": ("audio/wav", b"RIFF"),
    "themes:Theme": ("text/html", b"<!doctype html>"),
}


def load(target):
    module, _, name = target.partition(":")
    return getattr(importlib.import_module(module), name)


@pytest.mark.parametrize("target", CASES)
def test_it_renders_what_it_says_and_the_same_again(target, monkeypatch):
    monkeypatch.syspath_prepend(str(FOLDER))
    ((name, kind),) = select_renderers(target, load).items()
    assert name == target
    renderer = kind.make()
    media_type, opening = CASES[target]
    draws = np.random.default_rng(0).standard_normal((3, renderer.dim))
    first, again = renderer.render(list(draws)), renderer.render(list(draws))
    assert [e.data for e in first] == [e.data for e in again]
    assert len({e.data for e in first}) == 3
    for exhibit in first:
        assert exhibit.media_type == renderer.media_type == media_type
        assert opening in exhibit.data[:40]
    sys.modules.pop(target.partition(":")[0])


@pytest.mark.parametrize("file", sorted(FOLDER.glob("*.py")), ids=lambda f: f.name)
def test_it_is_under_forty_lines_of_code(file):
    assert sum(bool(line.strip()) for line in file.read_text().splitlines()) < 40
