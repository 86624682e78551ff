"""The configuration of a scheduler-plugins user, examples/scheduler-plugins/scheduler.yaml, with all
of its profiles: beside an API server that serves the custom resources, and before it serves them."""

import re
import time

import pytest
import yaml
from kubernetes import client

from harness.processes import until
from harness.scheduler import REPOSITORY, program

EXAMPLE = REPOSITORY / "examples/scheduler-plugins"
GANG, QUOTA = "podgroups", "elasticquotas"
SCHEDULING = ("scheduling.x-k8s.io", "v1alpha1")
NUMA = ("topology.node.k8s.io", "v1alpha2", "noderesourcetopologies", "NodeResourceTopology")
APP_GROUP = ("appgroup.diktyo.x-k8s.io", "v1alpha1", "appgroups", "AppGroup")
NETWORK = ("networktopology.diktyo.x-k8s.io", "v1alpha1", "networktopologies", "NetworkTopology")
SECCOMP = ("security-profiles-operator.x-k8s.io", "v1beta1", "seccompprofiles", "SeccompProfile")
KINDS = (
    "PodGroup",
    "ElasticQuota",
    "NodeResourceTopology",
    "AppGroup",
    "NetworkTopology",
    "SeccompProfile",
)
ZONE, REGION = "topology.kubernetes.io/zone", "topology.kubernetes.io/region"

pytestmark = pytest.mark.skipif(
    program().name == "kube-scheduler", reason="kube-scheduler lacks these plugins"
)


@pytest.fixture(scope="module")
def plugins(cluster):
    """The scheduler with the example's profiles. It starts without the custom resources."""
    body = yaml.safe_load((EXAMPLE / "scheduler.yaml").read_text())
    # Nothing else is changed.
    body["clientConnection"] = {"kubeconfig": str(cluster.admin_kubeconfig)}
    body["leaderElection"] = {"leaderElect": False}
    scheduler = cluster.scheduler("plugins", config=body, flags=["-v=2"])

    def kinds_after(line):
        return {kind for kind in KINDS if re.search(f'{line}.*type="[^"]*{kind}"', scheduler.log())}

    until("lines about missing kinds", lambda: kinds_after("Going on without") == set(KINDS))
    cluster.kubectl("apply", "-f", EXAMPLE / "crds.yaml")
    until("lists of all kinds", lambda: kinds_after("Caches populated") == set(KINDS), 60)
    yield scheduler
    assert scheduler.running(), scheduler.log_tail()
    scheduler.stop()


@pytest.fixture
def api(cluster):
    return client.CustomObjectsApi(cluster.api)


def create(world, api, kind, name, fields, namespace=None):
    """An object of a kind (group, version, plural, kind); in a namespace unless it has none."""
    group, version, plural, title = kind
    body = {"apiVersion": f"{group}/{version}", "kind": title, "metadata": {"name": name}, **fields}
    if kind is NUMA:
        api.create_cluster_custom_object(group, version, plural, body)
        world.cleanups.append(
            lambda: api.delete_cluster_custom_object(group, version, plural, name)
        )
        return
    namespace = namespace or world.namespace
    api.create_namespaced_custom_object(group, version, namespace, plural, body)
    world.cleanups.append(
        lambda: api.delete_namespaced_custom_object(group, version, namespace, plural, name)
    )


def why(world, name):
    return world.unschedulable(name)["message"]


def test_a_gang_waits_for_its_last_pod(quiet_world, plugins, api):
    world = quiet_world
    world.node("a")
    create(world, api, (*SCHEDULING, GANG, "PodGroup"), "gang", {"spec": {"minMember": 3}})
    labels = {"scheduling.x-k8s.io/pod-group": "gang"}
    world.pods(["one", "two"], cpu="500m", labels=labels, scheduler="batch-scheduler")
    assert "cannot find enough sibling pods, current pods number: " in why(world, "one")
    world.pod("three", cpu="500m", labels=labels, scheduler="batch-scheduler")
    world.bound("one", "two", "three", timeout=60)


def test_a_namespace_stays_below_its_quota(quiet_world, plugins, api):
    world = quiet_world
    world.node("a")
    amounts = {"min": {"cpu": "1", "memory": "1Gi"}, "max": {"cpu": "1", "memory": "1Gi"}}
    create(world, api, (*SCHEDULING, QUOTA, "ElasticQuota"), "quota", {"spec": amounts})
    time.sleep(1)  # a pod that comes before the quota is known is not limited
    world.pod("fits", cpu="800m", memory="100Mi", scheduler="batch-scheduler")
    world.bound("fits")
    world.pod("above", cpu="800m", memory="100Mi", scheduler="batch-scheduler")
    assert (
        f"Pod {world.namespace}/above is rejected in PreFilter because ElasticQuota "
        f"{world.namespace} is more than Max" in why(world, "above")
    )


def guaranteed(cpu):
    amounts = {"cpu": cpu, "memory": "100Mi"}
    return {
        "containers": [
            {
                "name": "c",
                "image": "registry.k8s.io/pause:3.10",
                "resources": {"requests": amounts, "limits": amounts},
            }
        ]
    }


def test_pods_are_aligned_with_numa_cells(quiet_world, plugins, api):
    world = quiet_world
    node = world.node("a")

    def cell(number):
        def amount(resource, value):
            return {"name": resource, "capacity": value, "allocatable": value, "available": value}

        return {
            "name": f"node-{number}",
            "type": "Node",
            "resources": [amount("cpu", "2"), amount("memory", "4Gi")],
        }

    policy = [
        {"name": "topologyManagerPolicy", "value": "single-numa-node"},
        {"name": "topologyManagerScope", "value": "container"},
    ]
    create(world, api, NUMA, node, {"zones": [cell(0), cell(1)], "attributes": policy})
    time.sleep(1)
    world.pod("wide", scheduler="numa-scheduler", spec=guaranteed("3"))
    assert "cannot align container" in why(world, "wide")
    world.pod("narrow", scheduler="numa-scheduler", spec=guaranteed("2"))
    assert world.bound("narrow") == node


def test_services_go_near_those_they_talk_to(quiet_world, plugins, api):
    world = quiet_world
    near = world.node("near", labels={ZONE: "z1", REGION: "r1"})
    far = world.node("far", labels={ZONE: "z2", REGION: "r1"})

    def workload(name):
        return {"kind": "Deployment", "name": name, "selector": name, "apiVersion": "apps/v1"}

    talks = {"workload": workload("back"), "maxNetworkCost": 5}
    members = [
        {"workload": workload("front"), "dependencies": [talks]},
        {"workload": workload("back")},
    ]
    spec = {
        "numMembers": 2,
        "topologySortingAlgorithm": "KahnSort",
        "workloads": members,
    }
    group = world.namespace
    create(world, api, APP_GROUP, group, {"spec": spec}, "default")
    costs = {
        "topologyKey": ZONE,
        "originList": [
            {"origin": "z1", "costList": [{"destination": "z2", "networkCost": 20}]},
            {"origin": "z2", "costList": [{"destination": "z1", "networkCost": 20}]},
        ],
    }
    weights = [{"name": "UserDefined", "topologyList": [costs]}]
    create(world, api, NETWORK, "nt-default", {"spec": {"weights": weights}}, "default")
    time.sleep(1)

    def labels(name):
        return {"appgroup.diktyo.x-k8s.io": group, "appgroup.diktyo.x-k8s.io.workload": name}

    world.pod("back", labels=labels("back"), node_name=near)
    world.pod("front", labels=labels("front"), scheduler="network-scheduler", cpu="100m")
    assert world.bound("front") == near
    world.pod(
        "away",
        labels=labels("front"),
        scheduler="network-scheduler",
        node_selector={"kubernetes.io/hostname": far},
    )
    assert (
        f"Node {far} does not meet several network requirements from Workload dependencies: "
        "Satisfied: 0 Violated: 1" in why(world, "away")
    )


def test_pods_go_where_others_may_make_the_same_system_calls(quiet_world, plugins, api):
    world = quiet_world
    nodes = {name: world.node(name) for name in ("reads", "writes")}
    for name, calls in (("reads", ["read", "open"]), ("writes", ["write", "fsync"])):
        syscalls = [{"action": "SCMP_ACT_ALLOW", "names": calls}]
        spec = {"defaultAction": "SCMP_ACT_ERRNO", "syscalls": syscalls}
        create(world, api, SECCOMP, name, {"spec": spec})
    time.sleep(1)

    def confined(name):
        path = f"operator/{world.namespace}/{name}.json"
        profile = {"type": "Localhost", "localhostProfile": path}
        return {"securityContext": {"seccompProfile": profile}}

    for name, node in nodes.items():
        world.pod(f"old-{name}", node_name=node, spec=confined(name))
        status = {"phase": "Running", "startTime": "2026-01-01T00:00:00Z"}
        world.cluster.core.patch_namespaced_pod_status(
            f"old-{name}", world.namespace, {"status": status}
        )
    time.sleep(1)
    for name, node in nodes.items():
        world.pod(f"new-{name}", scheduler="syscall-scheduler", spec=confined(name))
        assert world.bound(f"new-{name}") == node


def test_profiles_by_load_do_without_a_load_watcher(quiet_world, plugins):
    node = quiet_world.node("a")
    for profile in ("load-scheduler", "risk-scheduler", "power-scheduler"):
        quiet_world.pod(profile, cpu="100m", scheduler=profile)
        assert quiet_world.bound(profile) == node
