"""Placement by one constraint at a time, with the exact words of conditions and events."""

from collections import Counter

from harness import objects
from harness.objects import node_affinity, node_names, pod_affinity, spread, taint
from harness.processes import until

NOT_HELPFUL = (
    "no new claims to deallocate, preemption: 0/{n} nodes are available: {n} Preemption is not "
    "helpful for scheduling."
)
NO_VICTIMS = (
    "no new claims to deallocate, preemption: 0/{n} nodes are available: {n} No preemption victims "
    "found for incoming pod."
)


def failure(n, reasons, tail=NOT_HELPFUL):
    return f"0/{n} nodes are available: {reasons}. " + tail.format(n=n)


def test_pod_binds(world):
    node = world.node("a")
    world.pod("one", cpu="100m")
    assert world.bound("one") == node
    condition = until("PodScheduled", lambda: world.condition("one"))
    assert condition["status"] == "True" and "message" not in condition
    event = world.event(
        "one", "Scheduled", f"Successfully assigned {world.namespace}/one to {node}"
    )
    assert event["type"] == "Normal" and event["action"] == "Binding"
    assert event["reportingController"] == "default-scheduler"


def test_pods_of_a_replica_set_are_spread(world):
    nodes = [world.node(n) for n in "abc"]
    body = {
        "metadata": {"name": "web"},
        "spec": {
            "replicas": 6,
            "selector": {"matchLabels": {"app": "web"}},
            "template": {"metadata": {"labels": {"app": "web"}}, "spec": objects.pod("x")["spec"]},
        },
    }
    rs = world.cluster.apps.create_namespaced_replica_set(world.namespace, body)
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web", "uid": rs.metadata.uid}
    names = [f"web-{i}" for i in range(6)]
    world.pods(names, labels={"app": "web"}, owner=owner, cpu="100m")
    assert Counter(world.bound(*names)) == dict.fromkeys(nodes, 2)


def test_insufficient_resources_then_a_node_is_added(world):
    world.node("a", cpu="1")
    world.node("b", cpu="2", memory="256Mi")
    world.pod("big", cpu="3")
    world.pod("both", cpu="1500m", memory="512Mi")
    world.pod("gpu", extra={"example.com/gpu": "1"})
    expected = {
        "big": "2 Insufficient cpu",
        "both": "1 Insufficient cpu, 1 Insufficient memory",
        "gpu": "2 Insufficient example.com/gpu",
    }
    for name, reasons in expected.items():
        condition = world.unschedulable(name, failure(2, reasons))
        assert condition["observedGeneration"] == 1
        event = world.event(name, "FailedScheduling", failure(2, reasons))
        assert event["type"] == "Warning" and event["action"] == "Scheduling"
    added = world.node("c", cpu="8")
    assert world.bound("big", "both") == [added, added]
    # The new node has none either, so the queue does not wake the pod: its words still speak of two
    # nodes.
    world.unschedulable("gpu", failure(2, "2 Insufficient example.com/gpu"))


def test_too_many_pods(world):
    node = world.node("a", pods="2")
    world.pods(["one", "two"])
    assert world.bound("one", "two") == [node, node]
    world.pod("three")
    world.unschedulable("three", failure(1, "1 Too many pods", NO_VICTIMS))
    world.delete("one")
    assert world.bound("three") == node


def test_no_nodes(world):
    until("no nodes", lambda: not world.cluster.core.list_node().items)
    world.pod("alone")
    world.unschedulable("alone", "no nodes available to schedule pods")
    world.event("alone", "FailedScheduling", "no nodes available to schedule pods")
    node = world.node("a")
    assert world.bound("alone") == node


def test_foreign_and_preset_pods_are_left_alone(world):
    world.node("a")
    world.pod("foreign", scheduler="somebody-else")
    world.pod("preset", node_name="elsewhere")
    world.pod("ours")
    world.bound("ours")
    assert "nodeName" not in world.get("foreign")["spec"] and not world.condition("foreign")
    about = {r.path.split("/")[6] for r in world.requests() if "/pods/" in r.path}
    assert about == {"ours"}


def test_node_affinity(world):
    ssd = world.node("ssd", labels={"disk": "ssd", "size": "8"})
    hdd = world.node("hdd", labels={"disk": "hdd", "size": "2"})
    world.pod("selector", node_selector={"disk": "hdd"})
    world.pod("in", affinity=node_affinity("disk", "In", ["ssd"]))
    world.pod("gt", affinity=node_affinity("size", "Gt", ["4"]))
    world.pod("not-in", affinity=node_affinity("disk", "NotIn", ["ssd"]))
    world.pod("by-name", affinity=node_names(hdd))
    world.pod("preferred", affinity=node_affinity("disk", "In", ["ssd"], preferred_weight=100))
    assert world.bound("selector", "in", "gt", "not-in", "by-name", "preferred") == [
        hdd,
        ssd,
        ssd,
        hdd,
        hdd,
        ssd,
    ]


def test_node_affinity_words(world):
    node = world.node("a")
    world.node("b")
    mismatch = "2 node(s) didn't match Pod's node affinity/selector"
    world.pod("selector", node_selector={"disk": "ssd"})
    world.unschedulable("selector", failure(2, mismatch))
    world.pod("affinity", affinity=node_affinity("disk", "Exists"))
    world.unschedulable("affinity", failure(2, mismatch))
    world.pod("by-name", affinity=node_names("nowhere"))
    world.unschedulable("by-name", failure(2, "2 node(s) didn't satisfy plugin(s) [NodeAffinity]"))
    world.patch_node(node, {"metadata": {"labels": {"disk": "ssd"}}})
    assert world.bound("selector", "affinity") == [node, node]


def test_pod_affinity(world):
    for name, zone in (("a", "z1"), ("b", "z2")):
        world.node(name, labels={"topology.kubernetes.io/zone": zone})
    world.pod("follower", affinity=pod_affinity({"app": "leader"}, "topology.kubernetes.io/zone"))
    world.unschedulable("follower", failure(2, "2 node(s) didn't match pod affinity rules"))
    world.pod(
        "leader", labels={"app": "leader"}, node_selector={"topology.kubernetes.io/zone": "z2"}
    )
    leader, follower = world.bound("leader", "follower")
    assert leader == follower == f"{world.namespace}-b"


def test_pod_anti_affinity(world):
    nodes = {world.node("a"), world.node("b")}
    apart = dict(labels={"app": "solo"}, affinity=pod_affinity({"app": "solo"}, anti=True))
    world.pods(["s1", "s2"], **apart)
    assert set(world.bound("s1", "s2")) == nodes
    world.pod("s3", **apart)
    world.unschedulable(
        "s3", failure(2, "2 node(s) didn't match pod anti-affinity rules", NO_VICTIMS)
    )
    world.pod("plain", labels={"app": "solo"})
    world.unschedulable(
        "plain",
        failure(2, "2 node(s) didn't satisfy existing pods anti-affinity rules", NO_VICTIMS),
    )
    node = world.get("s1")["spec"]["nodeName"]
    world.delete("plain")
    world.delete("s1")
    assert world.bound("s3") == node


def test_topology_spread(world):
    zone = "topology.kubernetes.io/zone"
    full = world.node("a", labels={zone: "z1"}, cpu="1")
    world.node("b", labels={zone: "z2"})
    world.node("outside")
    names = [f"p{i}" for i in range(4)]
    for name in names:
        world.pod(name, cpu="300m", labels={"app": "s"}, spread=[spread({"app": "s"})])
        world.bound(name)
    assert sorted(Counter(world.bound(*names)).values()) == [2, 2]
    # Zone z1 takes a third pod and is then full; z2 may have one more than z1, which makes four.
    world.pod(
        "p4",
        cpu="300m",
        labels={"app": "s"},
        spread=[spread({"app": "s"})],
        node_selector={zone: "z1"},
    )
    assert world.bound("p4") == full
    world.pods(["p5", "p6"], cpu="300m", labels={"app": "s"}, spread=[spread({"app": "s"})])
    assert world.bound("p5", "p6") == [f"{world.namespace}-b"] * 2
    world.pod("p7", cpu="300m", labels={"app": "s"}, spread=[spread({"app": "s"})])
    world.unschedulable(
        "p7",
        "0/3 nodes are available: 1 Insufficient cpu, 1 node(s) didn't match pod topology spread "
        "constraints, 1 node(s) "
        "didn't match pod topology spread constraints (missing required label). no new claims to "
        "deallocate, preemption: "
        "0/3 nodes are available: 1 Preemption is not helpful for scheduling, 2 No preemption "
        "victims found for incoming "
        "pod.",
    )


def test_topology_spread_words(world):
    zone = "topology.kubernetes.io/zone"
    world.node("a", labels={zone: "z1"})
    world.node("b", labels={zone: "z2"}, unschedulable=True)
    world.node("c")
    constraint = [spread({"app": "s"})]
    world.pod("first", labels={"app": "s"}, spread=constraint)
    assert world.bound("first") == f"{world.namespace}-a"
    world.pod("second", labels={"app": "s"}, spread=constraint)
    world.unschedulable(
        "second",
        "0/3 nodes are available: 1 node(s) didn't match pod topology spread constraints, 1 "
        "node(s) didn't match pod "
        "topology spread constraints (missing required label), 1 node(s) were unschedulable. no "
        "new claims to "
        "deallocate, preemption: 0/3 nodes are available: 1 No preemption victims found for "
        "incoming pod, 2 Preemption "
        "is not helpful for scheduling.",
    )


def test_taints(world):
    tainted = world.node("a", taints=[taint("dedicated", "db")])
    world.node("b", taints=[taint("gone", effect="NoExecute")])
    world.pod("plain")
    world.unschedulable("plain", failure(2, "2 node(s) had untolerated taint(s)"))
    world.pod(
        "equal",
        tolerations=[
            {"key": "dedicated", "operator": "Equal", "value": "db", "effect": "NoSchedule"}
        ],
    )
    assert world.bound("equal") == tainted
    world.pod("exists", tolerations=[{"key": "gone", "operator": "Exists"}])
    assert world.bound("exists") == f"{world.namespace}-b"
    world.patch_node(tainted, {"spec": {"taints": None}})
    assert world.bound("plain") == tainted


def test_preferred_taint_is_avoided(world):
    world.node("a", taints=[taint("slow", effect="PreferNoSchedule")])
    clean = world.node("b")
    world.pods(["p1", "p2", "p3"])
    assert world.bound("p1", "p2", "p3") == [clean] * 3


def test_host_ports(world):
    world.node("a")
    world.pod("one", ports=[8080])
    world.bound("one")
    world.pod("two", ports=[8080])
    world.unschedulable(
        "two",
        failure(1, "1 node(s) didn't have free ports for the requested pod ports", NO_VICTIMS),
    )
    other = world.node("b")
    assert world.bound("two") == other


def test_node_drain(world):
    first = world.node("a")
    world.pods(["p1", "p2"])
    world.bound("p1", "p2")
    world.patch_node(first, {"spec": {"unschedulable": True}})
    world.pod("late")
    world.unschedulable("late", failure(1, "1 node(s) were unschedulable"))
    second = world.node("b")
    assert world.bound("late") == second
    for name in ("p1", "p2"):  # what a drain does: evict; a controller would make these again
        world.delete(name)
    world.pods(["p1-again", "p2-again"])
    assert world.bound("p1-again", "p2-again") == [second, second]
    world.patch_node(second, {"spec": {"unschedulable": True}})
    world.patch_node(first, {"spec": {"unschedulable": None}})
    world.pod("back")
    assert world.bound("back") == first


def test_node_removed_then_pod_waits(world):
    node = world.node("a")
    world.pod("one")
    world.bound("one")
    world.cluster.core.delete_node(node)
    world.pod("two")
    world.unschedulable("two", "no nodes available to schedule pods")


def test_many_reasons_in_one_message(world):
    world.node("a", cpu="1")
    world.node("b", taints=[taint("x")])
    world.node("c", unschedulable=True)
    world.node("d", labels={"kind": "other"})
    world.pod("picky", cpu="2", affinity=node_affinity("kind", "DoesNotExist"))
    world.unschedulable(
        "picky",
        failure(
            4,
            "1 Insufficient cpu, 1 node(s) didn't match Pod's node affinity/selector, 1 node(s) "
            "had "
            "untolerated taint(s), 1 node(s) were unschedulable",
        ),
    )


def test_pending_pod_is_changed(world):
    world.node("a", taints=[taint("x")])
    world.pod("patient")
    world.unschedulable("patient", failure(1, "1 node(s) had untolerated taint(s)"))
    pod = world.get("patient")
    pod["spec"].setdefault("tolerations", []).append({"key": "x", "operator": "Exists"})
    world.cluster.core.patch_namespaced_pod(
        "patient", world.namespace, {"spec": {"tolerations": pod["spec"]["tolerations"]}}
    )
    assert world.bound("patient") == f"{world.namespace}-a"


def test_pending_pod_is_deleted(world):
    world.node("a", cpu="1")
    world.pod("big", cpu="3")
    world.unschedulable("big")
    world.delete("big")
    world.gone("big")
    node = world.node("b", cpu="3500m")
    world.pod("heir", cpu="3")  # has the room the deleted pod would have taken
    assert world.bound("heir") == node
