"""What goes over the wire, seen by the API server's audit log: bodies, queries, names and user
agents."""

import contextlib
import re

import pytest
from kubernetes.client.exceptions import ApiException

from harness.peers import preempting, said, since
from harness.processes import until

BERTH = "system:serviceaccount:kube-system:berth"
PODS = "status.phase!=Succeeded,status.phase!=Failed"
INFORMERS = {
    "pods",
    "nodes",
    "namespaces",
    "services",
    "persistentvolumes",
    "persistentvolumeclaims",
    "replicationcontrollers",
    "replicasets",
    "statefulsets",
    "poddisruptionbudgets",
    "storageclasses",
    "csinodes",
    "csidrivers",
    "csistoragecapacities",
    "volumeattachments",
    "resourceclaims",
    "resourceslices",
    "deviceclasses",
}
if since("1.37"):
    INFORMERS.add("devicetaintrules")
# A leader limits what the API server may do with its writes, by its lease of 90 s and 60 s;
# kube-scheduler does not (docs/quirks.md).
WRITE_QUERIES = ({}, {"timeout": "15s"})
TOO_BIG = said(
    "0/1 nodes are available: 1 Insufficient cpu. no new claims to deallocate, preemption: 0/1 "
    "nodes are "
    "available: 1 Preemption is not helpful for scheduling."
)


def about(requests, pod):
    """Requests about one pod: its subresources and events regarding it."""
    return [
        r
        for r in requests
        if r.path.endswith(f"/pods/{pod}")
        or f"/pods/{pod}/" in r.path
        or (r.body or {}).get("regarding", {}).get("name") == pod
        or f"/events/{pod}." in r.path
    ]


def sent(world, pod, count):
    """Waits until this many requests about a pod are in the log."""
    return until(
        f"{count} requests about {pod}",
        lambda: (lambda found: found if len(found) >= count else None)(
            about(world.requests(), pod)
        ),
    )


def test_binding_and_event(world):
    node = world.node("a")
    created = world.pod("one", labels={"a": "b"}, annotations={"x/y": "z"})
    world.bound("one")
    world.event("one", "Scheduled")
    bind, event = sent(world, "one", 2)
    assert (
        (bind.verb, bind.code) == ("create", 201)
        and bind.path.endswith("/pods/one/binding")
        and bind.query in WRITE_QUERIES
    )
    assert bind.body == {
        "kind": "Binding",
        "apiVersion": "v1",
        "metadata": {
            "name": "one",
            "namespace": world.namespace,
            "uid": created["metadata"]["uid"],
        },
        "target": {"kind": "Node", "name": node},
    }
    assert event.path == f"/apis/events.k8s.io/v1/namespaces/{world.namespace}/events"
    body = dict(event.body)
    metadata, instance, when = (
        body.pop("metadata"),
        body.pop("reportingInstance"),
        body.pop("eventTime"),
    )
    assert re.fullmatch(r"one\.[0-9a-f]{16}", metadata["name"])
    assert set(metadata) == {"name", "namespace"}
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z", when)
    assert instance.startswith("default-scheduler-") and len(instance) > len("default-scheduler-")
    assert body == {
        "kind": "Event",
        "apiVersion": "events.k8s.io/v1",
        "reportingController": "default-scheduler",
        "action": "Binding",
        "reason": "Scheduled",
        "type": "Normal",
        "note": f"Successfully assigned {world.namespace}/one to {node}",
        "regarding": {
            "kind": "Pod",
            "apiVersion": "v1",
            "namespace": world.namespace,
            "name": "one",
            "uid": created["metadata"]["uid"],
            "resourceVersion": created["metadata"]["resourceVersion"],
        },
        "deprecatedSource": {},
        "deprecatedFirstTimestamp": None,
        "deprecatedLastTimestamp": None,
    }


def test_first_patch_is_the_whole_condition(world):
    world.node("a", cpu="1")
    world.pod("big", cpu="3")
    world.unschedulable("big", TOO_BIG)
    (patch,) = [r for r in about(world.requests(), "big") if r.verb == "patch"]
    assert patch.path.endswith("/pods/big/status") and patch.query in WRITE_QUERIES
    assert set(patch.body) == {"status"} and set(patch.body["status"]) == {"conditions"}
    (condition,) = patch.body["status"]["conditions"]
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", condition.pop("lastTransitionTime"))
    assert condition == {
        "lastProbeTime": None,
        "message": TOO_BIG,
        "observedGeneration": 1,
        "reason": "Unschedulable",
        "status": "False",
        "type": "PodScheduled",
    }


def test_second_patch_carries_only_what_changed(world):
    world.node("a", cpu="1")
    world.pod("big", cpu="3")
    world.unschedulable("big", TOO_BIG)
    world.node("b", cpu="4", unschedulable=True)
    world.patch_node(
        f"{world.namespace}-a", {"status": {"allocatable": {"cpu": "2"}, "capacity": {"cpu": "2"}}}
    )
    world.pod("filler", cpu="100m")
    world.bound("filler")
    world.delete("filler")  # an assigned pod goes: the fit hint wakes the big one
    wanted = said(
        "0/2 nodes are available: 1 Insufficient cpu, 1 node(s) were unschedulable. no new "
        "claims to deallocate, "
        "preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling."
    )
    world.unschedulable("big", wanted)
    patches = [
        r
        for r in about(world.requests(), "big")
        if r.verb == "patch" and r.path.endswith("/status")
    ]
    assert patches[-1].body == {
        "status": {
            "$setElementOrder/conditions": [{"type": "PodScheduled"}],
            "conditions": [{"message": wanted, "type": "PodScheduled"}],
        }
    }


def test_unchanged_condition_is_not_patched_and_events_form_a_series(world):
    world.node("a", cpu="1")
    world.pod("big", cpu="3")
    world.unschedulable("big", TOO_BIG)
    sent(world, "big", 2)
    for i in range(4):  # every assigned pod that goes wakes the big one, in vain
        known = len(about(world.requests(), "big"))
        world.pod(f"f{i}", cpu="100m")
        world.bound(f"f{i}")
        world.delete(f"f{i}")
        if i < 2:
            sent(world, "big", known + 1)
    until("f3 gone", lambda: not world.exists("f3"))
    requests = about(world.requests(), "big")
    patches = [r for r in requests if r.verb == "patch" and r.path.endswith("/status")]
    posts = [r for r in requests if r.verb == "create" and "/events" in r.path]
    series = [r for r in requests if r.verb == "patch" and "/events/" in r.path]
    # First failure: posted. Second: posted again, for the status patch gave the pod another
    # version. Then a series.
    assert len(patches) == 1 and len(posts) == 2 and len(series) == 1
    assert (
        posts[0].body["regarding"]["resourceVersion"]
        != posts[1].body["regarding"]["resourceVersion"]
    )
    assert series[0].path.endswith("/" + posts[1].body["metadata"]["name"])
    assert set(series[0].body) == {"series"} and series[0].body["series"]["count"] == 2
    assert re.fullmatch(r".*\.\d{6}Z", series[0].body["series"]["lastObservedTime"])


def test_preemption_writes(world):
    high = world.priority_class(100)
    node = world.node("a", cpu="1")
    victim = world.pod("victim", cpu="1", finalizers=["e2e.example.com/hold"])
    world.bound("victim")
    created = world.pod("high", cpu="1", priority_class=high)
    world.terminating("victim")
    world.event("victim", "Preempted")
    (patch,) = [r for r in about(world.requests(), "high") if r.verb == "patch"]
    assert patch.body["status"]["nominatedNodeName"] == node
    wanted = preempting("0/1 nodes are available: 1 Insufficient cpu.", node)
    assert patch.body["status"]["conditions"][0]["message"] == wanted
    after = [
        r
        for r in about(world.requests(), "victim")
        if not r.path.endswith("/binding") and (r.body or {}).get("reason") != "Scheduled"
    ]
    assert [r.verb for r in after] == ["patch", "delete", "create"]
    condition = after[0].body["status"]["conditions"][0]
    assert after[0].body["status"]["$setElementOrder/conditions"] == [
        {"type": "PodScheduled"},
        {"type": "DisruptionTarget"},
    ]
    assert set(condition) == {
        "lastProbeTime",
        "lastTransitionTime",
        "message",
        "observedGeneration",
        "reason",
        "status",
        "type",
    }
    assert set(after[1].body or {}) <= {"kind", "apiVersion"}, "delete options are empty"
    event = after[2].body
    assert event["regarding"]["uid"] == victim["metadata"]["uid"]
    if since("1.36"):
        assert "related" not in event, "kube-scheduler does not know the kind of its own pods"
        return
    assert event["related"] == {
        "kind": "Pod",
        "apiVersion": "v1",
        "namespace": world.namespace,
        "name": "high",
        "uid": created["metadata"]["uid"],
        "resourceVersion": created["metadata"]["resourceVersion"],
    }


def test_long_event_notes_are_cut(world):
    for i in range(40):
        world.node(f"n{i}", taints=[{"key": "x", "effect": "NoSchedule"}])
    long = [f"e2e.example.com/a-rather-long-name-of-an-extended-resource-{i:02}" for i in range(16)]
    world.node("last")
    world.pod("greedy", extra=dict.fromkeys(long, "1"))
    message = world.unschedulable("greedy")["message"]
    assert len(message) > 1024
    note = world.event("greedy", "FailedScheduling")["note"]
    assert len(note.encode()) == 1024 and note.endswith(" ...") and message.startswith(note[:-4])


@pytest.fixture(scope="module")
def start_up(cluster):
    """Everything a scheduler with default leader election asks in its first seconds."""
    with contextlib.suppress(ApiException):  # of other tests in this cluster
        cluster.coordination.delete_namespaced_lease("kube-scheduler", "default")
    position = cluster.audit.position()
    scheduler = cluster.scheduler(
        "starting",
        leader_elect=True,
        profiles=[{"schedulerName": "starting"}],
        lease_namespace="default",
    )
    mine = lambda: [r for r in cluster.audit.since(position) if r.user == "system:kube-scheduler"]
    until("all watches", lambda: {resource(r) for r in mine() if r.verb == "watch"} >= INFORMERS)
    until(
        "lease renewed",
        lambda: (
            len(
                [
                    r
                    for r in mine()
                    if r.path.endswith("/leases/kube-scheduler")
                    and r.verb == "update"
                    and r.code == 200
                ]
            )
            >= 2
        ),
    )
    assert scheduler.stop() == 0
    return mine()


def resource(request):
    return request.path.split("/")[-1]


@pytest.mark.skipif(since("1.35"), reason="lists are streamed")
def test_lists(start_up):
    lists = {resource(r): r for r in start_up if r.verb == "list" and resource(r) != "configmaps"}
    assert set(lists) == INFORMERS
    for name, r in lists.items():
        wanted = {"limit": "500", "resourceVersion": "0"}
        if name == "pods":
            wanted["fieldSelector"] = PODS
        assert r.query == wanted, name
    assert "/apis/resource.k8s.io/v1/resourceclaims" in {r.path for r in lists.values()}


@pytest.mark.skipif(since("1.35"), reason="watches begin with a list")
def test_watches(start_up):
    watches = {
        resource(r): r for r in start_up if r.verb == "watch" and resource(r) != "configmaps"
    }
    assert set(watches) == INFORMERS
    for name, r in watches.items():
        keys = {"allowWatchBookmarks", "resourceVersion", "timeout", "timeoutSeconds", "watch"}
        assert set(r.query) == keys | ({"fieldSelector"} if name == "pods" else set()), name
        assert r.query["allowWatchBookmarks"] == r.query["watch"] == "true"
        assert r.query["resourceVersion"] != "0"
        seconds = int(r.query["timeoutSeconds"])
        assert 300 <= seconds < 600
        assert r.query["timeout"] == f"{seconds // 60}m{seconds % 60}s"
    assert watches["pods"].query["fieldSelector"] == PODS


def test_user_agents(start_up):
    leases = {r.agent for r in start_up if "/leases" in r.path}
    others = {r.agent for r in start_up if resource(r) in INFORMERS}
    assert len(leases) == len(others) == 1
    assert next(iter(leases)).endswith("/leader-election") and next(iter(others)).endswith(
        "/scheduler"
    )
    assert leases.pop().removesuffix("/leader-election") == others.pop().removesuffix("/scheduler")


def test_lease(start_up):
    leases = [r for r in start_up if "/leases" in r.path]
    assert [(r.verb, r.code) for r in leases[:3]] == [
        ("get", 404),
        ("create", 201),
        ("update", 200),
    ]
    assert all(r.query == {"timeout": "5s"} for r in leases)
    spec = leases[1].body["spec"]
    assert set(spec) == {
        "holderIdentity",
        "leaseDurationSeconds",
        "acquireTime",
        "renewTime",
        "leaseTransitions",
    }
    assert spec["leaseDurationSeconds"] == 15 and spec["leaseTransitions"] == 0
    assert re.fullmatch(r".+_[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}", spec["holderIdentity"])
    # SIGTERM gives the lease back.
    last = leases[-1].body["spec"]
    assert (
        leases[-1].verb == "update"
        and last.get("holderIdentity", "") == ""
        and last["leaseDurationSeconds"] == 1
    )
    elected = [r for r in start_up if r.path == "/api/v1/namespaces/default/events"]
    assert elected[0].body["reason"] == "LeaderElection" and elected[0].body["message"].endswith(
        " became leader"
    )


@pytest.mark.skipif(not since("1.35"), reason="lists are not streamed")
def test_lists_are_the_first_events_of_watches(start_up):
    assert not [r for r in start_up if r.verb == "list" and resource(r) != "configmaps"]
    watches = {
        resource(r): r for r in start_up if r.verb == "watch" and resource(r) != "configmaps"
    }
    assert set(watches) == INFORMERS
    for name, r in watches.items():
        seconds = int(r.query["timeoutSeconds"])
        assert 300 <= seconds < 600
        assert r.query == {
            "allowWatchBookmarks": "true",
            **({"fieldSelector": PODS} if name == "pods" else {}),
            "resourceVersionMatch": "NotOlderThan",
            "sendInitialEvents": "true",
            "timeout": f"{seconds // 60}m{seconds % 60}s",
            "timeoutSeconds": str(seconds),
            "watch": "true",
        }, name


@pytest.mark.skipif(since("1.35"), reason="they are")
def test_lists_can_be_streamed(quiet_world):
    """Asked for, that is: with an etcd that does not tell of its progress (3.4) kube-apiserver ends such watches, and
    lists follow."""
    world, cluster = quiet_world, quiet_world.cluster
    world.scheduler_name = "streaming"
    node = world.node("a")
    position = cluster.audit.position()
    scheduler = cluster.scheduler(
        "streaming",
        flags=["--feature-gates=WatchListClient=true"],
        profiles=[{"schedulerName": "streaming"}],
    )
    world.pod("one")
    assert world.bound("one") == node
    mine = [r for r in cluster.audit.since(position) if r.agent.endswith("/scheduler")]
    scheduler.kill()
    first = {}
    for r in mine:
        if r.verb in ("list", "watch"):
            first.setdefault(resource(r), r)
    assert set(first) == INFORMERS
    for r in first.values():
        assert (
            r.verb == "watch"
            and r.query["sendInitialEvents"] == r.query["allowWatchBookmarks"] == "true"
        )
        assert r.query["resourceVersionMatch"] == "NotOlderThan"
        assert "resourceVersion" not in r.query and "limit" not in r.query


def test_nothing_forbidden(cluster, main_scheduler, world):
    """The rights of deploy/ are enough: no request of the session's scheduler was refused for want of
    rights."""
    world.node("a")
    world.pod("one")
    world.bound("one")
    refused, granted = set(), set()
    for r in cluster.audit.since():
        if r.user == BERTH and r.code:
            what = r.entry.get("objectRef", {})
            right = (r.verb, what.get("apiGroup"), what.get("resource"), what.get("subresource"))
            (refused if r.code == 403 else granted).add(right)
    # An API server that has just been started refuses for a moment what it grants later.
    assert granted and not refused - granted
