"""Leader election between real processes: one schedules, failover, release, loss."""

import re
import time

import pytest

from harness.processes import until
from harness.world import data

LEASE, RENEW, RETRY = 4, 3, 1
TIMES = [
    f"--leader-elect-lease-duration={LEASE}s",
    f"--leader-elect-renew-deadline={RENEW}s",
    f"--leader-elect-retry-period={RETRY}s",
]


class Pair:
    """Schedulers that compete for one Lease in the test's own namespace."""

    def __init__(self, world):
        self.world, self.name, self.started = world, f"pair-{world.namespace}", []

    def start(self, **configuration):
        s = self.world.cluster.scheduler(
            f"{self.name}-{len(self.started)}",
            leader_elect=True,
            lease_namespace=self.world.namespace,
            flags=TIMES,
            profiles=[{"schedulerName": self.name}],
            **configuration,
        )
        self.started.append(s)
        return s

    def spec(self):
        return data(
            self.world.cluster.coordination.read_namespaced_lease(
                "kube-scheduler", self.world.namespace, _preload_content=False
            )
        )["spec"]

    def holder(self):
        return self.spec().get("holderIdentity", "")

    def elected(self, other_than=""):
        return until(
            "a leader", lambda: (lambda h: h if h and h != other_than else None)(self.holder()), 30
        )

    def works(self, name, timeout=30):
        self.world.pod(name, scheduler=self.name)
        return self.world.bound(name, timeout=timeout)


@pytest.fixture
def pair(quiet_world):
    pair = Pair(quiet_world)
    quiet_world.node("a")
    yield pair
    for s in pair.started:
        s.kill()


def test_takeover_after_kill(pair):
    first = pair.start()
    leader = pair.elected()
    second = pair.start()
    pair.works("one")
    time.sleep(1)  # the standby has seen the lease
    killed = time.monotonic()
    first.kill()
    pair.elected(other_than=leader)
    # It waits the lease out on its own clock, from the last renewal it saw, and asks every retry
    # period (x 2.2).
    assert LEASE - RETRY - 1 < time.monotonic() - killed < LEASE + 2.2 * RETRY + 3
    pair.works("two")
    assert pair.spec()["leaseTransitions"] == 1
    assert second.stop() == 0


def test_sigterm_releases_the_lease(pair):
    first = pair.start()
    leader = pair.elected()
    second = pair.start()
    pair.works("one")
    time.sleep(1.5)
    position = pair.world.cluster.audit.position()
    assert first.stop() == 0
    pair.elected(other_than=leader)
    released = [
        r
        for r in pair.world.cluster.audit.since(position, pair.world.namespace)
        if r.verb == "update"
        and "/leases/" in r.path
        and r.body["spec"].get("holderIdentity", "") == ""
    ]
    assert len(released) == 1 and released[0].body["spec"]["leaseDurationSeconds"] == 1
    pair.works("two")
    assert second.stop() == 0


def test_only_the_leader_schedules(pair):
    started = [pair.start(), pair.start()]
    pair.elected()
    for i in range(10):
        pair.works(f"p{i}")
    bindings = [r for r in pair.world.requests() if r.path.endswith("/binding")]
    assert len(bindings) == 10 and all(r.code == 201 for r in bindings)
    assert all(s.running() for s in started)


def test_losing_the_lease_ends_the_process(pair):
    first = pair.start()
    pair.elected()
    pair.works("one")
    pair.world.cluster.coordination.patch_namespaced_lease(
        "kube-scheduler",
        pair.world.namespace,
        {
            "spec": {
                "holderIdentity": "an-intruder",
                "leaseDurationSeconds": 60,
                "renewTime": time.strftime("%Y-%m-%dT%H:%M:%S.000000Z", time.gmtime()),
            }
        },
    )
    assert first.expect_exit(timeout=RENEW + 10) == 1
    assert re.search("(?i)leaderelection lost|leader election lost", first.log())


def test_without_leader_election_sigterm_exits_1(pair):
    s = pair.world.cluster.scheduler(f"{pair.name}-alone", profiles=[{"schedulerName": pair.name}])
    pair.works("one")
    assert s.stop() == 1  # kube-scheduler's way: "finished without leader elect"


def test_a_standby_that_watches_nothing_takes_over(pair):
    """delayCacheUntilActive: the cluster is listed only once the Lease is held."""
    world = pair.world
    first = pair.start(delayCacheUntilActive=True)
    pair.works("before")  # so its own lists are over
    position = world.cluster.audit.position()
    pair.start(delayCacheUntilActive=True)
    time.sleep(2)
    # Watches of others end and begin again at any time.
    said = world.cluster.audit.since(position)
    lists = [r for r in said if r.path == "/api/v1/nodes" and r.verb == "list"]
    assert not lists, "the standby knows nothing yet"
    first.stop()
    pair.works("after")
