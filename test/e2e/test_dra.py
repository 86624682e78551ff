"""Dynamic resource allocation (resource.k8s.io/v1): device classes, slices and claims."""

import pytest

from harness.processes import until
from harness.world import data

DRIVER = "gpu.example.com"


class Devices:
    def __init__(self, world):
        self.world, self.api = world, world.cluster.resource
        self.device_class = f"{world.namespace}-gpu"
        self.api.create_device_class(
            {
                "metadata": {"name": self.device_class},
                "spec": {"selectors": [{"cel": {"expression": f'device.driver == "{DRIVER}"'}}]},
            }
        )
        world.cleanups.append(lambda: self.api.delete_device_class(self.device_class))

    def slice(self, node, count, **attributes):
        devices = [
            {"name": f"gpu-{i}", "attributes": {k: {"string": v} for k, v in attributes.items()}}
            for i in range(count)
        ]
        self.slice_of(node, devices)

    def slice_of(self, node, devices, **spec):
        where = {} if "perDeviceNodeSelection" in spec else {"nodeName": node}
        self.pool(node, {"devices": devices, **where, **spec})

    def pool(self, node, *specs):
        """A slice of the node's pool for each of these."""
        for i, spec in enumerate(specs):
            name = f"{node}-slice-{i}"
            pool = {"name": node, "generation": 1, "resourceSliceCount": len(specs)}
            self.api.create_resource_slice(
                {"metadata": {"name": name}, "spec": {"driver": DRIVER, "pool": pool, **spec}}
            )
            self.world.cleanups.append(lambda name=name: self.api.delete_resource_slice(name))

    def claim(self, name, count=1, selector=None):
        exactly = {"deviceClassName": self.device_class, "count": count}
        if selector:
            exactly["selectors"] = [{"cel": {"expression": selector}}]
        self.api.create_namespaced_resource_claim(
            self.world.namespace,
            {
                "metadata": {"name": name},
                "spec": {"devices": {"requests": [{"name": "gpu", "exactly": exactly}]}},
            },
        )

    def get(self, name):
        return data(
            self.api.read_namespaced_resource_claim(
                name, self.world.namespace, _preload_content=False
            )
        )

    def drop_finalizers(self):
        for claim in self.api.list_namespaced_resource_claim(self.world.namespace).items:
            self.api.patch_namespaced_resource_claim(
                claim.metadata.name, self.world.namespace, {"metadata": {"finalizers": None}}
            )
            self.api.delete_namespaced_resource_claim(claim.metadata.name, self.world.namespace)


def devices_fixture(kind):
    @pytest.fixture
    def devices(world):
        devices = kind(world)
        yield devices
        devices.drop_finalizers()

    return devices


devices = devices_fixture(Devices)


def use(claim):
    return [{"name": "gpu", "resourceClaimName": claim}]


def test_allocates_and_reserves(world, devices):
    world.node("a")
    node = world.node("b")
    devices.slice(node, 1)
    devices.claim("train")
    pod = world.pod("train", claims=use("train"))
    assert world.bound("train") == node
    claim = devices.get("train")
    assert claim["metadata"]["finalizers"] == ["resource.kubernetes.io/delete-protection"]
    assert claim["status"]["allocation"]["devices"]["results"] == [
        {"request": "gpu", "driver": DRIVER, "pool": node, "device": "gpu-0"}
    ]
    assert claim["status"]["allocation"]["nodeSelector"] == {
        "nodeSelectorTerms": [
            {"matchFields": [{"key": "metadata.name", "operator": "In", "values": [node]}]}
        ]
    }
    assert claim["status"]["reservedFor"] == [
        {"resource": "pods", "name": "train", "uid": pod["metadata"]["uid"]}
    ]


def test_no_device_then_a_slice_appears(world, devices):
    node = world.node("a")
    devices.claim("c")
    world.pod("p", claims=use("c"))
    message = (
        "0/1 nodes are available: 1 cannot allocate all claims. still not schedulable, "
        "preemption: 0/1 nodes are "
        "available: 1 Preemption is not helpful for scheduling."
    )
    world.unschedulable("p", message)
    world.event("p", "FailedScheduling", message)
    devices.slice(node, 1)
    assert world.bound("p") == node


def test_waits_in_silence_for_a_missing_claim(world, devices):
    node = world.node("a")
    devices.slice(node, 1)
    world.pod("early", claims=use("late"))
    world.pod("other")
    world.bound("other")
    assert not world.condition("early") and not world.events("early")
    devices.claim("late")
    assert world.bound("early") == node


def test_devices_run_out_and_come_back(world, devices):
    node = world.node("a")
    devices.slice(node, 2)
    for name in ("c1", "c2", "c3"):
        devices.claim(name)
        world.pod(f"p-{name}", claims=use(name))
    until(
        "two bound", lambda: sum(1 for p in world.all().values() if p["spec"].get("nodeName")) == 2
    )
    (waiting,) = [n for n, p in world.all().items() if not p["spec"].get("nodeName")]
    world.unschedulable(waiting)
    done = next(n for n in world.all() if n != waiting).removeprefix("p-")
    world.delete(
        f"p-{done}"
    )  # then the claim controller's part: nobody uses the claim, it is deallocated
    devices.api.patch_namespaced_resource_claim_status(
        done, world.namespace, {"status": {"allocation": None, "reservedFor": None}}
    )
    assert world.bound(waiting) == node


def test_shared_claim(world, devices):
    world.node("a")
    node = world.node("b")
    devices.slice(node, 1)
    devices.claim("shared")
    pods = [world.pod(n, claims=use("shared")) for n in ("s1", "s2")]
    assert world.bound("s1", "s2") == [node, node]
    assert {r["uid"] for r in devices.get("shared")["status"]["reservedFor"]} == {
        p["metadata"]["uid"] for p in pods
    }


def test_selector_by_attribute(world, devices):
    old, new = world.node("old"), world.node("new")
    devices.slice(old, 1, model="a100")
    devices.slice(new, 2, model="h100")
    devices.claim("pair", count=2, selector=f'device.attributes["{DRIVER}"].model == "h100"')
    world.pod("p", claims=use("pair"))
    assert world.bound("p") == new
    results = devices.get("pair")["status"]["allocation"]["devices"]["results"]
    assert {r["device"] for r in results} == {"gpu-0", "gpu-1"}
