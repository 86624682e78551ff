"""HTTP/2 by hand: frames no library would send."""

import contextlib
import socket
import ssl
import struct
import time

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, PRIORITY, RST, SETTINGS, PUSH, PING, GOAWAY, WINDOW, CONTINUATION = range(10)
END_STREAM, END_HEADERS = 1, 4
# GET /livez, as the static table has it, the rest as literals.
GET = b"\x82\x87\x04\x06/livez\x41\x09localhost"


def frame(kind, payload=b"", flags=0, stream=0):
    return (
        struct.pack(">I", len(payload))[1:]
        + bytes([kind, flags])
        + struct.pack(">I", stream)
        + payload
    )


def dial(port, context=None):
    """A connection over TLS that speaks HTTP/2."""
    context = context or ssl._create_unverified_context()
    context.set_alpn_protocols(["h2"])
    sock = socket.create_connection(("127.0.0.1", port), timeout=10)
    wrapped = context.wrap_socket(sock, server_hostname="localhost")
    assert wrapped.selected_alpn_protocol() == "h2"
    wrapped.sendall(PREFACE + frame(SETTINGS))
    return wrapped


def pour(sock, data, most=16 << 20, seconds=5.0):
    """Sends the same bytes again and again until the other side has had enough. Returns how many
    it took."""
    sent, end = 0, time.monotonic() + seconds
    sock.settimeout(1)
    try:
        while sent < most and time.monotonic() < end:
            sock.sendall(data)
            sent += len(data)
    except (OSError, ssl.SSLError):
        pass
    return sent


@contextlib.contextmanager
def tls(port, timeout=10.0):
    """A connection over TLS that speaks HTTP/1.1."""
    context = ssl._create_unverified_context()
    with (
        socket.create_connection(("127.0.0.1", port), timeout=timeout) as sock,
        context.wrap_socket(sock) as wrapped,
    ):
        yield wrapped


def ask(port, request, timeout=10.0):
    """Sends bytes and returns all that is answered until the connection ends, or the time."""
    got = b""
    with tls(port, timeout) as sock:
        sock.sendall(request)
        with contextlib.suppress(OSError):
            while part := sock.recv(65536):
                got += part
    return got


def live(port, timeout=5.0):
    """GET /livez over a connection of its own, HTTP/1.1: the status."""
    request = b"GET /livez HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
    return int(ask(port, request, timeout).split(b" ")[1])
