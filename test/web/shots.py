"""See shots."""

import pathlib
import random
import sys
import tempfile
import time

from berth import Up
from playwright.sync_api import sync_playwright

SIZES = {"1440": (1440, 900), "390": (390, 844)}


def fill(up):
    """Deployments of several sizes, some of them too large, a few nodes closed."""
    draw = random.Random(3)
    names = [node["metadata"]["name"] for node in up.call("GET", "/api/v1/nodes")["items"]]
    for name in names[4::17]:
        node = up.call("GET", f"/api/v1/nodes/{name}")
        node["spec"]["unschedulable"] = True
        up.call("PUT", f"/api/v1/nodes/{name}", node)
    # Left to the scheduler all nodes would be equally full.
    for i, name in enumerate(names):
        cpu = draw.choice([0, 1, 2, 3, 5, 6, 8, 9, 11])
        if cpu > 0:
            up.pod(f"resident-{i}", str(cpu), f"{cpu * draw.choice([1, 2, 3, 4])}Gi", nodeName=name)
    sizes = [("250m", "512Mi"), ("500m", "1Gi"), ("1", "2Gi"), ("2", "6Gi"), ("4", "24Gi")]
    for i, app in enumerate(["web", "api", "cache", "search", "cart", "mail", "train"]):
        cpu, memory = sizes[i % len(sizes)]
        up.deployment(app, max(3, len(names) * draw.randint(4, 16) // 20), cpu, memory)
    zone = {"matchLabels": {"app": "store"}}
    spread = {
        "maxSkew": 1,
        "topologyKey": "topology.kubernetes.io/zone",
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": zone,
    }
    up.deployment("store", 12, "1", "8Gi", topologySpreadConstraints=[spread])
    up.deployment("render", 4, "24", "16Gi")
    up.pod("report-0", cpu="15", memory="60Gi")
    up.pod("picky", nodeSelector={"disk": "nvme"})
    up.pod("migrate", schedulingGates=[{"name": "example.com/approved"}])


def keep_busy(up):
    """A few seconds in which pods come and go, for the page that shows the last minute."""
    for i in range(8):
        up.deployment(f"wave-{i}", 3 + 5 * (i % 3), "100m", "64Mi")
        time.sleep(1)


def main(folder):
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch, sync_playwright() as playwright:
        up = Up(scratch, "--speed", "max", "--nodes", "120")
        browser = playwright.chromium.launch(
            executable_path="/usr/bin/chromium", args=["--no-sandbox"]
        )
        try:
            fill(up)
            pod = up.placed("store-", 12)[-1]["metadata"]["name"]
            node = up.explain("/nodes")["name"][2]
            routes = {
                "cluster": "#/cluster",
                "node": f"#/cluster/{node}",
                "table": "#/cluster?view=table",
                "pending": "#/pending",
                "decisions": "#/decisions",
                "decision": f"#/decisions/default/{pod}?node={node}",
                "refused": "#/decisions/default/report-0",
                "queue": "#/queue",
                "whatif": f"#/whatif?cordon={node}",
                "plans": f"#/plans?q=drain&nodes={node}",
            }
            for name, route in routes.items():
                if name == "queue":
                    keep_busy(up)
                for width, (x, y) in SIZES.items():
                    for scheme in ("light", "dark"):
                        page = browser.new_page(
                            viewport={"width": x, "height": y}, color_scheme=scheme
                        )
                        page.goto(up.dashboard + route)
                        page.wait_for_timeout(1200)
                        if name == "whatif":
                            page.get_by_role("slider", name="NodeResourcesFit").fill("6")
                            page.get_by_role("button", name="Run").click()
                            page.wait_for_selector(".placements, [role=alert]")
                        if name == "plans":
                            page.get_by_role("button", name="Plan", exact=True).click()
                            page.wait_for_selector(".plan-maps, [role=alert]")
                        if name == "pending":
                            page.get_by_role("button", name="What would help?").first.click()
                            page.wait_for_timeout(800)
                        page.screenshot(
                            path=folder / f"{name}-{width}-{scheme}.png",
                            full_page=name in ("pending", "decision", "refused", "whatif", "plans"),
                        )
                        page.close()
        finally:
            browser.close()
            up.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
