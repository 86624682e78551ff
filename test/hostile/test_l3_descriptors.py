"""L3: more connections than there are descriptors."""

import pathlib
import re
import resource
import time


def test_l3_newcomers_do_not_wait(start):
    up = start("--no-scheduler", files=(1024, 1024), canary=0)
    idle = [up.dial() for _ in range(1300)]
    began = time.monotonic()
    assert up.request("GET", "/healthz", timeout=10) == (200, b"ok")
    assert time.monotonic() - began < 3
    for sock in idle:
        sock.close()


def test_l3_the_limit_is_raised(start):
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    up = start("--no-scheduler", files=(256, hard), canary=0)
    limits = pathlib.Path(f"/proc/{up.child.pid}/limits").read_text()
    soft, most = re.search(r"Max open files\s+(\d+)\s+(\d+)", limits).groups()
    assert soft == most != "256"
