"""Order by priority, gates, and preemption with its writes and words."""

import time

import pytest

from harness.peers import preempting, since
from harness.processes import until

HOLD = ["e2e.example.com/hold"]  # a finalizer: what is deleted stays, terminating


def test_higher_priority_goes_first(quiet_world):
    """Five pods are there when the scheduler starts, and room for three: the three highest get it,
    highest first."""
    world = quiet_world
    classes = {v: world.priority_class(v) for v in (10, 20, 30, 40, 50)}
    for value in (30, 10, 50, 20, 40):
        world.pod(
            f"p{value}", cpu="1", priority_class=classes[value], scheduler="ordered-scheduler"
        )
    world.node("a", cpu="3")
    scheduler = world.cluster.scheduler(
        "ordered", profiles=[{"schedulerName": "ordered-scheduler"}]
    )
    world.bound("p50", "p40", "p30")
    for loser in ("p20", "p10"):
        world.unschedulable(
            loser,
            "0/1 nodes are available: 1 Insufficient cpu. no new claims to deallocate, preemption: "
            "0/1 nodes are available: 1 No preemption victims found for incoming pod.",
        )
    # Bindings run side by side, so which pods were bound says more than the order in which they
    # were.
    bindings = [r.path.split("/")[6] for r in world.requests() if r.path.endswith("/binding")]
    assert sorted(bindings) == ["p30", "p40", "p50"]
    scheduler.stop()


def test_gated_pod_waits_in_silence(world):
    node = world.node("a")
    world.pod("gated", gates=["example.com/one", "example.com/two"])
    world.pod("free")
    world.bound("free")
    condition = world.condition("gated")
    assert (condition["status"], condition["reason"]) == ("False", "SchedulingGated")

    def remove(gate):
        world.cluster.core.patch_namespaced_pod(
            "gated",
            world.namespace,
            {"spec": {"schedulingGates": [{"name": gate, "$patch": "delete"}]}},
        )

    remove("example.com/one")
    world.pod("free2")
    world.bound("free2")
    assert not world.get("gated")["spec"].get("nodeName")
    assert not [
        r
        for r in world.requests()
        if "/pods/gated" in r.path or (r.body or {}).get("regarding", {}).get("name") == "gated"
    ]
    remove("example.com/two")
    assert world.bound("gated") == node


def test_preemption(world):
    high = world.priority_class(1000)
    node = world.node("a", cpu="2")
    world.pods(["v1", "v2"], cpu="1", finalizers=HOLD)
    world.bound("v1", "v2")
    preemptor = world.pod("high", cpu="2", priority_class=high)
    assert world.nominated("high") == node
    message = preempting("0/1 nodes are available: 1 Insufficient cpu.", node, 2)
    world.unschedulable("high", message)
    world.event("high", "FailedScheduling", message)
    world.terminating("v1", "v2")
    for victim in ("v1", "v2"):
        condition = world.condition(victim, "DisruptionTarget")
        assert condition["status"] == "True" and condition["reason"] == "PreemptionByScheduler"
        assert (
            condition["message"]
            == "default-scheduler: preempting to accommodate a higher priority pod"
        )
        event = world.event(
            victim, "Preempted", f"Preempted by pod {preemptor['metadata']['uid']} on node {node}"
        )
        assert (event["type"], event["action"]) == ("Normal", "Preempting")
        if since("1.36"):
            assert not event.get("related"), "kube-scheduler does not know the kind of its own pods"
        else:
            assert event["related"]["name"] == "high" and event["related"]["kind"] == "Pod"
    assert not world.get("high")["spec"].get("nodeName")
    for victim in ("v1", "v2"):
        world.drop_finalizers(victim)
    assert world.bound("high") == node
    # Since 1.35 the API server clears it with the binding; kube-scheduler keeps it.
    kept = None if since("1.35") else node
    assert world.get("high")["status"].get("nominatedNodeName") == kept


def test_preemption_takes_the_cheapest_victims(world):
    low, mid, high = (world.priority_class(v) for v in (1, 5, 100))
    world.node("a", cpu="1")
    cheap = world.node("b", cpu="1")
    for name, priority in (("a", mid), ("b", low)):
        world.pod(
            f"on-{name}",
            cpu="1",
            priority_class=priority,
            node_selector={"kubernetes.io/hostname": f"{world.namespace}-{name}"},
        )
    world.bound("on-a", "on-b")
    world.pod("high", cpu="1", priority_class=high)
    assert world.bound("high") == cheap
    world.gone("on-b")
    assert world.exists("on-a")


def test_preemption_respects_disruption_budgets(world):
    high = world.priority_class(100)
    world.node("a", cpu="1")
    unprotected = world.node("b", cpu="1")
    for name in ("a", "b"):
        world.pod(
            f"on-{name}",
            cpu="1",
            labels={"on": name},
            node_selector={"kubernetes.io/hostname": f"{world.namespace}-{name}"},
        )
    world.bound("on-a", "on-b")
    policy = world.cluster.policy
    policy.create_namespaced_pod_disruption_budget(
        world.namespace,
        {
            "metadata": {"name": "keep"},
            "spec": {"minAvailable": 1, "selector": {"matchLabels": {"on": "a"}}},
        },
    )
    policy.patch_namespaced_pod_disruption_budget_status(
        "keep",
        world.namespace,
        {
            "status": {
                "disruptionsAllowed": 0,
                "currentHealthy": 1,
                "desiredHealthy": 1,
                "expectedPods": 1,
                "observedGeneration": 1,
            }
        },
    )
    world.pod("high", cpu="1", priority_class=high)
    assert world.bound("high") == unprotected
    assert world.exists("on-a")


def test_preemption_policy_never(world):
    polite = world.priority_class(100, preemptionPolicy="Never")
    world.node("a", cpu="1")
    world.pod("there", cpu="1")
    world.bound("there")
    world.pod("polite", cpu="1", priority_class=polite)
    world.unschedulable(
        "polite",
        "0/1 nodes are available: 1 Insufficient cpu. no new claims to deallocate, "
        "preemption: not eligible due to preemptionPolicy=Never.",
    )
    world.delete("there")
    world.bound("polite")


@pytest.mark.skipif(not since("1.35"), reason="the nomination is cleared, as below")
def test_lower_nomination_stays_when_all_victims_terminate(world):
    mid, high = world.priority_class(10), world.priority_class(100)
    node = world.node("a", cpu="2")
    world.pods(["one", "two"], cpu="1", finalizers=HOLD)
    world.bound("one", "two")
    world.pod("mid", cpu="2", priority_class=mid)
    assert world.nominated("mid") == node
    world.terminating("one", "two")
    world.pod("high", cpu="2", priority_class=high)
    assert world.nominated("high") == node
    time.sleep(1)
    assert world.nominated("mid") == node
    for victim in ("one", "two"):
        world.drop_finalizers(victim)
    assert world.bound("high") == node


def test_preemption_clears_lower_nomination(world):
    mid, high = world.priority_class(10), world.priority_class(100)
    node = world.node("a", cpu="2")
    world.pods(["one", "two"], cpu="1", finalizers=HOLD)
    world.bound("one", "two")
    world.pod("mid", cpu="1", priority_class=mid)
    assert world.nominated("mid") == node
    # One victim is there yet: since 1.35 nothing is done when all of them terminate already.
    world.pod("high", cpu="2", priority_class=high)
    assert world.nominated("high") == node
    world.terminating("one", "two")
    until("mid's nomination cleared", lambda: "nominatedNodeName" not in world.get("mid")["status"])
    for victim in ("one", "two"):
        world.drop_finalizers(victim)
    assert world.bound("high") == node
    world.unschedulable(
        "mid",
        "0/1 nodes are available: 1 Insufficient cpu. no new claims to deallocate, preemption: "
        "0/1 nodes are available: 1 No preemption victims found for incoming pod.",
    )


def test_preemption_is_not_helpful(world):
    high = world.priority_class(100)
    world.node("a", cpu="1")
    world.pod("there", cpu="500m")
    world.bound("there")
    world.pod("too-big", cpu="2", priority_class=high)
    world.unschedulable(
        "too-big",
        "0/1 nodes are available: 1 Insufficient cpu. no new claims to deallocate, preemption: "
        "0/1 nodes are available: 1 Preemption is not helpful for scheduling.",
    )
    assert not world.get("there")["metadata"].get("deletionTimestamp")
