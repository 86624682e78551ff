"""H2: a small JSON patch that asks for all memory. M1: one whose result nobody can read again."""

import json

import pytest

MAPS = "/api/v1/namespaces/default/configmaps"
PATCH = {"Content-Type": "application/json-patch+json"}


def doubling(count):
    operations = [{"op": "add", "path": "/data", "value": {"x": "y" * 1000}}]
    for i in range(count):
        operations.append({"op": "copy", "from": "/data", "path": f"/data/k{i}"})
    return json.dumps(operations)


def nesting(count):
    path, operations = "/a", []
    for _ in range(count):
        operations.append({"op": "copy", "from": "", "path": path})
        path += path
    return json.dumps(operations)


@pytest.mark.parametrize("count", [12, 16, 30])
def test_h2_copies_that_double(up, count):
    name = f"bomb-{count}"
    up.create("configmaps", name)
    status, said = up.request("PATCH", f"{MAPS}/{name}", doubling(count), PATCH, timeout=10)
    assert status == 413, said
    assert "data" not in up.request("GET", f"{MAPS}/{name}")[1]


def test_h2_too_many_operations(up):
    up.create("configmaps", "many")
    many = json.dumps([{"op": "test", "path": "/kind", "value": "ConfigMap"}] * 10_001)
    status, said = up.request("PATCH", f"{MAPS}/many", many, PATCH)
    assert (status, said["reason"]) == (413, "RequestEntityTooLarge")


def test_h2_operations_that_move_much(up):
    """Each of them moves a list of fifty thousand items."""
    finalizers = [f"a.example/{i}" for i in range(50_000)]
    metadata = {"name": "list", "finalizers": finalizers}
    status, said = up.create("configmaps", "list", metadata=metadata)
    assert status == 201, said
    shift = json.dumps(
        [{"op": "add", "path": "/metadata/finalizers/0", "value": "b.example/b"}] * 10_000
    )
    before = up.cpu()
    status, said = up.request("PATCH", f"{MAPS}/list", shift, PATCH)
    assert status == 413, said
    assert up.cpu() - before < 5


@pytest.mark.parametrize(
    "kind", ["merge-patch+json", "strategic-merge-patch+json", "apply-patch+yaml"]
)
def test_h2_results_larger_than_a_body(up, kind):
    name = kind.split("-")[0]
    headers = {"Content-Type": f"application/{kind}"}
    up.create("configmaps", name, data={"old": "x" * 1_700_000})
    body = {"apiVersion": "v1", "kind": "ConfigMap", "data": {"new": "x" * 1_700_000}}
    path = f"{MAPS}/{name}?fieldManager=m&force=true"
    status, said = up.request("PATCH", path, json.dumps(body), headers)
    assert (status, said["reason"]) == (413, "RequestEntityTooLarge")
    assert "new" not in up.request("GET", f"{MAPS}/{name}")[1]["data"]


@pytest.mark.parametrize("count", [11, 12, 14, 20])
def test_m1_nesting_by_copies(up, count):
    name = f"deep-{count}"
    up.create("configmaps", name)
    status, said = up.request("PATCH", f"{MAPS}/{name}", nesting(count), PATCH)
    assert status in (413, 422), said
    assert "a" not in up.request("GET", f"{MAPS}/{name}")[1]


def test_m1_what_is_kept_is_there_after_a_restart(start):
    up = start("--data-dir", "--no-scheduler", canary=0)
    up.create("configmaps", "deep", data={"x": "y"})
    assert up.request("PATCH", f"{MAPS}/deep", nesting(11), PATCH)[0] == 422
    up.restart()
    assert up.request("GET", f"{MAPS}/deep")[1]["data"] == {"x": "y"}
