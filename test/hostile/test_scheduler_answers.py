"""Answers of an API server, or of a proxy in front of it, that no client should rely on. Beside
each: the unit tests that look closer."""

import time

import pytest
from kit.fake import chunk, head, pod
from kit.up import until

GIGA = 1 << 30


def once(of, respond, times=1):
    """An attack on the first answers to what `of` says yes to."""
    left = [times]

    def attack(fake, request):
        if left[0] <= 0 or not of(request):
            return False
        left[0] -= 1
        respond(fake, request)
        return True

    return attack


def listing(plural):
    return lambda r: r.method == "GET" and r.plural == plural and not r.watch


def watching(plural):
    return lambda r: r.method == "GET" and r.plural == plural and r.watch


def endless(data, most, status=200, framed=True):
    """A body that ends only when the connection does, or after `most` bytes."""

    def respond(fake, request):
        request.sock.sendall(head(status))
        piece = chunk(data) if framed else data
        sent = 0
        while sent < most and not fake.closed:
            request.sock.sendall(piece)
            sent += len(piece)
        raise OSError("the end")

    return respond


def raw(data):
    def respond(fake, request):
        request.sock.sendall(data)
        raise OSError("the end")

    return respond


# --- M3: frames


def test_m3_a_frame_that_is_too_large(scheduler):
    def respond(fake, request):
        request.sock.sendall(head())
        time.sleep(1.2)  # after its first second a watch that ends is taken up again, not listed
        for _ in range(20):
            request.sock.sendall(chunk(b"x" * (1 << 20)))

    made = scheduler(once(watching("pods"), respond), canary=20, memory=120)
    until("a new list", lambda: made.api.count("GET", "pods") > 1, 20)
    assert "longer than maximum allowed size" in made.log() and "v1.Pod" in made.log()


@pytest.mark.parametrize(
    "frame",
    [
        b"{",
        b"\x00\xff\xfe",
        b'{"type":"ADDED"}',
        b'{"type":"ADDED","object":null}',
        b'{"type":"ADDED","object":[]}',
        b'{"type":"ERROR","object":null}',
        b'{"type":"NONSENSE","object":{"kind":"Pod","apiVersion":"v1"}}',
        b'{"type":"ADDED","object":{"kind":"Pod","apiVersion":"v1","spec":{"containers":7}}}',
        b'{"type":"ADDED","type":"DELETED","object":{"kind":"Pod","apiVersion":"v1"}}',
        b'{"type":"BOOKMARK","object":{}}',
        b'{"type":"ADDED","object":' + b'{"a":' * 200_000,
        b'{"type":"MODIFIED","object":{"metadata":{"name":"\\ud800","namespace":"\\u0000"}}}',
    ],
    ids=range(12),
)
def test_m3_odd_frames(scheduler, frame):
    made = scheduler(canary=30, memory=120)
    made.canary(20)
    made.api.frames("pods", frame + b"\n")


# --- L2: bodies and pages without an end


def test_l2_an_error_without_an_end(scheduler):
    scheduler(once(listing("nodes"), endless(b"e" * 65536, GIGA, 500)), canary=40, memory=120)


def test_l2_pages_without_an_end(scheduler):
    pages = [0]

    def attack(fake, request):
        if not listing("services")(request) or pages[0] >= 200:
            return False
        pages[0] += 1
        page = {"kind": "ServiceList", "apiVersion": "v1", "items": []}
        page["metadata"] = {"resourceVersion": "1", "continue": f"c{pages[0]}"}
        request.answer(page)
        return True

    made = scheduler(attack, canary=40, memory=120)
    until("the pages", lambda: pages[0] >= 200, 40)
    assert made.alive()


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"null",
        b"[]",
        b"<html>" + b"<b>" * 1000,
        b'{"kind":"PodList","apiVersion":"v1","items":7}',
        b'{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"1"},"items":[',
        b'{"kind":"Status","status":"Success"}',
        b"k8s\x00" + b"\xff" * 5000,
        b"[" * 200_000,
    ],
    ids=range(9),
)
def test_m3_lists_that_are_none(scheduler, body):
    attack = once(listing("pods"), lambda _, r: r.answer(body))
    made = scheduler(attack, canary=40, memory=120)
    until("a second list", lambda: made.api.count("GET", "pods") > 1, 30)


@pytest.mark.parametrize(
    "data",
    [
        b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nshort",
        b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 18446744073709551615\r\n\r\nx",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\nx",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"HTTP/1.1 200 OK\r\nX: " + b"h" * 4_000_000,
        b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 500_000,
        b"HTTP/1.1 100 Continue\r\n\r\n" * 100_000,
        b"HTTP/2 hello\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    ],
    ids=range(11),
)
def test_l7_answers_that_are_no_http(scheduler, data):
    made = scheduler(once(listing("nodes"), raw(data), times=2), canary=40, memory=120)
    until("a list", lambda: made.api.count("GET", "nodes") > 1, 40)


# --- M7: writes that are not answered


def test_m7_bindings_that_hang(scheduler):
    def attack(fake, request):
        if request.path.endswith("/binding") and "hangs-" in request.path:
            time.sleep(60)
            raise OSError("the end")
        return False

    made = scheduler(attack, canary=15, memory=150)
    made.canary(20)
    for i in range(100):
        made.api.put("pods", pod(f"hangs-{i}"))
    until("a binding that hangs", lambda: made.api.count("POST", "binding") > 20, 20)


def test_m7_bindings_whose_answer_is_lost(scheduler):
    def attack(fake, request):
        if not (request.path.endswith("/binding") and "lost-" in request.path):
            return False

        class Nowhere:
            def sendall(self, _):
                raise OSError("the end")

        request.sock = Nowhere()
        try:
            fake.serve(request)
        except OSError:
            namespace, name = request.path.split("/")[4], request.path.split("/")[6]
            item = dict(fake.objects["pods"][namespace, name])
            item["spec"] = item["spec"] | {"nodeName": fake.bound[namespace, name][1]}
            fake.put("pods", item)
            raise
        return True

    made = scheduler(attack, canary=20, memory=150)
    for i in range(50):
        made.api.put("pods", pod(f"lost-{i}"))  # the server refuses to bind a pod twice
    until("all bound", lambda: sum("lost-" in n for _, n in made.api.bound) == 50, 30)


# --- L7: names


def test_l7_names_that_are_dots(scheduler):
    paths = []

    def attack(fake, request):
        paths.append(request.path)
        return False

    made = scheduler(attack, canary=20, memory=120)
    made.canary(20)
    for name in (".", "..", "a/b", "a?b#c", "%2e%2e"):
        made.api.put("pods", pod(name))
    made.canary(20)
    assert not [p for p in paths if "/../" in p or "/./" in p or "/pods/a/b/" in p], paths


def test_l7_names_that_forge_lines(scheduler):
    made = scheduler(canary=20, memory=120, flags=["-v=10"])
    made.canary(20)
    made.api.put("pods", pod("x\nE0101 00:00:00.000000 1 forged.go:1] forged\x1b[31m"))
    made.canary(20)
    log = made.log()
    assert "\nE0101" not in log and "\x1b" not in log


def test_redirects_are_not_followed(scheduler):
    asked = []
    other = scheduler(lambda _, r: asked.append(r.headers.get("Authorization")), canary=0).api
    with other.lock:
        asked.clear()

    def respond(fake, request):
        where = f"http://127.0.0.1:{other.port}/stolen"
        request.sock.sendall(head(302, 0, Location=where))

    scheduler(
        once(listing("nodes"), respond, times=3), canary=40, memory=120, user={"token": "secret"}
    )
    time.sleep(1)
    assert "Bearer secret" not in asked


# --- objects


def test_absurd_nodes_and_pods(scheduler):
    made = scheduler(canary=20, memory=200)
    odd = ["-1", "0", "9223372036854775807", "1e300", "1n", "99999999999999999999Ei", "0.000001"]
    for i, amount in enumerate(odd):
        item = {"metadata": {"name": f"odd-{i}"}, "status": {"allocatable": {"cpu": amount}}}
        made.api.put("nodes", item)
        resources = {"resources": {"requests": {"cpu": amount, "example.com/odd": amount}}}
        made.api.put("pods", pod(f"odd-{i}", containers=[{"name": "c"} | resources]))
    affinity = {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [{}] * 100}}
    made.api.put("pods", pod("terms", affinity=affinity))
    made.api.put("pods", pod("priority", priority=-(2**31)))
    made.api.put("pods", pod("many", containers=[{"name": "c"}] * 10_000))


def test_versions_that_go_back(scheduler):
    made = scheduler(canary=20, memory=200)
    made.canary(20)
    for i in range(500):
        made.api.put("pods", pod(f"p{i % 20}", schedulerName="other"))
        made.api.version -= i % 7
        if i % 50 == 49:
            made.api.remove("pods", f"p{i % 20}", "default")
    made.api.version += 10_000
