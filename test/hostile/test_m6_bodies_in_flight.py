"""M6: requests that never become complete."""

import time

import pytest
from kit.up import closed

MAPS = "/api/v1/namespaces/default/configmaps"
HEAD = f"POST {MAPS} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3000000\r\n\r\n".encode()


def healthy(up, within=3.0):
    began = time.monotonic()
    assert up.request("GET", "/healthz", timeout=within) == (200, b"ok")
    return time.monotonic() - began


def test_m6_bodies_together_have_a_bound(start):
    up = start(memory=300)
    held = []
    for _ in range(150):  # 435 MB if they were all kept
        sock = up.dial()
        try:
            sock.sendall(HEAD + b"x" * 2_900_000)
        except OSError:
            pass
        held.append(sock)
    healthy(up)
    assert up.peak() < 300, f"{up.peak():.0f} MiB"
    assert closed(held[0]), "the one that has waited longest was given up"
    for sock in held:
        sock.close()


def test_m6_promised_bodies_are_not_reserved(start):
    up = start()
    held = [up.dial() for _ in range(1000)]
    for sock in held:
        sock.sendall(HEAD)
    healthy(up)
    assert up.peak() < 150, f"{up.peak():.0f} MiB"
    for sock in held:
        sock.close()


def test_m6_bodies_that_never_begin_lock_nobody_out(start):
    up = start()
    held = []
    for _ in range(4200):
        sock = up.dial()
        sock.sendall(HEAD)
        held.append(sock)
    healthy(up)
    up.canary()
    for sock in held:
        sock.close()


def test_m6_a_large_body_still_gets_through(start):
    up = start()
    held = []
    for _ in range(40):
        sock = up.dial()
        try:
            sock.sendall(HEAD + b"x" * 2_900_000)
        except OSError:
            pass
        held.append(sock)
    for i in range(10):
        status, _ = up.create("configmaps", f"large-{i}", data={"x": "y" * 2_000_000})
        assert status == 201
    for sock in held:
        sock.close()


@pytest.mark.parametrize(
    "row",
    {
        b"GET / HTTP/1.1\r\n\r\n": 400,
        b"GET / HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n\r\n": 400,
        b"POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: xchunked\r\nContent-Length: 2\r\n\r\n{}": 501,
        b"POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\nContent-Length: 2\r\n\r\n{}": 400,
    }.items(),
    ids=["no host", "two hosts", "unknown encoding", "length and chunks"],
)
def test_l7_framing(up, row):
    sent, status = row
    assert up.say(sent)[0] == status
