"""The gallery: a card for every example, with its picture, its idea and a link to its code."""

import ast
from pathlib import Path

ROOT = Path(__file__).parents[2]
PICTURES = Path("images") / "gallery"
GROUPS = {
    "Renderers": ("spirals", "themes", "pendulums", "tones"),
    "Runs and answers": ("ask_tell", "several_raters", "six_scores", "compare_two", "resume"),
    "In other programs": ("scipy_user", "pycma_user", "optuna_user", "preference_pairs"),
    "Judges and methods": ("own_judge", "llm_judge", "own_optimizer"),
    "Programs": ("simulated_person", "tune_module"),
}
HEAD = """\
---
hide: [navigation, toc]
---

# Examples

Complete programs of less than 40 lines: `python examples/NAME.py` runs one, in a checkout.
A renderer or a judge opens in the studio with the command in its first lines.

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
        lines += [f"## {group}", "", '<div class="grid cards" markdown>', ""]
        for name in names:
            lines += _card(name, found[name])
        lines += ["</div>", ""]
    return HEAD + "\n".join(lines).rstrip() + "\n"


def _card(name: str, script: Path) -> list[str]:
    idea = (ast.get_docstring(ast.parse(script.read_text())) or "").partition("\n")[0]
    file = script.relative_to(ROOT).as_posix()
    picture = next((ROOT / "docs" / PICTURES).glob(f"{name}.*"), None)
    if picture is None:
        raise SystemExit(
            f"docs/{PICTURES} needs a picture of {file}: run docs/_generate/gallery_pictures.py"
        )
    return [
        *(f"-   ![{script.name}]({(PICTURES / picture.name).as_posix()})", ""),
        *(f"    [**{script.name}**](../{file}) {idea}", ""),
    ]
