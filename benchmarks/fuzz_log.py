"""Counts what `studio_fuzz.py` finds, and writes it to a log that can be replayed."""

import json
import re
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

from fuzz_model import Answer, Sent, World, is_documented, violations
from studio_load import processor_seconds

CHECKPOINT = 10.0
"""Seconds between lines of the log."""
MOST_GROWTH = 256.0
"""MiB by which the studio's memory may grow after the first tenth of a part."""
MOST_OWNED = 8
"""How many runs the owner's requests are aimed at."""
DELETED = re.compile(r"run-[0-9a-f]{8}")
"""The name of a run of the owner's that does not exist any more."""
LARGEST_REQUEST = 300_000


class Findings:
    """Checks responses, counts them, and writes violations to the log.

    Args:
        world: the studio.
        log: the file, one JSON object a line.
    """

    def __init__(self, world: World, log: Path) -> None:
        self.world = world
        self.sent = 0
        self.statuses: Counter[str] = Counter()
        self.kinds: Counter[str] = Counter()
        self.broken: Counter[str] = Counter()
        self.unavailable: Counter[str] = Counter()
        self.accepted: Counter[str] = Counter()
        self.slowest = 0.0
        self._log = log.open("a")
        self.begin("", 0, 0)

    def begin(self, title: str, count: int, pid: int) -> None:
        """Begin a part: this many requests to the studio that is this process."""
        self.title, self.count, self.pid = title, count, pid
        self.until = self.sent + count
        self.memories = [(self.sent, memory(pid))]
        self._began = self._written = time.perf_counter()
        self._worked = (time.process_time(), processor_seconds(pid))

    def add(self, sent: Sent, answers: list[Answer]) -> None:
        """Check and count the responses to a request."""
        self.sent += sent.responses
        self.kinds.update(sent.kind.split("+"))
        for answer in answers:
            what = str(answer.status) if answer.outcome == "answered" else answer.outcome
            self.statuses[f"{sent.role} {what}"] += 1
            self.slowest = max(self.slowest, answer.seconds)
            if 200 <= answer.status < 300:
                tail = sent.decoded_path.rpartition("/")[2][:20]
                shown = tail if tail.isalpha() and tail.islower() else "…"
                self.accepted[f"{sent.role} {sent.method} {shown}"] += 1
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
        for name, text in self.world.names():
            data = data.replace(text, name)
        data = DELETED.sub("<owned>", data)
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
    def done(self) -> int:
        """The number of requests of this part that were sent."""
        return self.sent - self.until + self.count

    @property
    def rate(self) -> float:
        """Requests a second in this part."""
        return self.done / max(time.perf_counter() - self._began, 1e-9)

    def checkpoint(self) -> None:
        """Write the counts to the log, and one line to the terminal."""
        self._written = time.perf_counter()
        self.memories.append((self.sent, memory(self.pid)))
        counts = {"sent": self.sent, "rate": round(self.rate, 1), "memory": self.memories[-1][1]}
        broken, statuses = dict(self.broken), dict(self.statuses)
        self.write("checkpoint", part=self.title, **counts, broken=broken, statuses=statuses)
        left = (self.count - self.done) / self.rate / 60 if self.done else 0.0
        line = f"{self.title}: {self.done} of {self.count} requests, {self.rate:.0f} a second, "
        line += f"{left:.0f} min left, {self.broken.total()} violations"
        print(f"\r{line:<99}", end="" if sys.stdout.isatty() else "\n", flush=True)

    def end(self) -> None:
        """End a part: print what it cost, and check that the memory is bounded."""
        self.checkpoint()
        client, server = self._worked
        client, server = time.process_time() - client, processor_seconds(self.pid) - server
        each = 1e3 / max(self.done, 1)
        began, ended = self.memories[0][1], self.memories[-1][1]
        # The first tenth fills caches.
        warm = next(size for sent, size in self.memories if sent >= self.until - 0.9 * self.count)
        print(
            f"\n{self.title}: {self.rate:.0f} requests a second; processor time of a request "
            f"{client * each:.2f} ms here, {server * each:.2f} ms in the studio; the studio's "
            f"memory {began:.0f} MiB at first, {warm:.0f} after a tenth, {ended:.0f} at the end"
        )
        if ended > warm + MOST_GROWTH:
            self.violate("the memory grew", before=warm, after=ended)

    def violate(self, rule: str, **details: Any) -> None:
        """Note a violation that no single response shows."""
        self.broken[rule[:80]] += 1
        self.write("violation", rule=rule, **details)

    def write(self, event: str, **fields: Any) -> None:
        """Write a line to the log."""
        self._log.write(json.dumps({"event": event, "at": time.time(), **fields}) + "\n")
        self._log.flush()


def memory(pid: int) -> float:
    """Return the resident memory of a process in MiB; NaN without /proc."""
    try:
        found = re.search(r"VmRSS:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text())
    except OSError:
        return float("nan")
    return int(found[1]) / 1024 if found else float("nan")
