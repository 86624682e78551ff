"""Measures takeovers: from the signal to the leader until the next leader's first binding.

Two replicas with the default lease settings (15 s, 10 s, 2 s) beside a real API server, pods
arriving all the time. In turn the leader gets SIGTERM or SIGKILL and another replica is started in
its place. Bindings and the Lease are seen by watches; a binding counts for the next leader when it
comes after the Lease's change of holder. In the end every binding is checked: one per pod, and no
node above what it has.
"""

import argparse
import collections
import json
import pathlib
import statistics
import sys
import tempfile
import threading
import time

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPOSITORY / "test/e2e"))

from harness import objects  # noqa: E402
from harness.cluster import Cluster  # noqa: E402
from harness.processes import until  # noqa: E402

NAMESPACE = "default"


class Watch(threading.Thread):
    """Lines of a watch with the moment they came."""

    def __init__(self, cluster, path, take):
        super().__init__(daemon=True)
        self.cluster, self.path, self.take = cluster, path, take
        self.start()

    def run(self):
        while True:
            try:
                response = self.cluster.api.call_api(
                    self.path,
                    "GET",
                    query_params=[("watch", "true"), ("timeoutSeconds", "3600")],
                    auth_settings=[],
                    _preload_content=False,
                    _return_http_data_only=True,
                )
                rest = b""
                for piece in response.stream(65536):
                    *lines, rest = (rest + piece).split(b"\n")
                    now = time.monotonic()
                    for line in lines:
                        self.take(now, json.loads(line)["object"])
            except Exception:
                time.sleep(0.05)


class Measurement:
    def __init__(self, cluster, args):
        self.cluster, self.args = cluster, args
        self.bound, self.nodes_of = {}, {}  # when, and which node(s), by uid
        self.holders = []  # (when, identity)
        self.lock = threading.Lock()
        self.replicas, self.started = [], 0
        self.over = False
        Watch(cluster, f"/api/v1/namespaces/{NAMESPACE}/pods", self.on_pod)
        Watch(cluster, "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases", self.on_lease)

    def on_pod(self, now, pod):
        node = pod["spec"].get("nodeName")
        if not node:
            return
        with self.lock:
            self.bound.setdefault(pod["metadata"]["uid"], now)
            self.nodes_of.setdefault(pod["metadata"]["uid"], set()).add(node)

    def on_lease(self, now, lease):
        if lease["metadata"]["name"] != "kube-scheduler":
            return
        holder = lease["spec"].get("holderIdentity", "")
        with self.lock:
            if holder and (not self.holders or self.holders[-1][1] != holder):
                self.holders.append((now, holder))

    def arrive(self):
        """Pods at a steady rate; those bound for some seconds go, so that nodes stay nearly full."""
        made = collections.deque()
        for i in range(10**9):
            if self.over:
                return
            name = f"p{i}"
            self.cluster.core.create_namespaced_pod(
                NAMESPACE, objects.pod(name, cpu="1"), _preload_content=False
            )
            made.append(name)
            if len(made) > self.args.nodes * self.args.pods_per_node:
                self.cluster.core.delete_namespaced_pod(
                    made.popleft(), NAMESPACE, grace_period_seconds=0, _preload_content=False
                )
            time.sleep(1 / self.args.rate)

    def start(self):
        self.started += 1
        replica = self.cluster.scheduler(
            f"replica-{self.started}", path=self.args.scheduler, leader_elect=True, flags=["-v=2"]
        )
        self.replicas.append(replica)
        return replica

    def leader(self):
        def one():
            found = [
                r for r in self.replicas if r.running() and "successfully acquired lease" in r.log()
            ]
            return found[0] if len(found) == 1 else None

        return until("one leader", one, 60)

    def takeover(self, kill):
        """Seconds from the signal to the first binding of the next leader, and to its Lease."""
        leader = self.leader()
        until(
            "a standby that is ready",
            lambda: any(
                r is not leader and r.running() and "attempting to acquire leader lease" in r.log()
                for r in self.replicas
            ),
        )
        time.sleep(2.5 + self.started % 7 * 0.29)  # at any moment of the retry period
        with self.lock:
            changes = len(self.holders)
        signalled = time.monotonic()
        leader.kill() if kill else threading.Thread(target=leader.stop, daemon=True).start()
        until("another holder", lambda: len(self.holders) > changes, 60, every=0.005)
        acquired = self.holders[changes][0]

        def first():
            with self.lock:
                after = [t for t in self.bound.values() if t > acquired]
            return min(after) if after else None

        bound = until("a binding", first, 30, every=0.005)
        self.replicas = [r for r in self.replicas if r is not leader]
        self.start()
        return bound - signalled, acquired - signalled

    def run(self, count, kill):
        return [self.takeover(kill) for _ in range(count)]

    def check(self):
        """Every pod is bound once, and no node has more than it may, by what the server stored."""
        self.over = True
        twice = [uid for uid, nodes in self.nodes_of.items() if len(nodes) > 1]
        pods = json.loads(
            self.cluster.core.list_namespaced_pod(NAMESPACE, _preload_content=False).data
        )["items"]
        on = collections.Counter(p["spec"].get("nodeName") for p in pods)
        on.pop(None, None)
        full = {n: c for n, c in on.items() if c > self.args.pods_per_node}
        assert not twice and not full, f"bound twice: {twice}; over capacity: {full}"
        return len(self.bound)


def describe(times):
    ordered = sorted(times)
    return {
        "p50": round(statistics.median(ordered), 2),
        "p90": round(ordered[max(0, -(-len(ordered) * 9 // 10) - 1)], 2),
        "max": round(ordered[-1], 2),
        "count": len(ordered),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--scheduler", default=str(REPOSITORY / "build/bin/berth"))
    parser.add_argument("--sigterm", type=int, default=50, help="takeovers after SIGTERM")
    parser.add_argument("--kill", type=int, default=50, help="takeovers after SIGKILL")
    parser.add_argument("--rate", type=float, default=20, help="pods per second")
    parser.add_argument("--nodes", type=int, default=10)
    parser.add_argument("--pods-per-node", type=int, default=20)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="berth-takeover-") as folder:
        cluster = Cluster(folder, audit=False)
        try:
            for i in range(args.nodes):
                cluster.core.create_node(
                    objects.node(f"n{i}", cpu=str(args.pods_per_node)), _preload_content=False
                )
            m = Measurement(cluster, args)
            m.start()
            m.leader()
            m.start()
            arrivals = threading.Thread(target=m.arrive, daemon=True)
            arrivals.start()
            until("first bindings", lambda: m.bound, 30)
            for name, count, kill in (
                ("SIGTERM", args.sigterm, False),
                ("SIGKILL", args.kill, True),
            ):
                if count == 0:
                    continue
                times = m.run(count, kill)
                print(
                    json.dumps(
                        {
                            "signal": name,
                            "to_first_binding_s": describe([t[0] for t in times]),
                            "to_lease_s": describe([t[1] for t in times]),
                        }
                    ),
                    flush=True,
                )
            print(json.dumps({"pods_bound": m.check(), "twice": 0, "over_capacity": 0}))
        finally:
            cluster.close()


if __name__ == "__main__":
    main()
