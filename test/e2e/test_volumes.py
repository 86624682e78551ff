"""Volumes. There is no controller manager: these tests play the volume controller and the
provisioner."""

from harness import objects
from harness.objects import claim_volume
from harness.processes import until
from harness.world import data

SELECTED = "volume.kubernetes.io/selected-node"


def claim_of(world, name):
    return data(
        world.cluster.core.read_namespaced_persistent_volume_claim(
            name, world.namespace, _preload_content=False
        )
    )


def volume_of(world, name):
    return data(world.cluster.core.read_persistent_volume(name, _preload_content=False))


def bind_claim(world, claim, volume):
    """What the volume controller does once a volume's claimRef points at the claim."""
    world.cluster.core.patch_namespaced_persistent_volume_claim(
        claim,
        world.namespace,
        {
            "metadata": {"annotations": {"pv.kubernetes.io/bind-completed": "yes"}},
            "spec": {"volumeName": volume},
        },
    )
    world.cluster.core.patch_namespaced_persistent_volume_claim_status(
        claim,
        world.namespace,
        {
            "status": {
                "phase": "Bound",
                "accessModes": ["ReadWriteOnce"],
                "capacity": {"storage": "1Gi"},
            }
        },
    )
    world.cluster.core.patch_persistent_volume_status(volume, {"status": {"phase": "Bound"}})


def test_wait_for_first_consumer_static(world):
    world.node("a")
    node = world.node("b")
    local = world.storage_class("local")
    volume = world.volume("pv", local, [node])
    claim = world.claim("data", local)
    world.pod("web", volumes=[claim_volume("data")])
    ref = until("claimRef written", lambda: volume_of(world, volume)["spec"].get("claimRef"))
    assert ref["name"] == "data" and ref["namespace"] == world.namespace
    assert ref["uid"] == claim["metadata"]["uid"] and ref["kind"] == "PersistentVolumeClaim"
    assert (
        volume_of(world, volume)["metadata"]["annotations"]["pv.kubernetes.io/bound-by-controller"]
        == "yes"
    )
    assert not world.get("web")["spec"].get("nodeName"), "the pod waits for the volume controller"
    bind_claim(world, "data", volume)
    assert world.bound("web") == node


def test_wait_for_first_consumer_dynamic(world):
    node = world.node("a")
    fast = world.storage_class("fast", "e2e.example.com/provisioner")
    world.claim("data", fast)
    world.pod("db", volumes=[claim_volume("data")])
    selected = lambda: claim_of(world, "data")["metadata"].get("annotations", {}).get(SELECTED)
    assert until("node selected", selected) == node
    # The provisioner gives up once: the pod is told so and is tried again.
    world.cluster.core.patch_namespaced_persistent_volume_claim(
        "data", world.namespace, {"metadata": {"annotations": {SELECTED: None}}}
    )
    message = 'running PreBind plugin "VolumeBinding": binding volumes: selectedNode annotation reset for PVC "data"'
    world.unschedulable("db", message, reason="SchedulerError")
    world.event("db", "FailedScheduling", message)
    assert until("node selected again", selected) == node
    claim = claim_of(world, "data")
    volume = world.volume(
        "pv",
        fast,
        [node],
        claim_ref={
            "kind": "PersistentVolumeClaim",
            "apiVersion": "v1",
            "namespace": world.namespace,
            "name": "data",
            "uid": claim["metadata"]["uid"],
        },
    )
    bind_claim(world, "data", volume)
    assert world.bound("db") == node


def test_deleted_while_its_volume_is_made(world):
    """The room of such a pod is free again as soon as that is noticed, and an event says so."""
    node = world.node("a", cpu="1")
    fast = world.storage_class("fast", "e2e.example.com/provisioner")
    world.claim("data", fast)
    world.pod("db", cpu="1", volumes=[claim_volume("data")])
    until(
        "node selected",
        lambda: claim_of(world, "data")["metadata"].get("annotations", {}).get(SELECTED) == node,
    )
    world.pod("next", cpu="1")
    world.unschedulable("next")
    world.delete("db")
    assert world.bound("next") == node
    world.event(
        "db",
        "FailedScheduling",
        'running PreBind plugin "VolumeBinding": binding volumes: pod does not exist any more: '
        'pod "db" not found',
    )


def test_no_volume_to_bind(world):
    node = world.node("a")
    local = world.storage_class("local")
    world.claim("data", local)
    world.pod("web", volumes=[claim_volume("data")])
    world.unschedulable(
        "web",
        "0/1 nodes are available: 1 node(s) didn't find available persistent volumes to bind. "
        "no new claims to deallocate, preemption: 0/1 nodes are available: 1 Preemption is not "
        "helpful for scheduling.",
    )
    assert node


def test_bound_volume_pins_the_pod(world):
    world.node("a", cpu="8")
    node = world.node("b", cpu="1")
    local = world.storage_class("local")
    claim = world.claim("data", local)
    volume = world.volume(
        "pv",
        local,
        [node],
        claim_ref={
            "kind": "PersistentVolumeClaim",
            "apiVersion": "v1",
            "namespace": world.namespace,
            "name": "data",
            "uid": claim["metadata"]["uid"],
        },
    )
    bind_claim(world, "data", volume)
    world.pod("small", cpu="500m", volumes=[claim_volume("data")])
    assert world.bound("small") == node
    world.pod("big", cpu="2", volumes=[claim_volume("data")])
    world.unschedulable(
        "big",
        "0/2 nodes are available: 1 Insufficient cpu, 1 node(s) didn't match PersistentVolume's "
        "node affinity. no "
        "new claims to deallocate, preemption: 0/2 nodes are available: 2 Preemption is not "
        "helpful for scheduling.",
    )


def test_missing_claim(world):
    node = world.node("a")
    world.pod("web", volumes=[claim_volume("absent")])
    world.unschedulable(
        "web", '0/1 nodes are available: persistentvolumeclaim "absent" not found. not found'
    )
    local = world.storage_class("now", "e2e.example.com/provisioner", mode="Immediate")
    world.claim("absent", local)
    world.unschedulable(
        "web",
        "0/1 nodes are available: pod has unbound immediate PersistentVolumeClaims. not found",
    )
    volume = world.volume(
        "pv",
        local,
        [node],
        claim_ref={
            "kind": "PersistentVolumeClaim",
            "apiVersion": "v1",
            "namespace": world.namespace,
            "name": "absent",
            "uid": claim_of(world, "absent")["metadata"]["uid"],
        },
    )
    bind_claim(world, "absent", volume)
    assert world.bound("web") == node


def test_csi_attach_limit(world):
    node = world.node("a")
    fast = world.storage_class("fast", "csi.e2e.example.com")
    world.cluster.storage.create_csi_node(
        {
            "metadata": {"name": node},
            "spec": {
                "drivers": [
                    {"name": "csi.e2e.example.com", "nodeID": node, "allocatable": {"count": 1}}
                ]
            },
        }
    )
    world.cleanups.append(lambda: world.cluster.storage.delete_csi_node(node))
    for name in ("one", "two"):
        claim = world.claim(name, fast)
        body = objects.local_volume(
            f"{world.namespace}-{name}",
            fast,
            [node],
            claim_ref={
                "kind": "PersistentVolumeClaim",
                "apiVersion": "v1",
                "namespace": world.namespace,
                "name": name,
                "uid": claim["metadata"]["uid"],
            },
        )
        del body["spec"]["local"], body["spec"]["nodeAffinity"]
        body["spec"]["csi"] = {
            "driver": "csi.e2e.example.com",
            "volumeHandle": f"{world.namespace}-{name}",
        }
        world.cluster.core.create_persistent_volume(body)
        world.cleanups.append(
            lambda n=body["metadata"]["name"]: world.cluster.core.delete_persistent_volume(n)
        )
        bind_claim(world, name, body["metadata"]["name"])
    world.pod("p1", volumes=[claim_volume("one")])
    assert world.bound("p1") == node
    world.pod("p2", volumes=[claim_volume("two")])
    world.unschedulable(
        "p2",
        "0/1 nodes are available: 1 node(s) exceed max volume count. no new claims to deallocate, "
        "preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod.",
    )
    world.delete("p1")
    assert world.bound("p2") == node
