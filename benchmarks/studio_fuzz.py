"""Sends damaged requests to a real studio, and checks that none of them breaks a rule.

    python benchmarks/studio_fuzz.py [--schemathesis 2000] [--cheap 50000] [--log FILE]
    python benchmarks/studio_fuzz.py --replay FILE

`zorank studio` runs on a SQLite file, on loopback. schemathesis makes requests from the studio's
own description; a generator of ours damages real requests: paths, headers, cookies, bodies,
framing. Each part has four roles: the owner, a rater, a viewer, and nobody (no token). A small
part runs with the default limits, the rest with limits that let requests get further.

Rules: no status of 500 and above but a documented 503; no connection hangs; nobody gets more than
the public files; raters and viewers change and see nothing but what their links allow; the runs
they may not change are the same at the end; the server is alive, its memory is bounded, and every
run of its database can be opened. The log has each violation with its request; `--replay` sends
these requests again.
"""

import argparse
import asyncio
import io
import json
import os
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2 as httpx
import numpy as np
from fuzz_client import Connection, send_all
from fuzz_forge import RENDERER, Forge
from fuzz_log import Findings
from fuzz_model import Role, Sent, World, violations
from fuzz_mutations import MUTATIONS
from fuzz_schema import send_generated
from PIL import Image
from studio_process import TOKEN, studio

import zorank.studio
from zorank import Run
from zorank.stores import open_store

RAISED = ("--trust-proxy", "--limit", "head_seconds=2", "--limit", "streams_per_client=1000")
"""Wrong tokens are counted for each address: the requests name different ones."""
DEFAULT_SHARE = 50
"""One of this many cheap requests is sent to a studio with the default limits."""
MODULE = '''
import io
from dataclasses import dataclass
from typing import ClassVar
from PIL import Image
from zorank.types import Exhibit

@dataclass(frozen=True)
class Dot:
    """A renderer of very small pictures."""
    size: int = 8
    word: str = ""
    dim: ClassVar = 4
    media_type: ClassVar = "image/png"

    def render(self, candidates):
        return [Exhibit("image/png", self.picture(x)) for x in candidates]

    def picture(self, x):
        file = io.BytesIO()
        colour = tuple(max(0, min(255, int(128 + 40 * v))) for v in x[:3])
        Image.new("RGB", (8, 8), colour).save(file, "PNG")
        return file.getvalue()
'''


def make_world(address: str) -> World:
    """Create the runs and the links of a new studio."""
    with owner_of(address) as owner:

        def make(title: str, raters: int, answers: int) -> str:
            made = {"renderer": RENDERER, "method": "zo-ranksgd-memory", "seed": 1}
            answer = owner.post("/api/runs", json={**made, "title": title, "raters": raters})
            run = str(answer.raise_for_status().json()["id"])
            for index in range(answers):
                for rater in range(raters):
                    body = {"order": [1, 0], "rater": f"{title} rater {rater}"}
                    path = f"/api/runs/{run}/rounds/{index}/answer"
                    owner.post(path, json=body).raise_for_status()
            owner.get(f"/api/runs/{run}/round").raise_for_status()
            return run

        victim, rated = make("victim-secret", 2, 3), make("rated-secret", 250, 0)
        viewed, owned = make("viewed-secret", 1, 3), make("owned", 1, 2)
        link = owner.post(f"/api/runs/{rated}/invite").raise_for_status().json()["url"]
        photo = make_photo()
        kept = owner.post("/api/photos", content=photo).raise_for_status().json()["url"]
        given = {"name": "vera", "role": "viewer"}
        invited = owner.post(f"/api/runs/{viewed}/invitations", json=given).raise_for_status()
    tokens: dict[Role, str] = {
        "owner": TOKEN,
        "rater": link.partition("token=")[2],
        "viewer": invited.json()["url"].partition("token=")[2],
    }
    world = World(address, victim, rated, viewed, [owned], tokens)
    world.photo, world.digest = photo, kept.rpartition("/")[2]
    return world


def make_photo() -> bytes:
    """Return a small photo as JPEG."""
    file = io.BytesIO()
    noise = np.random.default_rng(0).integers(0, 256, (64, 48, 3), dtype=np.uint8)
    Image.fromarray(noise).save(file, "JPEG")
    return file.getvalue()


def enter(world: World, address: str) -> None:
    """Move to a studio at this address: get its cookies and its public files."""
    world.address = address
    for role, token in world.tokens.items():
        entered = httpx.get(f"{address}/", params={"token": token}, follow_redirects=False)
        world.cookies[role] = next(iter(entered.cookies.values()), "no cookie")
    secrets = {"victim": b"victim-secret", "rated": b"rated-secret", "viewed": b"viewed-secret"}
    with owner_of(address) as owner:
        photo = owner.get(f"/api/photos/{world.digest}").raise_for_status().content
    hidden = (TOKEN.encode(), secrets["victim"], world.tokens["rater"].encode(), photo)
    world.markers = {
        "owner": (),
        "rater": (*hidden, secrets["viewed"]),
        "viewer": (*hidden, secrets["rated"]),
        "nobody": (*hidden, secrets["rated"], secrets["viewed"]),
    }
    static = Path(zorank.studio.__file__).parent / "static"
    files = [file.read_bytes() for file in static.rglob("*") if file.is_file()]
    served = [httpx.get(f"{address}{path}").content for path in ("/openapi.json", "/healthz")]
    world.public = frozenset([*files, *served])


def owner_of(address: str) -> httpx.Client:
    """Return a client with the owner's token."""
    header = {"Authorization": f"Bearer {TOKEN}"}
    return httpx.Client(base_url=address, headers=header, timeout=60)


def guarded(store_url: str, world: World) -> dict[str, Any]:
    """Return what only the owner may change: logs and metadata of the three guarded runs.

    The log of the rater's run may get further answers, so it is returned as a list of rounds.
    """
    store = open_store(store_url)
    found: dict[str, Any] = {}
    try:
        names = {record.name for record in store.runs()}
        for run in names & {world.victim, world.viewed, world.rated}:
            found[f"metadata of {run}"] = repr(dict(store.record(run).meta))
            if run == world.rated:
                found["rounds"] = [repr(line.answer) for line in store.rounds(run)]
            else:
                found[f"log of {run}"] = repr(store.audit(run))
        return found
    finally:
        store.close()


def check_guarded(before: Mapping[str, Any], after: Mapping[str, Any], findings: Findings) -> None:
    """Note a violation for each part that somebody changed who may not."""
    for name, old in before.items():
        new = after.get(name, "deleted")
        same = new == old
        if name == "rounds" and new != "deleted":
            answered = [line for line in old if line != "None"]
            same = new[: len(answered)] == answered
            same = same and not any("'owner'" in line for line in new)
        if not same:
            findings.violate("a guarded run was changed", name=name, before=old, after=new)
    for role, cookie in findings.world.cookies.items():
        if cookie == "no cookie":
            findings.violate("a link stopped working", role=role)


def check_store(store_url: str, findings: Findings) -> int:
    """Check the database and open every run in it; return their number."""
    file = store_url.removeprefix("sqlite:///")
    with sqlite3.connect(file) as connection:
        [said] = connection.execute("PRAGMA integrity_check").fetchone()
    if said != "ok":
        findings.violate("the database is damaged", said=said)
    command = [sys.executable, "-m", "zorank", "runs", "list", "--store", store_url]
    listed = subprocess.run(command, capture_output=True, text=True, check=False)
    if listed.returncode or "damaged" in listed.stdout:
        findings.violate("zorank runs list finds damage", said=listed.stdout + listed.stderr)
    store = open_store(store_url)
    try:
        records = store.runs()
        for record in records:
            try:
                Run.open(store, record.name).export()
            except Exception as error:
                findings.violate("a run cannot be opened", run=record.name, error=repr(error))
        return len(records)
    finally:
        store.close()


def check_alive(world: World, findings: Findings) -> None:
    """Check that the studio still serves its owner."""
    with owner_of(world.address) as owner:
        for path in ("/healthz", "/api/runs", f"/api/runs/{world.victim}/round", "/metrics"):
            status = owner.get(path).status_code
            if status != 200:
                findings.violate("the studio does not serve its owner", path=path, status=status)


@contextmanager
def served(folder: Path, options: Sequence[str]) -> Iterator[tuple[str, int]]:
    """Serve the database in a folder; the studio's own log goes to a file there."""
    with (
        (folder / "studio.log").open("a") as errors,
        studio(f"sqlite:///{folder}/runs.db", RENDERER, folder, options, errors) as started,
    ):
        yield started


def fuzz(folder: Path, given: argparse.Namespace) -> Findings:
    """Send everything, and check."""
    store = f"sqlite:///{folder}/runs.db"
    few = given.cheap // DEFAULT_SHARE
    with served(folder, RAISED) as (address, pid):
        world = make_world(address)
        enter(world, address)
        findings = Findings(world, given.log)
        findings.write(
            "start", schemathesis=given.schemathesis, cheap=given.cheap, seed=given.seed
        )
        before = guarded(store, world)
        description = httpx.get(f"{address}/openapi.json").json()
        findings.begin("cheap", given.cheap - few, pid)
        asyncio.run(send_all(Forge(world, description, MUTATIONS, given.seed), findings))
        findings.end()
        findings.begin("schemathesis", given.schemathesis, pid)
        send_generated(world, description, findings, given.seed)
        findings.end()
        check_alive(world, findings)
    with served(folder, ()) as (address, pid):
        enter(world, address)
        findings.begin("default limits", few, pid)
        forge = Forge(world, description, MUTATIONS, -1 - given.seed, False)
        asyncio.run(send_all(forge, findings))
        findings.end()
        check_alive(world, findings)
    check_guarded(before, guarded(store, world), findings)
    print(f"{check_store(store, findings)} runs are in the database")
    findings.write("end", accepted=dict(findings.accepted), kinds=dict(findings.kinds))
    return findings


def report(findings: Findings) -> None:
    """Print the counts."""
    print(f"{findings.sent} requests; responses by role and status:")
    for name, count in sorted(findings.statuses.items()):
        print(f"  {name:<20} {count}")
    for name, count in findings.unavailable.most_common(10):
        print(f"  503: {name} ({count})")


def replay(folder: Path, log: Path) -> None:
    """Send the requests of all violations in a log again, and print what comes back."""
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    with served(folder, RAISED) as (address, _):
        world = make_world(address)
        enter(world, address)
        for line in lines:
            if line["event"] != "violation" or "request" not in line:
                continue
            text = line["request"].replace("<host>", world.host)
            for name, value in world.names():
                text = text.replace(name, value)
            first = text.split(" ", 2)
            path = first[1].partition("?")[0].encode("latin-1")
            data = text.encode("latin-1")
            sent = Sent(line["role"], data, line["kind"], first[0], path, line["end"])
            [answer, *_] = asyncio.run(Connection(world).exchange(sent))
            broken = violations(world, sent, answer)
            print(f"{line['rule']}: now {answer.status} {answer.outcome}, {broken or 'correct'}")
            print(f"  {text:.300}\n  {answer.body[:300]!r}")


def main() -> None:
    """Fuzz a studio, or replay what was found."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--schemathesis", type=int, default=2000, help="requests by schemathesis")
    parser.add_argument("--cheap", type=int, default=50_000, help="requests by the generator")
    parser.add_argument("--seed", type=int, default=0, help="the seed of all requests")
    parser.add_argument("--log", type=Path, default=Path("studio_fuzz.jsonl"))
    parser.add_argument("--replay", type=Path, help="a log whose violations are sent again")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="zorank-fuzz-") as folder:
        (Path(folder) / "dot.py").write_text(MODULE)
        os.environ["XDG_DATA_HOME"] = folder  # photos are kept there
        if given.replay:
            replay(Path(folder), given.replay)
            return
        findings = fuzz(Path(folder), given)
        report(findings)
        (given.log.with_suffix(".studio.log")).write_text(
            (Path(folder) / "studio.log").read_text()
        )
    print(f"slowest response {findings.slowest:.1f} s; {findings.broken.total()} violations")
    for rule, count in findings.broken.most_common():
        print(f"  {rule} ({count})")
    if findings.broken:
        raise SystemExit(f"see {given.log}; --replay {given.log} sends these requests again")


if __name__ == "__main__":
    main()
