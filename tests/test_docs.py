"""The docs tell the truth: their code runs, generated pages are fresh, no name is silent."""

import dataclasses
import importlib.util
import re
import shlex
import textwrap
from pathlib import Path

import pytest

import zorank
from tests.helpers import fork_server
from zorank import optimizers

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = [
    *(ROOT / "README.md", ROOT / "CONTRIBUTING.md"),
    *(page for page in sorted(DOCS.rglob("*.md")) if DOCS / "templates" not in page.parents),
]


def blocks(page, language):
    found = re.findall(rf"^ *```{language}\n(.*?)```", page.read_text(), re.DOTALL | re.MULTILINE)
    return [textwrap.dedent(block) for block in found]


SNIPPETS = [
    pytest.param(code, id=f"{page.relative_to(ROOT)}-{i}")
    for page in PAGES
    for i, code in enumerate(blocks(page, "python"))
]
COMMANDS = [
    command.partition("#")[0].strip()
    for page in PAGES
    for block in blocks(page, "sh")
    for command in block.splitlines()
    if command.partition("#")[0].strip()
]


@pytest.mark.parametrize("code", SNIPPETS)
def test_every_snippet_runs(code, tmp_path):
    fork_server.run(["-c", code], warnings="error", cwd=tmp_path, check=True)


def test_every_target_of_make_exists():
    targets = re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
    named = [shlex.split(command)[1] for command in COMMANDS if command.startswith("make ")]
    assert named
    assert set(named) <= set(targets)


# Commands that take long are run with less to do: the last value of an option counts.
SHORTER = {
    "rl": ("--rounds", 2, "--seconds", 0.5),
    "minimize": ("--points", 300),
    "reproduce": ("--workers", 1),
}


def test_every_command_runs(zorank):
    """In one folder and in their order; `zorank studio` is started by the tests of the studio."""
    commands = [shlex.split(command) for command in COMMANDS if not command.startswith("make ")]
    assert len(commands) >= 5
    for program, *arguments in commands:
        assert program == "zorank"
        if arguments[0] != "studio":
            code, _, err = zorank(*arguments, *SHORTER.get(arguments[0], ()))
            assert code == 0, err


SHORTER_EXAMPLES = {
    "simulated_person.py": (1,),
}


@pytest.mark.parametrize("script", sorted((ROOT / "examples").glob("*.py")), ids=lambda p: p.name)
def test_every_example_runs(script, tmp_path):
    command = [script, *SHORTER_EXAMPLES.get(script.name, ())]
    assert fork_server.run(command, warnings="error", cwd=tmp_path, check=True).stdout


def test_generated_pages_are_fresh():
    spec = importlib.util.spec_from_file_location("generate", ROOT / "docs" / "generate.py")
    generate = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(generate)
    for file, page in generate.PAGES.items():
        assert (ROOT / "docs" / file).read_text() == page(), f"docs/{file} is old: make docs"


def test_every_public_name_is_documented_as_code():
    pages = "\n".join(page.read_text() for page in PAGES)
    code = "\n".join(re.findall(r"```.*?```|`[^`\n]+`", pages, re.DOTALL))
    missing = [n for n in zorank.__all__ if not re.search(rf"\b{re.escape(n)}\b", code)]
    assert missing == []


def test_every_method_is_on_its_page():
    page = (ROOT / "docs" / "settings.md").read_text()
    assert [name for name in optimizers.REGISTRY if f"## {name}\n" not in page] == []
    for cls in optimizers.REGISTRY.values():
        assert dataclasses.is_dataclass(cls)


def test_every_method_has_a_row_on_the_page_that_helps_to_choose():
    page = (DOCS / "optimizers.md").read_text()
    missing = [name for name in optimizers.REGISTRY if f"\n| `{name}` |" not in page]
    assert missing == [], "add a row to the first table of docs/optimizers.md"


def test_links_between_pages_lead_somewhere():
    for page in PAGES:
        prose = re.sub(r"`[^`]*`", "", page.read_text())
        for link in re.findall(r"\]\((?!https:)([^)#]+)\)", prose):
            assert (page.parent / link).exists(), f"{page.name} links to {link}"
