"""deploy/seccomp/berth.json lets the scheduler do all it does: start, serve, bind, reload, record and
stop. Under the test's filter a system call that is not listed ends the process."""

import os
import signal
import subprocess
import sys
import time

import pytest
from kit import http2, seccomp
from kit.scheduler import free_port
from kit.up import REPOSITORY, until

PROFILE = REPOSITORY / "deploy/seccomp/berth.json"

pytestmark = pytest.mark.skipif(
    os.uname().machine != "x86_64" or not seccomp.NUMBERS.exists(),
    reason="needs the numbers of x86-64's system calls (linux-libc-dev)",
)


def test_the_scheduler_runs_under_the_profile(scheduler, tmp_path):
    port = free_port()
    config = tmp_path / "config.yaml"
    config.write_text(
        "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
        f"clientConnection: {{kubeconfig: {tmp_path}/scheduler-0/kubeconfig}}\n"
        "leaderElection: {leaderElect: false}\n"
    )
    made = scheduler(
        flags=[f"--config={config}", f"--secure-port={port}", "--bind-address=127.0.0.1"]
        + [f"--cert-dir={tmp_path}/certs", f"--record-dir={tmp_path}/recording", "-v=2"],
        canary=20,
        filter=seccomp.program(PROFILE),
    )
    made.canary(20)
    until("the secure port", lambda: http2.live(port) == 200, 20)
    made.child.send_signal(signal.SIGHUP)
    time.sleep(1)
    assert any((tmp_path / "recording").iterdir())


def test_what_is_not_listed_is_refused():
    """The filter works: a program that asks for something else is ended."""
    code = seccomp.program(PROFILE)
    done = subprocess.run(
        [sys.executable, "-c", "import os; os.getpriority(os.PRIO_PROCESS, 0)"],
        preexec_fn=lambda: seccomp.apply(code),
        capture_output=True,
    )
    assert done.returncode == -signal.SIGSYS
