"""Makes real requests to the studio and damages them, for `studio_fuzz.py`."""

import json
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from fuzz_model import ROLES, End, Role, Sent, World

ALPHABET = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
PAGES = ("/", "/new", "/runs/{run_id}", "/runs/{run_id}/result", "/metrics", "/healthz")
FILES = ("/static/run.js", "/static/base.css", "/static/none.js", "/openapi.json", "/static/")
RENDERER = "dot:Dot"

Body = dict[str, Any]
Mutation = Callable[["Draft", "Forge"], None]


@dataclass
class Draft:
    """A request before it is encoded.

    Attributes:
        role: whose credential it has.
        method, path, query, version: the parts of its first line.
        headers: names and values.
        body: its body.
        content: the body before it was encoded, if it is JSON.
        host: the Host header.
        end: what the client does afterwards.
        foreign: whether host or origin are not the studio's.
        foreign_origin: whether the origin is not; that matters for methods that change something.
        length: the Content-Length, if it is not the body's.
        chunked: whether the body is in chunks, and has no Content-Length.
        kept: the part of the request that is sent, at most 1.
        incomplete: whether the server may wait for more.
    """

    role: Role
    method: str
    path: bytes
    query: list[bytes] = field(default_factory=list)
    version: bytes = b"HTTP/1.1"
    headers: list[tuple[bytes, bytes]] = field(default_factory=list)
    body: bytes = b""
    content: Any = None
    host: bytes = b""
    end: End = "keep"
    foreign: bool = False
    foreign_origin: bool = False
    length: bytes | None = None
    chunked: bool = False
    kept: float = 1.0
    incomplete: bool = False

    def encode(self) -> bytes:
        """Return the request as it is sent."""
        target = self.path + (b"?" + b"&".join(self.query) if self.query else b"")
        lines = [b"%s %s %s" % (self.method.encode("latin-1"), target, self.version)]
        lines.append(b"Host: " + self.host)
        lines += [b"%s: %s" % header for header in self.headers]
        if self.length is not None:
            lines.append(b"Content-Length: " + self.length)
        elif self.body and not self.chunked:
            lines.append(b"Content-Length: %d" % len(self.body))
        whole = b"\r\n".join([*lines, b"", self.body])
        return whole if self.kept == 1.0 else whole[: int(self.kept * len(whole))]


class Forge:
    """Makes requests of all roles, most of them damaged.

    Args:
        world: the studio.
        description: its OpenAPI description, which names the real requests.
        mutations: what damages them, by name.
        seed: the seed of all choices.
        spread: whether each request claims to come from another address, so that wrong tokens
            are not counted together; the studio must trust the proxy.
    """

    def __init__(
        self,
        world: World,
        description: Mapping[str, Any],
        mutations: Mapping[str, Mutation],
        seed: int,
        spread: bool = True,
    ) -> None:
        self.world = world
        self.dice = random.Random(seed)
        self._spread = spread
        self._mutations = list(mutations.items())
        self._routes = [
            (method.upper(), path)
            for path, methods in description["paths"].items()
            for method in methods
        ]
        self._routes += [("GET", path) for path in PAGES + FILES]
        self._made = 0

    def next(self) -> Sent:
        """Return the next request."""
        role = ROLES[self._made % len(ROLES)]
        self._made += 1
        if role == "owner" and (self.world.spare or not self.world.owned):
            return self._kept_up()
        if self.dice.random() < 0.01:
            return self._pipelined(role)
        draft = self.draft(role)
        count = self.dice.choices((0, 1, 2, 3), (1, 6, 2, 1))[0]
        chosen = self.dice.sample(self._mutations, count)
        for _, mutate in chosen:
            mutate(draft, self)
        return self._finished(draft, "+".join(name for name, _ in chosen) or "plain")

    def draft(self, role: Role) -> Draft:
        """Return a real request of a role."""
        method, template = self.dice.choice(self._routes)
        path = self._filled(role, template)
        draft = Draft(role, method, path.encode(), host=self.world.host.encode())
        body = self.body_of(method, template)
        if body is not None:
            draft.content, draft.body = body, json.dumps(body).encode()
            draft.headers.append((b"Content-Type", b"application/json"))
        if (method, template) == ("POST", "/api/photos"):
            draft.body = self.world.photo[: self.dice.choice((None, 100, 1000))]
            draft.headers.append((b"Content-Type", b"image/jpeg"))
        if template.endswith("/export") and "people" in template:
            draft.query.append(b"name=ann")
        if self._spread:
            draft.headers.append((b"X-Forwarded-For", self.address()))
        self.authorize(draft, self.world.tokens.get(role, ""), self.world.cookies.get(role, ""))
        return draft

    def address(self) -> bytes:
        """Return an address of a client."""
        dice = self.dice
        return b"10.%d.%d.%d" % (dice.randrange(256), dice.randrange(256), dice.randrange(256))

    def authorize(self, draft: Draft, token: str, cookie: str) -> None:
        """Add a credential to a request: a token in a header or the query, or a cookie."""
        way = self.dice.choice(("header", "header", "cookie", "query"))
        if draft.role == "nobody" and not token:
            token = cookie = self.text(32) if self.dice.random() < 0.3 else ""
        if not token:
            return
        if way == "header":
            draft.headers.append((b"Authorization", b"Bearer " + token.encode()))
        elif way == "query":
            draft.query.append(b"token=" + token.encode())
        else:
            name = "owner" if draft.role == "owner" else "rater"
            value = f"zorank-{name}-{self.world.port}={cookie}"
            draft.headers.append((b"Cookie", value.encode()))

    def run(self, role: Role) -> str:
        """Return a run to aim at: mostly the role's own; the owner's are those to be changed."""
        world, dice = self.world, self.dice
        if role == "owner":
            return dice.choice(world.owned) if world.owned else "none"
        if role != "nobody" and dice.random() < 0.6:
            return world.own_run(role)
        return dice.choice((world.victim, world.victim, world.rated, world.viewed))

    def text(self, length: int) -> str:
        """Return random letters and digits."""
        return "".join(self.dice.choices(ALPHABET, k=length))

    def damaged(self, text: str) -> str:
        """Return a text with one character replaced."""
        at = self.dice.randrange(len(text))
        other = self.dice.choice([c for c in ALPHABET if c != text[at]])
        return text[:at] + other + text[at + 1 :]

    def body_of(self, method: str, template: str) -> Body | None:
        """Return the body of a real request; None if it has none."""
        name = template.rpartition("/")[2]
        order = self.dice.sample(range(6), self.dice.randint(1, 6))
        bodies: dict[tuple[str, str], Body] = {
            ("POST", "runs"): {
                "renderer": RENDERER,
                "m": self.dice.randint(3, 8),
                "seed": self.dice.randrange(100),
                "title": "owned",
                "raters": self.dice.randint(1, 3),
                "method": self.dice.choice(("zo-ranksgd-memory",) * 4 + ("rank-process",)),
            },
            ("PATCH", "{run_id}"): {"title": self.text(8), "raters": self.dice.randint(1, 3)},
            ("POST", "answer"): {"order": order, "rater": f"rater {self.dice.randrange(10**4)}"},
            ("POST", "draft"): {"order": order[:3], "worst": order[3:4]},
            ("POST", "undo"): {"rounds": self.dice.randint(1, 3)},
            ("POST", "branch"): {"round": self.dice.randint(0, 2), "title": "owned"},
            ("POST", "invitations"): {
                "name": f"ann {self.dice.randrange(20)}",
                "role": self.dice.choice(("rater", "viewer")),
            },
            ("POST", "forget"): {"name": f"ann {self.dice.randrange(20)}", "remove": True},
        }
        return bodies.get((method, name))

    def _filled(self, role: Role, template: str) -> str:
        """Return a path with real values for its parameters."""
        if "{" not in template:
            return template
        dice = self.dice
        waiting = self.world.waiting if role == "rater" and dice.random() < 0.5 else None
        values = {
            "run_id": self.run(role),
            "index": dice.randrange(4) if waiting is None else waiting,
            "position": dice.randrange(7),
            "which": f"ann%20{dice.randrange(20)}",
            "name": RENDERER,
            "digest": self.world.digest,
        }
        return template.format(**values)

    def _kept_up(self) -> Sent:
        """Return a request that keeps a few runs for the owner's requests."""
        if self.world.spare:
            draft = Draft("owner", "DELETE", f"/api/runs/{self.world.spare.pop()}".encode())
        else:
            draft = Draft("owner", "POST", b"/api/runs")
            draft.body = json.dumps(self.body_of("POST", "/api/runs")).encode()
            draft.headers.append((b"Content-Type", b"application/json"))
        draft.host = self.world.host.encode()
        self.authorize(draft, self.world.tokens["owner"], self.world.cookies["owner"])
        return self._finished(draft, "upkeep")

    def _pipelined(self, role: Role) -> Sent:
        """Return one real request several times in one piece."""
        draft, times = self.draft(role), self.dice.randint(2, 5)
        while draft.path.endswith(b"/events"):  # a stream has no end
            draft = self.draft(role)
        data = draft.encode() * times
        return Sent(role, data, "pipelined", draft.method, draft.path, "close", times)

    def _finished(self, draft: Draft, kind: str) -> Sent:
        changes = draft.method not in ("GET", "HEAD")
        foreign = draft.foreign or (draft.foreign_origin and changes)
        end = "eof" if draft.incomplete and draft.end in ("keep", "close") else draft.end
        return Sent(draft.role, draft.encode(), kind, draft.method, draft.path, end, 1, foreign)
