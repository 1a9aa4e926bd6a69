"""What every renderer promises (`zorank.testing`). A registered one joins by itself."""

import numpy as np
import pytest

from tests.helpers import tiny_pipelines
from zorank.renderers import REGISTRY, Diffusers, PolicyClips
from zorank.testing import RendererContract
from zorank.types import Exhibit

HEAVY = ("diffusers", "policy", "voice")


class Minimal:
    """The two members that a renderer must have."""

    dim = 3

    def render(self, candidates):
        return [Exhibit("image/jpeg", np.asarray(x).tobytes()) for x in candidates]


class Everything(Minimal):
    """All optional members."""

    media_type = "text/plain"
    space = "euclidean"
    title = "Everything"
    description = "All optional members."
    prompt = "a lake"
    size = 32
    together = 4
    weights = "0a1b2c"
    export_name = "candidate.bin"

    def render(self, candidates, progress=None, preview=None):
        several = list(candidates)
        for position, _ in enumerate(several):
            if preview:
                preview(position, Exhibit("text/plain", b"soon"))
            if progress:
                progress((position + 1) / len(several))
        return [Exhibit("text/plain", str(list(x)).encode()) for x in several]

    def check(self):
        pass

    def warm_up(self):
        pass

    def drift(self, candidate):
        return {"norm": float(np.linalg.norm(candidate))}

    def export(self, candidate):
        return np.asarray(candidate).tobytes()

    def look(self, candidates):
        return np.asarray(candidates)[:, :2]

    def small_picture(self, candidate):
        return np.zeros((2, 2, 3), np.float32)


# Small pictures take less time. Those that need a simulator or a model have a class below, and
# voice has one in test_voice.py.
SMALL = {"landscape": {"size": 32}, "dream": {"steps": 2, "size": 64}}
REGISTERED = [make(**SMALL.get(name, {})) for name, make in REGISTRY.items() if name not in HEAVY]


class TestRenderers(RendererContract):
    @pytest.fixture(
        params=[Minimal(), Everything(), *REGISTERED],
        ids=lambda renderer: type(renderer).__name__,
    )
    def renderer(self, request):
        return request.param


@pytest.mark.simulator
class TestClips(RendererContract):
    @pytest.fixture
    def renderer(self, drawing):
        return PolicyClips(seconds=0.2, size=64)


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return str(tiny_pipelines.stable_diffusion(tmp_path_factory.mktemp("sd")))


@pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning")
@pytest.mark.torch
class TestDiffusers(RendererContract):
    @pytest.fixture
    def renderer(self, model):
        return Diffusers(model=model, prompt="a red house", steps=2)
