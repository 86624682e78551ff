"""The choice of devices with features on that were alpha in 1.34, in the API server and the
scheduler: devices that are parts of others, taints on devices, devices that claims share."""

import pytest
from kubernetes import client
from test_dra import DRIVER, Devices, devices_fixture, use

from harness.cluster import Cluster
from harness.peers import MINOR, since

FEATURES = ["DRAPartitionableDevices", "DRADeviceTaints", "DRAConsumableCapacity"]
if since("1.35"):
    FEATURES.append("DRADeviceTaintRules")
RULES = {"1.34": "v1alpha3", "1.35": "v1alpha3", "1.36": "v1beta2", "1.37": "v1"}[MINOR]
GATES = "--feature-gates=" + ",".join(f"{feature}=true" for feature in FEATURES)
NO_DEVICE = "0/1 nodes are available: 1 cannot allocate all claims."


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    cluster = Cluster(
        tmp_path_factory.mktemp("gated"),
        apiserver_flags=[GATES, f"--runtime-config=resource.k8s.io/{RULES}=true"],
    )
    cluster.scheduler("gated", flags=[GATES])
    yield cluster
    cluster.close()


class GatedDevices(Devices):
    def ask(self, name, **exactly):
        request = {"name": "gpu", "exactly": {"deviceClassName": self.device_class, **exactly}}
        self.api.create_namespaced_resource_claim(
            self.world.namespace,
            {"metadata": {"name": name}, "spec": {"devices": {"requests": [request]}}},
        )
        self.world.pod(name, claims=use(name))

    def results(self, name):
        return self.get(name)["status"]["allocation"]["devices"]["results"]


@pytest.fixture
def world(quiet_world):
    return quiet_world


devices = devices_fixture(GatedDevices)


def part(name, memory):
    draws = {"counterSet": "card", "counters": {"memory": {"value": memory}}}
    return {"name": name, "consumesCounters": [draws]}


def test_parts_of_a_device_exclude_each_other(world, devices):
    node = world.node("a")
    card = {"name": "card", "counters": {"memory": {"value": "40Gi"}}}
    parts = [part("half-0", "20Gi"), part("whole", "40Gi"), part("half-1", "20Gi")]
    if since("1.35"):  # counters have a slice of their own
        devices.pool(
            node,
            {"nodeName": node, "sharedCounters": [card]},
            {"nodeName": node, "devices": parts},
        )
    else:
        devices.slice_of(node, parts, sharedCounters=[card])
    devices.ask("first")
    assert world.bound("first") == node
    devices.ask("second")
    assert world.bound("second") == node
    assert [devices.results(n)[0]["device"] for n in ("first", "second")] == ["half-0", "half-1"]
    devices.ask("third")
    assert world.unschedulable("third")["message"].startswith(NO_DEVICE)


def test_devices_of_one_slice_on_several_nodes(world, devices):
    nodes = [world.node("a"), world.node("b")]
    places = [{"name": f"gpu-{i}", "nodeName": node} for i, node in enumerate(nodes)]
    devices.slice_of(nodes[0], places, perDeviceNodeSelection=True)
    devices.ask("first")
    devices.ask("second")
    world.bound("first", "second")
    placed = {}
    for name in ("first", "second"):
        node = world.get(name)["spec"]["nodeName"]
        placed[devices.results(name)[0]["device"]] = node
        terms = devices.get(name)["status"]["allocation"]["nodeSelector"]["nodeSelectorTerms"]
        assert terms[0]["matchFields"][0]["values"] == [node]
    assert placed == {"gpu-0": nodes[0], "gpu-1": nodes[1]}


def test_taints_of_devices_and_tolerations(world, devices):
    node = world.node("a")
    taint = {"key": "broken", "value": "fan", "effect": "NoSchedule"}
    devices.slice_of(node, [{"name": "gpu-0", "taints": [taint]}])
    devices.ask("careful")
    assert world.unschedulable("careful")["message"].startswith(NO_DEVICE)
    devices.ask("bold", tolerations=[{"key": "broken", "operator": "Exists"}])
    assert world.bound("bold") == node


def test_rules_put_taints_on_devices(world, devices):
    rules = client.CustomObjectsApi(world.cluster.resource.api_client)
    where = ("resource.k8s.io", RULES, "devicetaintrules")
    rule = {
        "apiVersion": f"resource.k8s.io/{RULES}",
        "kind": "DeviceTaintRule",
        "metadata": {"name": world.namespace},
        "spec": {
            "deviceSelector": {"driver": DRIVER, "device": "gpu-0"},
            "taint": {"key": "maintenance", "effect": "NoSchedule"},
        },
    }
    rules.create_cluster_custom_object(*where, rule)
    world.cleanups.append(lambda: rules.delete_cluster_custom_object(*where, world.namespace))
    node = world.node("a")
    devices.slice_of(node, [{"name": "gpu-0"}])
    devices.ask("waits")
    assert world.unschedulable("waits")["message"].startswith(NO_DEVICE)
    rule["spec"]["deviceSelector"]["device"] = "gpu-1"
    rules.patch_cluster_custom_object(*where, world.namespace, rule)
    assert world.bound("waits") == node


def test_claims_share_a_device(world, devices):
    node = world.node("a")
    memory = {
        "value": "10Gi",
        "requestPolicy": {
            "default": "1Gi",
            "validRange": {"min": "1Gi", "step": "1Gi", "max": "8Gi"},
        },
    }
    shared = {"name": "gpu-0", "allowMultipleAllocations": True, "capacity": {"memory": memory}}
    devices.slice_of(node, [shared])
    for name in ("one", "two"):
        devices.ask(name, capacity={"requests": {"memory": "4500Mi"}})
        assert world.bound(name) == node
    (one,), (two,) = devices.results("one"), devices.results("two")
    assert one["device"] == two["device"] == "gpu-0"
    assert one["consumedCapacity"] == two["consumedCapacity"] == {"memory": "5Gi"}
    assert one["shareID"] != two["shareID"]
    devices.ask("three")
    assert world.unschedulable("three")["message"].startswith(NO_DEVICE)
