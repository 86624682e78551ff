"""Every page, as somebody at the screen or at the keyboard uses it."""

import re

import pytest
from playwright.sync_api import expect


def show(page, up, route):
    page.goto(up.dashboard + route)


def test_cluster_shows_nodes_and_what_is_requested(page, up):
    show(page, up, "#/cluster")
    expect(page.get_by_role("heading", name="Cluster")).to_be_visible()
    expect(page.get_by_text("50 nodes in 3 zones")).to_be_visible()
    expect(page.get_by_role("listbox")).to_have_count(3)
    requested = sum(up.explain("/nodes")["requested"]["cpu"])
    assert requested >= 10_000, "20 pods of 500m are known"
    tile = page.locator(".tile", has_text="CPU")
    expect(tile).to_contain_text(f"{requested / 1000:g} of 800")


def test_a_deployment_appears_while_the_page_is_open(page, up):
    show(page, up, "#/cluster")
    pods = page.locator(".tile", has_text="Pods")
    expect(pods).to_contain_text("of 5,500")
    before = pods.inner_text()
    up.deployment("late", 5, cpu="100m")
    up.placed("late-", 5)
    expect(pods).not_to_have_text(before)


def test_a_node_is_opened_with_the_keyboard(page, up):
    show(page, up, "#/cluster")
    zone = page.get_by_role("listbox").first
    zone.focus()
    first = zone.get_by_role("option").get_attribute("aria-label")
    page.keyboard.press("ArrowRight")
    expect(zone.get_by_role("option")).not_to_have_attribute("aria-label", first)
    second = zone.get_by_role("option").get_attribute("aria-label").split(",")[0]
    page.keyboard.press("Enter")
    panel = page.get_by_role("complementary", name=f"Node {second}")
    expect(panel).to_be_visible()
    expect(panel.get_by_role("heading", name="What still fits")).to_be_visible()
    assert page.url.endswith(f"#/cluster/{second}"), "a node is a link"
    page.keyboard.press("Escape")
    expect(panel).to_have_count(0)


def test_a_node_is_opened_with_the_mouse_and_shows_its_pods(page, up):
    pod = up.placed("web-", 20)[0]
    node = pod["spec"]["nodeName"]
    show(page, up, "#/cluster")
    page.get_by_role("searchbox", name="Find a node").fill(node)
    page.keyboard.press("Enter")
    panel = page.get_by_role("complementary", name=f"Node {node}")
    expect(panel.get_by_role("link", name=pod["metadata"]["name"])).to_be_visible()
    show(page, up, "#/cluster")
    page.locator(".zone-canvas").first.click(position={"x": 5, "y": 5})
    expect(page.get_by_role("complementary")).to_be_visible()


def test_nodes_as_a_table_sorted_by_use(page, up):
    show(page, up, "#/cluster?view=table")
    table = page.get_by_role("region", name="Nodes").get_by_role("table")
    table.get_by_role("button", name="cpu").click()
    expect(table.get_by_role("columnheader", name="cpu")).to_have_attribute(
        "aria-sort", "descending"
    )
    shares = [
        float(text.rstrip("%"))
        for text in table.locator("tbody tr td:nth-child(3) b").all_inner_texts()
    ]
    assert len(shares) == 50 and shares == sorted(shares, reverse=True)


def test_pending_pods_by_reason_with_what_would_help(page, up):
    show(page, up, "#/pending")
    expect(page.get_by_text("3 pods without a node")).to_be_visible()
    page.get_by_role("link", name=re.compile("Insufficient cpu")).click()
    rows = page.locator(".waiting > li")
    expect(rows).to_have_count(1)
    expect(rows.first).to_contain_text("huge")
    rows.first.get_by_role("button", name="What would help?").click()
    help_text = page.locator(".help")
    expect(help_text).to_contain_text("cpu")
    expect(help_text).to_contain_text("were tried" if help_text.count() == 0 else "tried")
    assert "#/pending/default/huge" in page.url


def test_a_decision_from_the_list_to_the_scores(page, up):
    pod = up.placed("web-", 20)[3]["metadata"]["name"]
    show(page, up, "#/decisions")
    page.get_by_role("searchbox").fill(pod)
    page.get_by_role("link", name=pod).first.click()
    expect(page.get_by_role("heading", name=pod)).to_be_visible()
    expect(page.locator(".facts .badge")).to_have_text("Scheduled")
    funnel = page.locator(".funnel")
    expect(funnel).to_contain_text("All nodes")
    expect(funnel).to_contain_text("Feasible")
    scores = page.locator(".scores > li")
    expect(scores.first).to_be_visible()
    scores.first.get_by_role("button").click()
    expect(scores.first.get_by_role("cell", name="NodeResourcesFit", exact=True)).to_be_visible()
    total = int(scores.first.locator("button b.num").inner_text().replace(",", ""))
    points = [
        int(text.replace(",", ""))
        for text in scores.first.locator("tbody td:last-child").all_inner_texts()
    ]
    assert sum(points) == total, "the parts are the whole"
    expect(page.get_by_role("heading", name="Time taken")).to_be_visible()
    timed = page.locator(".durations th").all_inner_texts()
    assert timed.index("PreFilter") < timed.index("Filter") < len(timed) - 1, timed
    assert timed[-1] == "PostBind", timed


def test_all_decisions_are_searched_and_the_search_is_in_the_address(page, up):
    up.placed("web-", 20)
    show(page, up, "#/decisions?q=no-such-pod")
    expect(page.get_by_text("No decision matches")).to_be_visible()
    page.get_by_role("button", name="Show all").click()
    page.get_by_role("searchbox").fill("WEB-")
    expect(page.get_by_text(re.compile("decisions match"))).to_be_visible()
    assert "q=WEB-" in page.url
    page.get_by_role("textbox", name="Workload").or_(
        page.get_by_role("combobox", name="Workload")
    ).fill("we")
    expect(page.get_by_text("No decision matches")).to_be_visible()


def test_nodes_are_grouped_and_coloured_by_state(page, up):
    show(page, up, "#/cluster?group=state&by=states")
    expect(page.get_by_role("heading", name="ready", exact=True)).to_be_visible()
    expect(page.locator(".kinds")).to_contain_text("ready")
    page.get_by_role("combobox", name="Group by").select_option("zone")
    expect(page.get_by_role("listbox")).to_have_count(3)
    assert "group=" not in page.url


def test_a_suggestion_is_tried_as_a_what_if(page, up):
    show(page, up, "#/pending/default/huge")
    page.locator(".help").get_by_role("link", name="Try it").first.click()
    rows = page.locator(".placements tbody tr")
    expect(rows.filter(has_text="default/huge").filter(has_text="Placed")).to_have_count(1)
    assert "d=" in page.url, "the what-if is in the address"
    page.reload()
    expect(page.get_by_role("textbox", name="Pods and other objects")).to_have_value(
        re.compile("huge")
    )


def test_why_a_pod_waits_and_what_one_node_says(page, up):
    show(page, up, "#/decisions/default/picky")
    expect(page.locator(".facts .badge")).to_have_text("Unschedulable")
    expect(page.locator(".message")).to_contain_text("0/50 nodes are available")
    expect(page.locator(".funnel")).to_contain_text("NodeAffinity")
    node = up.explain("/nodes")["name"][0]
    page.get_by_role("textbox", name="Name of a node").fill(node)
    page.get_by_role("button", name="Ask").click()
    expect(page.locator(".verdict")).to_contain_text("refused")
    expect(page.locator(".verdict")).to_contain_text("didn't match Pod's node affinity/selector")
    assert f"node={node}" in page.url


def test_queue_counts_and_live_decisions(page, up):
    show(page, up, "#/queue")
    expect(page.locator(".live")).to_have_text("live")
    expect(page.locator("[data-queue=gated] dd")).to_have_text("1")
    # Both may be backing off at the moment one looks.
    up.pod("live-one", cpu="100m")
    expect(page.locator(".feed")).to_contain_text("live-one")


def test_what_if_places_pods_without_touching_the_cluster(page, up):
    before = len(up.pods())
    show(page, up, "#/whatif")
    page.get_by_role("button", name="Deployment").click()
    page.get_by_role("button", name="Run").click()
    rows = page.locator(".placements tbody tr")
    expect(rows.filter(has_text="default/try-").filter(has_text="Placed")).to_have_count(6)
    assert len(up.pods()) == before


def test_what_if_with_a_cordoned_node_more_nodes_and_other_weights(page, up):
    node = up.explain("/nodes")["name"][0]
    show(page, up, f"#/whatif?cordon={node}&like={node}&count=2")
    slider = page.get_by_role("slider", name="NodeResourcesFit")
    slider.focus()
    page.keyboard.press("End")
    expect(page.locator(".weights .moved")).to_contain_text("was ×1")
    page.get_by_role("button", name="Run").click()
    expect(page.locator(".facts", has_text="Placed differently")).to_be_visible()
    expect(page.locator(".facts", has_text="Nodes")).to_contain_text("52 was 50")
    expect(page.get_by_role("columnheader", name="Before")).to_be_visible()
    placed = page.locator(".placements tbody tr td:nth-child(4)").all_inner_texts()
    assert not any(text.split()[0] == node for text in placed if text.strip()), (
        "nothing goes to a cordoned node"
    )


def test_what_if_says_what_is_wrong_with_a_manifest(page, up):
    show(page, up, "#/whatif")
    page.get_by_role("textbox", name="Pods and other objects").fill("kind: [")
    page.get_by_role("button", name="Run").click()
    expect(page.get_by_role("alert")).to_be_visible()
    page.problems[:] = [each for each in page.problems if "status of 4" not in each]


@pytest.mark.parametrize(
    "route, text",
    [
        ("#/nowhere", "There is nothing at this address"),
        ("#/cluster/no-such-node", "no-such-node"),
        ("#/decisions/default/no-such-pod", "Not found"),
    ],
)
def test_addresses_that_lead_nowhere_say_so(page, up, route, text):
    show(page, up, route)
    expect(page.get_by_text(text).first).to_be_visible()
    page.problems[:] = [each for each in page.problems if "404" not in each]


def test_a_plan_says_whether_nodes_may_go(page, up):
    nodes = up.explain("/nodes")["name"][:2]
    show(page, up, f"#/plans?q=drain&nodes={','.join(nodes)}")
    expect(page.get_by_text("Nothing planned yet")).to_be_visible()
    page.get_by_role("button", name="Plan", exact=True).click()
    result = page.get_by_label("Result")
    expect(result).to_contain_text("place.", timeout=60_000)
    expect(result.locator("dd").first).to_contain_text("was 50")
    expect(page.get_by_role("heading", name="Before", exact=True)).to_be_visible()
    expect(page.locator(".plan-maps > div:last-child .is-gone")).to_have_count(2)
    for node in nodes:
        assert not up.call("GET", f"/api/v1/nodes/{node}")["spec"].get("unschedulable")


def test_a_question_that_is_wrong_is_answered(page, up):
    show(page, up, "#/plans?q=drain&nodes=pool%3Dnobody")
    page.get_by_role("button", name="Plan", exact=True).click()
    expect(page.get_by_role("alert")).to_contain_text("no node is in a pool nobody")
    # The browser tells of every answer above 399.
    assert [each for each in page.problems if "400" not in each] == []
    page.problems.clear()
