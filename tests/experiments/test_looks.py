"""zorank bench looks: tastes in pictures, peers in a box, and the command from end to end."""

import json
import re
import sys
from dataclasses import replace

import numpy as np
import pytest

from tests.helpers.benchmarks import BenchmarkCommand
from zorank import InvalidInput, MissingExtra, Ranking, rng
from zorank.errors import install_command
from zorank.experiments import plotting
from zorank.experiments.looks import cases as looks_cases
from zorank.experiments.looks import findings as looks_findings
from zorank.experiments.looks import study as looks
from zorank.experiments.looks.boxes import BOUNDS, FAMILIES, UniformStart, box_taste
from zorank.experiments.looks.cases import KINDS, landscape_taste
from zorank.experiments.looks.figure import draw
from zorank.experiments.looks.picture_tastes import HELD_OUT, NUMBERS, SKETCHED, Reference
from zorank.experiments.looks.preferential_peers import QEUBO, OptunaPreferential, all_pairs
from zorank.experiments.looks.study import LOOKS, PROCESS, RANDOM, Condition, Study
from zorank.experiments.simulated_raters import SimulatedRater as Rater
from zorank.experiments.simulated_raters import make_taste, run_session
from zorank.experiments.studies import Sessions
from zorank.optimizers import REGISTRY, RankProcess
from zorank.slates import Shell

# tastes in pictures


@pytest.fixture(scope="module")
def landscapes():
    """Sixty random landscapes instead of four hundred."""
    draws, shell = rng.for_content(0, b"test landscapes"), Shell()
    x = np.array([shell.place(draws.standard_normal(62)) for _ in range(60)])
    pictures = np.stack([looks_cases.EYE.picture(row) for row in x])
    return Reference((pictures / np.float32(255)).astype(np.float32), x)


@pytest.fixture
def few(landscapes, monkeypatch):
    """The benchmark with these landscapes as its random ones."""
    looks_cases.landscape_taste.cache_clear()
    monkeypatch.setattr(looks_cases, "reference", lambda: landscapes)
    yield landscapes
    looks_cases.landscape_taste.cache_clear()


def test_there_are_enough_tastes_of_every_group_and_each_says_what_it_means():
    groups = [kind.group for kind in KINDS.values()]
    assert (groups.count(SKETCHED), groups.count(NUMBERS)) == (5, 2)
    assert groups.count(HELD_OUT) >= 7
    assert all(kind.meaning for kind in KINDS.values())


@pytest.mark.parametrize("name", KINDS)
def test_a_taste_is_a_function_of_its_seed_on_the_scale_of_random_pictures(name, few):
    found = -landscape_taste(name, 3)(few.candidates)
    assert found.shape == (60,)
    assert np.isfinite(found).all()
    assert found.mean() == pytest.approx(0, abs=1e-6)
    assert found.std() == pytest.approx(1, abs=1e-6)
    landscape_taste.cache_clear()
    again = landscape_taste(name, 3)
    assert -again(few.candidates) == pytest.approx(found, rel=0, abs=0)
    assert -again(few.candidates[7]) == pytest.approx(found[7], abs=1e-5)


PERSONAL = {"in mind", "palette", "just right", "waves", "both", "mixture", "dials", "place"}


@pytest.mark.parametrize("name", sorted(PERSONAL))
def test_people_of_other_seeds_differ(name, few):
    first, second = (landscape_taste(name, seed)(few.candidates) for seed in (3, 4))
    assert not np.allclose(first, second)


def liking(name, reference, *pictures, seed=3):
    utility = KINDS[name].make(seed, reference)
    return utility(np.stack(pictures).astype(np.float32), reference.candidates[: len(pictures)])


def plain(red, green, blue):
    return np.full((64, 64, 3), (red, green, blue), dtype=np.float32)


def prefers(name, reference, better, worse):
    first, second = liking(name, reference, better, worse)
    return first > second


def test_tastes_prefer_what_their_words_say(landscapes):
    some = landscapes.pictures[0]
    redder = np.clip(some + np.array([0.15, 0, -0.15], np.float32), 0, 1)
    bluer = np.clip(some - np.array([0.15, 0, -0.15], np.float32), 0, 1)
    assert prefers("warm", landscapes, redder, bluer)
    assert prefers("pixel", landscapes, bluer * 0.7, redder)
    noise = np.random.default_rng(0).random((64, 64, 3)).astype(np.float32)
    assert prefers("intricate", landscapes, noise, plain(0.5, 0.5, 0.5))
    assert prefers("detailed", landscapes, noise, some)
    assert prefers("crisp", landscapes, noise, some)
    halves = np.concatenate([plain(0.8, 0.2, 0.2)[:32], plain(0.2, 0.2, 0.8)[32:]])
    assert prefers("harmonious", landscapes, plain(0.8, 0.2, 0.2), halves)
    tilted = np.where(np.add.outer(np.arange(64), np.arange(64) // 2) < 48, 0.9, 0.1)
    straight = np.where(np.arange(64)[:, None] < 30, 0.9, 0.1) * np.ones(64)
    grey = [np.repeat(p[..., None], 3, axis=2) for p in (straight, tilted)]
    assert prefers("level", landscapes, *grey)


def test_a_person_with_a_picture_in_mind_likes_it_best(landscapes):
    for name in ("in mind", "palette"):
        values = liking(name, landscapes, *landscapes.pictures)
        assert values.max() == pytest.approx(0, abs=1e-6)
        target = landscapes.pictures[int(np.argmax(values))]
        worse = np.clip(0.5 * target + 0.4, 0, 1)
        assert prefers(name, landscapes, target, worse)


def test_contrast_at_a_third_scores_higher_than_in_a_corner(landscapes):
    def spot(row, column):
        picture = plain(0.2, 0.2, 0.2)
        picture[row - 3 : row + 3, column - 3 : column + 3] = 1.0
        return picture

    thirds = [spot(r, c) for r in (21, 43) for c in (21, 43)]
    corner = spot(5, 5)
    values = liking("thirds", landscapes, *thirds, corner)
    assert values[:4].max() > -0.02
    assert values[:4].max() > values[4]


def test_just_right_is_bounded_and_both_is_the_lesser(landscapes):
    assert liking("just right", landscapes, *landscapes.pictures).max() <= 0
    both = liking("both", landscapes, *landscapes.pictures)
    assert both.mean() < 0  # the lesser of two is below the mean of either


# boxes


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("dim", [20, 62])
def test_a_taste_in_a_box_is_measured_on_the_scale_of_random_points(family, dim):
    x = np.random.default_rng(5).uniform(*BOUNDS, (3000, dim))
    found = box_taste(family, dim, 9)(x)
    assert found.mean() == pytest.approx(0, abs=0.1)
    assert found.std() == pytest.approx(1, abs=0.1)
    assert box_taste(family, dim, 9)(x[0]) == pytest.approx(found[0])
    assert not np.allclose(found, box_taste(family, dim, 10)(x))


def test_only_six_coordinates_of_few_matter():
    x = np.random.default_rng(5).uniform(*BOUNDS, 30)
    changed = [box_taste("few", 30, 1)(x + step) for step in np.eye(30)]
    assert sum(value != pytest.approx(changed[-1]) for value in changed) in (6, 24)
    with pytest.raises(InvalidInput, match="no family of tastes"):
        box_taste("fewer", 30, 1)


IN_BOX = [
    UniformStart(PROCESS, looks.IN_BOX),
    looks.BOX_METHODS[RANDOM](None),
]


def sessions_in_box(optimizer, slates=2):
    return run_session(optimizer, box_taste("ridges", 5, 4), 5, Rater(0.1), slates, 4)


def test_methods_in_a_box_share_their_first_slate_and_stay_inside():
    slates = [o.ask(o.init(np.ones(5)), rng.for_round(4, 0)) for o in IN_BOX]
    assert np.array_equal(*map(np.asarray, slates))
    assert len({sessions_in_box(o).gains[0] for o in IN_BOX}) == 1
    optimizer = IN_BOX[0]
    state = optimizer.init(np.ones(5))
    for n in range(4):
        slate = optimizer.ask(state, rng.for_round(4, n))
        assert np.abs(np.asarray(slate)).max() <= 3
        state = optimizer.tell(state, slate, Ranking.of([3, 1, 0, 2, 5, 4]))


def test_all_pairs_of_a_ranking_are_told():
    assert set(all_pairs(Ranking.of([2, 0, 1]), 3)) == {(2, 0), (2, 1), (0, 1)}
    assert set(all_pairs(Ranking.of([2]), 3)) == {(2, 0), (2, 1)}
    assert all_pairs(Ranking.no_difference(), 3) == []


@pytest.mark.parametrize(
    ("library", "peer"),
    [
        ("botorch", QEUBO(m=3, restarts=1, raw_samples=4)),
        ("optuna_dashboard", OptunaPreferential(m=3)),
    ],
)
def test_a_peer_learns_and_can_be_repeated(library, peer):
    pytest.importorskip(library, exc_type=ImportError)
    first, second = (sessions_in_box(peer) for _ in range(2))
    assert first.gains == second.gains
    state = peer.init(np.ones(4))
    for n in range(2):
        slate = peer.ask(state, rng.for_round(1, n))
        assert len(slate) == 3
        assert np.abs(np.asarray(slate)).max() <= 3
        if n:
            assert any(np.array_equal(x, peer.best(state)) for x in slate)
        state = peer.tell(state, slate, Ranking.of([1, 2, 0]))


@pytest.mark.parametrize("peer", [QEUBO(), OptunaPreferential()])
def test_a_missing_peer_is_named_with_its_remedy(peer, monkeypatch):
    for library in ("botorch", "optuna_dashboard"):
        loaded = [name for name in sys.modules if name.split(".")[0] == library]
        for name in {library, *loaded}:
            monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(MissingExtra, match=re.escape(install_command("peers"))):
        peer.init(np.ones(3))


# sessions


class Looking(RankProcess):
    uses_looks = True
    seen = None

    def ask(self, state, rng, looks=None):
        type(self).seen = looks
        return super().ask(state, rng)


class Later:
    """Looks that begin after the session."""

    begin = 9


def test_looks_are_handed_to_methods_that_use_them():
    found = Later()
    run_session(Looking(pick=True), make_taste("sine", 9, 1), 9, Rater(), 2, 1, looks=found)
    assert Looking.seen is found
    plain = run_session(
        RankProcess(pick=True), make_taste("sine", 9, 1), 9, Rater(), 2, 1, looks=1
    )
    assert 0 < plain.typical_seconds <= plain.seconds


def test_methods_on_the_shell_share_their_first_slate(few):
    first = set()
    for method in (m for m in looks.METHODS if m in REGISTRY or m != LOOKS):
        setting = Study().grid(method)[0]
        condition = Condition("landscape", "warm", 62, 0.3, method, setting, rounds=1)
        first.add(looks.run_trial(looks.Trial(condition, 11, 1))["gains"][0])
    assert len(first) == 1


# the study


def test_every_condition_is_measured_once_seed_by_seed():
    study = replace(Study(), methods=tuple(m for m in looks.ALL_METHODS if m != LOOKS))
    trials = study.trials()
    assert len(set(trials)) == len(trials)
    assert [t.seed for t in trials] == sorted(t.seed for t in trials)
    assert {t.seed for t in trials if t.condition.method == looks.OPTUNA} == {3000, 3001, 3002}
    assert len(study.cases("landscape")) == 2 * len(KINDS)
    assert study.with_seeds(1).seeds(trials[0].condition) == 1


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"parts": ("lands",)}, "no part"),
        ({"methods": ("qEUB",)}, "did you mean qEUBO"),
        ({"tastes": ("worm",)}, "did you mean warm"),
        ({"parts": ("dream",), "methods": ("optuna",)}, "nothing is left"),
    ],
)
def test_a_study_of_unknown_things_is_refused(changes, words):
    with pytest.raises(InvalidInput, match=words):
        replace(Study(), **changes)


LEVELS = {LOOKS: 5.0, PROCESS: 4.0, looks.BOTORCH: 4.5, looks.OPTUNA: 3.0}


@pytest.fixture
def results():
    """A study whose methods gain what LEVELS says; conditions of a seed share their luck."""
    study = replace(
        Study(), landscape_seeds=4, dream_seeds=4, peers_seeds=4, noises=(0.1,), dims=(20,)
    )
    luck = np.random.default_rng(0).standard_normal((4, 1))

    def sessions(c):
        level = LEVELS.get(c.method, 2.0 + (c.setting or 0.0))
        rise = np.linspace(0, 1, study.rounds + 1)
        seeds = study.seeds(c)
        took = np.full(seeds, 0.1 if c.method == LOOKS else 2.0)
        gains = luck[:seeds] + level * rise
        return Sessions(c.setting, gains, took, took, noise=took)

    return study, {c: sessions(c) for c in study.conditions()}


def test_claims_are_paired_by_seed(results):
    study, found = results
    summary = looks_findings.summary(study, found)
    claims = {claim["name"]: claim for claim in summary["claims"]}
    process = claims["landscapes, noise 0.1: minus rank-process, held-out tastes"]
    assert process["measured"] == pytest.approx(1)
    assert process["standard_error"] == pytest.approx(0, abs=1e-12)
    assert process["holds"]
    early = "landscapes, noise 0.1: after 10 rounds minus rank-process after 20, perceptual tastes"
    assert claims[early]["measured"] == pytest.approx(-1.5)
    assert not claims[early]["holds"]
    assert claims["boxes: after 20 rounds minus qEUBO, least case"]["holds"]
    ratio = next(claim for name, claim in claims.items() if "seconds" in name)
    assert (ratio["measured"], ratio["holds"]) == (pytest.approx(0.05), True)
    assert len(claims) == 5 + 1 + 3 + 1
    case = next(case for case in summary["cases"] if case["part"] == "peers")
    assert case["methods"]["optuna"]["seeds"] == 3
    assert case["methods"]["qEUBO"]["after"]["10"] == pytest.approx(
        case["methods"]["qEUBO"]["gains"][10]
    )
    algorithm_3 = summary["cases"][0]["methods"]["algorithm 3"]
    assert algorithm_3["setting"] == 0.5
    json.dumps(summary, allow_nan=False)


def test_level_within_one_standard_error_is_level(results):
    study, found = results
    noise = 0.2 * np.array([-1.0, 1.0, -1.0, 0.9])[:, None]
    changed = {
        c: replace(s, gains=s.gains - 0.5 + noise)
        if (c.method, c.taste, c.part) == (LOOKS, "few", "peers")
        else s
        for c, s in found.items()
    }
    claims = {c.name: c for c in looks_findings.claims(study, changed)}
    after = claims["boxes: after 20 rounds minus qEUBO, least case"]
    assert after.measured < 0
    assert after.where.startswith("few")
    assert after.holds


def test_the_figure_shows_all_parts(results, tmp_path):
    plotting.save(lambda figure: draw(figure, *results), [tmp_path / "looks.svg"])
    drawn = (tmp_path / "looks.svg").read_text()
    assert "<svg" in drawn


@pytest.mark.parametrize("part", ["style", "faces"])
def test_a_part_that_runs_only_if_named_has_a_panel(part, tmp_path):
    titles = []

    def draw_and_look(figure):
        draw(figure, Study(parts=(part,)), {})
        titles.extend(axes.get_title() for axes in figure.axes)

    plotting.save(draw_and_look, [tmp_path / "looks.png"])
    assert any(title.startswith(f"{part}: ") for title in titles)


# the command


def test_the_benchmark_of_looks_from_end_to_end_and_again(
    few, without_workers, printed, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    settings = ["--quick", "--seeds", 1, "--rounds", 2]
    settings += ["--method", "rank-process", "--method", "random"]
    if LOOKS in REGISTRY:
        settings += ["--method", LOOKS]
    command = BenchmarkCommand(printed, tmp_path, "looks", *settings)
    out, found = command.run()
    for words in ("too few runs", "gain after 2 rounds", "held out", "ridges", "looks.png"):
        assert words in out
    assert (found["quick"], found["pictures"], len(found["cases"])) == (True, 18, 4)
    assert {len(row["gains"].split()) for row in command.rows()} == {3}

    kept = command.trials()
    _, found = command.run("--only", "landscape", "--taste", "warm")
    assert command.trials() == kept
    assert len(found["cases"]) == 1


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--taste", "worm"], "did you mean warm"),
        (["--method", "rank-look"], "rank-looks"),
        (["--only", "dream", "--method", "qEUBO"], "nothing is left"),
    ],
)
def test_a_wrong_request_is_one_sentence(arguments, words, refused):
    assert words in refused("bench", "looks", *arguments)
