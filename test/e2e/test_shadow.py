"""Shadow mode beside the real kube-scheduler: nothing unexplained when both are configured alike, a planted difference
is found and named, and the shadow only reads.

BERTH_E2E_SHADOW_PODS=5000 makes the storm larger.
"""

import os
import random
import threading
import time

import pytest
from test_side_by_side import changes

from harness import kubeconfig, objects
from harness.cluster import Cluster
from harness.objects import node_affinity, pod_affinity, spread, taint
from harness.peers import peers_folder
from harness.processes import Process, until
from harness.shadow import BERTH, Shadow, wrong
from harness.side import Side
from harness.world import World

PODS = int(os.environ.get("BERTH_E2E_SHADOW_PODS", "400"))
ZONE = "topology.kubernetes.io/zone"


def theirs():
    return peers_folder() / "kube-scheduler"


@pytest.fixture
def control_plane(tmp_path):
    cluster = Cluster(tmp_path)
    yield cluster
    cluster.close()


def started(cluster, **options):
    """A shadow that has listed everything: its watches are open."""
    position = cluster.audit.position()
    shadow = Shadow(cluster, **options)

    def watches():
        assert shadow.running(), shadow.log_tail()
        seen = {
            r.path
            for r in cluster.audit.since(position)
            if "shadow" in r.agent and r.verb in ("list", "watch")
        }
        return len(seen) >= 15

    until("the shadow watches", watches)
    time.sleep(1)
    return shadow


def writes_of(cluster):
    return [
        r
        for r in cluster.audit.since()
        if ("shadow" in r.agent or "berth-shadow" in r.user)
        and r.verb not in ("get", "list", "watch")
    ]


def test_every_kind_of_pod(tmp_path):
    """The population of the side-by-side test, and the changes that wake some of its pods."""
    side = Side(tmp_path, theirs(), 1, before_scheduler=lambda cluster: started(cluster))
    try:
        shadow = side.before
        side.settle()
        for _, change in changes(side.people):
            change(side)
            side.settle()
        code, summary = shadow.finish()
        print(f"\n{summary['outcomes']}")
        assert summary["compared"] > 150
        assert summary["unexplained"] == 0 and code == 0, wrong(summary)
        assert not writes_of(side.cluster)
    finally:
        side.close()


def random_pod(r, name, classes):
    """A pod of any kind; it may fit nowhere."""
    options = {
        "cpu": r.choice(["50m", "100m", "250m", "500m", "1"]),
        "memory": r.choice(["64Mi", "128Mi", "512Mi"]),
        "labels": {"app": r.choice(["a", "b", "c", "d"])},
    }
    app = {"app": options["labels"]["app"]}
    kind = r.randrange(10)
    if kind == 0:
        options["affinity"] = pod_affinity(app, ZONE, preferred_weight=50)
    elif kind == 1:
        options["affinity"] = pod_affinity(app, anti=True, preferred_weight=80)
    elif kind == 2:
        options["spread"] = [spread(app, skew=2)]
    elif kind == 3:
        options["spread"] = [
            spread(app, topology="kubernetes.io/hostname", when="ScheduleAnyway", skew=1)
        ]
    elif kind == 4:
        options["affinity"] = node_affinity("disk", "In", ["ssd"], preferred_weight=20)
    elif kind == 5:
        options["tolerations"] = [{"key": "team", "operator": "Exists"}]
    elif kind == 6:
        options["priority_class"] = r.choice(classes)
    elif kind == 7:
        options["node_selector"] = {"disk": r.choice(["ssd", "hdd"])}
    elif kind == 8:
        options["ports"] = [8000 + r.randrange(20)]
    return objects.pod(name, **options)


def churn(world, nodes, stop, r):
    """Cordons, taints and relabels nodes until it is stopped."""
    while not stop.wait(r.uniform(0.2, 0.8)):
        name = r.choice(nodes)
        kind = r.randrange(3)
        if kind == 0:
            world.patch_node(name, {"spec": {"unschedulable": r.random() < 0.3 or None}})
        elif kind == 1:
            taints = [taint("team", "a", "NoSchedule")] if r.random() < 0.3 else None
            world.patch_node(name, {"spec": {"taints": taints}})
        else:
            world.patch_node(name, {"metadata": {"labels": {"disk": r.choice(["ssd", "hdd"])}}})


def test_storm(control_plane):
    """Hundreds of pods of all kinds, some deleted again, while nodes change."""
    r = random.Random(7)
    world = World(control_plane, "storm")
    nodes = [
        world.node(
            f"n{i:02}",
            cpu=r.choice(["4", "8", "16"]),
            memory="32Gi",
            labels={ZONE: f"z{i % 3}", "disk": r.choice(["ssd", "hdd"])},
        )
        for i in range(40)
    ]
    classes = [world.priority_class(v) for v in (10, 1000)]
    shadow = started(control_plane)
    scheduler = control_plane.scheduler("theirs", path=theirs())
    stop = threading.Event()
    churner = threading.Thread(target=churn, args=(world, nodes, stop, random.Random(8)))
    churner.start()
    try:
        for i in range(PODS):
            body = random_pod(r, f"p{i:05}", classes)
            control_plane.core.create_namespaced_pod("storm", body, _preload_content=False)
            if i >= 200 and r.random() < 0.7 and world.exists(old := f"p{i - 200:05}"):
                world.delete(old)
            time.sleep(r.choice([0, 0, 0, 0.05]))
    finally:
        stop.set()
        churner.join()

    def answered():
        return all(
            p["spec"].get("nodeName") or p["status"].get("conditions") for p in world.all().values()
        )

    until("every pod has an answer", answered, 120)
    time.sleep(2)
    code, summary = shadow.finish()
    assert scheduler.running()
    print(f"\n{PODS} pods: {summary['outcomes']}")
    assert summary["compared"] >= PODS * 0.9
    assert summary["unexplained"] == 0 and code == 0, wrong(summary)
    assert not writes_of(control_plane)


PLANTED = {
    "weight": (
        {
            "plugins": {
                "score": {
                    "disabled": [{"name": "NodeResourcesFit"}],
                    "enabled": [{"name": "NodeResourcesFit", "weight": 60}],
                }
            }
        },
        "ScoreGap",
        "NodeResourcesFit",
    ),
    "disabled": (
        {"plugins": {"multiPoint": {"disabled": [{"name": "TaintToleration"}]}}},
        "Infeasible",
        "TaintToleration",
    ),
}


@pytest.mark.parametrize("planted", PLANTED)
def test_planted_differences_are_named(control_plane, planted):
    """The other scheduler has another weight, or lacks a plugin."""
    profile, outcome, plugin = PLANTED[planted]
    world = World(control_plane, "planted")
    world.node("plain", cpu="8", labels={"disk": "hdd"})
    world.node("liked", cpu="4", labels={"disk": "ssd"})
    if planted == "disabled":
        world.patch_node("planted-plain", {"spec": {"taints": [taint("team", "a")]}})
    shadow = started(control_plane, flags=["--lag-window=1s"])
    scheduler = control_plane.scheduler(
        "theirs", path=theirs(), profiles=[{"schedulerName": "default-scheduler", **profile}]
    )
    affinity = node_affinity("disk", "In", ["ssd"], preferred_weight=1)
    for i in range(6):
        world.pod(f"p{i}", cpu="600m", affinity=affinity if planted == "weight" else None)
        world.bound(f"p{i}")
        time.sleep(1.5)
    code, summary = shadow.finish()
    assert scheduler.running()
    print(f"\n{summary['outcomes']} {summary.get('weights')} {summary.get('rejectingPlugins')}")
    assert code == 1 and summary["unexplained"] > 0, wrong(summary)
    assert all(c["outcome"] == outcome for c in summary["differences"]), wrong(summary)
    if planted == "weight":
        guess = next(w for w in summary["weights"] if w["plugin"] == plugin)
        assert guess["explained"] == guess["gaps"], guess
        assert guess["first"] <= 60 <= guess["last"], guess
    else:
        assert [p["plugin"] for p in summary["rejectingPlugins"]] == [plugin]


def test_preemption(control_plane):
    world = World(control_plane, "preempts")
    world.node("a", cpu="2")
    world.node("b", cpu="2")
    low, high = world.priority_class(1), world.priority_class(100)
    shadow = started(control_plane)
    scheduler = control_plane.scheduler("theirs", path=theirs())
    for i in range(4):
        world.pod(f"low{i}", cpu="1", priority_class=low)
    world.bound(*[f"low{i}" for i in range(4)])
    for i in range(2):
        world.pod(f"high{i}", cpu="1500m", priority_class=high)
    world.bound("high0", "high1")
    time.sleep(1)
    decisions = {c["decision"] for c in shadow.comparisons() if c["name"] == "high0"}
    code, summary = shadow.finish()
    assert scheduler.running()
    print(f"\n{summary['outcomes']}")
    assert decisions <= {"Unschedulable", "Bound"} and "Unschedulable" in decisions
    assert summary["unexplained"] == 0 and code == 0, wrong(summary)


def test_it_says_what_it_may_not_read(control_plane):
    """Without rights there is no comparison, and a message says so."""
    control_plane.kubectl("create", "serviceaccount", "nobody")
    token = control_plane.folder / "nobody.token"
    token.write_text(control_plane.token("nobody"))
    path = control_plane.write_kubeconfig("nobody.conf", kubeconfig.by_token_file(token))
    process = Process(
        [BERTH, "shadow", f"--kubeconfig={path}"], control_plane.folder / "nobody.log"
    )
    assert process.wait(110) == 2
    assert "cannot list or watch" in process.log()
