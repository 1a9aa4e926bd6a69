"""Counts what `studio_fuzz.py` finds, and writes it to a log that can be replayed."""

import json
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

from fuzz_model import Answer, Sent, World, is_documented, violations

CHECKPOINT = 10.0
"""Seconds between lines of the log."""
MOST_OWNED = 8
"""How many runs the owner's requests are aimed at."""
LARGEST_REQUEST = 300_000


class Findings:
    """Checks responses, counts them, and writes violations to the log.

    Args:
        world: the studio.
        log: the file, one JSON object a line.
        total: how many requests there will be.
    """

    def __init__(self, world: World, log: Path, total: int) -> None:
        self.world = world
        self.total = total
        self.sent = 0
        self.statuses: Counter[str] = Counter()
        self.kinds: Counter[str] = Counter()
        self.broken: Counter[str] = Counter()
        self.unavailable: Counter[str] = Counter()
        self.slowest = 0.0
        self._log = log.open("a")
        self._begin = self._written = time.perf_counter()

    def add(self, sent: Sent, answers: list[Answer]) -> None:
        """Check and count the responses to a request."""
        self.sent += sent.responses
        self.kinds.update(sent.kind.split("+"))
        for answer in answers:
            what = str(answer.status) if answer.outcome == "answered" else answer.outcome
            self.statuses[f"{sent.role} {what}"] += 1
            self.slowest = max(self.slowest, answer.seconds)
            if is_documented(answer):
                self.unavailable[answer.json()["detail"][:120]] += 1
            for rule in violations(self.world, sent, answer):
                self.broken[rule[:80]] += 1
                self.write("violation", rule=rule, **self.described(sent, answer))
            self._learn(sent, answer)
        if time.perf_counter() - self._written > CHECKPOINT:
            self.checkpoint()

    def described(self, sent: Sent, answer: Answer) -> dict[str, Any]:
        """Return a request and its response; names replace what differs between studios."""
        data = sent.data[:LARGEST_REQUEST].decode("latin-1")
        for name, text in self.world.names().items():
            data = data.replace(text, name)
        return {
            "role": sent.role,
            "kind": sent.kind,
            "end": sent.end,
            "request": data,
            "status": answer.status,
            "outcome": answer.outcome,
            "headers": answer.headers,
            "body": answer.body[:2000].decode("latin-1"),
            "seconds": round(answer.seconds, 2),
        }

    def _learn(self, sent: Sent, answer: Answer) -> None:
        """Follow what requests have changed: the owner's runs, and the round that waits."""
        if answer.status == 201 and sent.role == "owner" and isinstance(answer.json(), dict):
            made = answer.json().get("id")
            if made and "invitations" not in sent.decoded_path:
                self.world.owned.append(made)
                self.world.spare += self.world.owned[:-MOST_OWNED]
                del self.world.owned[:-MOST_OWNED]
        elif answer.status == 200 and sent.decoded_path.endswith("/answer"):
            found = answer.json()
            if sent.role == "rater" and isinstance(found, dict):
                self.world.waiting = int(found["index"])
        elif answer.status == 204 and sent.method == "DELETE" and sent.role == "owner":
            run = sent.decoded_path.removeprefix("/api/runs/")
            if run in self.world.owned:
                self.world.owned.remove(run)

    @property
    def rate(self) -> float:
        """Requests a second."""
        return self.sent / max(time.perf_counter() - self._begin, 1e-9)

    def checkpoint(self) -> None:
        """Write the counts to the log, and one line to the terminal."""
        self._written = time.perf_counter()
        counts = {"sent": self.sent, "rate": round(self.rate, 1), "statuses": dict(self.statuses)}
        self.write("checkpoint", **counts, broken=dict(self.broken))
        left = (self.total - self.sent) / self.rate / 60 if self.sent else 0.0
        line = f"{self.sent} of {self.total} requests, {self.rate:.0f} a second, "
        line += f"{left:.0f} min left, {self.broken.total()} violations"
        print(f"\r{line:<99}", end="" if sys.stdout.isatty() else "\n", flush=True)

    def violate(self, rule: str, **details: Any) -> None:
        """Note a violation that no single response shows."""
        self.broken[rule[:80]] += 1
        self.write("violation", rule=rule, **details)

    def write(self, event: str, **fields: Any) -> None:
        """Write a line to the log."""
        self._log.write(json.dumps({"event": event, "at": time.time(), **fields}) + "\n")
        self._log.flush()
