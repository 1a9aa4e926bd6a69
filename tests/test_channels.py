"""The shell of latents whose channels stay like noise."""

import numpy as np
import pytest

from zorank import InvalidInput, Run, optimizers
from zorank._array_json import read_space, write_space
from zorank._channels import LIMIT, ChannelShell
from zorank._recipes import place_repeatably
from zorank.renderers.latents import UNUSUAL, drift
from zorank.slates import Shell

SHAPE = (16, 16, 16)
DIM = 4096


def noise(seed):
    return np.random.default_rng(seed).standard_normal(DIM)


def tilted(seed):
    """Noise with one channel shifted, one scaled and one shifted the other way."""
    x = noise(seed)
    channels = x.reshape(16, -1)
    channels[3] += 0.5
    channels[5] *= 1.6
    channels[9] -= 1.0
    return x


@pytest.mark.parametrize("limit", [0.0, 1.0, LIMIT])
def test_moments_come_within_the_limit_and_the_norm_stays(limit):
    for seed in range(20):
        found = drift(ChannelShell(16, limit).place(tilted(seed)), SHAPE)
        assert found["largest"] == pytest.approx(limit, abs=1e-9)
        assert found["norm"] == pytest.approx(1, abs=1e-12)


def test_points_within_the_limit_are_those_of_the_shell():
    usual = [x for x in map(noise, range(30)) if drift(Shell().place(x), SHAPE)["largest"] < LIMIT]
    assert len(usual) > 27
    for x in usual:
        assert ChannelShell(16).place(x.copy()).tobytes() == Shell().place(x.copy()).tobytes()


def test_a_placed_point_stays_where_it_is():
    for seed in range(20):
        x = ChannelShell(16).place(tilted(seed))
        assert np.allclose(ChannelShell(16).place(x.copy()), x, atol=1e-9)


def test_a_channel_changes_by_a_shift_and_a_factor_only():
    x = Shell().place(tilted(0))
    placed = ChannelShell(16).place(x.copy()).reshape(16, -1)
    for before, after in zip(x.reshape(16, -1), placed, strict=True):
        assert np.corrcoef(before, after)[0, 1] == pytest.approx(1)


def test_channels_of_one_value_stay_as_they_are_on_the_shell():
    flat = np.repeat([1.0, 2.0], 8)
    assert np.array_equal(ChannelShell(2).place(flat.copy()), Shell().place(flat.copy()))


def test_one_channel_of_one_value_leaves_the_point_on_the_shell():
    x = np.random.default_rng(0).standard_normal((16, 256))
    x[0], x[1] = 0, x[1] + 3
    assert np.linalg.norm(ChannelShell(16).place(x.ravel())) == pytest.approx(64)


def lightness(x):
    """A taste that one channel's mean and another's size decide."""
    channels = x.reshape(16, -1)
    return -float(channels[2].mean() + 0.2 * (channels[7] ** 2).mean())


@pytest.mark.parametrize("method", ["rank-process", "rank-looks"])
def test_a_search_with_channels_stays_within_what_noise_gives(method):
    def driven(**more):
        options = {"m": 6, "space": "gaussian", "pick": True, **more}
        run = Run(optimizers.make(method, options), noise(0), seed=1)
        for _ in range(12):
            slate = run.ask()
            run.tell(slate.answer_from(np.array([lightness(x) for x in slate])))
        return run

    free, kept = driven(), driven(channels=16)
    assert drift(free.best(), SHAPE)["largest"] > UNUSUAL
    for step in kept.steps:
        assert not any(drift(x, SHAPE)["unusual"] for x in step.slate)
    assert not drift(kept.best(), SHAPE)["unusual"]


def test_a_placement_is_written_exactly_and_a_damaged_one_is_refused():
    x, placed = place_repeatably(ChannelShell(16), tilted(1))
    data = write_space(placed)
    assert read_space(data, DIM).place(tilted(1)).tobytes() == x.tobytes()
    with pytest.raises(ValueError, match="16 channels do not fit 4097 coordinates"):
        read_space(data, DIM + 1)


def test_wrong_channels_are_refused():
    for wrong in (-1, 2.5, "4", True):
        with pytest.raises(InvalidInput, match="channels must be a whole number from 0"):
            optimizers.RankProcess(space="gaussian", channels=wrong)
    with pytest.raises(InvalidInput, match="4 channels in space='euclidean'"):
        optimizers.RankLooks(channels=4)
    with pytest.raises(InvalidInput, match=r"a multiple of 4 numbers, at least 20; .* have 10"):
        Run(optimizers.RankProcess(space="gaussian", channels=4), np.ones(10))
