"""The page about the studio's HTTP interface, from its OpenAPI description."""

from typing import Any

from zorank.renderers import REGISTRY
from zorank.stores import open_store
from zorank.studio import create_app

HEAD = """\
# The HTTP interface

Made from the code by `make docs`.

The studio describes its interface at `/openapi.json`; this page has the same in short. Bodies and
responses are JSON. Every request but `/healthz` needs a token: `Authorization: Bearer TOKEN`,
`?token=TOKEN`, or the cookie that opening a link sets. Positions are those on screen.
[examples/simulated_person.py](../../examples/simulated_person.py) is a complete client.

| status | meaning |
| --- | --- |
| 401, 403 | no valid token; a token that does not allow this |
| 404 | no such run, round or exhibit |
| 409 | the round was answered, or shows other candidates, meanwhile |
| 422 | the request is malformed: `detail` is one sentence |
| 429 | too many requests: try again after `Retry-After` seconds |
| 503 | the store cannot be read or written; nothing was stored |

"""


def page() -> str:
    """List every request with its parameters, body and response."""
    api = create_app(open_store("memory://"), REGISTRY, "a token of some length").openapi()
    lines = []
    for path, methods in api["paths"].items():
        for method, operation in methods.items():
            lines += _request(method.upper(), path, operation, api["components"]["schemas"])
    return HEAD + "\n".join(lines).rstrip() + "\n"


def _request(
    method: str, path: str, operation: dict[str, Any], schemas: dict[str, Any]
) -> list[str]:
    lines = [f"## {method} {path}", ""]
    about = operation.get("description") or operation.get("summary", "")
    lines += [" ".join(about.split()), ""]
    rows = [
        _row(p["name"], p["schema"], p.get("required", False), p["in"], schemas)
        for p in operation.get("parameters", ())
        if p["in"] == "query"
    ]
    body = operation.get("requestBody", {}).get("content", {}).get("application/json", {})
    rows += _fields(body.get("schema", {}), "body", schemas)
    if rows:
        lines += ["| field | in | type | |", "| --- | --- | --- | --- |", *rows, ""]
    if answer := _answer(operation, schemas):
        lines += [f"Returns {answer}.", ""]
    return lines


def _fields(schema: dict[str, Any], place: str, schemas: dict[str, Any]) -> list[str]:
    for option in schema.get("anyOf", ()):  # a body that may be left out
        if "$ref" in option:
            schema = option
    model = schemas.get(schema.get("$ref", "").rpartition("/")[2], schema)
    required = model.get("required", ())
    return [
        _row(name, field, name in required, place, schemas)
        for name, field in model.get("properties", {}).items()
    ]


def _row(
    name: str, schema: dict[str, Any], required: bool, place: str, schemas: dict[str, Any]
) -> str:
    notes = [" ".join(schema.get("description", "").split())]
    if required:
        notes.append("Required.")
    elif schema.get("default") not in (None, ""):
        notes.append(f"Default: `{schema['default']}`.")
    text = " ".join(note for note in notes if note).replace("|", r"\|")
    return f"| `{name}` | {place} | {_type(schema, schemas)} | {text} |"


def _type(schema: dict[str, Any], schemas: dict[str, Any]) -> str:
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        kind = schemas.get(name, {})
        return _type(kind, {}) if "properties" not in kind and kind else name
    if options := schema.get("anyOf") or schema.get("oneOf"):
        return " or ".join(dict.fromkeys(_type(option, schemas) for option in options))
    if "enum" in schema or "const" in schema:
        values = schema.get("enum") or [schema["const"]]
        return ", ".join(f"`{value}`" for value in values)
    if schema.get("type") == "array":
        return f"array of {_type(schema.get('items', {}), schemas)}"
    return str(schema.get("type", "any"))


def _answer(operation: dict[str, Any], schemas: dict[str, Any]) -> str:
    for status, response in operation.get("responses", {}).items():
        content = response.get("content", {})
        if status.startswith("2") and "application/json" in content:
            schema = content["application/json"]["schema"]
            model = schemas.get(schema.get("$ref", "").rpartition("/")[2], {})
            names = ", ".join(f"`{name}`" for name in model.get("properties", {}))
            return f"{_type(schema, schemas)}: {names}" if names else _type(schema, schemas)
        if status.startswith("2") and content:
            return ", ".join(f"`{kind}`" for kind in content)
    return ""
