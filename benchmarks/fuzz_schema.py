"""Requests that schemathesis makes from the studio's own description, for `studio_fuzz.py`."""

import random
from collections.abc import Iterator, Mapping
from typing import Any

import requests
import schemathesis
from fuzz_forge import RENDERER
from fuzz_log import Findings
from fuzz_model import ROLES, Answer, Role, Sent, World
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis.errors import Unsatisfiable
from schemathesis.config import SchemathesisConfig
from schemathesis.generation import GenerationMode

DEADLINE = 60.0
EXAMPLES = 25
"""How many requests of one kind are generated at a time, at most."""

UNCHANGED = ("method", "headers", "cookies", "query", "media_type")
"""The parts of a request that stay when it is aimed at another run."""

APART = 1_000_000
"""The distance between the seeds of two runs; each draw has a seed of its own."""

Operation = Any
"""schemathesis has no public name for the types of operations and cases."""
Case = Any


def operations(description: Mapping[str, Any]) -> list[tuple[Operation, GenerationMode]]:
    """Return the operations of the interface, each with valid and with invalid requests."""
    schema = schemathesis.openapi.from_dict(dict(description), config=SchemathesisConfig())
    schema.config.generation.update(database="none", no_shrink=True)
    # Names of runs in responses must not become targets: one of them is the victim.
    schema.config.phases.fuzzing.extra_data_sources.responses = False
    schema.config.phases.fuzzing.error_feedback.is_enabled = False
    schema.config.max_stream_events = 1  # /events has no end
    found: list[Any] = list(schema.get_all_operations())
    return [(operation.ok(), mode) for operation in found for mode in GenerationMode]


def send_generated(
    world: World, description: Mapping[str, Any], findings: Findings, first: int = 0
) -> None:
    """Send a part of generated requests, each as all roles; `first` chooses other ones."""
    kinds = operations(description)
    at_once = max(1, min(EXAMPLES, findings.count // len(ROLES) // len(kinds)))
    sender, number = _Sender(world, findings), first * APART
    while findings.sent < findings.until:
        for kind in list(kinds):
            number += 1
            try:
                for case in generated(*kind, at_once, number):
                    if findings.sent < findings.until:
                        sender.send(case)
            except Unsatisfiable:  # there is no invalid request of this kind
                kinds.remove(kind)


def generated(
    operation: Operation, mode: GenerationMode, count: int, number: int
) -> Iterator[Case]:
    """Return generated requests of one operation."""
    cases: list[Case] = []

    @seed(number)
    @settings(
        max_examples=count,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.generate],
    )
    @given(operation.as_strategy(generation_mode=mode))
    def collect(case: Case) -> None:
        cases.append(case)

    collect()
    return iter(cases)


class _Sender:
    """Sends a case as every role, aimed at different runs."""

    def __init__(self, world: World, findings: Findings) -> None:
        self._world = world
        self._findings = findings
        self._dice = random.Random(1)
        self._sessions: dict[Role, requests.Session] = {role: requests.Session() for role in ROLES}

    def send(self, case: Case) -> None:
        """Send a case as every role."""
        for role in ROLES:
            self._send(self._aimed(case, role), role)
        while self._world.spare:
            run = self._world.spare.pop()
            header = {"Authorization": f"Bearer {self._world.tokens['owner']}"}
            requests.delete(
                f"{self._world.address}/api/runs/{run}", headers=header, timeout=DEADLINE
            )

    def _send(self, case: Case, role: Role) -> None:
        token = self._world.tokens.get(role)
        dice = self._dice
        headers = {"X-Forwarded-For": f"10.1.{dice.randrange(256)}.{dice.randrange(256)}"}
        if token is not None:
            headers["Authorization"] = f"Bearer {token}"
        session = self._sessions[role]
        try:
            response = case.call(
                base_url=self._world.address,
                session=session,
                headers=headers,
                timeout=DEADLINE,
                allow_redirects=False,
            )
        except requests.Timeout:
            sent = Sent(role, case.as_curl_command(headers).encode(), "schema", case.method, b"")
            self._findings.add(sent, [Answer(0, "hung", seconds=DEADLINE)])
            return
        found = {name: ", ".join(values) for name, values in response.headers.items()}
        answer = Answer(
            response.status_code,
            "answered",
            {name.lower(): value for name, value in found.items()},
            response.content,
            response.elapsed,
        )
        self._findings.add(_as_sent(response.request, role), [answer])

    def _aimed(self, case: Case, role: Role) -> Case:
        """Return the same request at an existing run, or as it was generated."""
        world, dice = self._world, self._dice
        if dice.random() < 0.2:
            return case
        path = dict(case.path_parameters)
        if "run_id" in path:
            others = [world.victim, world.own_run(role) or world.rated]
            path["run_id"] = dice.choice(world.owned or ["none"] if role == "owner" else others)
        for name, size in (("index", 4), ("position", 7)):
            if isinstance(path.get(name), int) and dice.random() < 0.8:
                path[name] = dice.choice((path[name] % size, world.waiting))
        same = {name: getattr(case, name) for name in UNCHANGED}
        return case.operation.Case(**same, path_parameters=path, body=self._fitting(case.body))

    def _fitting(self, body: Any) -> Any:
        """Return a body that names the renderer there is and positions that a round has."""
        if not isinstance(body, dict):
            return body
        known: dict[str, Any] = {"renderer": RENDERER, "method": "zo-ranksgd-memory"}
        fits = {key: value for key, value in known.items() if isinstance(body.get(key), str)}
        if isinstance(body.get("order"), list) and self._dice.random() < 0.7:
            fits["order"] = self._dice.sample(range(6), self._dice.randint(1, 6))
            fits["worst"] = []
        return {**body, **fits}


def _as_sent(request: requests.PreparedRequest, role: Role) -> Sent:
    """Return a request as it was sent."""
    lines = [f"{request.method} {request.path_url} HTTP/1.1", "Host: <host>"]
    lines += [f"{name}: {_text(value)}" for name, value in request.headers.items()]
    body: Any = request.body or b""
    content = body.encode() if isinstance(body, str) else bytes(body)
    data = "\r\n".join([*lines, "", ""]).encode("latin-1", "replace") + content
    path = request.path_url.partition("?")[0].encode()
    return Sent(role, data, "schema", str(request.method), path, "close")


def _text(value: str | bytes) -> str:
    return value.decode("latin-1") if isinstance(value, bytes) else value
