"""berth explain against a running `berth up`: why a pod is where it is, and why another is not."""

import json
import os
import re
import subprocess
import urllib.error
import urllib.request

import pytest

from harness.processes import Process, free_port, until
from harness.scheduler import BERTH


def pod(name, cpu, **spec):
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {
            "containers": [
                {"name": "main", "image": "none", "resources": {"requests": {"cpu": cpu}}}
            ],
            **spec,
        },
    }


class Up:
    def __init__(self, server, kubeconfig):
        self.server = server
        self.kubeconfig = kubeconfig

    def call(self, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(
            self.server + path, data=data, headers={"Content-Type": "application/json"}
        )
        with urllib.request.urlopen(request, timeout=30) as answer:
            return json.load(answer)

    def get(self, path):
        return self.call("/apis/explain/v1" + path)

    def create(self, object):
        return self.call("/api/v1/namespaces/default/pods", object)

    def explain(self, *args, code=0):
        run = subprocess.run(
            [BERTH, "explain", "pod", *args],
            env={**os.environ, "KUBECONFIG": str(self.kubeconfig)},
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert run.returncode == code, run.stderr
        return run.stdout if code == 0 else run.stderr


@pytest.fixture(scope="module")
def up(tmp_path_factory):
    folder = tmp_path_factory.mktemp("up")
    port = free_port()
    kubeconfig = folder / "kubeconfig"
    process = Process(
        [BERTH, "up", "--port", port, "--nodes", 6, "--kubeconfig-out", kubeconfig],
        folder / "up.log",
    )
    try:
        up = Up(f"http://127.0.0.1:{port}", kubeconfig)
        until("the explain API answers", lambda: up.get("")["version"] == "v1")
        up.create(pod("small", "1"))
        up.create(pod("huge", "24"))
        up.create(pod("picky", "1", nodeSelector={"disk": "ssd"}))
        up.create(pod("gated", "1", schedulingGates=[{"name": "example.com/wait"}]))
        until("small is placed", lambda: up.get("/decisions/default/small").get("podNode"))
        until("the others wait", lambda: up.get("/pending")["total"] == 3)
        until("huge was tried", lambda: up.get("/decisions/default/huge").get("record"))
        until("picky was tried", lambda: up.get("/decisions/default/picky").get("record"))
        yield up
    finally:
        process.stop()


def test_a_placed_pod_in_words(up):
    text = up.explain("default/small")
    assert "default/small" in text and "on node-000" in text
    assert "FILTERS" in text and "BEST NODES" in text
    assert "\x1b[" not in text, "no colour in a pipe"
    assert max(len(line) for line in text.splitlines()) <= 80


def test_how_long_each_point_took(up):
    durations = up.get("/decisions/default/small")["durationsMs"]
    assert {"PreFilter", "Filter", "Score", "Reserve", "Bind"} <= durations.keys()
    assert all(0 <= ms < 60_000 for ms in durations.values())
    assert "PostFilter" not in durations
    assert "PostFilter" in up.get("/decisions/default/huge")["durationsMs"]
    assert re.search(r"^  took: PreFilter \S+ [µm]s, ", up.explain("default/small"), re.M)


def test_a_pending_pod_says_what_would_help(up):
    text = up.explain("huge")
    assert "Insufficient cpu" in text
    assert "WHAT WOULD HELP" in text and "cpu request ≤ 16" in text
    assert "disk=ssd" in up.explain("picky")


def test_json_and_yaml_are_the_api_s_own(up):
    view = json.loads(up.explain("default/huge", "-o", "json", "--node", "node-0001"))
    assert view["record"]["outcome"] == "Unschedulable"
    assert view["record"]["rejections"][0]["plugin"] == "NodeResourcesFit"
    assert view["funnel"]["feasible"] == 0
    assert view["node"]["fits"] is False
    assert any(s["kind"] == "LowerRequest" for s in view["suggestions"]["items"])
    assert "outcome: Unschedulable" in up.explain("default/huge", "-o", "yaml")


def test_errors_say_what_to_do(up):
    assert "no pod default/nobody" in up.explain("nobody", code=1)
    assert "no node nowhere" in up.explain("small", "--node", "nowhere", code=1)
    assert "is no pod" in up.explain("A B", code=1)


def test_scores_of_a_placed_pod_add_up(up):
    view = up.get("/decisions/default/small?nodes=3")
    assert view["record"]["outcome"] == "Scheduled"
    assert view["record"]["node"] == view["podNode"]
    assert len(view["topNodes"]) == 3
    for node in view["topNodes"]:
        assert node["total"] == sum(score["weighted"] for score in node["scores"])


def test_lists_filter(up):
    scheduled = up.get("/decisions?outcome=Scheduled")["items"]
    assert {d["name"] for d in scheduled} >= {"small"}
    assert all(d["outcome"] == "Scheduled" for d in scheduled)
    failed = up.get("/decisions?plugin=NodeAffinity&namespace=default")["items"]
    assert {d["name"] for d in failed} == {"picky"}
    first = up.get("/decisions?limit=1")
    second = up.get("/decisions?limit=1&continue=" + first["continue"])
    assert second["items"][0]["id"] < first["items"][0]["id"]


def test_pending_pods_are_grouped(up):
    pending = up.get("/pending")
    assert {p["name"] for p in pending["items"]} == {"huge", "picky", "gated"}
    groups = {(g["plugin"], g["pods"]) for g in pending["groups"]}
    assert ("NodeResourcesFit", 1) in groups and ("SchedulingGates", 1) in groups


def test_nodes_queue_and_configuration(up):
    table = up.get("/nodes")
    assert table["count"] == 6
    assert all(len(table[column]) == 6 for column in ("name", "zone", "schedulable"))
    assert sum(table["requested"]["cpu"]) == 1000
    node = up.get("/nodes/" + up.get("/decisions/default/small")["podNode"])
    assert [p["name"] for p in node["pods"]] == ["small"]
    queue = up.get("/queue")
    assert queue["counts"]["gated"] == 1
    assert queue["totals"]["bound"] == 1
    points = {p["point"]: p["plugins"] for p in up.get("/config")["profiles"][0]["points"]}
    assert {"name": "NodeResourcesFit", "weight": 1} in points["Score"]


def test_a_what_if_touches_nothing(up):
    before = up.get("/nodes")
    answer = up.call(
        "/apis/explain/v1/whatif",
        {
            "manifests": json.dumps(pod("wanted", "2")),
            "addNodes": [{"like": "node-0001", "count": 2}],
            "weights": {"NodeResourcesFit": 5},
        },
    )
    placed = {p["name"]: p for p in answer["placements"]}
    assert placed["wanted"]["outcome"] == "Placed" and placed["wanted"]["source"] == "manifest"
    assert placed["huge"]["outcome"] == "Unschedulable"
    assert answer["after"]["nodes"] == answer["before"]["nodes"] + 2
    assert up.get("/nodes") == before
    with pytest.raises(urllib.error.HTTPError) as refused:
        up.call("/apis/explain/v1/whatif", {"cordon": ["nowhere"]})
    assert refused.value.code == 400


def test_removed_nodes_give_their_pods_back(up):
    node = up.get("/decisions/default/small")["podNode"]
    answer = up.call("/apis/explain/v1/whatif", {"removeNodes": [node], "reschedulePending": False})
    (small,) = answer["placements"]
    assert small["name"] == "small" and small["before"] == node and small["node"] != node


def test_the_stream_tells_of_decisions(up):
    with urllib.request.urlopen(up.server + "/apis/explain/v1/stream", timeout=30) as stream:
        assert stream.headers["Content-Type"] == "text/event-stream"
        seen = set()
        created = False
        while seen != {"queue", "decision"}:
            line = stream.readline().decode()
            if line.startswith("event: "):
                seen.add(line[7:].strip())
            if not created and "queue" in seen:
                up.create(pod("streamed", "100m"))
                created = True
