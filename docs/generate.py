"""Writes pages made from the code (cli, settings, renderers) or from results (the others).

python docs/generate.py; a test fails when a page is older than what it is made from.
"""

import dataclasses
import inspect
import json
import re
from collections.abc import Mapping
from pathlib import Path
from statistics import mean, median, pstdev
from typing import Any

import typer
from typer.main import get_command

from zorank import optimizers
from zorank.cli import app
from zorank.experiments.claims import Claim, by_line
from zorank.renderers.interface import HOOKS, PARAMETERS, Hook

FOLDER = Path(__file__).parent


def cli_page() -> str:
    """Every command with its arguments and options."""
    lines = ["# The command line", "", "Made from the code by `make docs`.", ""]
    for path, command in _commands(get_command(app), "zorank"):
        lines += [f"## {path}", "", inspect.cleandoc(command.help or ""), ""]
        lines += ["| | default | |", "| --- | --- | --- |"]
        for parameter in command.params:
            if parameter.name == "help":
                continue
            names = ", ".join(f"`{name}`" for name in parameter.opts)
            if parameter.param_type_name == "argument":
                names = f"`{parameter.name.upper()}`"
            unset = parameter.default is None or parameter.default is False
            default = "" if unset else f"`{parameter.default}`"
            lines.append(f"| {names} | {default} | {getattr(parameter, 'help', '') or ''} |")
        lines.append("")
    return "\n".join(lines)


def _commands(command: object, path: str) -> list[tuple[str, typer.core.TyperCommand]]:
    inner = getattr(command, "commands", None)
    if inner is None:
        return [(path, command)]
    return [pair for name in inner for pair in _commands(inner[name], f"{path} {name}")]


def settings_page() -> str:
    """Every setting of every optimizer, from the dataclasses and their docstrings."""
    lines = ["# The settings of the optimizers", "", "Made from the code by `make docs`.", ""]
    lines += ["Give them as `options={...}` to `zorank.minimize`, as `--option name=value` on the"]
    lines += ["command line, or to the class: `zorank.optimizers.REGISTRY[name](...)`.", ""]
    for name, cls in optimizers.REGISTRY.items():
        meaning: dict[str, str] = {}
        for parent in reversed(cls.__mro__):
            meaning.update(_attributes(parent.__doc__ or ""))
        lines += [f"## {name}", "", (inspect.getmodule(cls).__doc__ or "").strip(), ""]
        lines += ["| setting | default | meaning |", "| --- | --- | --- |"]
        for field in dataclasses.fields(cls):
            if field.name not in meaning:
                raise SystemExit(
                    f"say what {field.name} means under Attributes: of {cls.__name__}"
                )
            made = field.default_factory is not dataclasses.MISSING
            default = field.default_factory() if made else field.default
            lines.append(f"| `{field.name}` | `{default!r}` | {meaning[field.name]} |")
        lines.append("")
    return "\n".join(lines)


def _attributes(docstring: str) -> dict[str, str]:
    _, _, block = inspect.cleandoc(docstring).partition("Attributes:\n")
    entries = re.findall(r"^    (\w+): (.*(?:\n {8}.*)*)", block, re.MULTILINE)
    return {name: re.sub(r"\s+", " ", text).replace("|", r"\|") for name, text in entries}


def renderers_page() -> str:
    """How a renderer is written, with a table of its declared hooks."""
    page = (FOLDER / "templates" / "renderers.md").read_text()
    hooks, parameters = _hooks("member", HOOKS), _hooks("parameter", PARAMETERS)
    return page.replace("<!-- hooks -->", hooks).replace("<!-- parameters -->", parameters)


def _hooks(kind: str, declared: Mapping[str, Hook]) -> str:
    lines = [f"| {kind} | if it is missing | meaning |", "| --- | --- | --- |"]
    for hook in declared.values():
        signature = hook.signature.replace("|", r"\|")
        lines.append(f"| `{signature}` | {hook.default_text} | {hook.about} |")
    return "\n".join(lines)


def from_template(name: str) -> str:
    """The prose of templates/NAME with the tables of results/*.json."""
    tables = {
        "claims": _claims,
        "settings": _settings,
        "values": _values,
        "field": _field,
        "sittings": _sittings,
        "words": _words,
        "cost": _cost,
        "sent": _sent,
        "units": _units,
        "parts": _parts,
        "learned": _learned,
        "tried": _tried,
        "ends": _ends,
        "tastes": _tastes,
        "lookclaims": _look_claims,
        "boxes": _boxes,
    }

    def table(match: re.Match[str]) -> str:
        found = json.loads((FOLDER / "results" / f"{match['figure']}.json").read_text())
        return "\n".join(tables[match["kind"]](found))

    page = (FOLDER / "templates" / name).read_text()
    return re.sub(r"<!-- (?P<kind>\w+) (?P<figure>[\w-]+) -->", table, page)


def _claims(found: dict[str, Any]) -> list[str]:
    claims = [Claim(**claim) for claim in found["claims"]]
    marks = list(dict.fromkeys(claim.at for claim in claims))
    lines = ["| claim | on | " + " | ".join(marks) + " |", "| --- " * (len(marks) + 2) + "|"]
    for (name, where), at in by_line(claims).items():
        cells = (_verdict(at[mark]) if mark in at else "" for mark in marks)
        lines.append(f"| {name} | {where} | " + " | ".join(cells) + " |")
    return lines


def _verdict(claim: Claim) -> str:
    told = f"{claim.verdict} {_number(claim.measured)}"
    if claim.interval is None:
        return told
    low, high = claim.interval
    return f"{told} ({_number(low)} – {_number(high)})"


def _number(value: float) -> str:
    told = f"{value:.3g}"  # three digits, written out where that can be read
    return f"{float(told):,.0f}" if 1000 <= abs(value) < 1e6 else told


def _settings(found: dict[str, Any]) -> list[str]:
    fixed = ("m", "line_search", "gamma", "diagonal", "k")
    lines = ["| problem | d | method | winner | tried |", "| --- | --- | --- | --- | --- |"]
    for row in found["winners"]:
        chosen = {n: v for n, v in row["winner"].items() if n not in fixed}
        winner = ", ".join(f"{name} {value:g}" for name, value in chosen.items())
        tried = ", ".join(f"{n} {v[0]:g} … {v[-1]:g}" for n, v in row["axes"].items())
        lines.append(
            f"| {row['problem']} | {row['dim']:,} | `{row['method']}` | {winner} | {tried} |"
        )
    return lines


def _values(found: dict[str, Any]) -> list[str]:
    marks = [mark for mark in found["lines"][0]["points"] if mark >= 1000]
    lines = ["| on | method | " + " | ".join(f"{mark:,} points" for mark in marks) + " |"]
    lines.append("| --- " * (len(marks) + 2) + "|")
    for row in found["lines"]:
        at = dict(zip(row["points"], zip(row["mean"], row["std"], strict=True), strict=True))
        cells = ("{:.3g} ± {:.2g}".format(*at[mark]) for mark in marks)
        noise = f", noise {row['noise']:g}" if row["noise"] else ""
        lines.append(f"| {row['problem']}{noise} | {row['label']} | " + " | ".join(cells) + " |")
    return lines


def _field(found: dict[str, Any]) -> list[str]:
    groups = list(found["standings"][0]["groups"])
    lines = ["| d | | area | " + " | ".join(groups) + " | hit |"]
    lines.append("| --- " * (len(groups) + 4) + "|")
    for row in found["standings"]:
        by_group = " | ".join(f"{row['groups'][group]:.1f}" for group in groups)
        area = f"{row['area']:.1f} ± {row['standard_error']:.1f}"
        told = f"{row['dim']} | {row['peer']} | {area} | {by_group} | {row['hit']:.0f}%"
        lines.append(f"| {told} |")
    return lines


def _sittings(found: dict[str, Any]) -> list[str]:
    lines = ["| method | judge | answers | runs | liked | fits, by the judge |"]
    lines.append("| --- " * 6 + "|")
    for row in found["methods"]:
        numbers = f"{row['liked']:+.2f} sd | {row['fit']:+.2f}"
        told = f"{row['method']} | {row['judge']} | {row['answers']} | {row['runs']} | {numbers}"
        lines.append(f"| {told} |")
    return lines


def _words(found: dict[str, Any]) -> list[str]:
    lines = ["| word | found | pictures | missed in landscapes that show it |"]
    lines.append("| --- " * 4 + "|")
    for word, row in found["words"].items():
        missed = "" if row["missed"] is None else f"{row['missed']:.0%}"
        lines.append(f"| {word} | {row['found']:.0%} | {row['of']} | {missed} |")
    return lines


def _cost(found: dict[str, Any]) -> list[str]:
    names = list(dict.fromkeys((row["name"], row["threads"]) for row in found["cost"]))
    lines = ["| d | " + " | ".join(_who(*name) for name in names) + " |"]
    lines.append("| --- " * (len(names) + 1) + "|")
    by_cell = {(row["d"], row["name"], row["threads"]): row for row in found["cost"]}
    for d in dict.fromkeys(row["d"] for row in found["cost"]):
        cells = [_round(by_cell.get((d, *name))) for name in names]
        lines.append(f"| {d:,} | " + " | ".join(cells) + " |")
    return lines


def _who(name: str, threads: int) -> str:
    return name if threads == 1 else f"{name}, {threads} threads"


def _round(row: dict[str, Any] | None) -> str:
    if row is None:
        return ""
    took = row["seconds"]
    told = f"{took:.1f} s" if took >= 1 else f"{1e3 * took:.3g} ms"
    told += f", {row['ratio']:.2f} ×"
    return told if row["d"] < 1_000_000 else f"{told}, {row['vectors']:.1f} vectors"


def _sent(found: dict[str, Any]) -> list[str]:
    lines = [
        "| d | tasks | recipe, once for each machine | candidates, if they were sent | answer |"
    ]
    lines.append("| --- " * 5 + "|")
    for d, row in found["workers"]["sent"].items():
        parts = (row[part] for part in ("tasks", "design", "candidates", "answer"))
        lines.append(f"| {int(d):,} | " + " | ".join(f"{part:,}" for part in parts) + " |")
    return lines


def _units(found: dict[str, Any]) -> list[str]:
    unit = found["unit"]
    return [
        "| | |",
        "| --- | --- |",
        f"| a normal number drawn and added, float32 | {1e9 * unit['normal']:.1f} ns |",
        f"| the same, −1 or 1 | {1e9 * unit['rademacher']:.1f} ns |",
        f"| a ballot made durable in SQLite, a transaction each | {1e3 * unit['ballot']:.1f} ms |",
        f"| a ballot of six counted | {1e6 * unit['poll']:.0f} µs |",
        f"| an answer sent to a follower, m = 10 | {unit['follower']['bytes']:.0f} bytes |",
    ]


def _parts(found: dict[str, Any]) -> list[str]:
    lines = ["| | time | sent to each |", "| --- | --- | --- |"]
    for row in found["rows"]:
        lines.append(f"| {row['part']} | {_time(row['seconds'])} | {_size(row['bytes'])} |")
    return lines


def _spread(ends: list[float]) -> str:
    """Their standard deviation to three digits, as people write it."""
    return f"{float(f'{pstdev(ends):.3g}'):,g}"


def _learned(found: dict[str, Any]) -> list[str]:
    lines = ["| | method | settings | seeds | mean ± std | median | lowest – highest |"]
    lines.append("| --- " * 7 + "|")
    for row in sorted(found["rows"], key=lambda row: (row["env"], row["episodes"])):
        name = row["method"] if row["name"] == row["method"] else f"{row['name']}: {row['method']}"
        ends = list(row["rewards"].values())
        told = f"{median(ends):,.4g} | {min(ends):,.4g} – {max(ends):,.4g}"
        lines.append(
            f"| {row['env']}, {row['episodes']:,} episodes | {name} | {_told(_of(row))} "
            f"| {len(ends)} | {mean(ends):,.4g} ± {_spread(ends)} | {told} |"
        )
    return lines


def _tried(found: dict[str, Any]) -> list[str]:
    lines = ["| | method | settings | seeds | mean ± std | lowest |", "| --- " * 6 + "|"]
    best = sorted(found["rows"], key=lambda row: (row["env"], -mean(row["rewards"].values())))
    for row in best:
        ends = list(row["rewards"].values())
        told = f"{mean(ends):,.4g} ± {_spread(ends)} | {min(ends):,.4g}"
        about = f"{row['env']} | {row['method']} | {_told(_of(row))} | {len(ends)}"
        lines.append(f"| {about} | {told} |")
    return lines


def _of(row: dict[str, Any]) -> dict[str, Any]:
    """The settings of a policy's row, what its body was asked for among them."""
    return {**row["settings"], "clip": row["clip"], "ranked_steps": row["ranked_steps"]}


def _told(settings: dict[str, Any]) -> str:
    names = ("m", "top", "step", "mu", "step_decay", "mu_decay", "sigma0", "memory", "pace")
    given = {name: settings[name] for name in names if settings.get(name) is not None}
    told = [f"{n} {v:g}" for n, v in given.items() if not (n.endswith("_decay") and v == 1.0)]
    if settings.get("scale") == "spread":
        told.append("by spread")
    if settings.get("weigh") == "winners":
        told.append("winners")
    if settings.get("clip") is False:
        told.append("unclipped")
    if settings.get("ranked_steps"):
        told.append(f"{settings['ranked_steps']} steps ranked")
    if settings.get("line_search"):
        told.append(f"line search of {settings['line_search']}, γ {settings['gamma']:g}")
    return ", ".join(told)


def _ends(found: dict[str, Any]) -> list[str]:
    """The rewards that policies of the paper's figures end with."""
    lines = ["| on | method | chosen | runs | mean ± std | median |", "| --- " * 6 + "|"]
    for row in found["lines"]:
        resets = "shared" if row["shared"] else "own"
        ends = row["rewards"]
        lines.append(
            f"| {row['env']}, {resets} resets | {row['method']} "
            f"| {_told({**row['options'], 'm': None})} | {len(ends)} "
            f"| {mean(ends):,.4g} ± {_spread(ends)} | {median(ends):,.4g} |"
        )
    return lines


def _time(seconds: float) -> str:
    for name, length in (("days", 86400.0), ("hours", 3600.0), ("min", 60.0)):
        if seconds >= 2 * length:
            return f"{seconds / length:,.1f} {name}"
    return f"{seconds:.1f} s"


def _size(count: float) -> str:
    for name, length in (("GB", 1e9), ("MB", 1e6), ("KB", 1e3)):
        if count >= length:
            return f"{count / length:,.1f} {name}"
    return f"{count:.0f} bytes" if count else ""


def _tastes(found: dict[str, Any]) -> list[str]:
    lines = []
    for study in found["studies"]:
        if "peers" in study["parts"]:
            continue
        methods = list(study["cases"][0]["methods"])
        part = study["parts"][0]
        title = f"**{part}, noise {study['cases'][0]['noise']:g}**, {_seeds(study)}"
        lines += ["", f"{title}: after 5 / 10 / 20 rounds, ± standard error after 20.", ""]
        lines.append("| taste | group | " + " | ".join(methods) + " |")
        lines.append("| --- " * (len(methods) + 2) + "|")
        for case in study["cases"]:
            cells = (_after(case["methods"][name]) for name in methods)
            taste = f"**{case['taste']}**: {case['meaning']}"
            lines.append(f"| {taste} | {case['group']} | " + " | ".join(cells) + " |")
    return lines


def _seeds(study: Mapping[str, Any]) -> str:
    return "1 seed" if study["seeds"] == 1 else f"{study['seeds']} seeds"


def _after(line: Mapping[str, Any]) -> str:
    gains, error = line["gains"], line["standard_error"]
    told = " / ".join(f"{gains[min(i, len(gains) - 1)]:.2f}" for i in (5, 10, 20))
    return told if error is None else f"{told} ±{error:.2f}"


def _look_claims(found: dict[str, Any]) -> list[str]:
    lines = ["| rank-looks … | seeds | measured | needed | holds |", "| --- " * 5 + "|"]
    for study in found["studies"]:
        for claim in study["claims"]:
            error = claim["standard_error"]
            measured = f"{claim['measured']:.2f}" + ("" if error is None else f" ±{error:.2f}")
            holds = "yes" if claim["holds"] else "**no**"
            told = f"{claim['name']} | {study['seeds']} | {measured} | {claim['needed']} | {holds}"
            lines.append(f"| {told} |")
    return lines


def _boxes(found: dict[str, Any]) -> list[str]:
    lines: list[str] = []
    for study in (study for study in found["studies"] if "peers" in study["parts"]):
        methods = list(dict.fromkeys(m for case in study["cases"] for m in case["methods"]))
        lines += ["", f"{_seeds(study)}:", ""]
        lines += ["| taste | d | " + " | ".join(methods) + " |"]
        lines.append("| --- " * (len(methods) + 2) + "|")
        for case in study["cases"]:
            cells = (
                f"{_after(line)}; {line['median_seconds']:.2g} s"
                if (line := case["methods"].get(name))
                else ""
                for name in methods
            )
            lines.append(f"| {case['taste']} | {case['dim']} | " + " | ".join(cells) + " |")
    return lines


PAGES = {
    "cli.md": cli_page,
    "settings.md": settings_page,
    "renderers.md": renderers_page,
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
