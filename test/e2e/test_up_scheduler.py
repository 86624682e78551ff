"""berth up as the API server of one Kubernetes minor: kube-scheduler and kubectl of that minor work with
it, and so does berth's own scheduler. KUBERNETES chooses the minor, as for all end-to-end tests."""

import json
import os
import pathlib
import re
import subprocess

import pytest

from harness.processes import until
from harness.scheduler import Scheduler
from harness.up import Up

CACHE = pathlib.Path(os.environ.get("BERTH_E2E_CACHE", "/nonexistent"))
KUBE_SCHEDULER = CACHE / "kube-scheduler"


def minor():
    """The minor of the peers: "1.37"."""
    said = subprocess.run([KUBE_SCHEDULER, "--version"], capture_output=True, text=True).stdout
    return re.search(r"v(\d+\.\d+)\.", said)[1]


def pod(name, **spec):
    return {
        "metadata": {"name": name, "labels": {"app": name}},
        "spec": {
            "containers": [
                {"name": "c", "image": "i", "resources": {"requests": {"cpu": "100m"}}},
            ],
            **spec,
        },
    }


def node_of(up, name):
    return up.core.read_namespaced_pod(name, "default").spec.node_name


@pytest.fixture(scope="module", params=["kube-scheduler", "berth"])
def up(request, tmp_path_factory):
    """A cluster of the minor with one of the two schedulers."""
    if not KUBE_SCHEDULER.exists():
        pytest.skip("no kube-scheduler: see test/e2e/build-peers")
    folder = tmp_path_factory.mktemp("up")
    flags = [f"--kubernetes-version={minor()}", "--speed=10x"]
    other = request.param == "kube-scheduler"
    up = Up(folder, *flags, *(["--no-scheduler"] if other else []), nodes=4)
    scheduler = other and Scheduler(
        folder, "kube-scheduler", up.kubeconfig, path=KUBE_SCHEDULER, flags=["-v=2"]
    )
    yield up
    if scheduler:
        scheduler.stop()
    assert up.stop() == 0, up.output()


def test_version_and_discovery(up):
    kubectl = CACHE / "kubectl"
    server = json.loads(up.kubectl(kubectl, "version", "-o", "json"))["serverVersion"]
    assert f"{server['major']}.{server['minor']}" == minor()
    served = up.kubectl(kubectl, "api-resources", "-o", "name").splitlines()
    assert "resourceclaims.resource.k8s.io" in served
    assert "horizontalpodautoscalers.autoscaling" in served
    assert ("devicetaintrules.resource.k8s.io" in served) == (minor() == "1.37")


def test_pods_are_bound(up):
    for i in range(20):
        up.core.create_namespaced_pod("default", pod(f"p-{i}"))
    until("all pods are bound", lambda: all(node_of(up, f"p-{i}") for i in range(20)), 60)
    until(
        "a pod runs",
        lambda: up.core.read_namespaced_pod("p-0", "default").status.phase == "Running",
    )


def test_refusals_reach_the_pod(up):
    up.core.create_namespaced_pod("default", pod("nowhere", nodeSelector={"no": "node"}))

    def condition():
        found = up.core.read_namespaced_pod("nowhere", "default").status.conditions or []
        return next((c for c in found if c.type == "PodScheduled" and c.status == "False"), None)

    until("a condition", condition, 60)
    assert condition().message.startswith("0/4 nodes are available: 4 node(s) didn't match Pod's")


def test_devices_are_allocated(up):
    group = ("resource.k8s.io", "v1")
    up.custom.create_cluster_custom_object(
        *group, "deviceclasses", {"metadata": {"name": "gpu"}, "spec": {}}
    )
    up.custom.create_cluster_custom_object(
        *group,
        "resourceslices",
        {
            "metadata": {"name": "slice"},
            "spec": {
                "driver": "gpu.example.com",
                "nodeName": "node-0002",
                "pool": {"name": "pool", "generation": 1, "resourceSliceCount": 1},
                "devices": [{"name": "gpu-0"}],
            },
        },
    )
    request = {"name": "r", "exactly": {"deviceClassName": "gpu"}}
    up.custom.create_namespaced_custom_object(
        *group,
        "default",
        "resourceclaims",
        {"metadata": {"name": "claim"}, "spec": {"devices": {"requests": [request]}}},
    )
    claims = [{"name": "gpu", "resourceClaimName": "claim"}]
    up.core.create_namespaced_pod("default", pod("devices", resourceClaims=claims))
    until("the pod is on the node of the device", lambda: node_of(up, "devices"), 60)
    assert node_of(up, "devices") == "node-0002"


def test_volumes_are_bound(up):
    up.core.create_namespaced_persistent_volume_claim(
        "default",
        {
            "metadata": {"name": "data"},
            "spec": {
                "accessModes": ["ReadWriteOnce"],
                "resources": {"requests": {"storage": "1Gi"}},
            },
        },
    )
    volumes = [{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}]
    up.core.create_namespaced_pod("default", pod("with-volume", volumes=volumes))
    until("the pod is bound", lambda: node_of(up, "with-volume"), 60)
    claim = up.core.read_namespaced_persistent_volume_claim("data", "default")
    assert claim.status.phase == "Bound"
