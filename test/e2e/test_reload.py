"""A changed configuration is taken up without a restart. kube-scheduler cannot do this."""

import json
import signal

import pytest

from harness.processes import until
from harness.scheduler import configuration, program

pytestmark = pytest.mark.skipif(
    program().name == "kube-scheduler", reason="kube-scheduler does not reload"
)


def write(scheduler, cluster, *profiles, **fields):
    body = configuration(
        cluster.scheduler_kubeconfig, profiles=[{"schedulerName": name} for name in profiles]
    )
    body.update(fields)
    fresh = scheduler.config_path.with_suffix(".new")
    fresh.write_text(json.dumps(body))
    fresh.rename(scheduler.config_path)


@pytest.fixture
def reloaded(world):
    """A scheduler of its own, for pods of the profiles first-*."""
    scheduler = world.cluster.scheduler(
        "reloaded", profiles=[{"schedulerName": "first-profile"}]
    )
    yield scheduler
    scheduler.stop()


def test_a_new_profile_is_taken_up_on_sighup(world, reloaded):
    node = world.node("a")
    world.pod("first", scheduler="first-profile")
    assert world.bound("first") == node
    world.pod("second", scheduler="second-profile")
    write(reloaded, world.cluster, "first-profile", "second-profile")
    reloaded.child.send_signal(signal.SIGHUP)
    assert world.bound("second") == node
    world.pod("third", scheduler="first-profile")
    assert world.bound("third") == node
    assert reloaded.running()


def test_the_file_is_looked_at_without_a_signal(world, reloaded):
    node = world.node("a")
    world.pod("first", scheduler="first-profile")
    assert world.bound("first") == node, "it runs"
    world.pod("second", scheduler="third-profile")
    write(reloaded, world.cluster, "third-profile")
    assert world.bound("second") == node


def test_a_file_with_a_mistake_is_refused(world, reloaded):
    node = world.node("a")
    world.pod("before", scheduler="first-profile")
    assert world.bound("before") == node, "it runs"
    reloaded.config_path.write_text('{"kind": "Nonsense"}')
    reloaded.child.send_signal(signal.SIGHUP)
    until("refused", lambda: "was not taken up" in reloaded.log_tail())
    world.pod("first", scheduler="first-profile")
    assert world.bound("first") == node


def test_a_file_of_v1beta3_is_taken_up_with_a_warning(world, reloaded):
    node = world.node("a")
    world.pod("before", scheduler="first-profile")
    assert world.bound("before") == node, "it runs"
    old = "kubescheduler.config.k8s.io/v1beta3"
    write(reloaded, world.cluster, "first-profile", "old-profile", apiVersion=old)
    reloaded.child.send_signal(signal.SIGHUP)
    world.pod("first", scheduler="old-profile")
    assert world.bound("first") == node
    assert reloaded.log_tail().count(f"{old} is deprecated") == 1
