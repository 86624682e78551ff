"""Several profiles in one process (conftest.PACKED, NO_SPREAD)."""

from harness.objects import taint
from harness.processes import until


def test_each_profile_scores_its_own_way(world):
    nodes = [world.node(n, cpu="10") for n in "abc"]
    world.pod("seed", cpu="2", node_selector={"kubernetes.io/hostname": nodes[1]})
    world.bound("seed")
    world.pods(["packed1", "packed2"], cpu="2", scheduler="packed-scheduler")
    assert world.bound("packed1", "packed2") == [nodes[1]] * 2
    world.pod("spread1", cpu="2")
    assert world.bound("spread1") != nodes[1]


def test_a_profile_without_taint_toleration(world):
    node = world.node("a", taints=[taint("x")])
    world.pod("bare", scheduler="bare-scheduler")
    assert world.bound("bare") == node
    world.pod("default")
    world.unschedulable("default")
    world.pod("packed", scheduler="packed-scheduler")
    world.unschedulable("packed")


def test_events_carry_the_profile(world):
    world.node("a", cpu="1")
    for profile in ("default-scheduler", "packed-scheduler", "bare-scheduler"):
        world.pod(f"of-{profile}", cpu="2", scheduler=profile)
        event = world.event(f"of-{profile}", "FailedScheduling")
        assert event["reportingController"] == profile
        assert event["reportingInstance"].startswith(profile + "-")


def test_victims_are_told_which_profile(world):
    high = world.priority_class(100)
    world.node("a", cpu="1")
    world.pod("victim", cpu="1", finalizers=["e2e.example.com/hold"])
    world.bound("victim")
    world.pod("high", cpu="1", priority_class=high, scheduler="packed-scheduler")
    condition = until("condition", lambda: world.condition("victim", "DisruptionTarget"))
    assert (
        condition["message"] == "packed-scheduler: preempting to accommodate a higher priority pod"
    )
