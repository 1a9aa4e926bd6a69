"""The requests that `studio_fuzz.py` sends, and the rules that the responses must obey."""

import json
import re
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal
from urllib.parse import unquote_to_bytes, urlsplit

Role = Literal["owner", "rater", "viewer", "nobody"]
ROLES: tuple[Role, ...] = ("owner", "rater", "viewer", "nobody")
End = Literal["keep", "close", "eof", "abort", "wait"]
"""The client's action after sending: "keep" reads the response and uses the connection again,
"close" closes it after the response, "eof" waits for a response only briefly and then closes its
own direction, "abort" reads nothing, "wait" waits for the server to give up."""

READ_BY_MEMBERS = (
    r"(?:/round|/history|/best|/start|/events|/bests/[^/]+|/rounds/[^/]+/exhibits/[^/]+)?"
)
PUBLIC = ("/static/", "/openapi.json", "/healthz")
SENT_BY_RATERS = r"/rounds/[^/]+/(?:answer|draft)"


@dataclass
class World:
    """The studio that is fuzzed: its runs, and the secrets that open them.

    Attributes:
        address: where the studio listens, http://HOST:PORT.
        victim: a run that only the owner may see; the owner's requests never name it.
        rated: the run of the rater's link.
        viewed: the run of the viewer's link.
        owned: runs that the owner's requests may change and delete.
        spare: runs that the owner has made, and that are to be deleted.
        tokens: the token of each role.
        cookies: the value of each role's cookie.
        markers: role → texts that no response to this role may contain.
        public: the bodies that everybody may read.
        waiting: the round of the rater's run that waits for answers.
        photo: a photo that the owner has uploaded, as JPEG.
        digest: its name in the studio.
    """

    address: str
    victim: str
    rated: str
    viewed: str
    owned: list[str]
    tokens: dict[Role, str]
    cookies: dict[Role, str] = field(default_factory=dict)
    spare: list[str] = field(default_factory=list)
    markers: dict[Role, tuple[bytes, ...]] = field(default_factory=dict)
    public: frozenset[bytes] = frozenset()
    waiting: int = 0
    photo: bytes = b""
    digest: str = ""

    @property
    def host(self) -> str:
        """The host and the port."""
        return urlsplit(self.address).netloc

    @property
    def port(self) -> int:
        """The port."""
        return urlsplit(self.address).port or 80

    def own_run(self, role: Role) -> str:
        """Return the run that a role's link opens; "" for those that have none."""
        return {"rater": self.rated, "viewer": self.viewed}.get(role, "")

    def names(self) -> list[tuple[str, str]]:
        """Return placeholders for all that differs from one studio to the next."""
        found = [(f"<{role} token>", token) for role, token in self.tokens.items()]
        found += [(f"<{role} cookie>", value) for role, value in self.cookies.items()]
        found += [("<victim>", self.victim), ("<rated>", self.rated), ("<viewed>", self.viewed)]
        found += [("<owned>", run) for run in self.owned]
        return [*found, ("<port>", str(self.port))]  # tokens contain names of runs: they are first


@dataclass(frozen=True)
class Sent:
    """One request, or several in one piece, as bytes.

    Attributes:
        role: whose rights it has at most.
        data: what is sent.
        kind: how it was made.
        method: its method.
        path: its path, as sent.
        end: what the client does afterwards.
        responses: how many responses it gets.
        foreign: whether it names a host or an origin that is not the studio's.
    """

    role: Role
    data: bytes
    kind: str
    method: str
    path: bytes
    end: End = "keep"
    responses: int = 1
    foreign: bool = False

    @cached_property
    def decoded_path(self) -> str:
        """The path that the studio finds a route for."""
        path = re.split(rb"[?#]", re.sub(rb"^https?://[^/]*", b"", self.path))[0]
        return unquote_to_bytes(path).decode("utf-8", "replace")


@dataclass(frozen=True)
class Answer:
    """A response, or what came instead.

    Attributes:
        status: 0 if there was no response.
        outcome: "answered", "closed" (without a response), or "hung" (beyond the deadline).
        headers: lower-case names → values.
        body: the body, or the beginning of a stream.
        seconds: how long it took.
    """

    status: int
    outcome: Literal["answered", "closed", "hung"]
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""
    seconds: float = 0.0

    def json(self) -> Any:
        """Return the body as JSON; None if it is not JSON."""
        try:
            return json.loads(self.body)
        except ValueError:
            return None


def violations(world: World, sent: Sent, answer: Answer) -> list[str]:
    """Return the rules that a response breaks, in words."""
    if answer.outcome == "hung":
        return [f"the connection hung for {answer.seconds:.0f} s"]
    if answer.outcome == "closed":
        return ["no response to a complete request"] if sent.end == "keep" else []
    found = []
    if answer.status >= 500 and not is_documented(answer):
        found.append(f"status {answer.status}")
    whole = answer.body + "\n".join(answer.headers.values()).encode("latin-1")
    if any(marker in whole for marker in world.markers[sent.role]):
        found.append(f"a response to the role {sent.role} has data of another run")
    if answer.status < 400:
        found += _wrongly_allowed(world, sent, answer)
    return found


def is_documented(answer: Answer) -> bool:
    """Whether this is a 503 with a sentence, as the interface documents."""
    found = answer.json() if answer.status == 503 else None
    return isinstance(found, dict) and bool(found.get("detail"))


def _wrongly_allowed(world: World, sent: Sent, answer: Answer) -> list[str]:
    """Return what is wrong with a request that was not refused."""
    is_healthz = sent.decoded_path == "/healthz"
    if sent.foreign and not is_healthz:
        return ["a foreign host or origin was accepted"]
    if 300 <= answer.status < 400 and answer.status != 304:
        return _wrong_redirect(world, sent, answer.headers.get("location", ""))
    if sent.role == "owner" or is_public(world, sent, answer):
        return []
    if sent.role == "nobody":
        return ["somebody without a token got more than the public files"]
    run = re.escape(world.own_run(sent.role))
    if sent.method in ("GET", "HEAD"):
        opens = rf"/api/runs/{run}{READ_BY_MEMBERS}|/runs/{run}(?:/result)?"
    elif sent.role == "rater":
        opens = rf"/api/runs/{run}{SENT_BY_RATERS}"
    else:
        opens = r"(?!)"
    allowed = re.fullmatch(opens, sent.decoded_path, re.DOTALL)
    return [] if allowed else [f"the role {sent.role} did what only the owner may"]


def _wrong_redirect(world: World, sent: Sent, location: str) -> list[str]:
    """Return what is wrong with the target of a redirect."""
    target = urlsplit(location)
    if target.netloc not in ("", world.host):
        return [f"a redirect to another host: {location!r}"]
    same = target.path.rstrip("/") == sent.decoded_path.rstrip("/")
    open_to_all = target.path.startswith(PUBLIC)
    own = target.path == f"/runs/{world.own_run(sent.role)}" and sent.role in ("rater", "viewer")
    if sent.role == "owner" or open_to_all or own or (same and sent.role != "nobody"):
        return []
    return [f"the role {sent.role} was redirected to {location!r}"]


def is_public(world: World, sent: Sent, answer: Answer) -> bool:
    """Whether a body is one that everybody may read, or a part of one."""
    if not answer.body:
        return sent.decoded_path.startswith(PUBLIC)
    partly = answer.status == 206 and any(answer.body in whole for whole in world.public)
    return partly or answer.body in world.public
