"""Child processes of the tests: each has a log file, is ended by its own pid, and says what it
used."""

import os
import random
import signal
import socket
import subprocess
import time

TICKS = os.sysconf("SC_CLK_TCK")


def free_port():
    """A port nobody has. Not one the kernel would choose: a connection that goes out may be given
    that before the server it was meant for has started."""
    for _ in range(1000):
        port = random.SystemRandom().randrange(10_000, 32_000)
        with socket.socket() as s:
            try:
                s.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    raise AssertionError("no free port from 10000 to 32000")


def until(what, check, timeout=30.0, every=0.05):
    """Calls check until it answers something true and returns that; an AssertionError names what
    did not come."""
    end = time.monotonic() + timeout
    last = None
    while True:
        try:
            answer = check()
            if answer:
                return answer
            last = answer
        except Exception as e:
            last = e
        if time.monotonic() > end:
            raise AssertionError(f"after {timeout} s still not: {what} (last answer: {last!r})")
        time.sleep(every)


class Process:
    def __init__(self, argv, log_path, env=None):
        self.argv = [str(a) for a in argv]
        self.log_path = log_path
        with open(log_path, "ab") as log:
            self.child = subprocess.Popen(
                self.argv, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=env
            )
        self.cpu_seconds = 0.0
        self.peak_rss_kib = 0

    @property
    def pid(self):
        return self.child.pid

    def running(self):
        return self.child.returncode is None and self.child.poll() is None

    def sample(self):
        """CPU seconds and peak memory so far, from /proc; keeps the last values once the process is
        gone."""
        try:
            with open(f"/proc/{self.pid}/stat") as f:
                fields = f.read().rsplit(")", 1)[1].split()
            self.cpu_seconds = (int(fields[11]) + int(fields[12])) / TICKS
            with open(f"/proc/{self.pid}/status") as f:
                for line in f:
                    if line.startswith("VmHWM:"):
                        self.peak_rss_kib = int(line.split()[1])
        except (FileNotFoundError, ProcessLookupError):
            pass
        return self.cpu_seconds, self.peak_rss_kib

    def signal(self, number):
        if self.running():
            os.kill(self.pid, number)

    def wait(self, timeout=20.0):
        return self.child.wait(timeout)

    def stop(self, grace=10.0):
        """SIGTERM, then SIGKILL after the grace period; returns the exit code."""
        if self.running():
            self.sample()
            self.signal(signal.SIGCONT)
            self.signal(signal.SIGTERM)
            try:
                self.child.wait(grace)
            except subprocess.TimeoutExpired:
                self.signal(signal.SIGKILL)
        return self.child.wait()

    def kill(self):
        self.sample()
        self.signal(signal.SIGKILL)
        return self.child.wait()

    def log(self):
        with open(self.log_path, errors="replace") as f:
            return f.read()

    def log_tail(self, lines=40):
        return "\n".join(self.log().splitlines()[-lines:])
