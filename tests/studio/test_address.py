"""The public URL: what is accepted, and what a wrong one is told."""

import pytest

from zorank.errors import InvalidInput
from zorank.studio.address import PublicURL, split_host


@pytest.mark.parametrize(
    ("text", "parts", "origin"),
    [
        (
            "https://example.org/rank",
            ("https", "example.org", 443, "/rank"),
            "https://example.org",
        ),
        (
            "https://Example.org/rank/",
            ("https", "example.org", 443, "/rank"),
            "https://example.org",
        ),
        ("http://example.org", ("http", "example.org", 80, ""), "http://example.org"),
        ("https://example.org/", ("https", "example.org", 443, ""), "https://example.org"),
        ("https://h:443/a/b_c", ("https", "h", 443, "/a/b_c"), "https://h"),
        ("https://h:8443/~me", ("https", "h", 8443, "/~me"), "https://h:8443"),
        ("http://[::1]:80/x", ("http", "[::1]", 80, "/x"), "http://[::1]"),
    ],
)
def test_an_address_has_an_origin_and_a_prefix(text, parts, origin):
    found = PublicURL.parse(text)
    assert (found.scheme, found.host, found.port, found.prefix) == parts
    assert found.origin == origin
    assert str(found) == origin + parts[3]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("example.org/rank", "does not begin with http"),
        ("ftp://example.org", "does not begin with http"),
        ("https:///rank", "names no host"),
        ("https://example.org:seven/", "is not a URL"),
        ("https://example.org:99999/", "is not a URL"),
        ("https://[::1/", "is not a URL"),
        ("https://münchen.example", "ASCII"),
        ("https://a b.example", "ASCII"),
        ("https://me:secret@example.org", "more than a host and a path"),
        ("https://example.org/rank?token=1", "more than a host and a path"),
        ("https://example.org/rank#top", "more than a host and a path"),
        ("https://example.org//rank", "has the path"),
        ("https://example.org/../rank", "has the path"),
        ("https://example.org/a%20b", "has the path"),
        ("https://example.org/a;b", "has the path"),
        ('https://example.org/a"b', "has the path"),
        ("https://example.org/api", "begins with /api"),
        ("https://example.org/runs/mine", "begins with /runs"),
        ("https://example.org/static/", "begins with /static"),
        ("", "does not begin with http"),
    ],
)
def test_a_wrong_address_is_refused_with_an_example(text, said):
    with pytest.raises(InvalidInput, match=said) as refused:
        PublicURL.parse(text)
    assert "https://example.org/rank" in str(refused.value)


@pytest.mark.parametrize(
    ("header", "found"),
    [
        ("Example.org", ("example.org", None)),
        ("example.org:8321", ("example.org", 8321)),
        ("[::1]", ("[::1]", None)),
        ("[::1]:8321", ("[::1]", 8321)),
        ("example.org:abc", ("example.org", None)),
        ("example.org:²", ("example.org", None)),
        ("", ("", None)),
    ],
)
def test_a_host_header_has_a_name_and_maybe_a_port(header, found):
    assert split_host(header) == found


def test_port_0_is_refused():
    with pytest.raises(InvalidInput, match="has the port 0"):
        PublicURL.parse("https://example.org:0/rank")
