"""The API server is upgraded from 1.36 to 1.37 under a running berth, while pods are created. The same etcd serves
both. Needs the peers of both minors: `make e2e-all` builds them."""

import collections
import re
import threading
import time

import pytest

from harness.cluster import Cluster
from harness.objects import node, pod
from harness.peers import built
from harness.processes import until
from harness.scheduler import program

BEFORE, AFTER = "1.36", "1.37"
NODES, PODS_PER_NODE = 20, 60

pytestmark = [
    pytest.mark.skipif(
        program().name == "kube-scheduler", reason="kube-scheduler is of one minor only"
    ),
    pytest.mark.skipif(
        not (built(BEFORE) and built(AFTER)),
        reason=f"no peers of {BEFORE} and {AFTER}: KUBERNETES={BEFORE} test/e2e/build-peers",
    ),
]


class Load(threading.Thread):
    """Creates pods one after the other until it is stopped; requests to a server that is away are
    repeated."""

    def __init__(self, cluster):
        super().__init__(daemon=True)
        self.cluster = cluster
        self.created = 0
        self.ending = threading.Event()

    def run(self):
        while not self.ending.is_set() and self.created < NODES * PODS_PER_NODE:
            body = pod(f"pod-{self.created}", cpu="100m")
            try:
                self.cluster.core.create_namespaced_pod("default", body, _preload_content=False)
                self.created += 1
            except Exception as e:
                if getattr(e, "status", None) == 409:  # it was created, the answer was lost
                    self.created += 1
                time.sleep(0.05)
            time.sleep(0.02)

    def grown_by(self, count):
        wanted = self.created + count
        until(f"{count} more pods created", lambda: self.created >= wanted, 60)


@pytest.fixture
def upgraded(tmp_path):
    cluster = Cluster(tmp_path / "cluster", minor=BEFORE)
    yield cluster
    cluster.close()


def test_every_pod_is_bound_once_while_the_api_server_is_upgraded(upgraded):
    cluster = upgraded
    for i in range(NODES):
        cluster.core.create_node(
            node(f"node-{i}", cpu=f"{PODS_PER_NODE * 100}m", pods=str(PODS_PER_NODE)),
            _preload_content=False,
        )
    scheduler = cluster.scheduler("upgraded", flags=["-v=2"])
    load = Load(cluster)
    load.start()
    load.grown_by(100)
    assert "v1.36." in scheduler.log(), "it is the kube-scheduler of the cluster"

    cluster.stop_apiserver()
    cluster.start_apiserver(minor=AFTER)
    load.grown_by(50)
    until(
        "berth notices",
        lambda: re.search(r'"Kubernetes version changed" from="1\.36" to="1\.37"', scheduler.log()),
        60,
    )
    load.grown_by(100)
    load.ending.set()
    load.join()

    def pods():
        return cluster.core.list_namespaced_pod("default").items

    until("every pod bound", lambda: all(p.spec.node_name for p in pods()), 60)
    assert len(pods()) == load.created
    per_node = collections.Counter(p.spec.node_name for p in pods())
    assert max(per_node.values()) <= PODS_PER_NODE

    bound = collections.Counter(
        r.path
        for r in cluster.audit.since()
        if r.verb == "create" and r.path.endswith("/binding") and r.code == 201
    )
    # The audit log of the old server ends with it: a pod may miss there, none may be there twice.
    assert set(bound.values()) == {1}
    assert load.created - len(bound) <= 10
    assert scheduler.running()
