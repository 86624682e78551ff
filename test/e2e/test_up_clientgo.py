"""berth up with client-go: typed clients, shared informers, server-side apply, scale, eviction, leases.

The program is peer/clientgo; it ends at the first thing that is not as client-go's users expect it."""

import shutil
import subprocess

import pytest

from harness.scheduler import REPOSITORY
from harness.up import Up

PARTS = [
    "discovery",
    "optimistic concurrency and refusals",
    "server-side apply",
    "pages and selectors",
    "watch with bookmarks",
    "shared informers",
    "scale",
    "eviction",
    "leader election by leases",
    "deletion",
]


@pytest.fixture(scope="module")
def program():
    """Built anew each time: Go's own cache makes that short."""
    if not shutil.which("go"):
        pytest.skip("no Go compiler in PATH")
    path = REPOSITORY / "build/e2e-clientgo"
    built = subprocess.run(
        ["go", "build", "-ldflags=-s -w", "-o", path, "./clientgo"],
        cwd=REPOSITORY / "test/e2e/peer",
        capture_output=True,
        text=True,
    )
    assert built.returncode == 0, built.stderr
    return path


@pytest.fixture(scope="module")
def up(tmp_path_factory):
    up = Up(tmp_path_factory.mktemp("up"), "--speed=10x", nodes=4)
    yield up
    assert up.stop() == 0, up.output()


@pytest.mark.parametrize("form", ["json", "vnd.kubernetes.protobuf"])
def test_client_go(program, up, form):
    done = subprocess.run(
        [program, f"-kubeconfig={up.kubeconfig}", f"-content-type=application/{form}"]
        + [f"-namespace=in-{form.split('.')[-1]}"],
        capture_output=True,
        text=True,
        timeout=240,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.splitlines() == PARTS
