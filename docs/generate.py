"""Writes pages made from the code (cli, settings, renderers) or from results (the others).

python docs/generate.py; a test fails when a page is out of date.
"""

import re
import sys
from functools import partial
from pathlib import Path

from zorank import optimizers, renderers

sys.path.insert(0, str(Path(__file__).parent))

from _generate import (
    from_code,
    gallery,
    http_page,
    judge_tables,
    look_tables,
    paper_tables,
    policy_tables,
    scale_tables,
    sentences,
    values,
)

FOLDER = Path(__file__).parent
TABLES = {
    "claims": paper_tables.claims,
    "settings": paper_tables.settings,
    "values": paper_tables.values,
    "changed": paper_tables.changed,
    "decays": paper_tables.decays,
    "field": paper_tables.field,
    "largescale": paper_tables.largescale,
    "sittings": paper_tables.sittings,
    "words": paper_tables.words,
    "often": paper_tables.often,
    "cost": scale_tables.cost,
    "sent": scale_tables.sent,
    "units": scale_tables.units,
    "parts": scale_tables.parts,
    "covariance": scale_tables.covariance,
    "learned": policy_tables.learned,
    "paired": policy_tables.paired,
    "upright": policy_tables.upright,
    "tried": policy_tables.tried,
    "ends": policy_tables.ends,
    "tastes": look_tables.tastes,
    "styles": look_tables.styles,
    "styleclaims": look_tables.style_claims,
    "lookclaims": look_tables.look_claims,
    "boxes": look_tables.boxes,
    "rivals": look_tables.rivals,
    "boxmeans": look_tables.box_means,
    "people": judge_tables.people,
    "judgeclaims": judge_tables.judge_claims,
    "raters": judge_tables.raters,
    "shown": judge_tables.shown,
    "gridends": judge_tables.grid_ends,
    "leastlead": judge_tables.least_lead,
    "tenrounds": judge_tables.ten_rounds,
}


def from_template(name: str) -> str:
    """Fill the tables and numbers of results/*.json into the text of templates/NAME."""

    def table(match: re.Match[str]) -> str:
        if match["kind"] == "sentences":
            return "\n".join(sentences.table())
        return "\n".join(TABLES[match["kind"]](values.results(match["figure"])))

    page = (FOLDER / "templates" / name).read_text()
    return values.filled(re.sub(r"<!-- (?P<kind>\w+)(?: (?P<figure>[\w-]+))? -->", table, page))


SETTINGS_ELSEWHERE = ("    options:", "      members: false")
PAGES = {
    "cli.md": from_code.cli_page,
    "settings.md": from_code.settings_page,
    "renderers.md": from_code.renderers_page,
    "reference/http.md": http_page.page,
    "reference/api/optimizers.md": partial(
        from_code.api_page, "optimizers", optimizers.REGISTRY, SETTINGS_ELSEWHERE
    ),
    "reference/api/renderers.md": partial(
        from_code.api_page, "renderers", {**renderers.REGISTRY, "comfyui": renderers.ComfyUI}
    ),
    "gallery.md": gallery.page,
}
for _template in sorted((FOLDER / "templates").rglob("*.md")):
    _name = _template.relative_to(FOLDER / "templates").as_posix()
    PAGES.setdefault(_name, partial(from_template, _name))

if __name__ == "__main__":
    for file, page in PAGES.items():
        (FOLDER / file).write_text(page())
