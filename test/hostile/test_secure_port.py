"""Clients of the scheduler's secure port that have no credentials and no manners."""

import socket
import ssl

import pytest
from kit import http2
from kit.http2 import END_HEADERS, END_STREAM, GET, frame, pour
from kit.scheduler import Scheduler, free_port
from kit.up import until


def get(stream):
    return frame(http2.HEADERS, GET, END_HEADERS | END_STREAM, stream)


def many(make):
    """256 frames on new streams, to be sent once."""
    return b"".join(make(stream) for stream in range(1, 512, 2))


FLOODS = {
    "pings": frame(http2.PING, b"8 bytes!"),
    "settings": frame(http2.SETTINGS),
    "settings-with-many": frame(http2.SETTINGS, b"\x00\x04\x00\x00\xff\xff" * 2000),
    "empty-data": frame(http2.DATA, b"", 0, 1),
    "windows": frame(http2.WINDOW, b"\x00\x00\x00\x01"),
    "priorities": frame(http2.PRIORITY, b"\x00\x00\x00\x01\x10", 0, 7),
    "unknown": frame(99, b"x" * 16000),
    "resets": many(lambda s: get(s) + frame(http2.RST, b"\x00\x00\x00\x08", 0, s)),
    "requests": many(get),
    "continuations": frame(http2.HEADERS, GET, 0, 1)
    + frame(http2.CONTINUATION, b"\x00\x01a\x01b" * 3000, 0, 1) * 64,
    "table": frame(
        http2.HEADERS, b"\x40\x01a\x7f\x80\x1f" + b"v" * 4000 + b"\xbe" * 11000, END_HEADERS, 1
    ),
    "larger-than-allowed": frame(http2.DATA, b"x" * 100_000, 0, 1),
    "stream-0": frame(http2.HEADERS, GET, END_HEADERS, 0),
    "even-stream": frame(http2.HEADERS, GET, END_HEADERS, 2),
    "push": frame(http2.PUSH, b"\x00\x00\x00\x02" + GET, END_HEADERS, 1),
    "garbage": bytes(range(256)) * 64,
}


@pytest.fixture(scope="module")
def victim(tmp_path_factory):
    port = free_port()
    folder = tmp_path_factory.mktemp("secure")
    made = Scheduler(
        folder,
        flags=[f"--cert-dir={folder}/certs", "--bind-address=127.0.0.1", f"--secure-port={port}"],
    )
    made.secure_port = port
    until("the secure port", lambda: listens(port), 20)
    yield made
    try:
        assert made.stop() == 0, made.log()
    finally:
        made.kill()


def listens(port):
    try:
        return http2.live(port) == 200
    except OSError:
        return False


@pytest.fixture
def port(victim):
    """Whatever was sent: others are served, pods are bound, memory is as it was."""
    yield victim.secure_port
    assert victim.alive(), victim.log()
    assert http2.live(victim.secure_port) == 200
    victim.canary(10)
    assert victim.peak() < 150


@pytest.mark.parametrize("flood", FLOODS)
def test_floods(port, flood):
    with http2.dial(port) as sock:
        pour(sock, FLOODS[flood], seconds=1)
        # While it is poured: others are served too.
        assert http2.live(port) == 200


@pytest.mark.parametrize("cut", [1, 5, 60, 200])
def test_handshakes_that_are_cut(port, cut):
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    client = ssl._create_unverified_context().wrap_bio(incoming, outgoing)
    with pytest.raises(ssl.SSLWantReadError):
        client.do_handshake()
    hello = outgoing.read()
    socks = [socket.create_connection(("127.0.0.1", port), timeout=5) for _ in range(200)]
    for sock in socks:
        sock.sendall(hello[:cut])
    assert http2.live(port) == 200
    for sock in socks:
        sock.close()


@pytest.mark.parametrize(
    "path",
    [
        "/metrics",
        "//metrics",
        "/livez/../metrics",
        "/livez/%2e%2e/metrics",
        "/livez%2f..%2fmetrics",
        "/metrics/",
        "/METRICS",
        "/configz",
        "/apis/explain/v1/pods",
        "/debug/pprof/",
        "/livez?/../metrics",
        "http://localhost/metrics",
        "/livez;/metrics",
        "/\x00/metrics",
    ],
)
def test_paths_without_credentials(port, path):
    request = f"GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
    got = http2.ask(port, request.encode())
    expected = (200,) if path.startswith("/livez?") else (400, 401, 403, 404)
    assert int(got.split(b" ")[1]) in expected, got
    assert b"scheduler_" not in got and b"profiles" not in got


@pytest.mark.parametrize(
    "head",
    [
        "Content-Length: 5\r\nTransfer-Encoding: chunked",
        "Content-Length: 5\r\nContent-Length: 6",
        "Content-Length: +5",
        "Transfer-Encoding : chunked",
        "Transfer-Encoding: xchunked\r\nContent-Length: 5",
        "Transfer-Encoding: chunked, identity",
        "Host: other",
    ],
)
def test_l7_smuggling(port, head):
    smuggled = b"0\r\n\r\nGET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n"
    request = f"GET /livez HTTP/1.1\r\nHost: localhost\r\n{head}\r\n\r\n"
    got = http2.ask(port, request.encode() + smuggled, timeout=3)
    assert got.count(b"HTTP/1.1 ") <= 1 or head.startswith("Content-Length: 5\r\nT"), got
    assert int(got.split(b" ")[1]) in (400, 501), got
