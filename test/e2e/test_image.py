"""The image of tools/image, its layers unpacked and its entry points run in a chroot as its user."""

import os
import pathlib
import subprocess

import pytest

from harness import kubeconfig
from harness.processes import Process, free_port, until
from harness.scheduler import REPOSITORY, program

# The image's User.
USER = 65532
CHROOT = "/usr/sbin/chroot"


@pytest.fixture(scope="module")
def image_root(tmp_path_factory):
    if os.geteuid() != 0:
        pytest.skip("chroot needs root")
    folder = tmp_path_factory.mktemp("image")
    # Below folders that only root may enter, the image's user could not run anything.
    for parent in folder.parents[:3]:
        parent.chmod(parent.stat().st_mode | 0o055)
    subprocess.run(
        [REPOSITORY / "tools/image/build", "--program", program(), "--out", folder / "out"],
        check=True,
    )
    (archive,) = (folder / "out").glob("*.tar")
    root = folder / "root"
    subprocess.run([REPOSITORY / "tools/image/check", archive, "--root", root], check=True)
    return root


@pytest.mark.parametrize("entry", [["berth", "scheduler"], ["kube-scheduler"]])
def test_the_image_schedules(quiet_world, image_root, entry, tmp_path):
    cluster, name = quiet_world.cluster, "in-image-" + entry[0]
    folder = image_root / "etc/kubernetes"
    folder.mkdir(exist_ok=True)
    credentials = kubeconfig.write(
        folder / "scheduler.conf",
        cluster.server,
        kubeconfig.by_inline_certificate(*cluster.scheduler_pair),
        ca_inline=cluster.certs.ca,
    )
    config = folder / "config.yaml"
    config.write_text(
        "apiVersion: kubescheduler.config.k8s.io/v1\n"
        "kind: KubeSchedulerConfiguration\n"
        "clientConnection: {kubeconfig: /etc/kubernetes/scheduler.conf}\n"
        "leaderElection: {leaderElect: false}\n"
        f"profiles: [{{schedulerName: {name}}}]\n"
    )
    for file in (credentials, config):
        os.chown(file, USER, USER)
    scheduler = Process(
        [
            *(CHROOT, f"--userspec={USER}:{USER}", image_root, *entry),
            *("--config=/etc/kubernetes/config.yaml", "--bind-address=127.0.0.1"),
            *(f"--secure-port={free_port()}", "-v=2"),
        ],
        tmp_path / "image.log",
        env={"PATH": "/usr/bin"},
    )
    try:
        node = quiet_world.node("a")
        quiet_world.pod("one", cpu="100m", scheduler=name)
        assert quiet_world.bound("one") == node, scheduler.log_tail()
        log = pathlib.Path(scheduler.log_path).read_text()
        assert "Starting Kubernetes Scheduler" in log and "Successfully bound pod to node" in log
        status = pathlib.Path(f"/proc/{scheduler.pid}/status").read_text()
        assert f"Uid:\t{USER}\t{USER}" in status
    finally:
        assert scheduler.stop() == 1  # as kube-scheduler without leader election
    until("the scheduler has ended", lambda: not scheduler.running())
