"""The optimizer, the judge and the renderers of examples/ keep their contracts: one row each."""

import importlib
import sys
from pathlib import Path

import pytest

from zorank.studio.catalog import select_judges, select_renderers
from zorank.testing import JudgeContract, OptimizerContract, RendererContract

FOLDER = Path(__file__).parents[1] / "examples"
RENDERERS = {
    "renderers.spirals:Spirals": ("image/svg+xml", b"<svg"),
    "renderers.pendulums:Pendulums": ("video/mp4", b"ftyp"),
    "renderers.tones:Synthesiser": ("audio/wav", b"RIFF"),
    "renderers.themes:Theme": ("text/html", b"<!doctype html>"),
}


def load(target):
    module, _, name = target.partition(":")
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(FOLDER))
        return getattr(importlib.import_module(module), name)


class TestOwnOptimizer(OptimizerContract):
    @pytest.fixture
    def optimizer(self):
        return load("own_optimizer:BestNeighbour")()


class TestOwnJudge(JudgeContract):
    @pytest.fixture(params=["red", "green", "blue"])
    def judge(self, request):
        return load("own_judge:ColourJudge")(request.param)

    def test_the_studio_takes_it_by_its_name(self):
        panel = select_judges("own_judge:ColourJudge", {"colour": "green"}, load)
        assert panel.make(panel.default).colour == "green"
        assert panel.judges["own_judge:ColourJudge"].fits("landscape", "image/jpeg")


class TestExampleRenderers(RendererContract):
    @pytest.fixture(params=RENDERERS)
    def target(self, request):
        return request.param

    @pytest.fixture
    def renderer(self, target, monkeypatch):
        made = select_renderers(target, load)[target].make().renderer
        module = sys.modules[type(made).__module__]
        if hasattr(module, "FRAMES"):
            monkeypatch.setattr(module, "SIZE", 64)  # smaller films take less time to encode
        return made

    def test_exhibits_are_what_they_are_declared_to_be(self, target, resolved, candidates):
        media_type, opening = RENDERERS[target]
        for exhibit in resolved.render(candidates):
            assert exhibit.media_type == media_type
            assert opening in exhibit.data[:40]


@pytest.mark.parametrize("file", sorted(FOLDER.glob("renderers/*.py")), ids=lambda f: f.name)
def test_a_renderer_is_under_forty_lines_of_code(file):
    assert sum(bool(line.strip()) for line in file.read_text().splitlines()) < 40
