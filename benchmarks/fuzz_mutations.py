"""Ways to damage a request to the studio, for `studio_fuzz.py`."""

import json
from collections.abc import Callable
from urllib.parse import quote

from fuzz_forge import Draft, Forge, Mutation
from fuzz_model import Role
from fuzz_values import (
    CHUNKS,
    HOSTS,
    LENGTHS,
    LOOK_ALIKES,
    METHODS,
    NUMBERS,
    ORIGINS,
    PIECES,
    PORTS,
    RAW_VALUES,
    ROOTS,
    TEXTS,
    TYPES,
    VALUES,
    VERSIONS,
)

MUTATIONS: dict[str, Mutation] = {}


def mutation(function: Mutation) -> Mutation:
    """Register a function that damages a request."""
    MUTATIONS[function.__name__] = function
    return function


def from_query(draft: Draft, forge: Forge) -> None:
    """Add a parameter to the query, known or not."""
    names = ("token", "rater", "size", "v", "name", "round", "", "a[]", "token%00", "TOKEN")
    value = forge.dice.choice((*NUMBERS, *map(quote_any, TEXTS[:12]), "%ff", "%", "=", "a" * 9000))
    extra = f"{forge.dice.choice(names)}={value}".encode()
    draft.query.insert(forge.dice.randint(0, len(draft.query)), extra)


def quote_any(text: str) -> str:
    """Return a text as it can be sent in a query, also with lone surrogates."""
    return quote(text.encode("utf-8", "surrogatepass"))


@mutation
def method(draft: Draft, forge: Forge) -> None:
    """Replace the method."""
    draft.method, draft.end = forge.dice.choice(METHODS), "close"


@mutation
def path_piece(draft: Draft, forge: Forge) -> None:
    """Insert encoded dots, slashes, nulls and the like into the path."""
    at = forge.dice.choice([i for i, c in enumerate(draft.path) if c == 47] or [0])
    at += forge.dice.choice((0, 1, 1, 2))
    draft.path = draft.path[:at] + forge.dice.choice(PIECES) + draft.path[at:]
    draft.end = "close"


@mutation
def path_prefix(draft: Draft, forge: Forge) -> None:
    """Reach the path through one that everybody may read, or from another root."""
    draft.path, draft.end = forge.dice.choice(ROOTS) + draft.path, "close"


@mutation
def look_alike(draft: Draft, forge: Forge) -> None:
    """Replace letters of the path by others that look like them, or change their case."""
    text = draft.path.decode("latin-1")
    at = forge.dice.randrange(len(text))
    swapped = text[at : at + 3].translate(LOOK_ALIKES)
    changed = text[:at] + quote(swapped) + text[at + 3 :]
    draft.path = (changed if forge.dice.random() < 0.7 else text.swapcase()).encode("latin-1")


@mutation
def long_name(draft: Draft, forge: Forge) -> None:
    """Add a long segment to the path."""
    length = forge.dice.choice((65, 300, 3000, 30_000, 70_000))
    draft.path += b"/" * forge.dice.randint(0, 1) + b"a" * length
    draft.end = "close"


@mutation
def number_in_path(draft: Draft, forge: Forge) -> None:
    """Replace a number in the path, or else the last segment."""
    parts = draft.path.split(b"/")
    places = [i for i, part in enumerate(parts) if part.isdigit()] or [len(parts) - 1]
    parts[forge.dice.choice(places)] = quote(forge.dice.choice(NUMBERS), safe="%").encode()
    draft.path = b"/".join(parts)


@mutation
def query(draft: Draft, forge: Forge) -> None:
    """Add parameters to the query. A second token may be found first, or not at all."""
    for _ in range(forge.dice.choice((1, 1, 2, 5))):
        from_query(draft, forge)
    draft.end = "close"


@mutation
def host(draft: Draft, forge: Forge) -> None:
    """Name another host."""
    draft.foreign, draft.end = True, "close"
    draft.host = forge.dice.choice(HOSTS)


@mutation
def port(draft: Draft, forge: Forge) -> None:
    """Name the right host with another port, or a broken one."""
    draft.host, draft.end, draft.foreign = forge.dice.choice(PORTS), "close", False


@mutation
def origin(draft: Draft, forge: Forge) -> None:
    """Come from another site."""
    draft.headers.append((b"Origin", forge.dice.choice(ORIGINS)))
    draft.foreign_origin = True


@mutation
def header(draft: Draft, forge: Forge) -> None:
    """Add headers that are broken, huge, many, or meant for proxies."""
    odd: tuple[tuple[bytes, bytes], ...] = (
        (b"X-A", b"a" * forge.dice.choice((100, 9000, 60_000, 70_000))),
        (b"X-A", b"\x00"),
        (b"X A", b"b"),
        (b"", b"b"),
        (b"X-A", b"b\r\n folded"),
        (b"X-A", b"b\rX-B: c"),
        (b"X-A", b"b\nX-B: c"),
        (b"X-\xff", b"\xff\xfe"),
        (b"Range", forge.dice.choice((b"bytes=0-9", b"bytes=9-0", b"bytes=" + b"0-,1-" * 500))),
        (b"If-None-Match", b"*"),
        (b"If-Modified-Since", b"yesterday"),
        (b"Accept-Encoding", b"gzip;q=NaN"),
        (b"Last-Event-ID", forge.dice.choice((b"\xff", b"9" * 61, b"a.b", b"-1"))),
        (b"Expect", b"100-continue"),
        (b"Connection", forge.dice.choice((b"close", b"upgrade", b"keep-alive, Host"))),
        (b"Upgrade", forge.dice.choice((b"websocket", b"h2c"))),
        (b"X-Forwarded-For", forge.dice.choice((b"\xff", b"", b"127.0.0.1, " * 500, b"::1%lo"))),
        (b"X-Forwarded-Proto", forge.dice.choice((b"https", b"\xff", b"javascript", b"wss"))),
        (b"X-HTTP-Method-Override", b"DELETE"),
        (b"X-Original-URL", b"/api/runs"),
        (b"Content-Encoding", b"gzip"),
    )
    for name, value in forge.dice.choices(odd, k=forge.dice.choice((1, 1, 1, 3, 150))):
        draft.headers.insert(forge.dice.randint(0, len(draft.headers)), (name, value))
    draft.end = "close"


@mutation
def duplicate(draft: Draft, forge: Forge) -> None:
    """Send a header twice, with the same value or another."""
    if not draft.headers:
        return
    name, value = forge.dice.choice([*draft.headers, (b"Host", draft.host)])
    other = forge.dice.choice((value, b"", b"x", value + b", x"))
    draft.headers.insert(forge.dice.randint(0, len(draft.headers)), (name, other))
    draft.end = "close"


@mutation
def wrong_secret(draft: Draft, forge: Forge) -> None:
    """Damage a token or a cookie by one character, or use those of one run for another."""
    world, dice = forge.world, forge.dice
    roles: tuple[Role, ...] = ("owner", "rater", "viewer")
    role = dice.choice(roles)
    token, cookie = world.tokens[role], world.cookies[role]
    run = world.own_run(role)
    if run and dice.random() < 0.3:
        token, cookie = token.replace(run, world.victim), forge.damaged(cookie)
    else:
        token, cookie = forge.damaged(token), forge.damaged(cookie)
    secret_headers = (b"Authorization", b"Cookie")
    draft.headers = [pair for pair in draft.headers if pair[0] not in secret_headers]
    draft.query = [part for part in draft.query if not part.startswith(b"token=")]
    draft.role = "owner" if role == "owner" else "rater"  # the name of the cookie
    forge.authorize(draft, token, cookie)
    draft.role = "nobody"


@mutation
def content_type(draft: Draft, forge: Forge) -> None:
    """Declare another type of body."""
    draft.headers = [pair for pair in draft.headers if pair[0] != b"Content-Type"]
    draft.headers.append((b"Content-Type", forge.dice.choice(TYPES)))
    draft.end = "close"


def _with_value(draft: Draft, forge: Forge, raw: str) -> None:
    """Replace one value of the body by raw JSON, or the whole body."""
    content = draft.content
    if not isinstance(content, dict) or forge.dice.random() < 0.1:
        draft.body = raw.encode("utf-8", "surrogatepass")
        return
    key = forge.dice.choice([*content, "key", "deadline", "judge", "options", "worst"])
    pairs = [f"{json.dumps(k)}: {raw if k == key else json.dumps(v)}" for k, v in content.items()]
    if key not in content:
        pairs.append(f"{json.dumps(key)}: {raw}")
    draft.body = ("{" + ", ".join(pairs) + "}").encode("utf-8", "surrogatepass")


@mutation
def value(draft: Draft, forge: Forge) -> None:
    """Replace a value of the body by one of another type."""
    _with_value(draft, forge, json.dumps(forge.dice.choice(VALUES + TEXTS)))


@mutation
def raw_value(draft: Draft, forge: Forge) -> None:
    """Replace a value of the body by a number or a text that JSON does not have."""
    _with_value(draft, forge, forge.dice.choice(RAW_VALUES))


@mutation
def deep(draft: Draft, forge: Forge) -> None:
    """Nest a value of the body deeply."""
    depth = forge.dice.choice((10, 500, 5000, 50_000, 100_000))
    left, right = forge.dice.choice((("[", "]"), ('{"a":', "}")))
    nested = left * depth + ("1" + right * depth if forge.dice.random() < 0.5 else "")
    _with_value(draft, forge, nested[:250_000])


@mutation
def body_bytes(draft: Draft, forge: Forge) -> None:
    """Damage the bytes of the body."""
    body = draft.body or b'{"rounds": 1}'
    at = forge.dice.randrange(len(body))
    changed: tuple[Callable[[], bytes], ...] = (
        lambda: body[:at] + bytes([forge.dice.randrange(256)]) + body[at + 1 :],
        lambda: body[:at],
        lambda: b"\xef\xbb\xbf" + body,
        lambda: body.decode("utf-8", "replace").encode("utf-16"),
        lambda: forge.dice.randbytes(forge.dice.choice((1, 100, 10_000))),
        lambda: body + b" " * (262_145 - len(body)),
        lambda: b" " * 300_000,
        lambda: body[:-1] + b"," + body[1:],
        lambda: b'{"__proto__": {}, "role": "owner", "access": "owner", ' + body[1:],
    )
    draft.body = forge.dice.choice(changed)()
    if len(draft.body) > 200_000:
        draft.end = "close"  # the server may close before everything is sent


@mutation
def chunked(draft: Draft, forge: Forge) -> None:
    """Send the body in chunks, which may be broken, perhaps with a Content-Length as well."""
    body = draft.body or b"{}"
    cut = forge.dice.randint(1, len(body))
    parts = [part for part in (body[:cut], body[cut:]) if part]
    draft.body = b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in parts) + b"0\r\n\r\n"
    draft.headers.append((b"Transfer-Encoding", b"chunked"))
    draft.chunked = True
    if forge.dice.random() < 0.5:
        draft.body, draft.incomplete = forge.dice.choice(CHUNKS), True
    if forge.dice.random() < 0.2:
        draft.length, draft.incomplete = b"%d" % len(draft.body), True


@mutation
def length(draft: Draft, forge: Forge) -> None:
    """Declare a wrong length."""
    draft.length, draft.incomplete = forge.dice.choice(LENGTHS), True


@mutation
def truncated(draft: Draft, forge: Forge) -> None:
    """Send a part of the request; then close one direction or both, or wait."""
    draft.kept, draft.incomplete = forge.dice.random(), True
    if forge.dice.random() < 0.5:
        draft.end = "abort"
    elif forge.dice.random() < 0.02:
        draft.end = "wait"


@mutation
def version(draft: Draft, forge: Forge) -> None:
    """Name another version of HTTP."""
    draft.version, draft.end = forge.dice.choice(VERSIONS), "close"


@mutation
def gone(draft: Draft, forge: Forge) -> None:
    """Send a whole request and disconnect before the response."""
    draft.end = "abort"
