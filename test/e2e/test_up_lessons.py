"""What people try first on a cluster to learn scheduling, with kubectl: berth up answers as a cluster does."""

import json
import os
import pty
import re
import select
import signal
import subprocess
import time

import pytest

from harness.processes import until
from harness.up import BERTH, Up, kubectls

KUBECTL = kubectls().get("current")
pytestmark = pytest.mark.skipif(not KUBECTL, reason="no kubectl")


@pytest.fixture(scope="module")
def up(tmp_path_factory):
    up = Up(tmp_path_factory.mktemp("up"), "--speed=20x", nodes=6)
    yield up
    assert up.stop() == 0, up.output()


@pytest.fixture
def kube(up):
    return lambda *arguments, **options: up.kubectl(KUBECTL, *arguments, **options)


@pytest.fixture
def space(kube, request):
    name = request.node.name.replace("_", "-").removeprefix("test-")[:40].rstrip("-")
    kube("create", "namespace", name)
    until("a service account", lambda: "default" in kube("get", "sa", "-n", name, "-o", "name"))
    yield name
    kube("delete", "namespace", name, "--wait=false")


def pods(kube, space):
    return json.loads(kube("get", "pods", "-n", space, "-o", "json"))["items"]


@pytest.mark.parametrize("name", ["default", "kube-system", "kube-public"])
def test_system_namespaces_stay(kube, name):
    refused = kube("delete", "namespace", name, fails=True)
    assert f'namespaces "{name}" is forbidden: this namespace may not be deleted' in refused


def test_no_execute_taints_evict(kube, space):
    kube("create", "deployment", "web", "--image=nginx", "--replicas=12", "-n", space)
    kube("rollout", "status", "deployment/web", "-n", space, "--timeout=60s")
    node = pods(kube, space)[0]["spec"]["nodeName"]
    kube("taint", "node", node, "gone=yes:NoExecute")

    def moved():
        running = [p for p in pods(kube, space) if p["status"]["phase"] == "Running"]
        return len(running) == 12 and all(p["spec"]["nodeName"] != node for p in running)

    until("pods elsewhere", moved, 60)
    assert "TaintManagerEviction" in kube("get", "events", "-n", space)
    kube("taint", "node", node, "gone-")


def test_failing_nodes_lose_their_pods(kube, space):
    kube("create", "deployment", "web", "--image=nginx", "--replicas=6", "-n", space)
    kube("rollout", "status", "deployment/web", "-n", space, "--timeout=60s")
    node = pods(kube, space)[0]["spec"]["nodeName"]
    kube("annotate", "node", node, "berth.dev/fail=true")
    until("NotReady", lambda: "NotReady" in kube("get", "node", node), 60)
    described = until(
        "taints", lambda: (t := kube("describe", "node", node)) and "unreachable:NoEx" in t and t
    )
    assert "node.kubernetes.io/unreachable:NoSchedule" in described

    def moved():
        live = [p for p in pods(kube, space) if "deletionTimestamp" not in p["metadata"]]
        return len(live) == 6 and all(p["spec"].get("nodeName") != node for p in live)

    until("pods elsewhere", moved, 60)
    kube("annotate", "node", node, "berth.dev/fail-")
    until("Ready", lambda: "NotReady" not in kube("get", "node", node), 60)
    until("the lost pods are gone", lambda: len(pods(kube, space)) == 6, 60)


def test_events_are_sorted_by_time(kube, space):
    kube("create", "deployment", "web", "--image=nginx", "--replicas=2", "-n", space)
    kube("rollout", "status", "deployment/web", "-n", space, "--timeout=60s")
    kube("delete", "pod", "--all", "-n", space)
    text = until(
        "events",
        lambda: (
            (t := kube("get", "events", "--sort-by=.lastTimestamp", "-n", space))
            and "Killing" in t
            and t
        ),
    )
    for reason in ["ScalingReplicaSet", "SuccessfulCreate", "Scheduled", "Started"]:
        assert reason in text, text


def test_quotas_hold(kube, space):
    kube("create", "quota", "q", "--hard=pods=2,requests.cpu=1", "-n", space)
    cpu = {"resources": {"requests": {"cpu": "100m"}}}
    spec = {"containers": [{"name": "c", "image": "i", **cpu}]}

    def create(name, **options):
        pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": spec}
        return kube("create", "-n", space, "-f", "-", input=pod, **options)

    create("a")
    create("b")
    refused = create("c", fails=True)
    assert 'pods "c" is forbidden: exceeded quota: q, requested: pods=1, used: pods=2' in refused
    unsaid = kube("run", "d", "--image=i", "-n", space, fails=True)
    assert "failed quota: q: must specify requests.cpu for: d" in unsaid
    until("a status", lambda: "pods: 2/2" in kube("get", "quota", "q", "-n", space))
    assert "requests.cpu  200m  1" in kube("describe", "quota", "q", "-n", space)


def test_limit_ranges_give_defaults(kube, space):
    limits = [{"type": "Container", "defaultRequest": {"cpu": "50m"}, "default": {"cpu": "1"}}]
    range_ = {"apiVersion": "v1", "kind": "LimitRange", "metadata": {"name": "l"}}
    kube("create", "-n", space, "-f", "-", input=range_ | {"spec": {"limits": limits}})
    kube("run", "a", "--image=i", "-n", space)
    resources = pods(kube, space)[0]["spec"]["containers"][0]["resources"]
    assert resources == {"limits": {"cpu": "1"}, "requests": {"cpu": "50m"}}


def test_autoscalers_of_both_versions(kube, space):
    kube("create", "deployment", "web", "--image=nginx", "-n", space)
    kube("autoscale", "deployment", "web", "--max=5", "--cpu-percent=70", "-n", space)
    listed = kube("get", "hpa", "-n", space).splitlines()
    assert listed[0].split() == [
        *["NAME", "REFERENCE", "TARGETS", "MINPODS", "MAXPODS", "REPLICAS", "AGE"]
    ]
    assert "Deployment/web" in listed[1] and "<unknown>/70%" in listed[1]
    raw = f"/apis/autoscaling/v1/namespaces/{space}/horizontalpodautoscalers/web"
    old = json.loads(kube("get", "--raw", raw))
    assert old["spec"]["targetCPUUtilizationPercentage"] == 70


def test_pods_end_when_asked_to(kube, space):
    kube("run", "once", "--image=busybox", "--restart=Never", "-n", space)
    kube("wait", "--for=jsonpath={.status.phase}=Succeeded", "pod/once", "-n", space)
    assert "Completed" in kube("get", "pod", "once", "-n", space)


def test_columns(kube, space):
    kube("create", "deployment", "web", "--image=nginx", "--replicas=2", "-n", space)
    kube("expose", "deployment", "web", "--port=80", "-n", space)
    kube("rollout", "status", "deployment/web", "-n", space, "--timeout=60s")
    address = r"10\.\d+\.\d+\.\d+"
    until(
        "endpoints",
        lambda: re.search(rf"{address}:80,{address}:80", kube("get", "ep", "web", "-n", space)),
    )
    slices = kube("get", "endpointslices", "-n", space)
    assert "ADDRESSTYPE" in slices and "IPv4" in slices
    kube("create", "ingress", "i", "--rule=shop.example/*=web:80", "-n", space)
    assert "shop.example" in kube("get", "ingress", "-n", space)


def test_volumes_follow_their_zone(kube, space):
    """A pod with a volume survives the drain of its node: other nodes of the zone reach the volume."""
    claim = {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": "data"},
        "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
    }
    kube("create", "-n", space, "-f", "-", input=claim)
    spec = {
        "containers": [{"name": "c", "image": "i"}],
        "volumes": [{"name": "d", "persistentVolumeClaim": {"claimName": "data"}}],
    }
    labels = {"matchLabels": {"app": "db"}}
    template = {"metadata": {"labels": labels["matchLabels"]}, "spec": spec}
    kube(
        *["create", "-n", space, "-f", "-"],
        input={
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": {"name": "db"},
            "spec": {"selector": labels, "template": template},
        },
    )
    kube("rollout", "status", "deployment/db", "-n", space, "--timeout=60s")
    node = pods(kube, space)[0]["spec"]["nodeName"]
    kube("drain", node, "--force", "--ignore-daemonsets", "--timeout=60s")
    kube("rollout", "status", "deployment/db", "-n", space, "--timeout=60s")
    zones = {
        n["metadata"]["name"]: n["metadata"]["labels"]["topology.kubernetes.io/zone"]
        for n in json.loads(kube("get", "nodes", "-o", "json"))["items"]
    }
    after = next(p for p in pods(kube, space) if "deletionTimestamp" not in p["metadata"])
    assert after["spec"]["nodeName"] != node
    assert zones[after["spec"]["nodeName"]] == zones[node]
    kube("uncordon", node)


def test_the_demo_has_something_to_show(tmp_path):
    up = Up(tmp_path, "--demo", "--speed=10x")

    def look():
        found = json.loads(up.kubectl(KUBECTL, "get", "pods", "-A", "-o", "json"))["items"]
        phases = [p["status"]["phase"] for p in found]
        return phases.count("Running") > 100 and phases.count("Pending") >= 5

    until("running and pending pods", look, 60)
    nodes = up.kubectl(KUBECTL, "get", "nodes", "-L", "pool,topology.kubernetes.io/zone")
    assert {"general", "memory", "gpu", "spot"} <= set(nodes.split())
    jobs = up.kubectl(KUBECTL, "get", "jobs", "-A")
    assert "nightly-report" in jobs and "Running" in jobs
    assert up.stop() == 0, up.output()
    assert "stopped; nothing was kept" in (tmp_path / "up.log").read_text()


def test_the_panel_is_silent_in_the_background(tmp_path):
    """On a terminal whose foreground process is another one, the panel writes nothing."""
    master, slave = pty.openpty()
    command = (
        f"set -m; {BERTH} up --port 0 --nodes 2 --kubeconfig-out {tmp_path}/kubeconfig & sleep 8"
    )
    shell = subprocess.Popen(
        ["bash", "-c", f"{command}; kill %1; wait"],
        stdin=slave,
        stdout=slave,
        stderr=slave,
        start_new_session=True,
        preexec_fn=lambda: __import__("fcntl").ioctl(0, __import__("termios").TIOCSCTTY, 0),
    )
    os.close(slave)
    text = b""
    end = time.monotonic() + 30
    while time.monotonic() < end and shell.poll() is None:
        if select.select([master], [], [], 0.5)[0]:
            try:
                text += os.read(master, 65536)
            except OSError:
                break
    if shell.poll() is None:
        shell.send_signal(signal.SIGKILL)
    shell.wait()
    assert b"ready in" in text, text
    assert b"\x1b[J" not in text and b"pending" not in text, text
