"""berth up under clients that ask for too much: they get proper answers, the others are served on."""

import http.client
import json
import resource
import socket
import threading

import pytest

from harness.processes import until
from harness.up import Up, drain

CONNECTIONS = 4096  # the server's limit
BODY = 3 << 20  # bytes


@pytest.fixture(scope="module")
def files():
    """Room for more connections than the server takes, in this process and in those it starts."""
    wanted = CONNECTIONS + 1000
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < wanted:
        pytest.skip(f"this process may have {hard} files")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, wanted), hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.fixture(scope="module")
def up(files, tmp_path_factory):
    up = Up(tmp_path_factory.mktemp("up"), "--no-scheduler", nodes=1)
    yield up
    assert up.stop() == 0, up.output()


def dial(up):
    host, port = up.server.removeprefix("http://").split(":")
    made = socket.create_connection((host, int(port)), timeout=30)
    return made


def answer(sock):
    """Status, headers and body of the next answer on a connection."""
    response = http.client.HTTPResponse(sock)
    response.begin()
    return response.status, dict(response.getheaders()), response.read()


def served(up):
    """A newcomer gets its answer."""
    with dial(up) as sock:
        sock.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
        status, _, body = answer(sock)
        return (status, body) == (200, b"ok")


def closed(sock):
    sock.settimeout(5)
    try:
        return sock.recv(1) == b""
    except ConnectionResetError:
        return True


def open_watch(up, path="/api/v1/namespaces/default/configmaps?watch=1"):
    sock = dial(up)
    sock.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
    assert sock.recv(15) == b"HTTP/1.1 200 OK"
    return sock


def test_idle_connections_make_room(up):
    watch = open_watch(up)
    idle = [dial(up) for _ in range(CONNECTIONS + 50)]
    try:
        assert served(up)
        assert all(closed(sock) for sock in idle[:50]), "those that idled longest"
        idle[-1].sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert answer(idle[-1])[0] == 200, "the latest is still there"
        up.core.create_namespaced_config_map("default", {"metadata": {"name": "news"}})
        watch.settimeout(20)
        said = b""
        while b'"name":"news"' not in said:
            some = watch.recv(1 << 16)
            assert some, "a watch is not idle"
            said += some
    finally:
        for sock in [watch, *idle]:
            sock.close()


def test_busy_connections_are_not_given_up_for_new_ones(up):
    def is_served():
        try:
            return served(up)
        except (OSError, http.client.HTTPException):
            return False

    watches = [open_watch(up) for _ in range(CONNECTIONS - 20)]
    try:
        more = [dial(up) for _ in range(40)]
        for sock in more:
            try:
                sock.sendall(b"GET /api/v1/configmaps?watch=1 HTTP/1.1\r\nHost: localhost\r\n\r\n")
            except OSError:
                pass
        until("no room", lambda: not is_served())
        assert not any(closed_now(sock) for sock in watches[:100])
        for sock in more:
            sock.close()
        until("room again", is_served)
    finally:
        for sock in watches:
            sock.close()
    until("room for all", is_served)


def closed_now(sock):
    """Whether the other side has closed the connection, whatever it has sent before."""
    sock.setblocking(False)
    try:
        while some := sock.recv(1 << 16):
            pass
        return some == b""
    except BlockingIOError:
        return False
    except ConnectionResetError:
        return True


def test_a_large_header_is_refused(up):
    with dial(up) as sock:
        sock.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-Long: ")
        try:
            sock.sendall(b"y" * (2 << 20) + b"\r\n\r\n")
        except (BrokenPipeError, ConnectionResetError):
            pass  # it was refused before all was sent
        status, _, body = answer(sock)
        assert (status, body) == (431, b"431 Request Header Fields Too Large")
        assert closed(sock)
    assert served(up)


@pytest.mark.parametrize("chunked", [False, True])
def test_a_large_body_is_refused(up, chunked):
    path = "/api/v1/namespaces/default/configmaps"
    body = json.dumps({"metadata": {"name": "big"}, "data": {"x": "y" * BODY}}).encode()
    with dial(up) as sock:
        head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        try:
            if chunked:
                sock.sendall(f"{head}Transfer-Encoding: chunked\r\n\r\n".encode())
                sock.sendall(b"%x\r\n%s\r\n0\r\n\r\n" % (len(body), body))
            else:
                sock.sendall(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
        except (BrokenPipeError, ConnectionResetError):
            pass
        status, headers, text = answer(sock)
        said = json.loads(text)
        assert status == said["code"] == 413 and headers["Content-Type"] == "application/json"
        assert (said["kind"], said["reason"]) == ("Status", "RequestEntityTooLarge")
        assert said["message"] == f"Request entity too large: limit is {BODY}"
        assert closed(sock)
    assert served(up)


def test_a_body_of_nearly_the_limit_is_taken(up):
    data = {"x": "y" * 900_000}
    labels = {"metadata": {"name": "nearly"}, "data": data, "pad": "z" * (BODY - 1_000_000)}
    with dial(up) as sock:
        body = json.dumps(labels).encode()
        head = "POST /api/v1/namespaces/default/configmaps HTTP/1.1\r\nHost: localhost\r\n"
        sock.sendall(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
        assert answer(sock)[0] == 201


@pytest.mark.parametrize(
    "nonsense",
    [
        b"nonsense\r\n\r\n",
        b"GET /%zz HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"POST / HTTP/1.1\r\nContent-Length: many\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n",
    ],
)
def test_nonsense_is_refused(up, nonsense):
    with dial(up) as sock:
        sock.sendall(nonsense)
        assert answer(sock)[0] == 400
        assert closed(sock)
    assert served(up)


def test_nested_beyond_reason(up):
    body = b'{"a":' * 100_000 + b"1" + b"}" * 100_000
    with dial(up) as sock:
        head = "POST /api/v1/namespaces/default/configmaps HTTP/1.1\r\nHost: localhost\r\n"
        sock.sendall(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
        status, _, text = answer(sock)
        assert status == 400 and json.loads(text)["kind"] == "Status"
    assert served(up)


def test_requests_that_come_together_are_answered_in_their_order(up):
    count = 300
    path = "/api/v1/namespaces/default/configmaps"
    sent = b""
    for i in range(count):
        body = json.dumps({"metadata": {"name": f"p-{i}"}}).encode()
        sent += f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n\r\n".encode()
        sent += body
        sent += f"GET {path}/p-{i} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()
    with dial(up) as sock:
        threading.Thread(target=sock.sendall, args=(sent,)).start()
        stream = sock.makefile("rb")
        for i in range(count):
            for code in (201, 200):
                status = stream.readline()
                assert status.startswith(f"HTTP/1.1 {code} ".encode()), status
                length = 0
                while (line := stream.readline()) != b"\r\n":
                    if line.startswith(b"Content-Length: "):
                        length = int(line.split()[1])
                assert json.loads(stream.read(length))["metadata"]["name"] == f"p-{i}"


def test_a_slow_watcher_does_not_hold_up_the_others(up):
    slow, brisk = open_watch(up), open_watch(up)
    big = {"metadata": {"name": "often"}, "data": {"x": "y" * 900_000}}
    up.core.create_namespaced_config_map("default", big)
    count = 100
    seen = []

    def read():
        tail = b""
        while f'"i":"{count - 1}"'.encode() not in tail:
            some = brisk.recv(1 << 20)
            if not some:
                return
            tail = tail[-100:] + some
        seen.append(True)

    reader = threading.Thread(target=read)
    reader.start()
    for i in range(count):
        big["data"]["i"] = str(i)
        up.core.replace_namespaced_config_map("often", "default", big)
    reader.join(timeout=60)
    assert seen, "the brisk one has seen the last change"
    assert drain(slow) < count * 900_000, "the slow one was dropped"
    brisk.close()
    assert served(up)
