"""What is said of a run and its rater follows from a few facts and nothing else."""

import pytest

from zorank.studio.status_text import Facts, could_stop, progress_sentences

REPORT = {
    "radius": 0.5,
    "length": 0.7,
    "noise": 0.2,
    "visible": 0.6,
    "consistency": 0.9,
    "chance": 0.8,
    "gain": 0.3,
}


def after(rounds, *, alike=0, one_place=0, several=False, growing=False, **known):
    """The facts after so many rounds with one and the same report."""
    reports = [{**REPORT, **known} for _ in range(rounds)]
    if growing:
        reports = [{**r, "radius": 0.1 * (i + 1)} for i, r in enumerate(reports)]
    return Facts(reports, alike, one_place, several)


def test_there_is_no_status_before_the_first_rounds():
    assert progress_sentences(Facts()) == []
    assert progress_sentences(after(1)) == []
    assert progress_sentences(after(2)) == ["The next round probably contains a better picture."]
    assert len(progress_sentences(after(4))) == 2


@pytest.mark.parametrize(
    ("chance", "sentence"),
    [
        (0.7, "The next round probably contains a better picture."),
        (0.69, "The next round may or may not contain a better picture."),
        (0.5, "The next round may or may not contain a better picture."),
    ],
)
def test_the_chance_of_something_better(chance, sentence):
    assert progress_sentences(after(5, chance=chance))[0] == sentence


@pytest.mark.parametrize(
    ("consistency", "growing", "alone", "together"),
    [
        (0.95, False, "You are very consistent.", "Answers are very consistent."),
        (0.8, True, "Your answers vary a little.", "Answers vary a little."),
        (
            0.6,
            True,
            "Your answers vary a lot; larger differences come next.",
            "Answers vary a lot; larger differences come next.",
        ),
        (0.6, False, "Your answers vary a lot.", "Answers vary a lot."),
    ],
)
def test_the_status_describes_consistency(consistency, growing, alone, together):
    for several, sentence in ((False, alone), (True, together)):
        facts = after(5, consistency=consistency, growing=growing, several=several)
        assert progress_sentences(facts)[1] == sentence


def test_the_status_after_no_difference():
    assert progress_sentences(after(5, alike=1, growing=True)) == [
        "These look alike to you; the next ones differ more."
    ]
    assert progress_sentences(after(5, alike=3)) == [
        "These look alike to you; any small preference helps."
    ]
    together = after(5, alike=1, growing=True, several=True)
    assert progress_sentences(together) == ["These look alike; the next ones differ more."]
    nothing_yet = Facts([{}] * 3, alike=3)
    assert progress_sentences(nothing_yet) == [
        "No preference yet, so every set is drawn at random."
    ]


def test_the_status_reports_favourites_at_one_position():
    facts = after(12, one_place=6, gain=0.01)
    assert progress_sentences(facts) == [
        "You always choose the same position, but pictures are shuffled every round."
    ]
    assert not could_stop(facts)
    assert progress_sentences(after(12, one_place=5))[0].startswith("The next round probably")


@pytest.mark.parametrize(
    ("rounds", "gain", "noise", "enough"),
    [
        (8, 0.06, 0.2, True),  # less than a third of what the eye errs by
        (8, 0.07, 0.2, False),
        (8, 0.04, 0.01, True),  # less than anybody cares for
        (8, 0.06, 0.01, False),
        (7, 0.01, 0.2, False),  # too early to say
    ],
)
def test_one_could_stop_when_there_is_little_to_gain(rounds, gain, noise, enough):
    facts = after(rounds, gain=gain, noise=noise)
    assert could_stop(facts) is enough
    assert (progress_sentences(facts)[-1] == "You could stop here.") is enough
    assert len(progress_sentences(facts)) <= 3


def test_one_could_stop_only_when_it_stays_so():
    reports = [{**REPORT, "gain": gain} for gain in [0.3] * 8 + [0.01] * 3]
    assert could_stop(Facts(reports))
    assert not could_stop(Facts(reports[:-1]))
    assert not could_stop(Facts([*reports, {**REPORT, "gain": 0.2}]))


def test_one_could_stop_when_all_looks_alike_and_cannot_differ_more():
    assert could_stop(after(8, alike=3))
    assert not could_stop(after(8, alike=2))
    assert not could_stop(after(8, alike=3, growing=True))
    assert not could_stop(Facts([{}] * 20, alike=20))


def test_a_method_without_a_model_is_passed_over_in_silence():
    facts = Facts([{"radius": 0.35}] * 20)
    assert progress_sentences(facts) == []
    assert not could_stop(facts)
    wider = Facts([{"radius": 0.35}, {"radius": 0.5}], alike=1)
    assert progress_sentences(wider) == ["These look alike to you; the next ones differ more."]
