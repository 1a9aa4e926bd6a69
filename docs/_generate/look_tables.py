"""Tables of the benchmark of looks."""

from collections.abc import Mapping
from typing import Any


def tastes(found: dict[str, Any]) -> list[str]:
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


def look_claims(found: dict[str, Any]) -> list[str]:
    lines = ["| rank-looks … | seeds | measured | needed | holds |", "| --- " * 5 + "|"]
    for study in found["studies"]:
        for claim in study["claims"]:
            error = claim["standard_error"]
            measured = f"{claim['measured']:.2f}" + ("" if error is None else f" ±{error:.2f}")
            holds = "yes" if claim["holds"] else "**no**"
            told = f"{claim['name']} | {study['seeds']} | {measured} | {claim['needed']} | {holds}"
            lines.append(f"| {told} |")
    return lines


def boxes(found: dict[str, Any]) -> list[str]:
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
