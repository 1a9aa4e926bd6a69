"""Every measured number in the docs has a source.

A number in the text is either filled in from docs/results (`docs/_generate/values.py`), or the
text says where it comes from:

- a paragraph that begins with "*Measured with" and names the command is the source of its section;
- `<!-- numbers: KIND -->` covers the paragraph, list or table that it stands in, or the next one
  if it stands at the end, for numbers that nobody measured; `KINDS` lists what they may be. In
  sentences.toml the key `numbers` does the same for a note.

Counts in words, such as "one of four", are numbers too.
"""

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
SENTENCES = DOCS / "_generate" / "sentences.toml"
KINDS = {"settings", "theory", "paper", "example", "glossary"}
FROM_CODE = {"cli.md", "settings.md"}

NUMBER_WORDS = "one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve"
COUNT = rf"(?:{NUMBER_WORDS}|\d+)"
# A decimal fraction, a percentage, a spread, a multiple, a duration, a power of ten or a count of
# cases.
MEASURED = re.compile(
    r"(?<![\w.])\d*\.\d+(?![\w.])"
    r"|\d %|\d%|± ?[\d.]|\d ?×|× ?\d"
    r"|\d (?:times|s|ms|µs|seconds|minutes|hours|MB|GB|kB)\b"
    r"|(?<!\d)10⁻[⁰¹²³⁴⁵⁶⁷⁸⁹]+|· ?10[⁰¹²³⁴⁵⁶⁷⁸⁹]+"
    rf"|\b(?i:none|{COUNT}) of (?:(?:the|these|those|all|its|our) )?(?:other )?{COUNT}\b"
)
NOT_TEXT = re.compile(
    r"```.*?```"  # code
    r"|`[^`\n]+`"
    r"|\{\{.*?\}\}"  # filled in
    r"|\]\([^)]*\)"  # addresses
    r"|95% interval"
    r"|\b(?:[Vv]ersion|Python|arXiv|[Ss]ection|Apache|doi|numpy|torch)[ -][\d.:]+\S*"
    r"|(?<![\d.])\d+(?: × \d+)+(?![\d.])",  # sizes, such as 64 × 64
    re.DOTALL,
)
MARKER = re.compile(r"<!-- numbers: (.*?) -->")


def sources():
    """The texts that people write: a template where there is one, else the page."""
    for page in sorted(DOCS.rglob("*.md")):
        template = DOCS / "templates" / page.relative_to(DOCS)
        if page.name not in FROM_CODE and DOCS / "templates" not in page.parents:
            yield template if template.exists() else page
    yield ROOT / "README.md"


def sections(text):
    """The sections of a page, each with its heading."""
    return re.split(r"^(?=#{1,4} )", re.sub(r"```.*?```", "", text, flags=re.DOTALL), flags=re.M)


def uncovered(section):
    """The paragraphs of a section that no marker covers; one at an end covers the next."""
    marked = False
    for paragraph in re.split(r"\n\s*\n", section):
        kinds = MARKER.findall(paragraph)
        assert {kind for each in kinds for kind in each.split(", ")} <= KINDS
        at_end = bool(kinds) and paragraph.rstrip().endswith("-->")
        if (not kinds or at_end) and not marked:
            yield paragraph
        marked = at_end


def numbers_in(text):
    """The numbers of a text that are not filled in."""
    return MEASURED.findall(re.sub(r"<!--.*?-->", "", NOT_TEXT.sub("", text)))


def unsourced(text):
    """The numbers of a page without a source, by heading."""
    found = {}
    for section in sections(text):
        heading, *_ = section.strip().splitlines() or [""]
        numbers = [number for part in uncovered(section) for number in numbers_in(part)]
        if numbers and not re.search(r"^\*Measured with [^\n]*`", section, re.M):
            found[heading] = numbers
    return found


def unsourced_of(sentence):
    """The numbers without a source in what a row of docs/claims.md says beside the quote."""
    assert sentence.get("numbers", "settings") in KINDS
    text = f"{sentence['says']} {sentence.get('note', '')}"
    return [] if "numbers" in sentence else numbers_in(text)


@pytest.mark.parametrize(
    "sentence",
    tomllib.loads(SENTENCES.read_text())["sentence"],
    ids=lambda sentence: f"{sentence['line']} {sentence['quote'][:40]}",
)
def test_remarks_on_sentences_of_the_paper_have_a_source(sentence):
    assert unsourced_of(sentence) == []


def test_a_remark_without_source_is_found():
    assert unsourced_of({"says": "a", "note": "It falls 8.4 and 3.0 times."}) == ["8.4", "3.0"]
    assert unsourced_of({"says": "In two of three cases."}) != []
    assert unsourced_of({"says": "μ = .1", "numbers": "settings"}) == []


@pytest.mark.parametrize("page", list(sources()), ids=lambda page: str(page.relative_to(ROOT)))
def test_measured_numbers_have_a_source(page):
    assert unsourced(page.read_text()) == {}


@pytest.mark.parametrize(
    "text",
    [
        "# A\n\nIt is 1.4 times lower.",
        "# A\n\nIt takes 3 s.",
        "# A\n\n{{simple | a | b | c}} but .81 there.",
        "# A\n\n*Measured with `x`.*\n\n## B\n\n3 ± 1",
        "# A\n\nIt is 7 × the other, × 2 in all.",
        "# A\n\n1.4 × 2",
        "# A\n\n<!-- numbers: settings -->\nIt is .3.\n\nIt is .4 there.",
        "# A\n\n<!-- numbers: settings -->\n\nIt is .3.\n\nIt is .4 there.",
        "# A\n\nIt is ahead on one of four.",
        "# A\n\nNone of the other three is decided.",
        "# A\n\n8 of 18 verdicts.",
        "# A\n\nf is 10⁻⁶ without noise.",
    ],
)
def test_a_number_without_source_is_found(text):
    assert unsourced(text) != {}


@pytest.mark.parametrize(
    "text",
    [
        "# A\n\nIt is {{simple | a | b | c}} times lower, at `x = .3`.",
        "# A\n\n*Measured with `python x.py`, 3 seeds.*\n\nIt is 1.4 times lower.",
        "# A\n\n<!-- numbers: settings -->\nIt is .3.",
        "# A\n\n<!-- numbers: settings -->\n\nIt is .3.",
        "# A\n\nOne of the methods, one of them.",
        "# A\n\nVersion 0.3, [a page](https://a.b/0.3), 20 seeds.",
        "# A\n\nPictures of 64 × 64, 4 × 64 × 64 numbers, an m × d array.",
        "# A\n\nMeans, ± standard error.",
    ],
)
def test_a_number_with_source_passes(text):
    assert unsourced(text) == {}


@pytest.fixture
def values(monkeypatch):
    monkeypatch.syspath_prepend(str(DOCS))
    from _generate import values

    return values


CLAIM = "looks studies.0.claims.0.measured"
PAPERS = "simple | ZO-RankSGD ahead of SCOBO | Quadratic | 1,000 points"


def test_words_cannot_disagree_with_a_claim(values):
    assert values.filled(f"{{{{✓ {PAPERS}}}}}") == values.filled(f"{{{{> {PAPERS}}}}}")
    for mark, claim in (("✗", CLAIM), ("✗", PAPERS), ("<", PAPERS), ("✓", "dream found")):
        with pytest.raises(ValueError, match="the text says"):
            values.filled(f"{{{{{mark} {claim}}}}}")


@pytest.mark.parametrize("claim", [CLAIM, PAPERS, f"low {PAPERS}"])
def test_a_claim_without_a_verdict_is_an_error(values, claim):
    with pytest.raises(ValueError, match="the text says"):
        values.filled(f"{{{{{claim}}}}}")


def test_claims_are_counted(values):
    name = "simple | ZO-RankSGD on par with ZO-SGD | Quadratic"
    kinds = ("ahead", "behind", "even", "✓", "✗", "?", "decided", "all")
    told = [values.filled(f"{{{{count {kind} {name}}}}}") for kind in kinds]
    assert told == ["0", "4", "0", "0", "4", "0", "4", "4"]
    with pytest.raises(KeyError, match="no claim"):
        values.filled("{{count all simple | nothing}}")
