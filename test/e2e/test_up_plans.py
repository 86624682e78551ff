"""berth plan apply on berth up with 200 nodes and 3,000 pods: five situations are planned, applied and
compared. Every pod is where the plan said, up to ties among equals; no budget is violated, and nothing is
homeless that was promised a place."""

import json
import os
import subprocess
import threading
import urllib.error
import urllib.request

import pytest

from harness.processes import until
from harness.scheduler import REPOSITORY
from harness.up import BERTH, Up, minor

NODES = 200
WORKLOADS = 60
REPLICAS = 50
CPU = ["250m", "500m", "750m"]
SPREAD = "app-0"  # the workload with a hard spread constraint


def node(number):
    pool = "spot" if number < 6 else "batch" if number < 12 else "general"
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": f"node-{number:03d}",
            "labels": {
                "pool": pool,
                "kubernetes.io/hostname": f"node-{number:03d}",
                "topology.kubernetes.io/zone": f"eu-1{'abc'[number % 3]}",
            },
        },
        "status": {"allocatable": {"cpu": "16", "memory": "64Gi", "pods": "110"}},
    }


def workload(number):
    name = f"app-{number}"
    spec = {
        "containers": [
            {
                "name": "c",
                "image": "i",
                "resources": {"requests": {"cpu": CPU[number % 3], "memory": "1Gi"}},
            }
        ]
    }
    if name == SPREAD:
        spec["topologySpreadConstraints"] = [
            {
                "maxSkew": 1,
                "topologyKey": "topology.kubernetes.io/zone",
                "whenUnsatisfiable": "DoNotSchedule",
                "labelSelector": {"matchLabels": {"app": name}},
                # Cordoned nodes do not count as a domain, so a cordoned zone can be made empty.
                "nodeTaintsPolicy": "Honor",
            }
        ]
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {
            "replicas": REPLICAS,
            "selector": {"matchLabels": {"app": name}},
            "template": {"metadata": {"labels": {"app": name}}, "spec": spec},
        },
    }


def budget(number):
    name = f"app-{number}"
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"maxUnavailable": 1, "selector": {"matchLabels": {"app": name}}},
    }


class Budgets(threading.Thread):
    """Watches what the budgets say while a plan is applied."""

    def __init__(self, up):
        super().__init__(daemon=True)
        self.up = up
        self.ended = threading.Event()
        self.violations = []
        self.looks = 0
        self.start()

    def run(self):
        while not self.ended.wait(0.5):
            items = json.loads(get(self.up, "/apis/policy/v1/poddisruptionbudgets"))["items"]
            self.looks += 1
            for item in items:
                status = item["status"]
                if status["currentHealthy"] < status["desiredHealthy"]:
                    self.violations.append((item["metadata"]["name"], status))

    def close(self):
        self.ended.set()
        self.join()


def get(up, path):
    with urllib.request.urlopen(up.server + path, timeout=60) as answer:
        return answer.read()


def pods(up):
    return json.loads(get(up, "/api/v1/pods"))["items"]


def live(items):
    return [pod for pod in items if "deletionTimestamp" not in pod["metadata"]]


@pytest.fixture(scope="module")
def up(tmp_path_factory):
    folder = tmp_path_factory.mktemp("up")
    manifest = folder / "cluster.json"
    items = [node(n) for n in range(NODES)] + [workload(w) for w in range(WORKLOADS)]
    items += [budget(w) for w in range(0, WORKLOADS, 3)]
    manifest.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))
    up = Up(folder, "--speed=max", f"--nodes-file={manifest}")
    until("all pods run", lambda: running(up) == WORKLOADS * REPLICAS, 300)
    yield up
    assert up.stop() == 0, up.output()


def running(up):
    return sum(pod["status"].get("phase") == "Running" for pod in live(pods(up)))


def berth(up, *arguments, code=0):
    done = subprocess.run(
        [BERTH, "plan", *arguments, f"--kubeconfig={up.kubeconfig}", *minor()],
        capture_output=True,
        text=True,
        timeout=900,
        cwd=up.folder,
    )
    assert done.returncode == code, done.stdout[-3000:] + done.stderr
    return done.stdout


def cordon(up, name, value=True):
    up.core.patch_node(name, {"spec": {"unschedulable": value}})


def uncordon_all(up):
    for item in up.core.list_node().items:
        if item.spec.unschedulable:
            cordon(up, item.metadata.name, False)


SCHEMA = json.loads((REPOSITORY / "docs/plan.schema.json").read_text())["$defs"]


def problems(rule, value, at="$"):
    """What in the value is not as docs/plan.schema.json says."""
    if "$ref" in rule:
        rule = SCHEMA[rule["$ref"].rsplit("/", 1)[1]]
    if "enum" in rule:
        return [] if value in rule["enum"] else [f"{at}: {value!r}"]
    kinds = [rule["type"]] if isinstance(rule["type"], str) else rule["type"]
    types = {"string": str, "integer": int, "number": (int, float), "boolean": bool}
    types |= {"array": list, "object": dict, "null": type(None)}
    if not any(isinstance(value, types[kind]) for kind in kinds):
        return [f"{at}: {value!r} is not {kinds}"]
    found = []
    if isinstance(value, list):
        for i, item in enumerate(value):
            found += problems(rule["items"], item, f"{at}[{i}]")
    if isinstance(value, dict):
        found += [f"{at}: no {key}" for key in rule["required"] if key not in value]
        for key, item in value.items():
            known = rule["properties"].get(key)
            found += problems(known, item, f"{at}.{key}") if known else [f"{at}: {key}"]
    return found


def apply(up, *question):
    """Plans, applies, compares. Returns the state that the apply has left."""
    plan = json.loads(berth(up, *question, "-o", "json"))
    assert problems(SCHEMA["Plan"], plan) == []
    assert plan["homeless"] == plan["blocked"] == plan["lost"] == 0
    assert plan["moves"] > 0
    before = {pod["metadata"]["uid"]: pod for pod in live(pods(up))}
    state_file = up.folder / "state.json"
    state_file.unlink(missing_ok=True)
    budgets = Budgets(up)
    berth(up, "apply", *question, "--state", str(state_file))
    budgets.close()
    assert budgets.looks > 0 and budgets.violations == []

    state = json.loads(state_file.read_text())
    assert state["outcome"] == "Done", state
    assert state["evicted"] == len(state["carried"]) == plan["moves"] == state["maxDisruption"]
    planned = {step["name"] for step in plan["pods"] or []}
    assert {step["name"] for step in state["carried"]} == planned
    places = {pod["metadata"]["name"]: pod["spec"].get("nodeName") for pod in live(pods(up))}
    ties = 0
    for step in state["carried"]:
        assert step["landed"] == step["predicted"] or step["landed"] in step["equal"], step
        ties += step["landed"] != step["predicted"]
        assert places[step["replacement"]] == step["landed"]
    print(
        f"\n{' '.join(question)}: {len(state['carried'])} pods, {ties} ties, {state['replans']} replans"
    )

    after = live(pods(up))
    assert len(after) == WORKLOADS * REPLICAS
    assert all(pod["spec"].get("nodeName") for pod in after), "nothing is homeless"
    others = [pod for uid, pod in before.items() if pod["metadata"]["name"] not in planned]
    assert all(places[pod["metadata"]["name"]] == pod["spec"]["nodeName"] for pod in others), (
        "nothing else moved"
    )
    freed = {each["name"] for each in plan["nodes"] or [] if each["change"] == "Freed"}
    assert not [pod for pod in after if pod["spec"]["nodeName"] in freed]
    until("all pods run again", lambda: running(up) == WORKLOADS * REPLICAS, 120)
    return plan


def test_a_dry_run_changes_nothing(up):
    before = {pod["metadata"]["uid"] for pod in pods(up)}
    text = berth(up, "apply", "drain", "--pool", "spot", "--dry-run")
    assert text.count("PATCH /api/v1/nodes/") == 6
    assert text.count("/eviction") > 50
    assert {pod["metadata"]["uid"] for pod in pods(up)} == before
    assert not any(item.spec.unschedulable for item in up.core.list_node().items)


def test_drain_a_pool(up):
    apply(up, "drain", "--pool", "spot")
    assert json.loads(berth(up, "drain", "--pool", "spot", "-o", "json"))["moves"] == 0, (
        "a fixpoint"
    )
    uncordon_all(up)


def test_drain_nodes_by_name(up):
    apply(up, "drain", "node-050", "node-051", "node-052", "node-053")
    uncordon_all(up)


def test_shrink(up):
    plan = apply(up, "shrink", "--pool", "batch", "--count", "3")
    assert plan["nodesBefore"] - plan["nodesAfter"] == 3
    uncordon_all(up)


def test_consolidate(up):
    plan = apply(up, "consolidate", "--max-disruption", str(limit(up)))
    assert plan["nodesBefore"] - plan["nodesAfter"] >= 6
    uncordon_all(up)


def limit(up):
    """As many evictions as free some nodes. Consolidation uses up all of it, or nearly so: the statement
    that applies is the plan's own number of moves."""
    return json.loads(berth(up, "consolidate", "--max-disruption", "80", "-o", "json"))["moves"]


def test_restore_spread(up):
    zone = [f"node-{n:03d}" for n in range(0, NODES, 3)]
    for name in zone:
        cordon(up, name)
    here = [
        pod["metadata"]["name"]
        for pod in live(pods(up))
        if pod["metadata"]["labels"].get("app") == SPREAD and pod["spec"]["nodeName"] in zone
    ]
    for name in here:
        up.core.delete_namespaced_pod(name, "default", grace_period_seconds=0)
    until("all pods run", lambda: running(up) == WORKLOADS * REPLICAS, 120)
    uncordon_all(up)
    plan = apply(up, "restore-spread")
    assert plan["excessBefore"] > 0
    assert json.loads(berth(up, "restore-spread", "-o", "json"))["moves"] == 0, "a fixpoint"


def ask(up, question):
    request = urllib.request.Request(
        up.server + "/apis/explain/v1/plan",
        json.dumps(question).encode(),
        {"Content-Type": "application/json"},
    )
    try:
        with urllib.request.urlopen(request, timeout=120) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as error:
        return error.code, json.load(error)


def test_the_explain_api_takes_the_same_questions(up):
    code, answer = ask(up, {"question": "drain", "pool": "spot"})
    assert code == 200
    assert problems(SCHEMA["MappedPlan"], answer) == []
    printed = json.loads(berth(up, "drain", "--pool", "spot", "-o", "json"))
    assert answer["plan"]["moves"] == printed["moves"] > 0
    assert len(answer["nodes"]) == NODES
    code, answer = ask(up, {"question": "drain", "pool": "nobody"})
    assert code == 400 and "no node is in a pool nobody" in answer["message"]
    code, answer = ask(up, {"question": "drain", "wrong": 1})
    assert code == 400 and "wrong" in answer["message"]


def test_a_recording_is_planned_for(tmp_path):
    """A recording that was closed says the same as the API server did. One that goes on lags behind."""
    manifest = tmp_path / "cluster.json"
    items = [node(n) for n in range(12)] + [workload(1)]
    manifest.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))
    recording = tmp_path / "recording"
    small = Up(tmp_path, "--speed=max", f"--nodes-file={manifest}", f"--record-dir={recording}")
    until("all pods run", lambda: running(small) == REPLICAS, 60)
    live = json.loads(berth(small, "drain", "--pool", "spot", "-o", "json"))
    assert small.stop() == 0, small.output()
    done = subprocess.run(
        [BERTH, "plan", "drain", "--pool", "spot", "--recording", recording, "-o", "json"],
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr
    recorded = json.loads(done.stdout)
    assert recorded["moves"] == live["moves"] > 0
    assert {step["name"] for step in recorded["pods"]} == {step["name"] for step in live["pods"]}


def test_what_does_not_work_is_refused(up):
    everything = berth(up, "apply", "drain", "-l", "kubernetes.io/hostname", code=2)
    assert "nothing is applied" in everything or "Not every pod has a place" in everything
    assert not any(item.spec.unschedulable for item in up.core.list_node().items)
    with open(os.devnull) as nothing:
        done = subprocess.run(
            [BERTH, "plan", "apply", "upgrade", "--pool", "spot", f"--kubeconfig={up.kubeconfig}"],
            stdin=nothing, capture_output=True, text=True, timeout=300, cwd=up.folder,
        )  # fmt: skip
    assert done.returncode == 2 and "more than evictions" in done.stderr
