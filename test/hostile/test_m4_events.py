"""M4: memory and disk stay flat, however many events there are."""

import json
import os
import time

import pytest
from kit.up import until

EVENTS = "/api/v1/namespaces/default/events"
SECONDS = int(os.environ.get("BERTH_HOSTILE_SECONDS", "600"))


def event(name, size=100):
    return {
        "metadata": {"name": name},
        "involvedObject": {"kind": "Pod", "namespace": "default", "name": "p"},
        "message": "x" * size,
    }


def post(up, bodies):
    """Many requests on one connection."""
    with up.dial() as sock:
        stream = sock.makefile("rb")
        for first in range(0, len(bodies), 50):
            sent = b""
            for body in bodies[first : first + 50]:
                text = json.dumps(body).encode()
                sent += f"POST {EVENTS} HTTP/1.1\r\nHost: localhost\r\n".encode()
                sent += f"Content-Type: application/json\r\nContent-Length: {len(text)}\r\n\r\n".encode()
                sent += text
            sock.sendall(sent)
            for _ in bodies[first : first + 50]:
                status, length = stream.readline(), 0
                assert b" 201 " in status, status
                while (line := stream.readline()) != b"\r\n":
                    if line.lower().startswith(b"content-length: "):
                        length = int(line.split()[1])
                stream.read(length)


def names(up):
    return {e["metadata"]["name"] for e in up.request("GET", EVENTS)[1]["items"]}


def disk(up):
    """MiB of the data directory."""
    return sum(f.stat().st_size for f in up.data.iterdir()) / (1 << 20)


def test_m4_events_expire(start):
    up = start("--event-ttl=3s", "--no-scheduler", canary=0)
    post(up, [event("a"), event("b")])
    assert names(up) == {"a", "b"}
    until("no events", lambda: not names(up), timeout=20)


def test_m4_an_hour_is_the_default(start):
    up = start("--no-scheduler", canary=0)
    post(up, [event("a")])
    time.sleep(3)
    assert names(up) == {"a"}


def test_m4_the_oldest_go_first(start):
    up = start("--max-events=100", "--no-scheduler", canary=0)
    post(up, [event(f"e{i:04}") for i in range(1000)])
    until("the last hundred", lambda: names(up) == {f"e{i:04}" for i in range(900, 1000)})


def test_m4_memory_and_disk_are_flat(start):
    """Twenty megabytes of events, of which one is kept."""
    up = start("--max-events=500", "--data-dir")
    sizes = []
    for turn in range(5):
        post(up, [event(f"e{turn}-{i}", 2000) for i in range(2000)])
        sizes.append((up.rss(), disk(up)))
    memory, space = zip(*sizes)
    assert memory[-1] < memory[1] + 40, sizes
    assert space[-1] < space[1] + 20 and space[-1] < 80, sizes


def test_m4_a_data_directory_that_has_grown_shrinks(start):
    up = start("--data-dir", "--no-scheduler", canary=0)
    post(up, [event(f"e{i}", 9000) for i in range(4000)])
    before = disk(up)
    assert before > 30
    up.flags.append("--max-events=100")
    up.restart()
    until("few events", lambda: len(names(up)) == 100, timeout=60)
    for i in range(40):  # space is given back with later writes
        up.create("configmaps", f"c{i}")
    up.restart()
    assert (up.data / "berth.db").stat().st_size < (before / 2) * (1 << 20)


@pytest.mark.slow
def test_m4_churn(start):
    """Deployments come and go for ten minutes; after the first two nothing grows any more."""
    up = start("--data-dir", nodes=500, memory=1500, canary=30)
    path = "/apis/apps/v1/namespaces/default/deployments"
    labels = {"app": "churn"}
    template = {
        "metadata": {"labels": labels},
        "spec": {"containers": [{"name": "c", "image": "x"}]},
    }
    began, made, samples = time.monotonic(), 0, []
    while time.monotonic() - began < SECONDS:
        spec = {"replicas": 30, "selector": {"matchLabels": labels}, "template": template}
        up.request("POST", path, {"metadata": {"name": f"d{made}"}, "spec": spec})
        if made >= 60:
            up.request("DELETE", f"{path}/d{made - 60}")
        made += 1
        samples.append((time.monotonic() - began, up.rss(), disk(up)))
        time.sleep(0.25)
    settled = [s for s in samples if s[0] > SECONDS / 5]
    quarter = len(settled) // 4
    for which, slack in ((1, 1.15), (2, 1.15)):
        first = max(s[which] for s in settled[:quarter])
        last = max(s[which] for s in settled[-quarter:])
        assert last < first * slack + 10, (which, first, last)
    print(f"\n{made} deployments, {samples[-1][1]:.0f} MiB, {samples[-1][2]:.0f} MiB on disk")
