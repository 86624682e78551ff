"""Three replicas share the leader's work beside a real kube-apiserver: replicas die, are stopped and continued, and are
restarted while pods arrive. Every pod is bound exactly once, and no node holds more than it has, by what the API server
stored."""

import json
import signal
import ssl
import subprocess
import time
import urllib.error
import urllib.request

import pytest
from test_takeover import NODES, PODS_PER_NODE, RENEW, TIMES, Arrivals, Replicas

from harness.processes import until
from harness.scheduler import BERTH
from harness.world import data

IN_SYNC = "berth.dev/in-sync-replicas"


class Hands(Replicas):
    """Replicas with --replicas-share-work, and the rights for it in the test's own namespace."""

    def __init__(self, world):
        super().__init__(world)
        self.allow()

    def allow(self):
        world, rbac = self.world, self.world.cluster.rbac
        name = f"berth-replicas-{world.namespace}"
        made = subprocess.run(
            [BERTH, "config", "rbac", "--replicas-share-work"],
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        assert "/apis/hands/v1/*" in made and "name: berth-replicas" in made
        subject = {
            "kind": "User",
            "name": "system:kube-scheduler",
            "apiGroup": "rbac.authorization.k8s.io",
        }
        group = "rbac.authorization.k8s.io"
        leases = {
            "apiGroups": ["coordination.k8s.io"],
            "resources": ["leases"],
            "verbs": ["create", "delete", "get", "list", "update"],
        }
        rbac.create_namespaced_role(
            world.namespace, {"metadata": {"name": name}, "rules": [leases]}
        )
        rbac.create_namespaced_role_binding(
            world.namespace,
            {
                "metadata": {"name": name},
                "subjects": [subject],
                "roleRef": {"apiGroup": group, "kind": "Role", "name": name},
            },
        )
        # test_rbac looks at all rights of the scheduler's user.
        world.cleanups.append(lambda: rbac.delete_namespaced_role_binding(name, world.namespace))
        paths = {"nonResourceURLs": ["/apis/hands/v1/*"], "verbs": ["post"]}
        rbac.create_cluster_role({"metadata": {"name": name}, "rules": [paths]})
        world.cleanups.append(lambda: rbac.delete_cluster_role(name))
        rbac.create_cluster_role_binding(
            {
                "metadata": {"name": name},
                "subjects": [subject],
                "roleRef": {"apiGroup": group, "kind": "ClusterRole", "name": name},
            }
        )
        world.cleanups.append(lambda: rbac.delete_cluster_role_binding(name))

    def start(self, *flags):
        world = self.world
        s = world.cluster.scheduler(
            f"{self.name}-{len(self.all)}",
            leader_elect=True,
            lease_namespace=world.namespace,
            serve=True,
            flags=[*TIMES, "-v=3", "--replicas-share-work", *flags],
            profiles=[{"schedulerName": self.name}],
        )
        self.all.append(s)
        return s

    def in_sync(self):
        lease = data(
            self.world.cluster.coordination.read_namespaced_lease(
                "kube-scheduler", self.world.namespace, _preload_content=False
            )
        )
        names = lease["metadata"].get("annotations", {}).get(IN_SYNC, "")
        return set(filter(None, names.split(",")))

    def until_in_sync(self, count):
        return until(f"{count} hands in sync", lambda: len(self.in_sync()) == count, 30)

    def trio(self):
        """A leader and two hands in sync."""
        self.start()
        leader = self.leader()
        self.start()
        self.start()
        self.until_in_sync(2)
        return leader, [s for s in self.all if s is not leader]

    def metrics(self, scheduler):
        text = ask(self.world.cluster, scheduler, "/metrics")
        found = {}
        for line in text.splitlines():
            if line.startswith(("berth_sharing", "berth_hand")):
                name, value = line.rsplit(" ", 1)
                found[name] = float(value)
        return found


def ask(cluster, scheduler, path, body=None, known=True):
    """What the secure port answers to the admin, or to nobody known."""
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    if known:
        context.load_cert_chain(*map(str, cluster.admin_pair))
    url = f"https://127.0.0.1:{scheduler.serving_port}{path}"
    with urllib.request.urlopen(url, data=body, timeout=5, context=context) as answer:
        return answer.read().decode()


@pytest.fixture
def replicas(quiet_world):
    replicas = Hands(quiet_world)
    for i in range(NODES):
        quiet_world.node(f"n{i}", cpu=str(PODS_PER_NODE), pods="110")
    yield replicas
    for s in replicas.all:
        s.signal(signal.SIGCONT)
        s.kill()


def test_hands_carry_out_what_the_leader_decides(replicas):
    leader, hands = replicas.trio()
    arrivals = Arrivals(replicas, per_second=60)
    arrivals.all_bound()
    measured = replicas.metrics(leader)
    given = [v for name, v in measured.items() if name.startswith("berth_hand_tasks_total")]
    assert len(given) == 2 and min(given) > NODES * PODS_PER_NODE / 5
    assert sum(given) >= NODES * PODS_PER_NODE
    assert measured['berth_sharing_role{role="leader"}'] == 1
    for hand in hands:
        assert replicas.metrics(hand)['berth_sharing_role{role="hand"}'] == 1
    # What watches have shown leaves the logs.
    until(
        "empty logs",
        lambda: all(replicas.metrics(h)["berth_sharing_log_entries"] == 0 for h in hands),
    )


def test_status_shows_the_replicas(replicas):
    replicas.trio()

    def status(*flags):
        return subprocess.run(
            [
                BERTH,
                "status",
                f"--kubeconfig={replicas.world.cluster.admin_kubeconfig}",
                f"--namespace={replicas.world.namespace}",
                *flags,
            ],
            check=True,
            capture_output=True,
            text=True,
        ).stdout

    def settled():
        found = json.loads(status("--output=json"))["replicas"]
        roles = sorted(r["role"] for r in found)
        synced = sum(r.get("inSync", False) for r in found)
        return found if roles == ["hand", "hand", "leader"] and synced == 2 else None

    found = until("a leader and two hands", settled, 30)
    assert {r["identity"] for r in found if r["role"] == "leader"} == {replicas.holder()}
    text = status()
    assert text.count("\n") == 4 and "leader" in text and "in sync" in text


def test_kill_the_leader_while_pods_arrive(replicas):
    first, hands = replicas.trio()
    arrivals = Arrivals(replicas, per_second=25)
    time.sleep(3)
    first.kill()
    second = replicas.leader()
    assert second in hands
    arrivals.all_bound()
    assert "Going on with the log of the last leader" in second.log()
    assert "Listing what the last leader may have written" not in second.log()
    replicas.until_in_sync(1)


def test_kill_a_hand_while_pods_arrive(replicas):
    leader, hands = replicas.trio()
    arrivals = Arrivals(replicas, per_second=25)
    time.sleep(2)
    hands[0].kill()
    time.sleep(2)
    replicas.start()
    arrivals.all_bound()
    assert leader.running()
    replicas.until_in_sync(2)


def test_a_hand_that_was_stopped_and_continued(replicas):
    leader, hands = replicas.trio()
    arrivals = Arrivals(replicas, per_second=25)
    time.sleep(2)
    hands[0].signal(signal.SIGSTOP)
    replicas.until_in_sync(1)
    time.sleep(2 * RENEW)  # for longer than the lease
    hands[0].signal(signal.SIGCONT)
    arrivals.all_bound()
    assert leader.running() and hands[0].running()
    replicas.until_in_sync(2)


def test_the_work_of_a_leader_that_was_stopped(replicas):
    first, hands = replicas.trio()
    arrivals = Arrivals(replicas, per_second=25)
    time.sleep(3)
    held = replicas.holder()
    first.signal(signal.SIGSTOP)
    until("another leader", lambda: replicas.holder() not in ("", held), 40)
    time.sleep(2)
    first.signal(signal.SIGCONT)
    assert first.expect_exit(timeout=20) == 1
    arrivals.all_bound()


def test_replicas_restart_in_turn(replicas):
    replicas.trio()
    arrivals = Arrivals(replicas, per_second=14)
    for _ in range(3):
        old = replicas.leader()
        held = replicas.holder()
        replicas.start()
        assert old.stop() == 0
        until("the next leader", lambda held=held: replicas.holder() not in ("", held), 10)
        replicas.until_in_sync(2)
    arrivals.all_bound()


def test_all_replicas_die_at_once(replicas):
    trio = replicas.trio()
    arrivals = Arrivals(replicas, per_second=25)
    time.sleep(3)
    for s in [trio[0], *trio[1]]:
        s.kill()
    replicas.start()
    arrivals.all_bound()


def test_strangers_are_turned_away(replicas):
    _, hands = replicas.trio()
    cluster = replicas.world.cluster
    leader = replicas.holder().encode()
    claims = b"\x12" + bytes([len(leader)]) + leader + b"\x20\x01\x28\x01"
    for known, code in ((True, 409), (False, 403)):
        with pytest.raises(urllib.error.HTTPError) as refused:
            ask(cluster, hands[0], "/apis/hands/v1/batches", claims, known)
        assert refused.value.code == code


def test_alone_it_needs_nobody(replicas):
    replicas.start()
    replicas.leader()
    world = replicas.world
    world.pods([f"p{i}" for i in range(20)], scheduler=replicas.name, cpu="1")
    world.bound(*[f"p{i}" for i in range(20)])
    assert replicas.in_sync() == set()
