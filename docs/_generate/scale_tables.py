"""Tables of cost, of bytes sent and of internet scale."""

from typing import Any


def cost(found: dict[str, Any]) -> list[str]:
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
    told = f"{_time(took)}, {row['ratio']:.2f} ×"
    return told if row["d"] < 1_000_000 else f"{told}, {row['vectors']:.1f} vectors"


def sent(found: dict[str, Any]) -> list[str]:
    lines = [
        "| d | tasks | recipe, once for each machine | candidates, if they were sent | answer |"
    ]
    lines.append("| --- " * 5 + "|")
    for d, row in found["workers"]["sent"].items():
        parts = (row[part] for part in ("tasks", "design", "candidates", "answer"))
        lines.append(f"| {int(d):,} | " + " | ".join(f"{part:,}" for part in parts) + " |")
    return lines


def units(found: dict[str, Any]) -> list[str]:
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


def parts(found: dict[str, Any]) -> list[str]:
    lines = ["| | time | sent to each |", "| --- | --- | --- |"]
    for row in found["rows"]:
        lines.append(f"| {row['part']} | {_time(row['seconds'])} | {_size(row['bytes'])} |")
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


def covariance(found: dict[str, Any]) -> list[str]:
    """Return the time of a round of CMA-ES and of ZO-RankSGD, by dimension."""
    lines = ["| d | CMA-ES | ZO-RankSGD | ratio | one eigendecomposition |", "| --- " * 5 + "|"]
    for row in found["rounds"]:
        cells = (_time(row["cma_es"]), _time(row["zo_ranksgd"]), f"{row['ratio']:,.1f}")
        eigen = _time(row["eigen"]) + ("" if row["eigen_measured"] else " (computed, as d³)")
        lines.append(f"| {row['d']:,} | " + " | ".join((*cells, eigen)) + " |")
    return lines


def _time(seconds: float) -> str:
    return f"{seconds:.1f} s" if seconds >= 1 else f"{1e3 * seconds:.3g} ms"
