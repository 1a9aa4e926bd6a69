"""Every measured number in the docs has a source.

A number in the text is either filled in from docs/results (`docs/_generate/values.py`), or its
section says where it comes from:

- a paragraph that begins with "*Measured with" and names the command, or
- `<!-- numbers: KIND -->` for numbers that nobody measured; `KINDS` lists what they may be.
"""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
KINDS = {"settings", "theory", "paper", "example", "glossary"}
FROM_CODE = {"cli.md", "settings.md"}

# A decimal fraction, a percentage, a spread, a multiple or a duration.
MEASURED = re.compile(
    r"(?<![\w.])\d*\.\d+(?![\w.])"
    r"|\d %|\d%|± ?[\d.]|\d ?×|× ?\d"
    r"|\d (?:times|s|ms|µs|seconds|minutes|hours|MB|GB|kB)\b"
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


def sources():
    """The texts that people write: a template where there is one, else the page."""
    for page in sorted(DOCS.glob("*.md")):
        if page.name not in FROM_CODE:
            template = DOCS / "templates" / page.name
            yield template if template.exists() else page
    yield ROOT / "README.md"


def sections(text):
    """The sections of a page, each with its heading."""
    return re.split(r"^(?=#{1,4} )", re.sub(r"```.*?```", "", text, flags=re.DOTALL), flags=re.M)


def has_source(section):
    kinds = re.findall(r"<!-- numbers: (.*?) -->", section)
    assert {kind for each in kinds for kind in each.split(", ")} <= KINDS
    noted = re.search(r"^\*Measured with [^\n]*`", section, re.M)
    return bool(kinds or noted)


def unsourced(text):
    """The numbers of a page without a source, by heading."""
    found = {}
    for section in sections(text):
        heading, *_ = section.strip().splitlines() or [""]
        numbers = MEASURED.findall(re.sub(r"<!--.*?-->", "", NOT_TEXT.sub("", section)))
        if numbers and not has_source(section):
            found[heading] = numbers
    return found


@pytest.mark.parametrize("page", list(sources()), ids=lambda page: page.name)
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
        "# A\n\nVersion 0.3, [a page](https://a.b/0.3), 20 seeds.",
        "# A\n\nPictures of 64 × 64, 4 × 64 × 64 numbers, an m × d array.",
        "# A\n\nMeans, ± standard error.",
    ],
)
def test_a_number_with_source_passes(text):
    assert unsourced(text) == {}


def test_words_cannot_disagree_with_a_claim(monkeypatch):
    monkeypatch.syspath_prepend(str(DOCS))
    from _generate import values

    claim = "looks studies.0.claims.0.measured"
    assert values.filled(f"{{{{✓ {claim}}}}}") == values.filled(f"{{{{{claim}}}}}")
    with pytest.raises(ValueError, match="holds"):
        values.filled(f"{{{{✗ {claim}}}}}")
    with pytest.raises(ValueError, match="holds"):
        values.filled("{{✓ dream found}}")
