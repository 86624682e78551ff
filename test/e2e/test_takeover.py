"""One leader after another while pods arrive all the time: every pod is bound exactly once, and no
node holds more than it has, by what the API server stored."""

import collections
import signal
import threading
import time

import pytest
import yaml
from kubernetes.client.exceptions import ApiException

from harness.processes import until
from harness.scheduler import REPOSITORY
from harness.world import data

LEASE, RENEW, RETRY = 6, 4, 1
TIMES = [
    f"--leader-elect-lease-duration={LEASE}s",
    f"--leader-elect-renew-deadline={RENEW}s",
    f"--leader-elect-retry-period={RETRY}s",
]
NODES, PODS_PER_NODE = 8, 25
EPOCH = "berth.dev/lease-epoch"


class Replicas:
    """Schedulers of one name that compete for one Lease in the test's own namespace."""

    def __init__(self, world):
        self.world, self.name, self.all = world, f"ha-{world.namespace}", []

    def start(self, *flags):
        s = self.world.cluster.scheduler(
            f"{self.name}-{len(self.all)}",
            leader_elect=True,
            lease_namespace=self.world.namespace,
            flags=[*TIMES, "-v=2", *flags],
            profiles=[{"schedulerName": self.name}],
        )
        self.all.append(s)
        return s

    def lease(self):
        return data(
            self.world.cluster.coordination.read_namespaced_lease(
                "kube-scheduler", self.world.namespace, _preload_content=False
            )
        )["spec"]

    def holder(self):
        return self.lease().get("holderIdentity", "")

    def leader(self):
        """The process that holds the Lease; its log says so last."""

        def leading():
            leaders = [
                s
                for s in self.all
                if s.running() and "successfully acquired lease" in s.log() and self.holder()
            ]
            return leaders[0] if len(leaders) == 1 else None

        return until("one leader", leading, 40)


class Arrivals(threading.Thread):
    """Pods that together fill the nodes to the last one, at a steady rate, and a few more."""

    def __init__(self, replicas, per_second=14):
        super().__init__(daemon=True)
        self.replicas, self.pause = replicas, 1 / per_second
        self.count = NODES * PODS_PER_NODE + 10
        self.error = None
        self.start()

    def run(self):
        try:
            for i in range(self.count):
                self.replicas.world.pod(f"p{i}", scheduler=self.replicas.name, cpu="1")
                time.sleep(self.pause)
        except Exception as e:
            self.error = e

    def all_bound(self):
        """Waits for the last pod that fits, then checks what the API server stored."""
        world = self.replicas.world
        self.join(120)
        assert not self.error, self.error
        room = NODES * PODS_PER_NODE

        def bound():
            pods = world.all().values()
            return len(pods) == self.count and sum("nodeName" in p["spec"] for p in pods) >= room

        until(f"{room} pods bound", bound, 60)
        time.sleep(1)  # nobody binds another
        on = collections.Counter(p["spec"].get("nodeName") for p in world.all().values())
        assert on.pop(None) == self.count - room
        assert set(on.values()) == {PODS_PER_NODE}, f"pods by node: {on}"
        bindings = [r for r in world.requests() if r.path.endswith("/binding") and r.code == 201]
        times = collections.Counter(r.path for r in bindings)
        assert len(times) == room and set(times.values()) == {1}
        return bindings


@pytest.fixture
def replicas(quiet_world):
    replicas = Replicas(quiet_world)
    for i in range(NODES):
        quiet_world.node(f"n{i}", cpu=str(PODS_PER_NODE), pods="110")
    yield replicas
    for s in replicas.all:
        s.signal(signal.SIGCONT)
        s.kill()


def test_kill_while_pods_arrive(replicas):
    replicas.start()
    first = replicas.leader()
    replicas.start()
    arrivals = Arrivals(replicas)
    time.sleep(3)
    first.kill()
    second = replicas.leader()
    assert second is not first
    bindings = arrivals.all_bound()
    timeout = (LEASE - RENEW) / 2
    assert all(r.query == {"timeout": f"{timeout:g}s"} for r in bindings)
    assert "Listing what the last leader may have written" in second.log()
    assert "Listing what the last leader may have written" not in first.log()
    assert replicas.lease()["leaseTransitions"] == 1


def test_a_leader_that_was_stopped_for_longer_than_its_lease(replicas):
    replicas.start()
    first = replicas.leader()
    replicas.start()
    arrivals = Arrivals(replicas)
    time.sleep(3)
    held = replicas.holder()
    first.signal(signal.SIGSTOP)
    until("another leader", lambda: replicas.holder() not in ("", held), 40)
    time.sleep(2)
    position = replicas.world.cluster.audit.position()
    first.signal(signal.SIGCONT)
    assert first.expect_exit(timeout=LEASE + 10) == 1
    arrivals.all_bound()
    late = replicas.world.cluster.audit.since(position, replicas.world.namespace)
    codes = collections.Counter(r.code for r in late if r.path.endswith("/binding"))
    assert set(codes) == {201}, "what the old leader had decided is not sent"


def test_rolling_restarts(replicas):
    replicas.start()
    replicas.leader()
    replicas.start()
    arrivals = Arrivals(replicas)
    for _ in range(4):
        time.sleep(2)
        old = replicas.leader()
        held = replicas.holder()
        replicas.start()
        assert old.stop() == 0
        until("the next leader", lambda held=held: replicas.holder() not in ("", held), 10)
    arrivals.all_bound()
    assert replicas.lease()["leaseTransitions"] >= 4


def test_the_fence_refuses_bindings_of_earlier_leaders(replicas):
    world = replicas.world
    documents = list(
        yaml.safe_load_all((REPOSITORY / "deploy/kustomize/fence/policy.yaml").read_text())
    )
    documents[1]["spec"]["paramRef"]["namespace"] = world.namespace
    path = world.cluster.folder / "fence.yaml"
    path.write_text(yaml.safe_dump_all(documents))
    world.cluster.kubectl("apply", "-f", path)
    world.cleanups.append(lambda: world.cluster.kubectl("delete", "-f", path))
    replicas.start("--fence-bindings")
    first = replicas.leader()
    world.pod("one", scheduler=replicas.name)
    world.bound("one")
    assert world.get("one")["metadata"]["annotations"][EPOCH] == "0"
    replicas.start("--fence-bindings")
    assert first.stop() == 0
    replicas.leader()
    world.pod("two", scheduler=replicas.name)
    world.bound("two")
    assert world.get("two")["metadata"]["annotations"][EPOCH] == "1"

    def bind(name, epoch):
        world.pod(name, scheduler="nobody")
        body = {
            "metadata": {"name": name, "annotations": {EPOCH: epoch} if epoch else {}},
            "target": {"kind": "Node", "name": f"{world.namespace}-n0"},
        }
        try:
            world.cluster.core.create_namespaced_pod_binding(
                name, world.namespace, body, _preload_content=False
            )
        except ApiException as e:
            body = e.body
            return e.status, body.decode() if isinstance(body, bytes) else body
        return 201, ""

    # The API server takes a moment to learn of the policy and the Lease.
    codes = []

    def refused():
        code, body = bind(f"old-{len(codes)}", "0")
        codes.append(code)
        return body if code == 403 else None

    assert "leader 0, and leader 1 has followed it" in until("a refusal", refused, 30)
    assert bind("new", "1")[0] == 201
    assert bind("unmarked", "")[0] == 201
