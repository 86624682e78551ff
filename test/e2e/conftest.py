"""Fixtures: one control plane and one scheduler for the session, one world (namespace, nodes) per
test."""

import os
import pathlib
import re
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))

from harness import kubeconfig
from harness.cluster import BERTH_ACCOUNT, Cluster
from harness.scheduler import REPOSITORY, program
from harness.world import World

PACKED = {
    "schedulerName": "packed-scheduler",
    "pluginConfig": [
        {
            "name": "NodeResourcesFit",
            "args": {
                "scoringStrategy": {
                    "type": "MostAllocated",
                    "resources": [{"name": "cpu", "weight": 1}],
                }
            },
        }
    ],
}
NO_SPREAD = {
    "schedulerName": "bare-scheduler",
    "plugins": {
        "multiPoint": {"disabled": [{"name": "TaintToleration"}, {"name": "PodTopologySpread"}]}
    },
}


def pytest_configure(config):
    if not program().exists():
        pytest.exit(
            f"{program()} does not exist: build it, or name a scheduler in BERTH_E2E_SCHEDULER", 2
        )


def pytest_collection_modifyitems(items):
    items.sort(key=lambda item: item.get_closest_marker("before_main_scheduler") is None)


def pytest_terminal_summary(terminalreporter):
    """Names the tests that failed in the file BERTH_E2E_FAILURES, for test/e2e/run."""
    path = os.environ.get("BERTH_E2E_FAILURES")
    if path:
        reports = [r for kind in ("failed", "error") for r in terminalreporter.stats.get(kind, [])]
        names = sorted({report.nodeid for report in reports})
        pathlib.Path(path).write_text("".join(name + "\n" for name in names))


def apply_rbac(cluster):
    cluster.kubectl("apply", "-f", REPOSITORY / "deploy/kustomize/base/rbac.yaml")


@pytest.fixture(scope="session")
def cluster(tmp_path_factory):
    cluster = Cluster(tmp_path_factory.mktemp("cluster"))
    apply_rbac(cluster)
    yield cluster
    cluster.close()


@pytest.fixture(scope="session")
def berth_kubeconfig(cluster):
    """Credentials as a pod of deploy/ has them: the token of service account kube-system/berth, in
    a file."""
    namespace, account = BERTH_ACCOUNT
    token = cluster.folder / "berth.token"
    token.write_text(cluster.token(account, namespace))
    return cluster.write_kubeconfig("berth.conf", kubeconfig.by_token_file(token))


@pytest.fixture(scope="session")
def main_scheduler(cluster, berth_kubeconfig):
    """The scheduler most tests use: three profiles, leader election, deploy/'s rights and no
    others."""
    scheduler = cluster.scheduler(
        "main",
        kubeconfig=berth_kubeconfig,
        leader_elect=True,
        serve=True,
        # Patient with its lease: other tests restart the API server under it.
        flags=["-v=2", "--leader-elect-lease-duration=90s", "--leader-elect-renew-deadline=60s"],
        profiles=[{"schedulerName": "default-scheduler"}, PACKED, NO_SPREAD],
    )
    yield scheduler
    cpu, rss = scheduler.sample()
    print(f"\nscheduler {program()}: {cpu:.2f} CPU s, peak {rss / 1024:.0f} MiB")
    assert scheduler.stop() == 0, (
        f"the scheduler ended with {scheduler.child.returncode}:\n{scheduler.log_tail()}"
    )


def namespace_of(request):
    name = re.sub(r"[^a-z0-9]+", "-", request.node.name.lower()).strip("-").removeprefix("test-")
    return name[:40].strip("-")


@pytest.fixture
def quiet_world(cluster, request):
    """A world without the session's scheduler: the test starts its own, with a scheduler name of
    its own."""
    world = World(cluster, namespace_of(request))
    yield world
    world.leave()


@pytest.fixture
def world(quiet_world, main_scheduler):
    assert main_scheduler.running(), f"the scheduler has ended:\n{main_scheduler.log_tail()}"
    return quiet_world


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    report = (yield).get_result()
    cluster = item.funcargs.get("cluster") if hasattr(item, "funcargs") else None
    if report.failed and cluster:
        for scheduler in cluster.schedulers:
            if scheduler.running() or scheduler is cluster.schedulers[-1]:
                report.sections.append(
                    (f"log of scheduler {scheduler.name}", scheduler.log_tail(25))
                )
