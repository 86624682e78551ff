"""Extenders: what they are asked, and what becomes of their answers."""

import pytest

from harness.extender import Extender
from harness.scheduler import program

pytestmark = pytest.mark.skipif(
    program().name != "kube-scheduler", reason="berth refuses configurations with extenders so far"
)


@pytest.fixture
def extended(quiet_world):
    """Starts schedulers of their own name with extenders."""
    world = quiet_world
    world.scheduler_name = world.namespace
    ended = []

    def begin(extender, **options):
        scheduler = world.cluster.scheduler(
            world.namespace,
            profiles=[{"schedulerName": world.namespace}],
            extenders=[extender.config(**options)],
        )
        ended.extend([scheduler.kill, extender.close])
        return world

    yield begin
    for end in ended:
        end()


def names(nodes):
    return [n["metadata"]["name"] for n in nodes["items"]]


def test_filter_and_prioritize(extended, quiet_world):
    def filtered(body):
        keep = [n for n in body["Nodes"]["items"] if not n["metadata"]["name"].endswith("-a")]
        return {"Nodes": {"metadata": {}, "items": keep}, "FailedNodes": {}, "Error": ""}

    extender = Extender(
        filter=filtered,
        prioritize=lambda body: [
            {"Host": n, "Score": 10 if n.endswith("-c") else 0} for n in names(body["Nodes"])
        ],
    )
    for n in "abc":
        quiet_world.node(n)
    world = extended(extender, weight=100)
    world.pod("one")
    assert world.bound("one") == f"{world.namespace}-c"
    (verb, body, headers), (verb2, body2, _) = extender.calls
    assert (verb, verb2) == ("filter", "prioritize")
    assert set(body) == {"Pod", "Nodes", "NodeNames"} and body["NodeNames"] is None
    assert sorted(names(body["Nodes"])) == [f"{world.namespace}-{n}" for n in "abc"]
    assert sorted(names(body2["Nodes"])) == [f"{world.namespace}-{n}" for n in "bc"]
    assert body["Pod"]["metadata"]["name"] == "one" and body["Pod"]["spec"]["containers"]
    assert "kind" not in body["Pod"] and headers["Content-Type"] == "application/json"


def test_node_names_when_the_extender_has_a_cache(extended, quiet_world):
    extender = Extender(
        filter=lambda body: {
            "NodeNames": [n for n in body["NodeNames"] if n.endswith("-b")],
            "FailedNodes": {},
            "Error": "",
        }
    )
    for n in "ab":
        quiet_world.node(n)
    world = extended(extender, nodeCacheCapable=True)
    world.pod("one")
    assert world.bound("one") == f"{world.namespace}-b"
    _, body, _ = extender.calls[0]
    assert body["Nodes"] is None and sorted(body["NodeNames"]) == [
        f"{world.namespace}-{n}" for n in "ab"
    ]


def test_refusals_are_reasons(extended, quiet_world):
    extender = Extender(
        filter=lambda body: {
            "NodeNames": [],
            "Error": "",
            "FailedNodes": {
                n: "reason B" if n.endswith("-c") else "reason A" for n in body["NodeNames"]
            },
        }
    )
    for n in "abc":
        quiet_world.node(n)
    world = extended(extender, nodeCacheCapable=True)
    world.pod("one")
    world.unschedulable(
        "one",
        "0/3 nodes are available: 1 reason B, 2 reason A. no new claims to deallocate, preemption: "
        "0/3 nodes are available: 3 No preemption victims found for incoming pod.",
    )


def test_errors(extended, quiet_world):
    answers = {"broken": (500, "{}"), "exploded": {"Error": "extender exploded"}}
    extender = Extender(
        filter=lambda body: answers.get(
            body["Pod"]["metadata"]["name"], {"NodeNames": body["NodeNames"]}
        )
    )
    node = quiet_world.node("a")
    world = extended(extender, nodeCacheCapable=True)
    world.pods(["broken", "exploded", "fine"])
    world.unschedulable(
        "broken",
        f"failed filter with extender at URL {extender.url}/filter, code 500",
        "SchedulerError",
    )
    world.unschedulable("exploded", "extender exploded", "SchedulerError")
    assert world.bound("fine") == node


def test_ignorable_extender_may_be_down(extended, quiet_world):
    node = quiet_world.node("a")
    world = extended(Extender(filter=lambda body: (500, "{}")), ignorable=True)
    world.pod("one")
    assert world.bound("one") == node


def test_bind(extended, quiet_world):
    def bind(body):
        quiet_world.cluster.core.create_namespaced_pod_binding(
            body["PodName"],
            body["PodNamespace"],
            {
                "metadata": {"name": body["PodName"], "uid": body["PodUID"]},
                "target": {"kind": "Node", "name": body["Node"]},
            },
            _preload_content=False,
        )
        return {"Error": ""}

    extender = Extender(bind=bind)
    node = quiet_world.node("a")
    world = extended(extender)
    pod = world.pod("one")
    assert world.bound("one") == node
    ((verb, body, _),) = extender.calls
    assert verb == "bind" and body == {
        "PodName": "one",
        "PodNamespace": world.namespace,
        "PodUID": pod["metadata"]["uid"],
        "Node": node,
    }
    world.event("one", "Scheduled")
    assert not [r for r in world.requests() if r.path.endswith("/binding")]


def test_managed_resources(extended, quiet_world):
    """Only pods that ask for a managed resource are shown; who ignores it in the fit leaves
    counting to the extender."""
    extender = Extender(filter=lambda body: {"NodeNames": body["NodeNames"]})
    node = quiet_world.node("a")
    world = extended(
        extender,
        nodeCacheCapable=True,
        managedResources=[{"name": "example.com/lamp", "ignoredByScheduler": True}],
    )
    world.pod("plain")
    assert world.bound("plain") == node and not extender.calls
    world.pod("lamp", extra={"example.com/lamp": "3"})
    assert world.bound("lamp") == node and len(extender.calls) == 1
