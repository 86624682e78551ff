"""The page of pod groups: two trainings of which one fits."""

import pytest
from berth import ROOT, Up
from conftest import watched
from playwright.sync_api import expect


def training(up, name):
    group = {
        "apiVersion": "scheduling.k8s.io/v1beta1",
        "kind": "PodGroup",
        "metadata": {"name": name},
        "spec": {"schedulingPolicy": {"gang": {"minCount": 6}}},
    }
    up.call("POST", "/apis/scheduling.k8s.io/v1beta1/namespaces/default/podgroups", group)
    worker = {"requests": {"cpu": "1", "example.com/gpu": "1"}, "limits": {"example.com/gpu": "1"}}
    for i in range(6):
        pod = {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": f"{name}-{i}"},
            "spec": {
                "schedulingGroup": {"podGroupName": name},
                "containers": [{"name": "worker", "image": "trainer", "resources": worker}],
            },
        }
        up.call("POST", "/api/v1/namespaces/default/pods", pod)


@pytest.fixture(scope="module")
def gangs(tmp_path_factory):
    up = Up(
        tmp_path_factory.mktemp("groups"),
        "--feature-gates",
        "GenericWorkload=true",
        "--nodes-file",
        ROOT / "examples/pod-groups/nodes.yaml",
    )
    training(up, "first")
    up.placed("first-", 6)
    training(up, "second")
    up.wait(
        "the second training is refused",
        lambda: "Unschedulable" in str(up.explain("/podgroups")["items"][0].get("reason")),
    )
    yield up
    up.stop()


@pytest.fixture
def page(chromium, gangs):
    page = watched(chromium, gangs.url)
    yield page
    problems = page.problems
    page.context.close()
    assert problems == []


def test_the_group_that_waits_comes_first(page, gangs):
    page.goto(gangs.dashboard + "#/groups")
    expect(page.get_by_text("2 groups, 1 waits")).to_be_visible()
    rows = page.locator(".groups > li")
    expect(rows.first).to_contain_text("second")
    expect(rows.first).to_contain_text("Waiting")
    expect(rows.first).to_contain_text("minCount (6) cannot be satisfied")
    expect(rows.nth(1)).to_contain_text("6 of 6 pods placed")
    page.get_by_role("searchbox").fill("first")
    expect(rows).to_have_count(1)


@pytest.mark.parametrize("width", [1440, 390])
def test_a_group_says_who_does_not_fit_and_what_would_help(page, gangs, width):
    page.set_viewport_size({"width": width, "height": 900})
    page.goto(gangs.dashboard + "#/groups/default/second")
    expect(page.get_by_text("2 of 6 waiting pods would get a node at once")).to_be_visible()
    expect(page.locator(".why")).to_contain_text("2 Insufficient example.com/gpu")
    help_list = page.locator(".help")
    expect(help_list).to_contain_text("when podgroup default/first ends (6 pods)")
    expect(help_list).to_contain_text("if minCount were 2")
    wide = page.evaluate("document.documentElement.scrollWidth")
    assert wide <= width, "nothing is wider than the screen"
