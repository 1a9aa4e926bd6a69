"""Odd values that damage a request, for `studio_fuzz.py`."""

from typing import Any

METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"]
METHODS += ["CONNECT", "PROPFIND", "get", "G\x00T", "PRI", "M-SEARCH", "X" * 300, "", "GET GET"]
METHODS += ["\xff", "_", "PURGE"]
PIECES = [b"%2e%2e%2f", b"%2e%2e/", b"../", b"..%2f", b"./", b"//", b"%2f", b"%5c", b"\\", b"%00"]
PIECES += [b"%252e%252e%252f", b"%c0%ae%c0%ae/", b"%ff", b"%", b"%zz", b";a=b", b"%0d%0a", b"%20"]
PIECES += [b"%E2%80%AE", b"%E2%88%95", b"%EF%BC%8F", b"*", b"~", b"%3f", b"%23", b"#", b"\x7f"]
PIECES += [
    b"/static/..",
    b"/static/%2e%2e/",
    b"/openapi.json/../",
    b"\xc3\xa9",
    b"{run_id}",
    b":80",
]
ROOTS = [b"/static/..", b"/static/%2e%2e", b"/openapi.json/..", b"/healthz/..", b"//evil.example"]
ROOTS += [b"/api", b"/.", b"http://evil.example", b"http://127.0.0.1", b"/static//", b"*"]
LOOK_ALIKES = str.maketrans("aeopcxyrun/.-01", "аеорсхуᴦսո∕․‐०１")
NUMBERS = ["-1", "1000001", "1e3", "0x1", "१", "00", "%201", "1_0", "1.0", "NaN", "9" * 400]
NUMBERS += ["true", "null", "+1", "-0", "1%00", "0" * 5000, "1,2", "١"]
TEXTS = ["", "\x00", "\ud800", "\u202e", "оwner", "owner", "a" * 70_000, "é" * 61]
TEXTS += ["<script>alert(1)</script>", "{{7*7}}", "' OR 1=1 --", "../../etc/passwd", "\U0010ffff"]
TEXTS += ["dot:Dot", "os:system", "rank-looks", "%s%n", "ﷺ" * 60, "\u200b", "\n", "ﬃ", " owner "]
VALUES: list[Any] = [None, True, 0, -1, 10**400, 2**63, 1e308, 0.1, [], {}, [[]], "1", {"a": 1}]
VALUES += [[None], [[0, [1]]], list(range(70)), [0, 0], [10**30], [-1], [True], [["0"]], [1.5]]
RAW_VALUES = [
    "NaN",
    "Infinity",
    "-Infinity",
    "1e999",
    "9" * 5000,
    "-",
    "01",
    "1e-999",
    '"\\ud800"',
]
TYPES = [
    b"text/plain",
    b"application/x-www-form-urlencoded",
    b"multipart/form-data",
    b"",
    b"a/b/c",
]
TYPES += [b"application/json; charset=utf-16", b"APPLICATION/JSON", b"application/xml", b"\xff"]
TYPES += [b"application/vnd.api+json", b"multipart/form-data; boundary=" + b"x" * 100]
HOSTS = [
    b"",
    b"evil.example",
    b"[",
    b"[::1",
    b"127.0.0.1.evil.example",
    b"\xff",
    b"a" * 5000,
    b"*",
]
HOSTS += [b"evil.example@127.0.0.1", b"127.0.0.1@evil.example", b"0", b"localhost.", b"127.1"]
PORTS = [
    b"127.0.0.1:abc",
    b"127.0.0.1:99999",
    b"127.0.0.1:",
    b"LOCALHOST",
    b"[::1]:1",
    b"127.0.0.1:1",
]
ORIGINS = [b"http://evil.example", b"null", b"http://[", b"\xff", b"http://127.0.0.1", b"file://"]
LENGTHS = [
    b"999999999999999999",
    b"262145",
    b"-1",
    b"+5",
    b"0x10",
    b"5 5",
    b"1e3",
    b"",
    b"9" * 5000,
]
LENGTHS += [b"\xff", b"0", b"1", b"00000000005", b"2147483648", b"18446744073709551616", b"5, 5"]
CHUNKS = [
    b"zz\r\n",
    b"-1\r\n{}\r\n",
    b"fffffffffffffffff\r\n{}",
    b"5;" + b"x" * 9000,
    b"2\r\n{}",
    b"\r\n",
]
CHUNKS += [
    b"0\r\nX: y\r\n\r\n",
    b"0\r\n" + b"T: v\r\n" * 400 + b"\r\n",
    b"ffffff\r\n" + b" " * 999,
]
VERSIONS = [b"HTTP/1.0", b"HTTP/2.0", b"HTTP/0.9", b"", b"HTTP/1.1 x", b"http/1.1", b"HTTP/9" * 99]
