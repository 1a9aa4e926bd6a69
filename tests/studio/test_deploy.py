"""The files of docs/deploy: nginx runs in front of a real studio, over HTTPS, below a path."""

import json
import re
import shlex

import pytest

from tests.helpers.proxy import DEPLOY
from tests.helpers.studio_server import TOKEN
from zorank.studio.address import PublicURL


def removes_the_prefix(text):
    """What a proxy_pass with a path does: /rank/new becomes /new."""
    changed = re.sub(r"(proxy_pass http://[\d.:]+);", r"\1/;", text)
    assert changed != text
    return changed


def hides_the_host(text):
    changed = text.replace("proxy_set_header Host $http_host;", "")
    assert changed != text
    return changed


@pytest.mark.parametrize("site", [str, removes_the_prefix, hides_the_host])
def test_the_studio_works_behind_nginx(proxied, site):
    studio = proxied("--method", "rank-process", "--trust-proxy", site=site)
    assert studio.printed == f"Public address: {studio.url}/?token={TOKEN}\n"
    with studio.client(token=None) as visitor:
        assert visitor.get("/").status_code == 401
        entered = visitor.get("/", params={"token": TOKEN})
        assert entered.status_code == 303
        assert entered.headers["location"] == "/rank/"
        cookie = entered.headers["set-cookie"]
        assert "Secure" in cookie
        assert "Path=/rank;" in cookie
        session = {"Cookie": cookie.partition(";")[0]}
        assert visitor.get("/", headers=session).status_code == 200
        assert visitor.get("/static/run.js").status_code == 200
        made = visitor.post(
            "/api/runs",
            json={"renderer": "landscape", "options": {"size": 64}},
            headers={**session, "Origin": studio.url.removesuffix("/rank")},
        )
        run_id = made.raise_for_status().json()["id"]
        picture = visitor.get(f"/api/runs/{run_id}/round", headers=session).json()["exhibits"][0]
        path = picture["url"].removeprefix("/rank")
        assert visitor.get(path, headers=session).headers["content-type"] == "image/jpeg"
        forged = visitor.post("/api/runs", headers={**session, "Origin": "https://evil.example"})
        assert forged.status_code == 403
    with studio.client() as owner:
        link = owner.post(f"/api/runs/{run_id}/invite").json()["url"]
    assert link.startswith(f"{studio.url}/runs/{run_id}?token=")
    log = (studio.folder / "access.log").read_text()
    assert "/rank/" in log
    assert "token" not in log


def test_the_path_without_a_slash_leads_to_the_studio(proxied):
    studio = proxied()
    with studio.client(token=None) as visitor:
        moved = visitor.get(f"https://127.0.0.1:{studio.port}/rank", params={"token": TOKEN})
    assert moved.headers["location"] == f"{studio.url}/?token={TOKEN}"


def test_events_arrive_as_they_happen(proxied):
    """nginx would hold back the first kilobytes of a stream that does not say otherwise."""
    studio = proxied("--method", "rank-process")
    with studio.client() as owner:
        body = {"renderer": "landscape", "options": {"size": 64}}
        run_id = owner.post("/api/runs", json=body).raise_for_status().json()["id"]
        with studio.client() as page, page.stream("GET", f"/api/runs/{run_id}/events") as stream:
            lines = (line.removeprefix("data: ") for line in stream.iter_lines())
            rounds = (json.loads(line).get("index") for line in lines if line.startswith("{"))
            assert 0 in rounds
            owner.post(f"/api/runs/{run_id}/rounds/0/answer", json={"order": [[1]]})
            assert 1 in rounds  # the stream is still open


def test_wrong_tokens_are_counted_for_each_client_of_a_trusted_proxy(proxied):
    studio = proxied("--trust-proxy", site=lambda text: text.replace("$remote_addr;", "10.1.2.3;"))
    direct = studio.studio.client("a-wrong-token")
    with studio.client("a-wrong-token") as far, direct as near:
        statuses = {far.get("/api/runs").status_code for _ in range(25)}
        assert statuses == {401, 429}
        assert near.get("/api/runs").status_code == 401


def test_forwarded_headers_are_ignored_unless_asked_for(proxied):
    studio = proxied()
    with studio.studio.client("a-wrong-token") as stranger:
        for number in range(25):
            headers = {"X-Forwarded-For": f"10.1.2.{number}"}
            status = stranger.get("/api/runs", headers=headers).status_code
    assert status == 429


def test_the_other_files_start_the_studio_with_a_valid_address():
    for name in ("nginx.conf", "Caddyfile", "zorank.service"):
        text = (DEPLOY / name).read_text().replace("\\\n", " ")
        (command,) = re.findall(r"zorank studio.*--public-url.*", text)
        words = shlex.split(command)
        url = PublicURL.parse(words[words.index("--public-url") + 1])
        assert (url.host, url.prefix) == ("rank.example.org", "/rank")
        assert "--trust-proxy" in words
