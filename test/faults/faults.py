"""Faults beside a real API server: see run. Prints what happened; the exit code says whether all held."""

import argparse
import errno
import json
import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

from kubernetes.client.rest import ApiException

from harness import kubeconfig, objects
from harness.cluster import Cluster
from harness.processes import Process, until
from harness.proxy import TcpProxy
from history import ALONE, SPREAD, History, events

NODES, CPU, PODS_PER_NODE = 20, 4, 30
ZONES = {f"n{i}": f"zone-{i % 3}" for i in range(NODES)}
ZONE = "topology.kubernetes.io/zone"
DISK = 768 << 20  # of etcd, where it can have a file system of its own
MOST_PODS = 400
ELECTION = {
    "leaderElect": True,
    "leaseDuration": "6s",
    "renewDeadline": "4s",
    "retryPeriod": "1s",
    "resourceNamespace": "default",
}


def random_pod(chance, name):
    """One in six must be alone on its node within its group, one in six is spread over the zones."""
    cpu = f"{chance.choice([50, 100, 300, 700, 1500])}m"
    kind = chance.randrange(6)
    group = f"g{chance.randrange(3)}"
    if kind == 0:
        term = {
            "labelSelector": {"matchLabels": {ALONE: group}},
            "topologyKey": "kubernetes.io/hostname",
        }
        apart = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
        return objects.pod(name, cpu=cpu, labels={ALONE: group}, affinity=apart)
    if kind == 1:
        constraint = {
            "maxSkew": 1,
            "topologyKey": ZONE,
            "whenUnsatisfiable": "DoNotSchedule",
            "labelSelector": {"matchLabels": {SPREAD: group}},
        }
        return objects.pod(name, cpu=cpu, labels={SPREAD: group}, spread=[constraint])
    return objects.pod(name, cpu=cpu)


class Disk:
    """A file system of its own for etcd, which can be filled. Needs root; without it `path` is None."""

    def __init__(self, folder):
        self.path = None
        path = pathlib.Path(folder) / "disk"
        path.mkdir()
        mount = ["mount", "-t", "tmpfs", "-o", f"size={DISK}", "tmpfs", str(path)]
        if os.geteuid() == 0 and subprocess.run(mount, capture_output=True).returncode == 0:
            self.path = path

    def fill(self):
        with open(self.path / "ballast", "wb", buffering=0) as ballast:
            try:
                while True:
                    ballast.write(bytes(1 << 20))
            except OSError as e:
                if e.errno != errno.ENOSPC:
                    raise

    def empty(self):
        (self.path / "ballast").unlink(missing_ok=True)

    def close(self):
        if self.path:
            subprocess.run(["umount", "--lazy", str(self.path)], check=True)


def libfaketime():
    """The library that shifts a program's wall clock, where Debian's libfaketime is installed."""
    found = sorted(pathlib.Path("/usr/lib").glob("*/faketime/libfaketime.so.1"))
    return found[0] if found else None


class World:
    def __init__(self, folder, seed):
        self.random = random.Random(seed)
        self.disk = Disk(folder)
        self.clock = pathlib.Path(folder) / "clock"
        self.clock.write_text("+0")
        self.libfaketime = libfaketime()
        # Without the cache a watch starts at any revision that etcd still has.
        flags = [
            "--watch-cache=false",
            "--etcd-compaction-interval=0",
            "--max-requests-inflight=40",
            "--max-mutating-requests-inflight=20",
        ]
        data = self.disk.path / "etcd" if self.disk.path else None
        self.cluster = Cluster(folder, audit=False, apiserver_flags=flags, data=data)
        self.proxy = TcpProxy(self.cluster.port)
        self.conf = self.cluster.write_kubeconfig(
            "proxied.conf", kubeconfig.by_certificate(*self.cluster.scheduler_pair), self.proxy.port
        )
        self.schedulers = [self.scheduler(i) for i in range(2)]
        self.done = threading.Event()
        self.created = self.deleted = self.refused = 0
        for name, zone in ZONES.items():
            self.cluster.core.create_node(
                objects.node(name, cpu=str(CPU), pods=str(PODS_PER_NODE), labels={ZONE: zone})
            )
        self.since = self.cluster.core.list_node(limit=1).metadata.resource_version
        self.history = History(dict.fromkeys(ZONES, CPU * 1000), PODS_PER_NODE, ZONES)

    def scheduler(self, i):
        config = {
            "apiVersion": "kubescheduler.config.k8s.io/v1",
            "kind": "KubeSchedulerConfiguration",
            "clientConnection": {"kubeconfig": str(self.conf), "qps": 2000, "burst": 2000},
            "leaderElection": ELECTION,
        }
        env = {}
        if self.libfaketime:
            env = {
                "LD_PRELOAD": str(self.libfaketime),
                "FAKETIME_TIMESTAMP_FILE": str(self.clock),
                "FAKETIME_CACHE_DURATION": "1",
                "FAKETIME_DONT_FAKE_MONOTONIC": "1",
            }
        return self.cluster.scheduler(f"scheduler-{i}", config=config, env=env)

    # --- churn

    def churn(self, seed):
        chance = random.Random(seed)
        names = []
        while not self.done.is_set():
            try:
                if len(names) < MOST_PODS // 2 and chance.random() < 0.55:
                    self.created += 1
                    name = f"p{seed}-{self.created}"
                    pod = random_pod(chance, name)
                    self.cluster.core.create_namespaced_pod("default", pod)
                    names.append(name)
                elif names:
                    name = names.pop(chance.randrange(len(names)))
                    self.cluster.core.delete_namespaced_pod(name, "default", grace_period_seconds=0)
                    self.deleted += 1
            except Exception:  # the API server is away
                self.refused += 1
                time.sleep(0.2)
            time.sleep(0.02)

    # --- faults

    def etcd_paused(self):
        self.cluster.etcd.signal(signal.SIGSTOP)
        time.sleep(self.random.uniform(0.5, 5))
        self.cluster.etcd.signal(signal.SIGCONT)

    def etcd_killed(self):
        argv = self.cluster.etcd.argv
        self.cluster.etcd.kill()
        time.sleep(self.random.uniform(0, 2))
        self.cluster.etcd = Process(argv, self.cluster.etcd.log_path)

    def etcd_compacted(self):
        """Watches that are behind get 410 and list again."""
        revision = int(self.read_history())
        body = json.dumps({"revision": revision - 1, "physical": True}).encode()
        request = urllib.request.Request(self.cluster.etcd_url + "/v3/kv/compaction", body)
        self.proxy.cut()
        with urllib.request.urlopen(request, timeout=30) as answer:
            assert answer.status == 200

    def disk_full(self):
        """etcd ends when it cannot write, and starts again when it can."""
        self.disk.fill()
        time.sleep(self.random.uniform(2, 8))
        self.disk.empty()
        if not self.cluster.etcd.running():
            self.etcd_killed()

    def api_server_overloaded(self):
        """More lists at once than it takes: others are refused with 429, or wait."""
        end = time.monotonic() + self.random.uniform(2, 6)

        def flood():
            while time.monotonic() < end:
                try:
                    self.cluster.core.list_pod_for_all_namespaces()
                except Exception:
                    time.sleep(0.01)

        threads = [threading.Thread(target=flood, daemon=True) for _ in range(60)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def clock_jumps(self):
        """The wall clock of the schedulers goes an hour forward or back, and returns."""
        self.clock.write_text(self.random.choice(["+3600", "-3600", "+86400"]))
        time.sleep(self.random.uniform(2, 8))
        self.clock.write_text("+0")

    def api_server_restarted(self):
        self.cluster.stop_apiserver(kill=self.random.random() < 0.5)
        time.sleep(self.random.uniform(0, 2))
        self.cluster.start_apiserver()

    def network_cut(self):
        for _ in range(self.random.randrange(1, 10)):
            self.proxy.cut()
            time.sleep(0.2)

    def network_delayed(self):
        for _ in range(10):
            self.proxy.hold()
            time.sleep(self.random.uniform(0, 0.5))
            self.proxy.release()
            time.sleep(0.05)

    def network_away(self):
        self.proxy.refuse(True)
        self.proxy.cut()
        time.sleep(self.random.uniform(1, 8))
        self.proxy.refuse(False)

    def scheduler_killed(self):
        i = self.random.randrange(2)
        self.schedulers[i].kill()
        time.sleep(self.random.uniform(0, 2))
        self.schedulers[i] = self.scheduler(i)

    def scheduler_stopped(self):
        """Longer than its lease, or not."""
        chosen = self.random.choice(self.schedulers)
        chosen.signal(signal.SIGSTOP)
        time.sleep(self.random.uniform(1, 10))
        chosen.signal(signal.SIGCONT)

    def revive(self):
        """A leader that lost its lease ends, as kube-scheduler does; its kubelet starts it again."""
        for i, scheduler in enumerate(self.schedulers):
            if not scheduler.running():
                code = scheduler.child.returncode
                assert code in (0, 1, -signal.SIGKILL), f"exit code {code}\n{scheduler.log_tail()}"
                self.schedulers[i] = self.scheduler(i)

    FAULTS = (
        etcd_paused,
        etcd_killed,
        etcd_compacted,
        disk_full,
        clock_jumps,
        api_server_restarted,
        api_server_overloaded,
        network_cut,
        network_delayed,
        network_away,
        scheduler_killed,
        scheduler_stopped,
    )

    def possible(self, fault):
        if fault is World.disk_full and not self.disk.path:
            print("faults: no disk_full: a file system for etcd needs root", file=sys.stderr)
            return False
        if fault is World.clock_jumps and not self.libfaketime:
            print("faults: no clock_jumps: install libfaketime", file=sys.stderr)
            return False
        return True

    def run(self, seconds):
        counts = {}
        faults = [f for f in self.FAULTS if self.possible(f)]
        churners = [threading.Thread(target=self.churn, args=(i,), daemon=True) for i in range(2)]
        for thread in churners:
            thread.start()
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            fault = self.random.choice(faults)
            fault(self)
            counts[fault.__name__] = counts.get(fault.__name__, 0) + 1
            time.sleep(self.random.uniform(1, 4))
            self.revive()
        self.done.set()
        for thread in churners:
            thread.join()
        return counts

    # --- afterwards

    def settle(self):
        """All pods that fit are bound."""
        core = self.cluster.core
        until("an API server", lambda: core.list_node(limit=1), 60)
        core.create_namespaced_pod("default", objects.pod("canary", cpu="1m"))

        def bound():
            self.revive()
            return core.read_namespaced_pod("canary", "default").spec.node_name

        until("a bound canary", bound, 60)

        def quiet():
            self.read_history()
            return not self.history.fitting()

        until("that no pod is pending that fits", quiet, 60, every=3)

    def read_history(self):
        """Up to now. Returns the revision that was reached."""
        core = self.cluster.core
        name = f"mark-{time.monotonic_ns()}"
        mark = objects.pod(name, scheduler="nobody", cpu="1m", labels={"schedulerless": "1"})

        def written(write, done_already):
            try:
                write()
            except ApiException as e:
                if e.status != done_already:
                    raise
            return True

        def create():
            core.create_namespaced_pod("default", mark)

        def delete():
            core.delete_namespaced_pod(name, "default", grace_period_seconds=0)

        until("that a mark is created", lambda: written(create, 409), 60, every=1)
        until("that the mark is deleted", lambda: written(delete, 404), 60, every=1)
        for event in events(self.cluster, self.since, name):
            self.history.apply(event)
            self.since = event["object"]["metadata"]["resourceVersion"]
        return self.since

    def close(self):
        self.proxy.close()
        self.cluster.close()
        self.disk.close()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("seconds", type=int)
    parser.add_argument("seed", type=int, nargs="?", default=1)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="berth-faults-") as folder:
        world = World(folder, options.seed)
        try:
            counts = world.run(options.seconds)
            world.settle()
            logs = "".join(s.log() for s in world.cluster.schedulers)
        finally:
            world.close()
    history = world.history
    print("faults:", ", ".join(f"{n} {name}" for name, n in sorted(counts.items())))
    print(
        f"churn: {world.created} created, {world.deleted} deleted, {world.refused} requests refused"
    )
    print(
        f"history: {history.revisions} changes of pods, {history.bindings} bindings, "
        f"{len(history.node_of)} pods placed at the end, {len(history.pending)} pending, "
        f"fullest node {history.fullest} %"
    )
    print(
        f"moved: {history.moves}; node over capacity: {history.overfull}; anti-affinity broken: "
        f"{history.together}; spread broken: {history.skewed}; pending that fit: 0"
    )
    crashed = "Aborted" in logs or "Segmentation" in logs
    broken = history.moves or history.overfull or history.together or history.skewed
    sys.exit(1 if broken or crashed else 0)


if __name__ == "__main__":
    main()
