"""Pod groups of 1.37, with GenericWorkload on in the API server and the scheduler."""

import pytest

from harness.cluster import Cluster
from harness.peers import since
from harness.processes import until
from harness.world import data

GATES = "--feature-gates=GenericWorkload=true"
API = ("scheduling.k8s.io", "v1beta1")

pytestmark = pytest.mark.skipif(not since("1.37"), reason="the API is of 1.37")


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    cluster = Cluster(
        tmp_path_factory.mktemp("groups"),
        apiserver_flags=[GATES, "--runtime-config=scheduling.k8s.io/v1beta1=true"],
    )
    scheduler = cluster.scheduler("groups", flags=[GATES, "-v=2"])
    yield cluster
    assert scheduler.running(), f"the scheduler has ended:\n{scheduler.log_tail()}"
    cluster.close()


class Gangs:
    def __init__(self, world):
        self.world = world

    def _path(self, name=""):
        group, version = API
        path = f"/apis/{group}/{version}/namespaces/{self.world.namespace}/podgroups"
        return f"{path}/{name}" if name else path

    def _call(self, path, method, body=None):
        client = self.world.cluster.core.api_client
        return data(
            client.call_api(
                path,
                method,
                body=body,
                header_params={"Content-Type": "application/json", "Accept": "application/json"},
                auth_settings=["BearerToken"],
                _preload_content=False,
            )[0]
        )

    def group(self, name, least, priority_class=None):
        spec = {"schedulingPolicy": {"gang": {"minCount": least}}}
        if priority_class:
            spec["priorityClassName"] = priority_class
        body = {
            "apiVersion": "/".join(API),
            "kind": "PodGroup",
            "metadata": {"name": name},
            "spec": spec,
        }
        return self._call(self._path(), "POST", body)

    def pods(self, group, count, **options):
        names = [f"{group}-{i}" for i in range(count)]
        for name in names:
            self.world.pod(name, spec={"schedulingGroup": {"podGroupName": group}}, **options)
        return names

    def condition(self, name, status):
        def there():
            group = self._call(self._path(name), "GET")
            for condition in group.get("status", {}).get("conditions", []):
                if condition["type"] == "PodGroupInitiallyScheduled":
                    return condition if condition["status"] == status else None
            return None

        return until(f"{name} initially scheduled: {status}", there, 60)


@pytest.fixture
def gangs(quiet_world):
    return Gangs(quiet_world)


def test_gang_is_bound_as_a_whole(gangs):
    world = gangs.world
    world.node("a", cpu="2")
    world.node("b", cpu="2")
    group = gangs.group("g", 4)
    names = gangs.pods("g", 3, cpu="1")
    world.pod("single", cpu="100m", node_selector={"kubernetes.io/hostname": "nowhere"})
    world.unschedulable("single")
    assert not any(world.get(name)["spec"].get("nodeName") for name in names)
    world.pod("g-3", spec={"schedulingGroup": {"podGroupName": "g"}}, cpu="1")
    world.bound(*names, "g-3")
    condition = gangs.condition("g", "True")
    assert condition["reason"] == "Scheduled"
    # This API server gives pod groups no generation.
    assert condition.get("observedGeneration") == group["metadata"].get("generation")


def test_of_a_gang_that_does_not_fit_no_pod_is_bound(gangs):
    world = gangs.world
    world.node("a", cpu="2")
    gangs.group("g", 3)
    names = gangs.pods("g", 3, cpu="1")
    condition = gangs.condition("g", "False")
    why = (
        "minCount (3) cannot be satisfied: 2 scheduled, 0 remaining, "
        "pod group preemption: No preemption victims found for incoming preemptor"
    )
    assert (condition["reason"], condition["message"]) == ("Unschedulable", why)
    world.unschedulable(names[0], "pod group is unschedulable, " + why)
    world.unschedulable(names[2], "0/1 nodes are available: 1 Insufficient cpu.")
    assert not any(world.get(name)["spec"].get("nodeName") for name in names)
    world.node("b", cpu="1")
    world.bound(*names)
    assert gangs.condition("g", "True")["reason"] == "Scheduled"


def test_a_gang_preempts_for_all_its_pods(gangs):
    world = gangs.world
    high = world.priority_class(1000)
    world.node("a", cpu="1")
    world.node("b", cpu="1")
    world.pod("low-a", cpu="1")
    world.pod("low-b", cpu="1")
    world.bound("low-a", "low-b")
    gangs.group("g", 2, priority_class=high)
    names = gangs.pods("g", 2, cpu="1", priority_class=high)
    world.gone("low-a")
    world.gone("low-b")
    world.bound(*names, timeout=60)
    assert gangs.condition("g", "True")["reason"] == "Scheduled"
    notes = [event["note"] for event in world.events(reason="Preempted")]
    assert any("Preempted by podgroup " in note for note in notes), notes
