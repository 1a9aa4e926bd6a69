"""docs/claims.md: every empirical sentence of the paper, with what was measured."""

import json
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[1] / "docs"
FIGURES = (
    *("simple", "mk", "highdim", "noise", "tuning", "ablations", "estimates"),
    *("rl", "rl-scobo", "continuity", "latent-judges"),
)
OURS = {"rank-process ahead of random"}
"""Claims that are not in the paper."""


@pytest.fixture
def sentences(monkeypatch):
    monkeypatch.syspath_prepend(str(DOCS))
    from _generate import sentences, values

    values.results.cache_clear()
    yield sentences
    values.results.cache_clear()


def test_every_sentence_has_measurements_or_says_why_not(sentences):
    for sentence in sentences.sentences():
        assert {"section", "line", "quote", "says"} <= set(sentence)
        assert ("checks" in sentence) != ("status" in sentence), sentence["quote"]
        if "status" in sentence:
            assert sentence["status"] in sentences.STATUSES


def test_sentences_are_in_the_order_of_the_paper_and_none_is_there_twice(sentences):
    found = sentences.sentences()
    lines = [sentence["line"] for sentence in found]
    assert lines == sorted(lines)
    assert len({(sentence["line"], sentence["quote"]) for sentence in found}) == len(found)


@pytest.mark.parametrize("figure", FIGURES)
def test_every_claim_of_a_figure_answers_a_sentence(sentences, figure):
    claims = json.loads((DOCS / "results" / f"{figure}.json").read_text())["claims"]
    checks = [check for s in sentences.sentences() for check in s.get("checks", ())]
    named = {check[1] for check in checks if check[0] == figure}
    assert {claim["name"] for claim in claims} - OURS == named


def test_a_result_that_changes_changes_its_rows(sentences, tmp_path, monkeypatch):
    from _generate import values

    committed = sentences.table()
    results = json.loads((DOCS / "results" / "simple.json").read_text())
    results["claims"][0]["measured"] *= 1.5
    for file in (DOCS / "results").glob("*.json"):
        (tmp_path / file.name).write_bytes(file.read_bytes())
    (tmp_path / "simple.json").write_text(json.dumps(results))
    monkeypatch.setattr(values, "RESULTS", tmp_path)
    values.results.cache_clear()
    assert sentences.table() != committed
    page = (DOCS / "claims.md").read_text()
    assert all(row in page for row in committed)


@pytest.mark.parametrize(
    ("interval", "one_sided", "two_sided"),
    [
        ((0.6, 1.9), "✓", "✓"),
        ((1.1, 2.1), "✓", "↑"),
        ((24.0, 70.0), "✓", "↑"),
        ((0.6, 2.1), "✓", "?"),
        ((0.4, 0.6), "?", "?"),
        ((0.1, 0.4), "✗", "✗"),
    ],
)
def test_similar_means_on_par_both_ways(sentences, interval, one_sided, two_sided):
    claim = sentences.Claim("a on par with b", "", "", "", interval[0] > 0.5, 1.0, interval, 0.5)
    assert sentences.mark(claim, False) == one_sided
    assert sentences.mark(claim, True) == two_sided


@pytest.mark.parametrize(
    ("needed", "error", "found"),
    [("≥ 0.5", 0.2, "yes"), ("≥ 0.5", 0.3, "undecided"), ("0.5 to 1.1", 0.1, "undecided")],
)
def test_a_bound_within_the_interval_is_undecided(sentences, needed, error, found):
    from _generate import judge_tables

    claim = {"needed": needed, "measured": 1.0, "standard_error": error, "holds": True}
    assert judge_tables.holds(claim) == found
    assert judge_tables.holds({**claim, "needed": "≤ 2", "standard_error": None}) == "yes"


def test_differences_to_a_replicate_are_counted(sentences):
    from _generate import paper_tables, values

    replicate = json.loads((DOCS / "results" / "noise-replicate.json").read_text())
    before = "\n".join(paper_tables.changed(replicate))
    assert "0 of 3 “ahead”" in before
    for claim in replicate["claims"]:
        if claim["name"].endswith("ahead of ZO-SGD, minus f(x)"):
            claim.update(holds=False, interval=[0.1, 0.2])
    assert "3 of 3 “ahead”" in "\n".join(paper_tables.changed(replicate))
    assert values.results("noise")["name"] == replicate["name"]


def test_a_check_without_a_claim_is_an_error(sentences):
    with pytest.raises(KeyError, match="no claim of simple"):
        sentences.checked(["simple", "ZO-RankSGD ahead of everything"])
