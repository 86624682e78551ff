"""H1: what a web page in a browser can make a `berth up` on loopback do."""

import json

import pytest

PODS = "/api/v1/namespaces/default/pods"
MAPS = "/api/v1/namespaces/default/configmaps"
REBOUND = {"Host": "rebind.evil.example"}
FOREIGN = {"Origin": "http://evil.example"}
TEXT = {"Content-Type": "text/plain"}
FORM = {"Content-Type": "application/x-www-form-urlencoded"}


def pod(name):
    spec = {"containers": [{"name": "c", "image": "x"}]}
    return json.dumps({"metadata": {"name": name}, "spec": spec})


def config_map(name):
    return json.dumps({"metadata": {"name": name}})


ROWS = {
    "pod as text": ("POST", PODS, TEXT, pod("evil")),
    "configmap as a form": ("POST", MAPS, FORM, config_map("evil")),
    "configmap without a type": ("POST", MAPS, {}, config_map("evil")),
    "eviction as text": ("POST", f"{PODS}/victim/eviction", TEXT, json.dumps({})),
    "all secrets": ("GET", "/api/v1/secrets", {}, None),
    "deletion of all pods": ("DELETE", PODS, {}, None),
    "dashboard": ("GET", "/dashboard/", {}, None),
    "explain API": ("GET", "/apis/explain/v1/pods", {}, None),
    "health": ("GET", "/healthz", {}, None),
    "preflight": ("OPTIONS", PODS, {"Access-Control-Request-Method": "POST"}, None),
}


@pytest.fixture(scope="module", autouse=True)
def victim(shared):
    spec = {"containers": [{"name": "c", "image": "x"}]}
    assert shared.create("pods", "victim", spec=spec)[0] == 201
    assert shared.create("secrets", "treasure", stringData={"x": "gold"})[0] == 201


@pytest.mark.parametrize(
    "page", [REBOUND | FOREIGN, REBOUND, FOREIGN], ids=["both", "host", "origin"]
)
@pytest.mark.parametrize("row", ROWS)
def test_h1_a_page_gets_nothing(up, row, page):
    method, path, headers, body = ROWS[row]
    status, said = up.request(method, path, body, headers | page)
    assert status == 403, said
    assert "gold" not in json.dumps(said)
    assert up.request("GET", f"{MAPS}/evil")[0] == 404
    assert up.request("GET", f"{PODS}/evil")[0] == 404
    status, said = up.request("GET", f"{PODS}/victim")
    assert status == 200 and "deletionTimestamp" not in said["metadata"]


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_h1_images_and_scripts_of_other_pages(up, site):
    status, _ = up.request("GET", "/api/v1/secrets", headers={"Sec-Fetch-Site": site})
    assert status == 403


@pytest.mark.parametrize("kind", [TEXT, FORM, {"Content-Type": "multipart/form-data; boundary=x"}])
def test_h1_bodies_that_need_no_preflight(up, kind):
    status, said = up.request("POST", MAPS, config_map("evil"), kind)
    assert (status, said["reason"]) == (415, "UnsupportedMediaType")


@pytest.mark.parametrize(
    "host", ["localhost", "localhost:31999", "127.0.0.1", "127.9.9.9:80", "[::1]:8001"]
)
def test_h1_this_machine_is_served(up, host):
    """kubectl and curl send no Origin; the dashboard that of its own host, whatever port an SSH
    tunnel gave it."""
    assert up.request("GET", "/api/v1/nodes", headers={"Host": host})[0] == 200
    page = {"Host": host, "Origin": f"http://{host}", "Sec-Fetch-Site": "same-origin"}
    status, said = up.request("GET", "/dashboard/", headers=page)
    assert status == 200 and b"<html" in said.lower()
    assert up.request("GET", "/apis/explain/v1/summary", headers=page)[0] != 403
    typed = {"Host": host, "Sec-Fetch-Site": "none"}
    assert up.request("GET", "/dashboard/", headers=typed)[0] == 200


def test_h1_a_client_without_a_content_type(up):
    status, said = up.request("POST", MAPS, config_map("plain"))
    assert status == 201, said


def test_h1_names_can_be_added(start):
    up = start(
        "--accept-hosts=dev.example", "--accept-hosts=*.app.example", "--no-scheduler", canary=0
    )
    for host, status in (("dev.example:8001", 200), ("x.app.example", 200), ("evil.example", 403)):
        assert up.request("GET", "/api/v1/nodes", headers={"Host": host})[0] == status, host
