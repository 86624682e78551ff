"""Answers a scheduler does not hope for: refusals, conflicts, requests to wait, an API server without new events."""

import json
import time

import pytest

from harness import kubeconfig
from harness.answers import AnsweringProxy, answer, status
from harness.peers import MINOR, since
from harness.processes import until
from harness.scheduler import program

NOT_BOUND = 'running Bind plugin "DefaultBinder": '


@pytest.fixture
def answered(quiet_world):
    """Starts a scheduler of the test's own behind a proxy that answers as the test says."""
    world = quiet_world
    world.scheduler_name = world.namespace
    started = []

    def start(decide, flags=()):
        world.proxy = AnsweringProxy(world.cluster, decide)
        conf = world.cluster.write_kubeconfig(
            f"{world.namespace}.conf", kubeconfig.by_token("nobody"), world.proxy.port
        )
        world.scheduler = world.cluster.scheduler(
            world.namespace,
            kubeconfig=conf,
            flags=flags,
            profiles=[{"schedulerName": world.namespace}],
        )
        started.append(world.scheduler)
        return world

    yield start
    running = [s.running() for s in started]
    for scheduler in started:
        scheduler.kill()
    world.proxy.close()
    assert all(running), started[0].log_tail()


def first(count, wanted, made):
    """Answers the first `count` requests that are wanted."""
    left = [count]

    def decide(request):
        if not wanted(request) or not left[0]:
            return None
        left[0] -= 1
        return made() if callable(made) else made

    return decide


def binds(request):
    return request.method == "POST" and request.path.endswith("/binding")


def posts_event(request):
    return request.method == "POST" and request.path.endswith("/events")


REFUSED = [(403, "Forbidden"), (429, "TooManyRequests"), (500, "InternalError")]


@pytest.mark.parametrize("code, reason", REFUSED)
def test_a_binding_that_is_refused(answered, code, reason):
    tries = 4 if code == 500 and since("1.37") else 1
    world = answered(first(tries, binds, status(code, reason, "not now")))
    node = world.node("a")
    world.pod("one")
    world.event("one", "FailedScheduling", NOT_BOUND + "not now")
    assert world.bound("one") == node
    *refused, taken = [r for r in world.proxy.requests("POST") if binds(r)]
    assert len(refused) == tries and refused[-1].time - refused[0].time < 0.5
    assert taken.time - refused[-1].time > 0.9, "an error is followed by the whole backoff"
    (patch,) = world.proxy.requests("PATCH", "/pods/one/status")
    (condition,) = json.loads(patch.body)["status"]["conditions"]
    assert (condition["reason"], condition["status"]) == ("SchedulerError", "False")
    assert condition["message"] == NOT_BOUND + "not now"
    assert not world.proxy.requests("GET", "/pods/one"), "a clear answer is believed"


def test_a_server_that_asks_to_wait_is_asked_again(answered):
    busy = status(429, "TooManyRequests", Retry_After=1)
    world = answered(first(2, binds, busy))
    world.node("a")
    world.pod("one")
    world.bound("one")
    tries = [r for r in world.proxy.requests("POST") if binds(r)]
    assert [r.answered for r in tries] == [429, 429, None]
    assert all(b.time - a.time > 0.95 for a, b in zip(tries, tries[1:]))
    assert len({r.body for r in tries}) == 1
    assert not world.proxy.requests("PATCH", "/pods/one/status"), "nothing has failed"


def test_a_pod_bound_by_somebody_else(answered):
    world = None

    def elsewhere(request):
        if not binds(request) or request.answered:
            return
        core = world.cluster.core
        taken = f"{world.namespace}-a" if b"-b" in request.body else f"{world.namespace}-b"
        core.create_namespaced_binding(
            world.namespace,
            {"metadata": {"name": "one"}, "target": {"kind": "Node", "name": taken}},
            _preload_content=False,
        )

    world = answered(elsewhere)
    world.node("a")
    world.node("b")
    world.pod("one")
    note = (
        NOT_BOUND + 'Operation cannot be fulfilled on pods/binding "one": '
        "pod one is already assigned to node "
    )
    event = world.event("one", "FailedScheduling")
    assert event["note"].startswith(note)
    time.sleep(1.5)
    assert len([r for r in world.proxy.requests("POST") if binds(r)]) == 1, "not tried again"
    assert world.condition("one")["status"] == "False", "as kube-scheduler leaves it"


def test_a_pod_that_is_gone_when_it_is_bound(answered):
    world = None

    def gone(request):
        if binds(request):
            world.delete("one")

    world = answered(gone)
    world.node("a")
    world.pod("one")
    world.event("one", "FailedScheduling", NOT_BOUND + 'pods "one" not found')
    until("the patch", lambda: world.proxy.requests("PATCH", "/pods/one/status"))
    time.sleep(1.5)
    assert len([r for r in world.proxy.requests("POST") if binds(r)]) == 1


def test_a_condition_the_server_cannot_take_is_sent_again(answered):
    patches = lambda r: r.method == "PATCH" and r.path.endswith("/pods/big/status")
    world = answered(first(1, patches, status(500, "InternalError")))
    world.node("a", cpu="1")
    world.pod("big", cpu="3")
    world.unschedulable("big")
    once, again = [r for r in world.proxy.requests() if patches(r)]
    assert once.body == again.body and again.time - once.time < 0.5


@pytest.mark.parametrize("code, reason", [(403, "Forbidden"), (500, "InternalError")])
def test_an_event_that_is_refused_is_dropped(answered, code, reason):
    world = answered(first(1, posts_event, status(code, reason)))
    world.node("a")
    world.pod("one")
    world.bound("one")
    until("the refused event", lambda: [r for r in world.proxy.requests() if r.answered])
    world.pod("two")
    world.event("two", "Scheduled")
    time.sleep(1)
    assert len([r for r in world.proxy.requests() if posts_event(r)]) == 2
    assert not world.events("one")


def test_a_victim_that_cannot_be_marked_at_once(answered):
    marks = lambda r: r.method == "PATCH" and b"DisruptionTarget" in r.body
    world = answered(first(1, marks, status(500, "InternalError")))
    high = world.priority_class(100)
    world.node("a", cpu="1")
    world.pod("victim", cpu="1")
    world.bound("victim")
    world.pod("high", cpu="1", priority_class=high)
    world.bound("high")
    once, again = [r for r in world.proxy.requests() if marks(r)]
    assert once.body == again.body and again.time - once.time < 0.5
    assert not world.exists("victim")


def test_a_victim_that_is_gone_already(answered):
    world = None

    def gone(request):
        if request.method == "DELETE" and request.path.endswith("/pods/victim"):
            world.delete("victim")

    world = answered(gone)
    high = world.priority_class(100)
    world.node("a", cpu="1")
    world.pod("victim", cpu="1")
    world.bound("victim")
    world.pod("high", cpu="1", priority_class=high)
    world.bound("high")
    assert len(world.proxy.requests("DELETE")) == 1


def test_a_server_without_new_events(answered):
    def old(request):
        if request.path == "/apis/events.k8s.io/v1":
            return status(404, "NotFound", "the server could not find the requested resource")

    world = answered(old)
    world.node("a", cpu="1")
    world.pod("big", cpu="3")
    world.unschedulable("big")
    for i in range(2):  # both wake the big one, in vain
        world.pod(f"f{i}", cpu="100m")
        world.bound(f"f{i}")
        world.delete(f"f{i}")
        world.gone(f"f{i}")
    path = f"/api/v1/namespaces/{world.namespace}/events"
    patches = until(
        "a count",
        lambda: [r for r in world.requests() if r.path.startswith(path + "/big.")],
    )
    assert not [r for r in world.requests() if "events.k8s.io" in r.path]
    (created,) = [
        r for r in world.requests() if r.path == path and r.body["involvedObject"]["name"] == "big"
    ]
    assert created.body["reason"] == "FailedScheduling" and created.body["count"] == 1
    assert created.body["source"] == {"component": world.namespace}
    assert patches[0].body["count"] == 2 and set(patches[0].body) <= {
        "count",
        "lastTimestamp",
        "message",
    }


@pytest.mark.skipif(since("1.35"), reason="lists are streamed")
def test_lists_and_watches_that_are_refused(answered):
    """What kube-scheduler's reflectors do, by resource."""
    gone = status(410, "Expired", "too old resource version: injected")
    in_stream = (
        b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n"
        b"Content-Length: %d\r\n\r\n%s"
    )
    error = json.dumps(
        {"type": "ERROR", "object": json.loads(gone.partition(b"\r\n\r\n")[2])}
    ).encode()
    wrong = {
        ("nodes", True): [gone],
        ("pods", False): [status(500, "InternalError")] * 2,
        ("services", False): [status(429, "TooManyRequests", Retry_After=1)],
        ("namespaces", True): [status(500, "InternalError")],
        ("poddisruptionbudgets", True): [status(429, "TooManyRequests", Retry_After=1)],
        ("replicasets", True): [in_stream % (len(error) + 1, error + b"\n")],
        ("csinodes", False): [answer(502, "<html>bad gateway</html>", "text/html")],
    }

    def decide(request):
        left = wrong.get((request.path.rpartition("/")[2], "watch=true" in request.uri))
        return left.pop(0) if left else None

    world = answered(decide)
    node = world.node("a")
    world.pod("one")
    assert world.bound("one") == node

    def asked(resource):
        found = list(world.proxy.requests("GET", "/" + resource))
        return [("watch" if "watch=true" in r.uri else "list", r) for r in found]

    until("all watches", lambda: all(asked(r)[-1][0] == "watch" for r, _ in wrong))
    kinds = {r: [verb for verb, _ in asked(r)] for r, _ in wrong}
    assert kinds == {
        "nodes": ["list", "watch", "list", "watch"],
        "pods": ["list", "list", "list", "watch"],
        "services": ["list", "list", "watch"],
        "namespaces": ["list", "watch", "list", "watch"],
        "poddisruptionbudgets": ["list", "watch", "watch"],
        "replicasets": ["list", "watch", "list", "watch"],
        "csinodes": ["list", "list", "watch"],
    }
    for resource in ("nodes", "namespaces", "replicasets"):
        again = asked(resource)[2][1]
        assert "limit=" not in again.uri and "resourceVersion=0" not in again.uri
        assert again.time - asked(resource)[1][1].time > 0.7, "after a pause"
    for resource, at in (("services", 1), ("poddisruptionbudgets", 2)):
        one, two = asked(resource)[at - 1][1], asked(resource)[at][1]
        assert one.uri == two.uri and two.time - one.time > 0.9, "when the server said so"


def version(minor):
    body = {"major": "1", "minor": str(minor), "gitVersion": f"v1.{minor}.0"}
    return answer(200, json.dumps(body))


berth_only = pytest.mark.skipif(
    program().name == "kube-scheduler", reason="kube-scheduler is of one minor only"
)


@berth_only
def test_another_version_of_the_server_is_taken_up(answered):
    """As after an upgrade; test_upgrade.py does a real one."""
    other = "36" if since("1.37") else "37"
    says = [version(other)]
    world = answered(
        lambda request: says[0] if request.path == "/version" and says else None, ["-v=2"]
    )
    node = world.node("a")
    world.pod("one")
    assert world.bound("one") == node
    assert f'"Starting Kubernetes Scheduler" version="v1.{other}.' in world.scheduler.log()
    world.pod("waits", node_selector={"no": "such"})
    world.unschedulable("waits")
    says.clear()
    line = f'"Kubernetes version changed" from="1.{other}" to="{MINOR}"'
    until(line, lambda: line in world.scheduler.log(), 60)
    world.pod("two")
    assert world.bound("two") == node
    bindings = [r.path for r in world.proxy.requests("POST") if binds(r)]
    assert len(bindings) == len(set(bindings)) == 2


@berth_only
@pytest.mark.parametrize("minor, how, nearest", [(99, "newer", "1.37"), (20, "older", "1.34")])
def test_unknown_version(answered, minor, how, nearest):
    """It counts as the nearest that berth can be."""
    world = answered(lambda request: version(minor) if request.path == "/version" else None)
    node = world.node("a")
    world.pod("one")
    assert world.bound("one") == node
    log = world.scheduler.log()
    assert f"is {how} than any Kubernetes that this berth knows" in log
    assert f'version="v{nearest}.' in log
