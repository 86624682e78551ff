"""berth up with the official Python client, and with plain HTTP where clients hide what is tested."""

import http.client
import json
import threading
import urllib.error
import urllib.request

import pytest
from kubernetes import client, watch
from kubernetes.client.rest import ApiException

from harness.processes import until
from harness.up import Up


@pytest.fixture(scope="module")
def up(tmp_path_factory):
    up = Up(tmp_path_factory.mktemp("up"), "--speed=10x", nodes=4)
    yield up
    assert up.stop() == 0, up.output()


def pod(name, **spec):
    container = {"name": "c", "image": "nginx"}
    return {"metadata": {"name": name}, "spec": {"containers": [container], **spec}}


def request(up, method, path, body=None, **headers):
    """Status code and JSON of a request."""
    data = None if body is None else json.dumps(body).encode()
    ask = urllib.request.Request(up.server + path, data, method=method)
    ask.add_header("Content-Type", headers.pop("content_type", "application/json"))
    for name, value in headers.items():
        ask.add_header(name, value)
    try:
        with urllib.request.urlopen(ask, timeout=20) as answer:
            return answer.status, json.loads(answer.read())
    except urllib.error.HTTPError as error:
        return error.code, json.loads(error.read())


def refusal(call, *arguments, **options):
    with pytest.raises(ApiException) as caught:
        call(*arguments, **options)
    return caught.value.status, json.loads(caught.value.body)


def test_pods_are_placed_and_run(up):
    up.core.create_namespaced_pod("default", pod("one"))
    placed = until(
        "a running pod",
        lambda: (
            (p := up.core.read_namespaced_pod("one", "default")).status.phase == "Running" and p
        ),
    )
    assert placed.spec.node_name.startswith("node-")
    assert placed.status.pod_ip and placed.status.host_ip


def test_optimistic_concurrency(up):
    up.core.create_namespaced_config_map("default", {"metadata": {"name": "shared"}, "data": {}})
    first = up.core.read_namespaced_config_map("shared", "default")
    second = up.core.read_namespaced_config_map("shared", "default")
    first.data = {"a": "1"}
    up.core.replace_namespaced_config_map("shared", "default", first)
    second.data = {"a": "2"}
    code, status = refusal(up.core.replace_namespaced_config_map, "shared", "default", second)
    assert (code, status["reason"]) == (409, "Conflict")
    assert "the object has been modified; please apply your changes" in status["message"]


def test_watch_with_bookmarks_and_from_the_past(up):
    start = up.core.list_namespaced_config_map("default").metadata.resource_version
    up.core.create_namespaced_config_map("default", {"metadata": {"name": "w"}})
    up.core.patch_namespaced_config_map("w", "default", {"data": {"x": "y"}})
    up.core.delete_namespaced_config_map("w", "default")
    seen = []
    stream = watch.Watch().stream(
        up.core.list_namespaced_config_map, "default", resource_version=start, timeout_seconds=2
    )
    for event in stream:
        if event["object"].metadata.name == "w":
            seen.append(event["type"])
    assert seen == ["ADDED", "MODIFIED", "DELETED"]
    # All there is, then a bookmark that says so.
    query = "?watch=1&sendInitialEvents=true&allowWatchBookmarks=true&timeoutSeconds=1"
    query += "&resourceVersionMatch=NotOlderThan"
    with urllib.request.urlopen(up.server + "/api/v1/nodes" + query) as answer:
        events = [json.loads(line) for line in answer]
    assert [e["type"] for e in events[:5]] == ["ADDED"] * 4 + ["BOOKMARK"]
    annotations = events[4]["object"]["metadata"]["annotations"]
    assert annotations == {"k8s.io/initial-events-end": "true"}


def test_a_version_that_is_forgotten_is_gone(tmp_path):
    up = Up(tmp_path, "--no-scheduler", f"--data-dir={tmp_path}/data", nodes=1)
    try:
        up.core.create_namespaced_config_map("default", {"metadata": {"name": "c"}})
        up.kill()
        up = Up(tmp_path, "--no-scheduler", f"--data-dir={tmp_path}/data", nodes=1)
        with urllib.request.urlopen(
            up.server + "/api/v1/configmaps?watch=1&resourceVersion=1&timeoutSeconds=2"
        ) as answer:
            event = json.loads(answer.readline())
        assert event["type"] == "ERROR"
        assert (event["object"]["code"], event["object"]["reason"]) == (410, "Expired")
    finally:
        up.stop()


def test_pages_are_of_one_moment(up):
    for i in range(7):
        up.core.create_namespaced_secret("default", {"metadata": {"name": f"page-{i}"}})
    page = up.core.list_namespaced_secret("default", limit=3)
    names = [s.metadata.name for s in page.items]
    assert page.metadata.remaining_item_count == 4
    up.core.delete_namespaced_secret("page-5", "default")
    while page.metadata._continue:
        page = up.core.list_namespaced_secret("default", limit=3, _continue=page.metadata._continue)
        names += [s.metadata.name for s in page.items]
    assert names == [f"page-{i}" for i in range(7)]
    code, status = refusal(up.core.list_namespaced_secret, "default", _continue="nonsense")
    assert (code, status["reason"]) == (410, "Expired")


def test_eviction_respects_budgets(up):
    up.core.create_namespace({"metadata": {"name": "budget"}})
    for i in range(2):
        body = pod(f"p{i}")
        body["metadata"]["labels"] = {"app": "x"}
        up.core.create_namespaced_pod("budget", body)
    policy = client.PolicyV1Api(up.api)
    spec = {"minAvailable": 1, "selector": {"matchLabels": {"app": "x"}}}
    policy.create_namespaced_pod_disruption_budget(
        "budget", {"metadata": {"name": "b"}, "spec": spec}
    )
    until(
        "room",
        lambda: (
            policy.read_namespaced_pod_disruption_budget("b", "budget").status.disruptions_allowed
            == 1
        ),
    )
    evict = up.core.create_namespaced_pod_eviction
    evict("p0", "budget", {"metadata": {"name": "p0"}})
    code, status = refusal(evict, "p1", "budget", {"metadata": {"name": "p1"}})
    assert code == 429
    assert "Cannot evict pod as it would violate the pod's disruption budget" in status["message"]


def test_admission(up):
    client.SchedulingV1Api(up.api).create_priority_class(
        {"metadata": {"name": "high"}, "value": 1000}
    )
    body = pod("admitted", priorityClassName="high")
    body["spec"]["containers"][0]["resources"] = {"limits": {"cpu": "1"}}
    made = up.core.create_namespaced_pod("default", body)
    assert made.spec.priority == 1000
    assert made.spec.containers[0].resources.requests == {"cpu": "1"}
    assert {t.key for t in made.spec.tolerations} == {
        "node.kubernetes.io/not-ready",
        "node.kubernetes.io/unreachable",
    }
    code, status = refusal(
        up.core.create_namespaced_pod, "default", pod("no", priorityClassName="none")
    )
    assert (code, status["reason"]) == (403, "Forbidden")
    assert "no PriorityClass with name none was found" in status["message"]


def test_binding_twice_is_a_conflict(up):
    up.core.create_namespaced_pod("default", pod("bound", schedulerName="nobody"))
    path = "/api/v1/namespaces/default/pods/bound/binding"
    body = {"metadata": {"name": "bound"}, "target": {"kind": "Node", "name": "node-0001"}}
    assert request(up, "POST", path, body)[0] == 201
    code, status = request(up, "POST", path, body)
    assert (code, status["reason"]) == (409, "Conflict")
    assert "already assigned to node" in status["message"]


def test_bad_requests_get_a_status(up):
    rows = [
        ("GET", "/api/v1/nothing", None, 404, "NotFound"),
        ("POST", "/api/v1/namespaces/default/pods", {"spec": {}}, 422, "Invalid"),
        ("POST", "/api/v1/namespaces/default/pods", [1], 400, "BadRequest"),
        ("PUT", "/api/v1/namespaces/default/pods", {}, 405, "MethodNotAllowed"),
        ("GET", "/api/v1/pods?labelSelector=%3D%3D", None, 400, "BadRequest"),
        ("GET", "/api/v1/pods?fieldSelector=spec.color%3Dred", None, 400, "BadRequest"),
    ]
    for method, path, body, code, reason in rows:
        answer, status = request(up, method, path, body)
        assert (answer, status["kind"], status["reason"]) == (code, "Status", reason), path
    answer, status = request(up, "GET", "/api/v1/nodes", Accept="image/png")
    assert (answer, status["reason"]) == (406, "NotAcceptable")
    answer, status = request(
        up, "POST", "/api/v1/namespaces/default/pods", {}, content_type="image/png"
    )
    assert (answer, status["reason"]) == (415, "UnsupportedMediaType")


def test_limits(up):
    host = up.server.removeprefix("http://")

    def ask(method, path, body=None, headers=None):
        connection = http.client.HTTPConnection(host, timeout=20)
        try:
            connection.request(method, path, body, headers or {})
            return connection.getresponse().status
        finally:
            connection.close()

    assert ask("GET", "/healthz", headers={"X-Long": "x" * (2 << 20)}) == 431
    try:
        assert ask("POST", "/api/v1/namespaces/default/configmaps", b"x" * (4 << 20)) == 413
    except (BrokenPipeError, ConnectionResetError):
        pass  # it stopped listening, which is an answer too
    assert ask("GET", "/healthz") == 200
    deep = "[" * 100_000 + "]" * 100_000
    assert ask("POST", "/api/v1/namespaces/default/configmaps", deep) == 400


def test_many_clients_at_once(up):
    """Writers that lose a race try again, and nothing is lost."""
    up.core.create_namespaced_config_map("default", {"metadata": {"name": "counter"}, "data": {}})

    def add(key):
        for i in range(10):
            while True:
                current = up.core.read_namespaced_config_map("counter", "default")
                current.data = (current.data or {}) | {f"{key}-{i}": "x"}
                try:
                    up.core.replace_namespaced_config_map("counter", "default", current)
                    break
                except ApiException as error:
                    assert error.status == 409

    threads = [threading.Thread(target=add, args=(f"t{n}",)) for n in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(up.core.read_namespaced_config_map("counter", "default").data) == 60
