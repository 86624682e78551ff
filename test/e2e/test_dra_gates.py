"""Alpha features of dynamic resource allocation, with their gates on in the API server and the
scheduler: binding conditions of devices, and devices that stand for extended resources."""

import pytest
from test_dra import DRIVER, Devices, devices_fixture, use

from harness.cluster import Cluster
from harness.peers import since
from harness.processes import until
from harness.world import data

GATES = "--feature-gates=DRADeviceBindingConditions=true,DRAExtendedResource=true"
RESOURCE = "example.com/gpu"


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    cluster = Cluster(tmp_path_factory.mktemp("gated"), apiserver_flags=[GATES])
    cluster.scheduler("gated", flags=[GATES])
    yield cluster
    cluster.close()


class GatedDevices(Devices):
    def stands_for(self, resource):
        name = f"{self.world.namespace}-extended"
        self.api.create_device_class(
            {
                "metadata": {"name": name},
                "spec": {
                    "selectors": [{"cel": {"expression": f'device.driver == "{DRIVER}"'}}],
                    "extendedResourceName": resource,
                },
            }
        )
        self.world.cleanups.append(lambda: self.api.delete_device_class(name))
        return name

    def claims(self):
        answer = self.api.list_namespaced_resource_claim(
            self.world.namespace, _preload_content=False
        )
        return data(answer)["items"]

    def allocated(self, name):
        """Waits for an allocation whose devices have reported nothing yet."""

        def check():
            status = self.get(name).get("status", {})
            return None if status.get("devices") else status.get("allocation")

        return until(f"{name} allocated", check, 60)

    def report(self, name, condition, message):
        """What the driver says about the only device of a claim."""
        claim = self.get(name)
        result = claim["status"]["allocation"]["devices"]["results"][0]
        claim["status"]["devices"] = [
            {
                "driver": result["driver"],
                "pool": result["pool"],
                "device": result["device"],
                "conditions": [
                    {
                        "type": condition,
                        "status": "True",
                        "reason": "Testing",
                        "message": message,
                        "lastTransitionTime": "2026-01-01T00:00:00Z",
                    }
                ],
            }
        ]
        self.api.replace_namespaced_resource_claim_status(name, self.world.namespace, claim)


@pytest.fixture
def world(quiet_world):
    return quiet_world


devices = devices_fixture(GatedDevices)


CONDITIONAL = [
    {"name": "gpu-0", "bindingConditions": ["Attached"], "bindingFailureConditions": ["Broken"]}
]


def test_a_pod_waits_for_its_device(world, devices):
    node = world.node("a")
    devices.slice_of(node, CONDITIONAL)
    devices.claim("train")
    pod = world.pod("train", claims=use("train"))
    allocation = devices.allocated("train")
    assert allocation["devices"]["results"] == [
        {
            "request": "gpu",
            "driver": DRIVER,
            "pool": node,
            "device": "gpu-0",
            "bindingConditions": ["Attached"],
            "bindingFailureConditions": ["Broken"],
        }
    ]
    assert allocation["allocationTimestamp"]
    assert devices.get("train")["status"]["reservedFor"] == [
        {"resource": "pods", "name": "train", "uid": pod["metadata"]["uid"]}
    ]
    event = world.event(
        "train",
        "BindingConditionsPending",
        f"waiting for binding conditions for device on node {node}",
    )
    assert (event["type"], event["action"]) == ("Normal", "Scheduling")
    assert not world.get("train")["spec"].get("nodeName")
    devices.report("train", "Attached", "it is there")
    assert world.bound("train") == node


def test_a_device_that_failed_is_given_back(world, devices):
    node = world.node("a")
    devices.slice_of(node, CONDITIONAL)
    devices.claim("train")
    world.pod("train", claims=use("train"))
    devices.allocated("train")
    devices.report("train", "Broken", 'no "cable"')
    world.event(
        "train",
        "FailedScheduling",
        'running PreBind plugin "DynamicResources": '
        + (
            "device binding failed: claim=train, "
            if since("1.36")
            else "claim train binding failed: "
        )
        + 'reason=Testing, message="no \\"cable\\""',
    )
    world.event(
        "train",
        "FailedScheduling",
        "0/1 nodes are available: 1 resourceclaim not available on the node. deallocation of "
        "ResourceClaim completed, preemption: 0/1 nodes are available: 1 Preemption is not helpful "
        "for scheduling.",
    )
    # Allocated anew, and what was reported is forgotten.
    devices.allocated("train")
    devices.report("train", "Attached", "now it is")
    assert world.bound("train", timeout=60) == node


def test_a_device_without_conditions_is_preferred(world, devices):
    node = world.node("a")
    devices.slice_of(node, CONDITIONAL)
    other = world.node("b")
    devices.slice_of(other, [{"name": "gpu-0"}])
    devices.claim("train")
    world.pod("train", claims=use("train"), node_selector={"kubernetes.io/hostname": other})
    assert world.bound("train") == other
    assert devices.get("train")["status"]["allocation"]["allocationTimestamp"]
    assert not world.events("train", "BindingConditionsPending")


def test_devices_stand_for_an_extended_resource(world, devices):
    device_class = devices.stands_for(RESOURCE)
    node = world.node("a")
    devices.slice(node, 3)
    pod = world.pod("train", cpu="1", extra={RESOURCE: "2"})
    assert world.bound("train") == node
    (claim,) = devices.claims()
    metadata = claim["metadata"]
    assert metadata["name"].startswith("train-extended-resources-")
    assert metadata["annotations"] == {"resource.kubernetes.io/extended-resource-claim": "true"}
    assert metadata["finalizers"] == ["resource.kubernetes.io/delete-protection"]
    assert metadata["ownerReferences"] == [
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "name": "train",
            "uid": pod["metadata"]["uid"],
            "controller": True,
            **({} if since("1.35") else {"blockOwnerDeletion": True}),
        }
    ]
    assert claim["spec"]["devices"]["requests"] == [
        {
            "name": "container-0-request-1",
            "exactly": {
                "deviceClassName": device_class,
                "allocationMode": "ExactCount",
                "count": 2,
            },
        }
    ]
    results = claim["status"]["allocation"]["devices"]["results"]
    assert [r["request"] for r in results] == ["container-0-request-1"] * 2
    assert claim["status"]["reservedFor"] == [
        {"resource": "pods", "name": "train", "uid": pod["metadata"]["uid"]}
    ]
    assert world.get("train")["status"]["extendedResourceClaimStatus"] == {
        "requestMappings": [
            {
                "containerName": "c",
                "resourceName": RESOURCE,
                "requestName": "container-0-request-1",
            }
        ],
        "resourceClaimName": metadata["name"],
    }

    world.pod("more", extra={RESOURCE: "2"})
    world.unschedulable(
        "more",
        "0/1 nodes are available: 1 cannot allocate all claims. still not schedulable, "
        "preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling.",
    )
    assert len(devices.claims()) == 1
    other = world.node("b")
    devices.slice(other, 2)
    assert world.bound("more") == other


def test_a_node_that_has_the_resource_needs_no_device(world, devices):
    devices.stands_for(RESOURCE)
    node = world.node("plugged", extra={RESOURCE: "1"})
    world.pod("train", extra={RESOURCE: "1"})
    assert world.bound("train") == node
    assert not devices.claims()
    assert "extendedResourceClaimStatus" not in world.get("train")["status"]
    world.pod("more", extra={RESOURCE: "1"})
    world.unschedulable("more", timeout=30)
    assert "Insufficient example.com/gpu" in world.condition("more")["message"]


def test_a_claim_left_over_is_removed(world, devices):
    device_class = devices.stands_for(RESOURCE)
    pod = world.pod("train", extra={RESOURCE: "1"})
    world.unschedulable("train")
    # As an earlier attempt would have left it.
    devices.api.create_namespaced_resource_claim(
        world.namespace,
        {
            "metadata": {
                "name": "train-extended-resources-old",
                "annotations": {"resource.kubernetes.io/extended-resource-claim": "true"},
                "finalizers": ["resource.kubernetes.io/delete-protection"],
                "ownerReferences": [
                    {
                        "apiVersion": "v1",
                        "kind": "Pod",
                        "name": "train",
                        "uid": pod["metadata"]["uid"],
                        "controller": True,
                    }
                ],
            },
            "spec": {
                "devices": {
                    "requests": [
                        {
                            "name": "container-0-request-0",
                            "exactly": {"deviceClassName": device_class},
                        }
                    ]
                }
            },
        },
    )
    node = world.node("a")
    world.unschedulable(
        "train",
        "0/1 nodes are available: 1 cannot schedule extended resource claim. deletion of "
        "ResourceClaim completed, preemption: 0/1 nodes are available: 1 Preemption is not helpful "
        "for scheduling.",
    )
    until("the old claim is gone", lambda: not devices.claims())
    devices.slice(node, 1)
    assert world.bound("train") == node
    assert [c["metadata"]["name"] for c in devices.claims()] != ["train-extended-resources-old"]
