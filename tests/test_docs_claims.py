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


def test_a_check_without_a_claim_is_an_error(sentences):
    with pytest.raises(KeyError, match="no claim of simple"):
        sentences.checked(["simple", "ZO-RankSGD ahead of everything"])
