"""Writes pages made from the code (cli, settings, renderers) or from results (the others).

python docs/generate.py; a test fails when a page is out of date.
"""

import json
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from _generate import from_code, look_tables, paper_tables, policy_tables, scale_tables

FOLDER = Path(__file__).parent
TABLES = {
    "claims": paper_tables.claims,
    "settings": paper_tables.settings,
    "values": paper_tables.values,
    "field": paper_tables.field,
    "sittings": paper_tables.sittings,
    "words": paper_tables.words,
    "cost": scale_tables.cost,
    "sent": scale_tables.sent,
    "units": scale_tables.units,
    "parts": scale_tables.parts,
    "learned": policy_tables.learned,
    "tried": policy_tables.tried,
    "ends": policy_tables.ends,
    "tastes": look_tables.tastes,
    "lookclaims": look_tables.look_claims,
    "boxes": look_tables.boxes,
}


def from_template(name: str) -> str:
    """Fill the tables of results/*.json into the text of templates/NAME."""

    def table(match: re.Match[str]) -> str:
        found = json.loads((FOLDER / "results" / f"{match['figure']}.json").read_text())
        return "\n".join(TABLES[match["kind"]](found))

    page = (FOLDER / "templates" / name).read_text()
    return re.sub(r"<!-- (?P<kind>\w+) (?P<figure>[\w-]+) -->", table, page)


PAGES = {
    "cli.md": from_code.cli_page,
    "settings.md": from_code.settings_page,
    "renderers.md": from_code.renderers_page,
    "reproduction.md": lambda: from_template("reproduction.md"),
    "auto.md": lambda: from_template("auto.md"),
    "dream.md": lambda: from_template("dream.md"),
    "looks.md": lambda: from_template("looks.md"),
    "latents.md": lambda: from_template("latents.md"),
    "scale.md": lambda: from_template("scale.md"),
    "internet-scale.md": lambda: from_template("internet-scale.md"),
    "policies.md": lambda: from_template("policies.md"),
}

if __name__ == "__main__":
    for file, page in PAGES.items():
        (FOLDER / file).write_text(page())
