"""The gallery: every example with its picture, its idea and its code."""

import ast
from pathlib import Path

ROOT = Path(__file__).parents[2]
PICTURES = Path("images") / "gallery"
GROUPS = {
    "Runs and answers": ("ask_tell", "resume", "several_raters", "six_scores", "compare_two"),
    "In other programs": ("scipy_user", "pycma_user", "optuna_user", "preference_pairs"),
    "Extensions": ("own_optimizer", "own_judge", "llm_judge"),
    "Renderers": ("spirals", "pendulums", "tones", "themes"),
    "Programs": ("simulated_person", "tune_module"),
}
HEAD = """\
# Examples

Made from `examples/` by `make docs`. Each runs as it is, and is run by the tests.

"""


def scripts() -> dict[str, Path]:
    """Return every example by its name."""
    return {path.stem: path for path in sorted((ROOT / "examples").rglob("*.py"))}


def page() -> str:
    """Show the examples in groups."""
    found = scripts()
    missing = set(found) - {name for names in GROUPS.values() for name in names}
    if missing:
        raise SystemExit(f"name these examples in docs/_generate/gallery.py: {sorted(missing)}")
    lines = []
    for group, names in GROUPS.items():
        lines += [f"## {group}", ""]
        for name in names:
            lines += _entry(name, found[name])
    return HEAD + "\n".join(lines).rstrip() + "\n"


def _entry(name: str, script: Path) -> list[str]:
    idea = (ast.get_docstring(ast.parse(script.read_text())) or "").partition("\n")[0]
    file = script.relative_to(ROOT).as_posix()
    picture = next((ROOT / "docs" / PICTURES).glob(f"{name}.*"), None)
    if picture is None:
        raise SystemExit(
            f"docs/{PICTURES} needs a picture of {file}: run docs/_generate/gallery_pictures.py"
        )
    return [
        *(f"### {name.replace('_', ' ')}", ""),
        *(f"{idea} [{script.name}](../{file})", ""),
        *(f"![{name.replace('_', ' ')}]({(PICTURES / picture.name).as_posix()})", ""),
    ]
