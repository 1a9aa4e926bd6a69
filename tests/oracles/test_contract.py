"""What every oracle and every judge of pictures promises (`zorank.testing`)."""

import io

import numpy as np
import pytest
from PIL import Image

from tests.helpers.tiny_clip import save_tiny_clip
from zorank.oracles import (
    CLIP,
    JUDGES,
    ComparisonOracle,
    FunctionOracle,
    GaussianNoise,
    JustNoticeable,
    PictureOracle,
    PlackettLuce,
    RandomSwaps,
)
from zorank.oracles.judge_kinds import JudgeKind
from zorank.problems import sphere
from zorank.testing import JudgeContract, OracleContract
from zorank.types import Exhibit


class Greys:
    """A picture of one grey, as bright as the first coordinate says."""

    dim = 3

    def render(self, candidates):
        return [Exhibit("image/png", self.png(x[0])) for x in candidates]

    def png(self, value):
        file = io.BytesIO()
        Image.new("L", (4, 4), round(float(np.clip(100 + 50 * value, 0, 255)))).save(file, "PNG")
        return file.getvalue()


def brightness(pictures):
    return [np.asarray(picture).mean() for picture in pictures]


class TestOracles(OracleContract):
    @pytest.fixture(
        params=[
            FunctionOracle(sphere),
            FunctionOracle(lambda x: x[:, 0], k=2, vectorized=True),
            GaussianNoise(sphere, 1.0),
            PlackettLuce(sphere, 1.0),
            RandomSwaps(FunctionOracle(sphere), 0.5),
            JustNoticeable(sphere, 0.5),
            ComparisonOracle(lambda a, b: sphere(a) - sphere(b)),
            PictureOracle(Greys(), brightness),
        ],
        ids=lambda oracle: type(oracle).__name__,
    )
    def oracle(self, request):
        return request.param


class TestJudges(JudgeContract):
    """A registered judge joins by itself, unless it needs a model: those have a class below."""

    @pytest.fixture(params=[name for name in JUDGES if name != "clip"])
    def judge(self, request):
        kind = JudgeKind.of(request.param, JUDGES[request.param])
        return kind.make({"prompt": "snowy night"} if kind.reads_prompts else {})


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("clip") / "tiny"
    save_tiny_clip(made)
    return made


@pytest.mark.torch
class TestClip(JudgeContract):
    @pytest.fixture
    def judge(self, folder):
        return CLIP("a snowy night", model=folder)
