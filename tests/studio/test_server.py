"""How the studio listens, which links it prints, and that it starts from nothing."""

import asyncio
import os
import re
import socket
import subprocess
import sys

import httpx2 as httpx
import pytest

from tests.helpers import fork_server
from tests.helpers.studio_server import TOKEN
from tests.helpers.waiting import wait_until
from zorank.errors import InvalidInput
from zorank.studio.address import PublicURL
from zorank.studio.hints import hints
from zorank.studio.server import addresses, allowed_names, link_to, listen

PUBLIC = PublicURL.parse("https://rank.example.org/rank")


def test_small_responses_are_sent_at_once():
    """Without TCP_NODELAY each waits 40 ms; asyncio sets it if the socket says that it is TCP."""

    async def without_delay():
        found = asyncio.get_running_loop().create_future()

        def connected(_, writer):
            option = (socket.IPPROTO_TCP, socket.TCP_NODELAY)
            found.set_result(writer.get_extra_info("socket").getsockopt(*option))
            writer.close()

        server = await asyncio.start_server(connected, sock=listen("127.0.0.1", 0))
        async with server:
            _, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
            writer.close()
            return await found

    assert asyncio.run(without_delay())


@pytest.mark.server
def test_it_starts_in_a_new_process(tmp_path):
    """All other tests start it in a process that has imported it already."""
    command = [sys.executable, "-m", "zorank", "studio", "--no-browser", "--token", TOKEN]
    store = ["--store", str(tmp_path / "runs.db"), "--port", "0"]
    with subprocess.Popen([*command, *store], stdout=subprocess.PIPE, text=True) as studio:
        assert studio.stdout.readline().startswith("Studio at http://127.0.0.1:")
        studio.kill()


@pytest.fixture
def links(tmp_path):
    """Start a studio and return the first lines that it prints, and a client of its first link."""
    started = []

    def start(*arguments, lines=1):
        command = ["-m", "zorank", "studio", "--no-browser", "--token", TOKEN, "--port", 0]
        command += ["--store", tmp_path / "runs.db", *arguments]
        started.append(fork_server.start(command))
        return [started[-1].stdout.readline().rstrip("\n") for _ in range(lines)]

    yield start
    for one in started:
        one.close()


def opens(link):
    """Whether the owner's link leads into the studio."""
    with httpx.Client(timeout=120) as visitor:
        return visitor.get(link, follow_redirects=True).status_code == 200


def has_ipv6():
    try:
        listen("::1", 0).close()
    except InvalidInput:
        return False
    return True


def has_network():
    return len(addresses("0.0.0.0", 1)) > 1


needs_ipv6 = pytest.mark.skipif(not has_ipv6(), reason="this machine has no IPv6")
needs_network = pytest.mark.skipif(not has_network(), reason="this machine has no network")


@pytest.mark.server
@needs_network
@pytest.mark.parametrize("host", ["0.0.0.0", pytest.param("::", marks=needs_ipv6)])
def test_a_studio_for_the_network_prints_both_links(links, host):
    local, network = links("--host", host, lines=2)
    port = re.fullmatch(rf"Studio at http://127\.0\.0\.1:(\d+)/\?token={TOKEN}", local)[1]
    found = re.fullmatch(rf"In this network: (http://(\S+):{port}/\?token={TOKEN})", network)
    assert found[2] not in ("127.0.0.1", "0.0.0.0", "[::1]", "[::]")
    assert opens(local.removeprefix("Studio at "))
    assert opens(found[1])


@pytest.mark.server
@needs_ipv6
def test_an_ipv6_address_has_brackets_in_its_link(links):
    (local,) = links("--host", "::1")
    assert re.fullmatch(rf"Studio at http://\[::1\]:\d+/\?token={TOKEN}", local)
    assert opens(local.removeprefix("Studio at "))


@pytest.mark.server
def test_the_public_address_is_printed_next_to_the_local_one(links):
    local, public = links("--public-url", "https://rank.example.org/rank/", lines=2)
    assert public == f"Public address: https://rank.example.org/rank/?token={TOKEN}"
    link = local.removeprefix("Studio at ")
    assert link.startswith("http://127.0.0.1:")
    with httpx.Client(timeout=120) as visitor:  # the cookie is for HTTPS
        assert visitor.get(link).headers["location"] == "/rank/"


def test_a_public_address_replaces_that_of_the_network():
    assert addresses("0.0.0.0", 8321, PUBLIC) == {
        "Studio at": "http://127.0.0.1:8321",
        "Public address:": "https://rank.example.org/rank",
    }


def test_a_token_is_quoted_in_its_link():
    assert link_to("http://h", "a&b c+d-of-16-letters") == (
        "http://h/?token=a%26b%20c%2Bd-of-16-letters"
    )


@pytest.mark.parametrize(
    ("host", "public", "names"),
    [
        ("127.0.0.1", None, {"127.0.0.1", "localhost", "[::1]"}),
        ("::1", None, {"127.0.0.1", "localhost", "[::1]"}),
        ("127.0.0.5", None, {"127.0.0.1", "localhost", "[::1]", "127.0.0.5"}),
        ("0.0.0.0", None, {"*"}),
        ("10.0.0.4", None, {"*"}),
        ("0.0.0.0", PUBLIC, {"127.0.0.1", "localhost", "[::1]"}),
        ("10.0.0.4", PUBLIC, {"127.0.0.1", "localhost", "[::1]", "10.0.0.4"}),
    ],
)
def test_names_by_which_a_server_may_be_called(host, public, names):
    assert set(allowed_names(host, public)) == names


@pytest.mark.parametrize(
    "host", ["203.0.113.77", "not a host", "", "a" * 300, "2001:db8::77", "[::1]"]
)
def test_a_wrong_host_is_called_a_wrong_host(host):
    with pytest.raises(InvalidInput, match=r"cannot listen on the host .* --host") as refused:
        listen(host, 0)
    assert "--port" not in str(refused.value)


@pytest.mark.parametrize("port", [-1, 70_000])
def test_a_wrong_port_is_called_a_wrong_port(port):
    with pytest.raises(InvalidInput, match="choose another --port"):
        listen("127.0.0.1", port)


def test_a_port_in_use_is_called_so():
    with (
        socket.create_server(("127.0.0.1", 0)) as taken,
        pytest.raises(InvalidInput, match="choose another --port"),
    ):
        listen("127.0.0.1", taken.getsockname()[1])


def test_the_command_line_refuses_with_a_sentence(refused, tmp_path):
    command = ("studio", "--no-browser", "--store", tmp_path / "runs.db", "--port", 0)
    assert "the token has 5 characters" in refused(*command, "--token", "short")
    assert "the token has 0 characters" in refused(*command, "--token", "")
    wrong = refused(*command, "--public-url", "example.org")
    assert "the public URL 'example.org' does not begin with http" in wrong
    assert "cannot listen on the host '203.0.113.77'" in refused(
        *command, "--host", "203.0.113.77"
    )


@pytest.mark.server
def test_a_cookie_of_one_process_is_accepted_by_all(links):
    (local,) = links("--workers", 2)
    link = local.removeprefix("Studio at ")
    entered = httpx.get(link, timeout=120)
    session = {"Cookie": entered.headers["set-cookie"].partition(";")[0]}
    for _ in range(20):  # over connections of their own, which either may take
        assert httpx.get(link.partition("?")[0], headers=session, timeout=120).status_code == 200


SSH = {"SSH_CONNECTION": "192.0.2.7 50000 192.0.2.9 22"}


def test_hints_name_what_is_in_the_way_of_the_page():
    nothing = hints({}, "ann", 8321, wanted=None, opened=True, only_local=True)
    assert nothing == []
    (taken,) = hints({}, "ann", 40123, wanted=8321, opened=True, only_local=True)
    assert "8321 is in use" in taken
    assert "40123" in taken
    (tunnel,) = hints(SSH, "ann", 8321, wanted=None, opened=None, only_local=True)
    assert tunnel.endswith("ssh -N -L 8321:127.0.0.1:8321 ann@192.0.2.9")
    assert hints(SSH, "ann", 8321, wanted=None, opened=None, only_local=False) == []
    (copy,) = hints({}, "ann", 8321, wanted=None, opened=False, only_local=True)
    assert "copy the link" in copy


@pytest.mark.server
def test_over_ssh_it_prints_the_tunnel_and_opens_no_browser(tmp_path):
    command = ["-m", "zorank", "studio", "--token", TOKEN, "--port", 0]
    command += ["--store", tmp_path / "runs.db"]
    marked = {**os.environ, **SSH, "DISPLAY": "", "BROWSER": f"touch {tmp_path}/opened"}
    with open(tmp_path / "said", "w") as said:
        studio = fork_server.start(command, env=marked, stderr=said)
    try:
        assert studio.stdout.readline().startswith("Studio at ")
        wait_until(lambda: "ssh -N -L " in (tmp_path / "said").read_text(), "the tunnel")
    finally:
        studio.close()
    assert not (tmp_path / "opened").exists()
