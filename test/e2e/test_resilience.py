"""Things that break under a scheduler at work: the API server, etcd, connections, tokens."""

import signal
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from harness import kubeconfig
from harness.objects import node as node_object
from harness.processes import until
from harness.proxy import ConnectProxy, TcpProxy

USER = "system:kube-scheduler"


@pytest.fixture
def proxied(quiet_world, request):
    """A scheduler of its own behind a TCP proxy."""
    world = quiet_world
    world.scheduler_name = world.namespace
    world.proxy = TcpProxy(world.cluster.port)
    conf = world.cluster.write_kubeconfig(
        f"{world.namespace}.conf",
        kubeconfig.by_certificate(*world.cluster.scheduler_pair),
        world.proxy.port,
    )
    world.scheduler = world.cluster.scheduler(
        world.namespace, kubeconfig=conf, profiles=[{"schedulerName": world.namespace}]
    )
    yield world
    running = world.scheduler.running()
    world.scheduler.kill()
    world.proxy.close()
    assert running, world.scheduler.log_tail()


def bindings(world):
    return [r for r in world.requests() if r.path.endswith("/binding") and r.code == 201]


def test_watch_cut(proxied):
    world = proxied
    node = world.node("a")
    world.pod("before")
    world.bound("before")
    time.sleep(
        1.2
    )  # a watch that is cut in its first second without an event is followed by a list
    position = world.cluster.audit.position()
    assert world.proxy.cut() > 0
    world.pod("after")
    assert world.bound("after") == node
    # Watches go on from where they were: nothing is listed again.
    mine = [r for r in world.cluster.audit.since(position) if r.user == USER]
    assert not [r for r in mine if r.verb == "list"]
    for _ in range(3):
        world.proxy.cut()
        time.sleep(0.3)
    world.pods([f"p{i}" for i in range(20)])
    world.bound(*[f"p{i}" for i in range(20)])
    assert len(bindings(world)) == 22


def test_connections_refused_for_a_while(proxied):
    world = proxied
    world.node("a")
    world.pod("before")
    world.bound("before")
    world.proxy.refuse(True)
    world.proxy.cut()
    world.pods([f"p{i}" for i in range(10)])
    time.sleep(2)
    world.proxy.refuse(False)
    world.bound(*[f"p{i}" for i in range(10)])
    assert len(bindings(world)) == 11


def test_network_holds_its_breath(proxied):
    world = proxied
    world.node("a")
    world.pod("before")
    world.bound("before")
    world.proxy.hold()
    world.pods([f"p{i}" for i in range(10)])
    time.sleep(2)
    assert not world.get("p0")["spec"].get("nodeName")
    world.proxy.release()
    world.bound(*[f"p{i}" for i in range(10)])
    assert len(bindings(world)) == 11


def test_api_server_restart_in_mid_flight(proxied):
    """The API server is killed while 300 pods are on their way; every pod is bound once."""
    world, cluster = proxied, proxied.cluster
    for i in range(5):
        world.node(f"n{i}", cpu="64", pods="200")
    names = [f"p{i}" for i in range(300)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(world.pod, names))
        cluster.stop_apiserver(kill=True)
        cluster.start_apiserver()
    world.bound(*names, timeout=60)
    successes = [r.path for r in bindings(world)]
    assert len(successes) == len(set(successes)), "no pod was bound twice"


def test_changes_missed_while_away(proxied):
    """Nodes change while the scheduler cannot see and the API server forgets: the watches are too
    old, lists begin."""
    world, cluster = proxied, proxied.cluster
    old = world.node("old", cpu="8")
    world.pod("before", cpu="1")
    assert world.bound("before") == old
    world.proxy.refuse(True)
    world.proxy.cut()
    cluster.core.delete_node(old)
    world.delete("before")
    new = world.node("new", cpu="2")
    cluster.stop_apiserver(kill=True)
    cluster.start_apiserver()
    position = cluster.audit.position()
    world.proxy.refuse(False)

    def listed():
        found = {
            r.path
            for r in cluster.audit.since(position)
            if r.user == USER and r.verb in ("list", "watch")
        }
        return {"/api/v1/nodes", "/api/v1/pods"} <= found

    until("lists begin", listed, timeout=60)
    world.pods(["p1", "p2"], cpu="1")
    assert world.bound("p1", "p2", timeout=60) == [new, new]
    world.pod("p3", cpu="1")
    world.unschedulable(
        "p3",
        "0/1 nodes are available: 1 Insufficient cpu. no new claims to deallocate, preemption: 0/1 "
        "nodes are available: 1 No preemption victims found for incoming pod.",
    )


def test_etcd_pause(proxied):
    """etcd stands still for three seconds with writes on their way."""
    world, cluster = proxied, proxied.cluster
    world.node("a", cpu="64")
    world.pod("before")
    world.bound("before")
    names = [f"p{i}" for i in range(40)]
    with ThreadPoolExecutor(8) as pool:
        made = [pool.submit(world.pod, n) for n in names]
        cluster.etcd.signal(signal.SIGSTOP)
        try:
            time.sleep(3)
        finally:
            cluster.etcd.signal(signal.SIGCONT)
        for m in made:
            m.result()
    world.bound(*names, timeout=60)
    assert world.scheduler.running()


def test_pods_bound_by_another(proxied):
    """Another client binds what the scheduler has pending; the room it takes counts."""
    world = proxied
    node = world.node("a", cpu="2", unschedulable=True)
    world.pods(["p1", "p2"], cpu="1")
    world.unschedulable("p1")
    world.unschedulable("p2")
    world.cluster.core.create_namespaced_pod_binding(
        "p1",
        world.namespace,
        {"metadata": {"name": "p1"}, "target": {"kind": "Node", "name": node}},
        _preload_content=False,
    )
    world.pod("p3", cpu="1")
    world.unschedulable("p3")
    world.patch_node(node, {"spec": {"unschedulable": None}})
    until(
        "one of two bound",
        lambda: [n for n in ("p2", "p3") if world.get(n)["spec"].get("nodeName")],
    )
    (loser,) = [n for n in ("p2", "p3") if not world.get(n)["spec"].get("nodeName")]
    world.unschedulable(
        loser,
        "0/1 nodes are available: 1 Insufficient cpu. no new claims to deallocate, preemption: 0/1 "
        "nodes are available: 1 No preemption victims found for incoming pod.",
    )


class Rotation:
    """A scheduler whose token is replaced and whose old token is revoked. client-go reads the file once a minute, so
    the change is made at the start of this module and looked at in its last test."""

    def __init__(self, cluster):
        self.cluster = cluster
        for name in ("first", "second"):
            cluster.core.create_namespaced_secret("kube-system", {"metadata": {"name": name}})
        self.file = cluster.folder / "rotating.token"
        self.file.write_text(cluster.token("berth", "kube-system", secret="first"))
        conf = cluster.write_kubeconfig("rotating.conf", kubeconfig.by_token_file(self.file))
        self.scheduler = cluster.scheduler(
            "rotating", kubeconfig=conf, profiles=[{"schedulerName": "rotating"}]
        )

    def rotate(self):
        self.file.write_text(self.cluster.token("berth", "kube-system", secret="second"))
        self.cluster.core.delete_namespaced_secret("first", "kube-system")


@pytest.fixture(scope="module")
def rotation(cluster):
    return Rotation(cluster)


def test_token_file(quiet_world, rotation):
    world = quiet_world
    world.node("a")
    world.pod("first-token", scheduler="rotating")
    world.bound("first-token")
    rotation.rotate()


def test_every_kind_of_kubeconfig(quiet_world):
    """Every way to say who one is and how the server is reached, one scheduler each."""
    world, cluster = quiet_world, quiet_world.cluster
    crt, key = cluster.scheduler_pair
    token = cluster.token("berth", "kube-system")
    script = cluster.folder / "credential.sh"
    script.write_text(
        '#!/bin/sh\ncat <<END\n{"apiVersion": "client.authentication.k8s.io/v1", '
        '"kind": "ExecCredential", "status": {"token": "' + token + '"}}\nEND\n'
    )
    script.chmod(0o755)
    proxy = ConnectProxy(cluster.port)
    files, ca = kubeconfig.by_certificate(crt, key), {"ca": cluster.certs.ca}
    kinds = {
        "files": (files, ca),
        "inline": (kubeconfig.by_inline_certificate(crt, key), {"ca_inline": cluster.certs.ca}),
        "token": (kubeconfig.by_token(token), ca),
        "exec": (kubeconfig.by_command([script]), ca),
        "named": (files, {**ca, "tls_server_name": "kubernetes.default.svc"}),
        "careless": (kubeconfig.by_token(token), {"insecure_skip_tls_verify": True}),
        "proxied": (files, {**ca, "proxy_url": f"http://127.0.0.1:{proxy.port}"}),
    }
    world.node("a")
    started = []
    for name, (user, server) in kinds.items():
        conf = kubeconfig.write(
            cluster.folder / f"kind-{name}.conf", cluster.server, user, **server
        )
        started.append(
            cluster.scheduler(
                f"kind-{name}", kubeconfig=conf, profiles=[{"schedulerName": f"kind-{name}"}]
            )
        )
        world.pod(name, scheduler=f"kind-{name}")
    world.bound(*kinds)
    assert proxy.asked and set(proxy.asked) == {f"CONNECT 127.0.0.1:{cluster.port} HTTP/1.1"}
    for s in started:
        s.kill()
    proxy.close()


def test_a_server_nobody_vouches_for_is_refused(quiet_world, tmp_path):
    from harness.certs import Certificates

    world, cluster = quiet_world, quiet_world.cluster
    stranger = Certificates(tmp_path)
    conf = kubeconfig.write(
        cluster.folder / "stranger.conf",
        cluster.server,
        kubeconfig.by_certificate(*cluster.scheduler_pair),
        ca=stranger.ca,
    )
    s = cluster.scheduler("stranger", kubeconfig=conf, profiles=[{"schedulerName": "stranger"}])
    world.node("a")
    world.pod("never", scheduler="stranger")
    until("the log says why", lambda: "certificate" in s.log())
    assert not world.get("never")["spec"].get("nodeName")
    s.kill()


def test_burst(quiet_world):
    """2,000 pods at once on 100 nodes: all bound, each once, no node above its size."""
    world, cluster = quiet_world, quiet_world.cluster
    with ThreadPoolExecutor(8) as pool:
        list(
            pool.map(
                lambda i: cluster.core.create_node(
                    node_object(f"{world.namespace}-{i}", cpu="4", pods="30"),
                    _preload_content=False,
                ),
                range(100),
            )
        )
        scheduler = cluster.scheduler("burst", profiles=[{"schedulerName": "burst"}])
        began = time.monotonic()
        list(pool.map(lambda i: world.pod(f"p{i}", cpu="150m", scheduler="burst"), range(2000)))
    made = time.monotonic()

    def waiting():
        return cluster.core.list_namespaced_pod(
            world.namespace, field_selector="spec.nodeName=", limit=1, _preload_content=False
        )

    until("all bound", lambda: b'"items":[]' in waiting().data, timeout=120, every=0.3)
    done = time.monotonic()
    used = {}
    for p in world.all().values():
        used[p["spec"]["nodeName"]] = used.get(p["spec"]["nodeName"], 0) + 150
    assert max(used.values()) <= 4000 and sum(used.values()) == 2000 * 150
    paths = [r.path for r in bindings(world)]
    assert len(paths) == len(set(paths)) == 2000
    cpu, rss = scheduler.sample()
    print(
        f"\n2,000 pods: made in {made - began:.1f} s, bound {done - made:.1f} s later; scheduler {cpu:.2f} CPU s, "
        f"{rss / 1024:.0f} MiB"
    )
    scheduler.kill()


def test_token_rotation(quiet_world, rotation):
    world = quiet_world
    world.node("a")
    world.pod("second-token", scheduler="rotating")
    world.bound("second-token", timeout=90)
    assert rotation.scheduler.running()
    rotation.scheduler.kill()
