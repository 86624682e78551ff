"""Fixtures: victims that are looked at when the attack is over."""

import fcntl
import os
import pathlib
import resource
import socket
import struct
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))

from kit.scheduler import Scheduler
from kit.up import BERTH, Up

MEMORY = 300  # MiB
CANARY = 10.0  # seconds
# A build with a sanitizer needs a multiple of time and memory: the bounds of a release build are
# multiplied by this.
SLACK = float(os.environ.get("BERTH_SLACK", "1"))


def pytest_configure(config):
    if not BERTH.exists():
        pytest.exit(f"{BERTH} does not exist: build it, or name one in BERTH_PROGRAM", 2)
    # A network of our own begins with loopback switched off.
    SIOCGIFFLAGS, SIOCSIFFLAGS, IFF_UP = 0x8913, 0x8914, 1
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        name = struct.pack("16sh", b"lo", 0)
        flags = struct.unpack("16sh", fcntl.ioctl(s, SIOCGIFFLAGS, name))[1]
        if not flags & IFF_UP:
            fcntl.ioctl(s, SIOCSIFFLAGS, struct.pack("16sh", b"lo", flags | IFF_UP))
    # Attackers may have more connections than their victim.
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def check(up, canary, memory):
    """What every attack must leave behind."""
    assert up.alive(), up.log()
    if canary:
        up.canary(within=canary * SLACK)
    assert up.peak() < memory * SLACK, f"{up.peak():.0f} MiB"


def judge(victims):
    try:
        for victim, canary, memory in victims:
            check(victim, canary, memory)
            assert victim.stop() == 0, victim.log()
    finally:
        for victim, _, _ in victims:
            victim.kill()


@pytest.fixture
def start(tmp_path):
    """start(*flags, canary=10.0, memory=300, nodes=3, files=None) starts a victim of the test's
    own."""
    victims = []

    def begin(*flags, canary=CANARY, memory=MEMORY, **more):
        up = Up(tmp_path / str(len(victims)), *flags, **more)
        victims.append((up, canary, memory))
        return up

    yield begin
    judge(victims)


@pytest.fixture
def scheduler(tmp_path):
    """scheduler(attack, canary=10.0, memory=300, nodes=3, flags=()): a scheduler whose API server is
    the test."""
    victims = []

    def begin(attack=None, canary=CANARY, memory=MEMORY, **more):
        made = Scheduler(tmp_path / f"scheduler-{len(victims)}", attack, **more)
        victims.append((made, canary, memory))
        return made

    yield begin
    judge(victims)


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    up = Up(tmp_path_factory.mktemp("up"))
    yield up
    try:
        assert up.stop() == 0, up.log()
    finally:
        up.kill()


@pytest.fixture
def up(shared):
    """The victim the tests of a file share."""
    yield shared
    check(shared, CANARY, MEMORY)
