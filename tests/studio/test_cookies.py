"""Session cookies: what they grant, and when they stop."""

import pytest

from zorank.studio.access import Access
from zorank.studio.cookies import LIFETIME, SessionCookies

TOKEN = "owner-token-of-the-tests"
OWNER = Access("owner")
RATER = Access("rater", "run-1", grant="digest-1")
VIEWER = Access("viewer", "run-1", "Ann", "a1", "member a1")


class Clock:
    def __init__(self, now=1_000_000):
        self.now = now

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


SHARED = Access("rater", "日本", grant="digest-2")


class Links(dict):
    """The links that exist, by run and member."""

    def find(self, run, member):
        return self.get((run, member))


@pytest.fixture
def links():
    return Links({("run-1", ""): RATER, ("run-1", "a1"): VIEWER, ("日本", ""): SHARED})


@pytest.fixture
def cookies(clock, links):
    return SessionCookies(TOKEN, links.find, clock)


def test_an_owners_cookie_grants_what_the_token_does(cookies):
    value = cookies.issue(OWNER, "port 8321")
    assert cookies.owner(value, "port 8321") == OWNER
    assert cookies.rater(value, "port 8321") is None
    assert TOKEN not in value


@pytest.mark.parametrize("access", [RATER, VIEWER, SHARED])
def test_a_raters_cookie_grants_one_run(cookies, access):
    value = cookies.issue(access, "port 8321")
    found = cookies.rater(value, "port 8321")
    assert (found, found.grant) == (access, access.grant)
    assert cookies.owner(value, "port 8321") is None
    assert value.isascii()
    assert access.grant not in value


def test_a_cookie_works_after_a_restart_and_in_other_processes(cookies, links, clock):
    another = SessionCookies(TOKEN, links.find, clock)
    assert another.owner(cookies.issue(OWNER, "here"), "here") == OWNER
    assert another.rater(cookies.issue(RATER, "here"), "here") == RATER


def test_a_cookie_is_valid_at_its_server_only(cookies, links, clock):
    owner, rater = cookies.issue(OWNER, "port 8321"), cookies.issue(RATER, "port 8321")
    assert cookies.owner(owner, "port 8322") is None
    assert cookies.rater(rater, "port 8322") is None
    other = SessionCookies("another-token-of-the-tests", links.find, clock)
    assert other.owner(owner, "port 8321") is None
    assert other.rater(rater, "port 8321") is None


def test_a_cookie_expires(cookies, clock):
    owner, rater = cookies.issue(OWNER, "here"), cookies.issue(RATER, "here")
    clock.now += LIFETIME
    assert cookies.owner(owner, "here") == OWNER
    clock.now += 1
    assert cookies.owner(owner, "here") is None
    assert cookies.rater(rater, "here") is None


@pytest.mark.parametrize("now", [None, Access("rater", "run-1", grant="digest-of-a-later-link")])
def test_a_raters_cookie_ends_with_the_shared_link(cookies, links, now):
    value = cookies.issue(RATER, "here")
    links["run-1", ""] = now
    assert cookies.rater(value, "here") is None


def test_a_persons_cookie_ends_with_their_link(cookies, links):
    value = cookies.issue(VIEWER, "here")
    links["run-1", ""] = None  # the shared link is another
    assert cookies.rater(value, "here") == VIEWER
    del links["run-1", "a1"]
    assert cookies.rater(value, "here") is None


def test_a_changed_cookie_is_rejected(cookies):
    value = cookies.issue(RATER, "here")
    text, _, signature = value.partition(".")
    longer = SessionCookies(TOKEN, lambda run, member: None, Clock(9_000_000)).issue(RATER, "here")
    forged = [
        f"{longer.partition('.')[0]}.{signature}",  # a later expiry
        f"{text}.{'0' * 64}",
        f"{text}.",
        text,
        signature,
        "",
        ".",
        "ÿ.ÿ",
        TOKEN,
        f"run-1.{TOKEN}",
        "A" * 5000,
    ]
    for one in forged:
        assert cookies.owner(one, "here") is None
        assert cookies.rater(one, "here") is None
