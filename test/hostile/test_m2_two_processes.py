"""M2: one data directory, two processes."""

import os
import subprocess

from kit.up import BERTH


def second(up):
    out = f"--kubeconfig-out={up.folder}/second"
    return subprocess.run(
        [BERTH, "up", "--port=0", out, f"--data-dir={up.data}"],
        capture_output=True,
        text=True,
        timeout=30,
    )


def test_m2_the_second_is_refused_and_names_the_first(start):
    up = start("--data-dir")
    done = second(up)
    assert done.returncode == 1
    assert f"is in use by process {up.child.pid}" in done.stderr, done.stderr
    assert not os.path.exists(up.folder / "second")
    assert up.create("configmaps", "mine")[0] == 201


def test_m2_a_lock_ends_with_its_process(start):
    up = start("--data-dir")
    up.create("configmaps", "mine")
    up.kill()
    up._start()
    assert up.request("GET", "/api/v1/namespaces/default/configmaps/mine")[0] == 200
