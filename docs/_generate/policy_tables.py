"""Tables of policies."""

from math import inf
from statistics import mean, median, pstdev
from typing import Any

from zorank.experiments.claims import difference_claim

COMPARED = (
    ("Reacher-v4", 2500, None, "values", "recipe"),
    ("Reacher-v4", 2500, None, "recipe", "auto"),
    ("HalfCheetah-v4", 500, None, "recipe", "winners"),
    ("HalfCheetah-v4", 500, None, "recipe", "values"),
    ("HalfCheetah-v4", 2000, 250, "recipe", "values"),
    ("HalfCheetah-v4", 2000, 250, "recipe", "recipe, 500 whole episodes"),
)
"""Environment, episodes, steps ranked, and two rows: the table has the first minus the second."""

UPRIGHT = 300
"""Runs of Swimmer that succeed end above this reward."""


def _spread(ends: list[float]) -> str:
    """Return the standard deviation with three digits."""
    return f"{float(f'{pstdev(ends):.3g}'):,g}"


def learned(found: dict[str, Any]) -> list[str]:
    lines = ["| | method | settings | seeds | mean ± std | median | lowest – highest |"]
    lines.append("| --- " * 7 + "|")
    for row in sorted(found["rows"], key=lambda row: (row["env"], row["episodes"])):
        name = row["method"] if row["name"] == row["method"] else f"{row['name']}: {row['method']}"
        ends = list(row["rewards"].values())
        told = f"{median(ends):,.4g} | {min(ends):,.4g} – {max(ends):,.4g}"
        lines.append(
            f"| {row['env']}, {row['episodes']:,} episodes | {name} | {_describe(_settings(row))} "
            f"| {len(ends)} | {mean(ends):,.4g} ± {_spread(ends)} | {told} |"
        )
    return lines


def paired(found: dict[str, Any]) -> list[str]:
    """List mean differences over runs with the same seed, actions clipped."""
    rewards = {
        (row["env"], row["episodes"], row["ranked_steps"], row["name"]): row["rewards"]
        for row in found["rows"]
        if row["clip"]
    }
    lines = ["| | difference | pairs | mean (95% interval) | significant |", "| --- " * 5 + "|"]
    for env, episodes, steps, name, other in COMPARED:
        first = rewards[env, episodes, steps, name]
        whole = (env, 500, None, "recipe")
        second = rewards[whole if "whole" in other else (env, episodes, steps, other)]
        seeds = [seed for seed in first if seed in second]
        claim = difference_claim("", "", "", "", [first[s] - second[s] for s in seeds])
        low, high = claim.interval or (-inf, inf)
        told = " | ".join(
            (
                f"{env}, {episodes:,} episodes" + (f", {steps} steps ranked" if steps else ""),
                f"{name} − {other}",
                str(len(seeds)),
                f"{_signed(claim.measured)} ({_signed(low)} to {_signed(high)})",
                "yes" if low > 0 or high < 0 else "no",
            )
        )
        lines.append(f"| {told} |")
    return lines


def _signed(value: float) -> str:
    return f"{value:+,.0f}" if abs(value) >= 10 else f"{value:+.2f}"


def upright(found: dict[str, Any]) -> list[str]:
    """Count the runs of Swimmer that succeed."""
    lines = ["| Swimmer-v4, 500 episodes | runs above 300 | of |", "| --- " * 3 + "|"]
    for row in found["rows"]:
        if row["env"] == "Swimmer-v4":
            ends = row["rewards"].values()
            name = row["name"] + ("" if row["clip"] else ", unclipped")
            lines.append(f"| {name} | {sum(end > UPRIGHT for end in ends)} | {len(ends)} |")
    return lines


def tried(found: dict[str, Any]) -> list[str]:
    lines = ["| | method | settings | seeds | mean ± std | lowest |", "| --- " * 6 + "|"]
    best = sorted(found["rows"], key=lambda row: (row["env"], -mean(row["rewards"].values())))
    for row in best:
        ends = list(row["rewards"].values())
        told = f"{mean(ends):,.4g} ± {_spread(ends)} | {min(ends):,.4g}"
        about = f"{row['env']} | {row['method']} | {_describe(_settings(row))} | {len(ends)}"
        lines.append(f"| {about} | {told} |")
    return lines


def _settings(row: dict[str, Any]) -> dict[str, Any]:
    """Return the settings of a row, those of the environment included."""
    return {**row["settings"], "clip": row["clip"], "ranked_steps": row["ranked_steps"]}


def _describe(settings: dict[str, Any]) -> str:
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


def ends(found: dict[str, Any]) -> list[str]:
    """List the final rewards of the policies of the paper's figures."""
    lines = ["| on | method | chosen | runs | mean ± std | median |", "| --- " * 6 + "|"]
    for row in found["lines"]:
        resets = "shared" if row["shared"] else "own"
        ends = row["rewards"]
        lines.append(
            f"| {row['env']}, {resets} resets | {row['method']} "
            f"| {_describe({**row['options'], 'm': None})} | {len(ends)} "
            f"| {mean(ends):,.4g} ± {_spread(ends)} | {median(ends):,.4g} |"
        )
    return lines
