"""berth up as a process: it survives being killed, keeps strangers out, and says what is wrong."""

import base64
import fcntl
import json
import os
import pathlib
import pty
import random
import re
import select
import signal
import socket
import ssl
import struct
import subprocess
import termios
import threading
import time
import urllib.error
import urllib.request

import pytest

from harness.processes import until
from harness.up import BERTH, Up, drain

KILLS = int(os.environ.get("BERTH_E2E_KILLS", "12"))


def run(*flags, timeout=20):
    done = subprocess.run([BERTH, "up", *flags], capture_output=True, text=True, timeout=timeout)
    return done.returncode, done.stdout, done.stderr


class Writer(threading.Thread):
    """Creates, changes and deletes objects until the server is gone, and remembers what it was
    told."""

    def __init__(self, up, name, known):
        super().__init__()
        self.up, self.name_, self.known = up, name, known
        self.unsure = set()
        self.writes = 0

    def run(self):
        path = "/api/v1/namespaces/default/configmaps"
        for i in range(100_000):
            name = f"{self.name_}-{i % 50}"
            exists = name in self.known
            delete = exists and i % 7 == 0
            body = {"metadata": {"name": name}, "data": {"value": f"{self.name_} {i}"}}
            method = "DELETE" if delete else "PUT" if exists else "POST"
            target = path + ("" if method == "POST" else f"/{name}")
            data = None if delete else json.dumps(body).encode()
            ask = urllib.request.Request(self.up.server + target, data, method=method)
            ask.add_header("Content-Type", "application/json")
            try:
                with urllib.request.urlopen(ask, timeout=20) as answer:
                    answer.read()
            except (urllib.error.URLError, OSError, ValueError):
                self.unsure.add(name)  # it may have been done
                return
            self.writes += 1
            if delete:
                del self.known[name]
            else:
                self.known[name] = body["data"]["value"]


def test_no_acknowledged_write_is_lost(tmp_path):
    chance = random.Random(7)
    data = f"--data-dir={tmp_path}/data"
    known, written, last_version = {}, 0, 0
    unsure = set()
    for kill in range(KILLS):
        up = Up(tmp_path, "--no-scheduler", data, nodes=1)
        listed = up.core.list_namespaced_config_map("default")
        there = {c.metadata.name: (c.data or {}).get("value") for c in listed.items}
        there.pop("kube-root-ca.crt", None)
        version = int(listed.metadata.resource_version)
        assert version >= last_version, "versions never go back"
        last_version = version
        for name in set(known) | set(there):
            if name in unsure:
                known.pop(name, None)
                if name in there:
                    known[name] = there[name]
            else:
                assert there.get(name) == known.get(name), f"{name} after kill {kill}"
        parts = [{n: v for n, v in known.items() if n.startswith(f"w{i}-")} for i in range(4)]
        writers = [Writer(up, f"w{i}", parts[i]) for i in range(4)]
        for writer in writers:
            writer.start()
        time.sleep(chance.uniform(0.05, 0.6))
        up.kill()
        for writer in writers:
            writer.join()
        known = {n: v for part in parts for n, v in part.items()}
        unsure = set().union(*(writer.unsure for writer in writers))
        written += sum(writer.writes for writer in writers)
    assert written > KILLS * 10
    print(f"\n{KILLS} kills, {written} acknowledged writes, none lost")


def test_a_cluster_goes_on_where_it_was(tmp_path):
    data = f"--data-dir={tmp_path}/data"
    up = Up(tmp_path, data, "--speed=10x", nodes=3)
    container = {"name": "c", "image": "nginx"}
    labels = {"app": "web"}
    spec = {"replicas": 4, "selector": {"matchLabels": labels}}
    spec["template"] = {"metadata": {"labels": labels}, "spec": {"containers": [container]}}
    up.apps.create_namespaced_deployment("default", {"metadata": {"name": "web"}, "spec": spec})
    up.kill()
    up = Up(tmp_path, data, "--speed=10x", nodes=3)
    try:
        until(
            "four that run",
            lambda: up.apps.read_namespaced_deployment("web", "default").status.ready_replicas == 4,
        )
        assert len(up.core.list_node().items) == 3
    finally:
        assert up.stop() == 0


def test_strangers_need_the_token(tmp_path):
    address = next(
        (a for a in socket.gethostbyname_ex(socket.gethostname())[2] if not a.startswith("127.")),
        None,
    )
    flags = ["--bind-address=0.0.0.0", "--no-scheduler"]
    up = Up(tmp_path, *flags, nodes=1)
    try:
        port = up.server.rsplit(":", 1)[1]
        text = up.kubeconfig.read_text()
        ca = base64.b64decode(re.search(r"certificate-authority-data: (\S+)", text)[1]).decode()
        trust = ssl.create_default_context(cadata=ca)
        for host in filter(None, ["127.0.0.1", address]):
            with pytest.raises(urllib.error.HTTPError) as refused:
                urllib.request.urlopen(f"https://{host}:{port}/api/v1/nodes", context=trust)
            assert refused.value.code == 401
            assert json.loads(refused.value.read())["reason"] == "Unauthorized"
        assert len(up.core.list_node().items) == 1, "the kubeconfig has the token"
        assert up.kubeconfig.stat().st_mode & 0o077 == 0
        token = re.search(r"token: (\w+)", up.kubeconfig.read_text())[1]
        assert len(token) >= 32
    finally:
        assert up.stop() == 0


def test_loopback_alone_is_open(tmp_path):
    up = Up(tmp_path, "--no-scheduler", nodes=1)
    try:
        assert up.server.startswith("http://127.0.0.1:")
        port = up.server.rsplit(":", 1)[1]
        listening = [
            line.split()[3]
            for line in subprocess.run(["ss", "-ltn"], capture_output=True, text=True).stdout.split(
                "\n"
            )
            if line.strip().endswith("*") and f":{port} " in line
        ]
        assert all(a.startswith("127.0.0.1:") for a in listening)
    finally:
        assert up.stop() == 0


def test_a_slow_watcher_is_dropped(tmp_path):
    up = Up(tmp_path, "--no-scheduler", nodes=1)
    try:
        host, port = up.server.removeprefix("http://").split(":")
        slow = socket.create_connection((host, int(port)))
        slow.sendall(b"GET /api/v1/configmaps?watch=1 HTTP/1.1\r\nHost: localhost\r\n\r\n")
        slow.recv(64)
        big = {"metadata": {"name": "big"}, "data": {"x": "y" * 900_000}}
        up.core.create_namespaced_config_map("default", big)
        for i in range(120):  # what waits for the watcher is more than the server keeps
            big["data"]["i"] = str(i)
            up.core.replace_namespaced_config_map("big", "default", big)
        assert drain(slow) < 90_000_000, "it was sent everything"
        rss = int(re.search(r"VmRSS:\s+(\d+)", open(f"/proc/{up.child.pid}/status").read())[1])
        assert rss < 600 * 1024, "KiB"
    finally:
        assert up.stop() == 0


def test_it_starts_in_a_second(tmp_path):
    times = []
    for i in range(3):
        up = Up(tmp_path / str(i), nodes=50)
        until("an answer", lambda up=up: len(up.core.list_node().items) == 50)
        times.append(float(re.search(r"ready in ([\d.]+) s", until("its word", up.output))[1]))
        assert up.stop() == 0
    assert min(times) < 1, times


def test_mistakes_are_said_with_what_to_do(tmp_path):
    taken = socket.socket()
    taken.bind(("127.0.0.1", 0))
    taken.listen()
    port = taken.getsockname()[1]
    out = f"--kubeconfig-out={tmp_path}/k"
    broken = tmp_path / "broken.yaml"
    broken.write_text("apiVersion: v1\nkind: Nothing\nmetadata: {name: x}\n")
    other = tmp_path / "other.yaml"
    other.write_text("apiVersion: kubescheduler.config.k8s.io/v1\nkind: Wrong\n")
    rows = [
        ([f"--port={port}", out], 1, ["address already in use", "--port"]),
        ([f"--nodes-file={tmp_path}/none.yaml", out], 1, ["none.yaml"]),
        ([f"--nodes-file={broken}", "--port=0", out], 1, ["broken.yaml", "Nothing"]),
        ([f"--config={other}", "--port=0", out], 1, ["other.yaml"]),
        (["--speed=fast", out], 2, ["--speed", "10x"]),
        (["--nodes=-1"], 2, ["--nodes"]),
        (["--nonsense"], 2, ["nonsense"]),
        (["extra"], 2, ["extra"]),
        ([f"--kubeconfig-out={tmp_path}/no/such/k", "--port=0"], 1, ["no/such/k"]),
        ([f"--data-dir={broken}", "--port=0", out], 1, ["broken.yaml"]),
    ]
    for flags, code, words in rows:
        answer, _, errors = run(*flags)
        assert answer == code, (flags, errors)
        for word in words:
            assert word in errors, (flags, errors)
    code, text, _ = run("--help")
    assert code == 0
    for flag in ("--nodes", "--nodes-file", "--port", "--data-dir", "--config", "--speed"):
        assert flag in text


def screen(columns, folder):
    """What a terminal of that width is sent while pods come, one of which cannot be placed."""
    pid, fd = pty.fork()
    if pid == 0:
        flags = ["--nodes=3", "--port=0", f"--kubeconfig-out={folder}/k"]
        os.execv(BERTH, [str(BERTH), "up", *flags])
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    text, asked, end = b"", False, time.monotonic() + 8
    while time.monotonic() < end:
        if select.select([fd], [], [], 0.1)[0]:
            text += os.read(fd, 65536)
        if not asked and b"--watch" in text:
            server = re.search(r"server: (\S+)", open(f"{folder}/k").read())[1]
            for name, wanted in (("small", "1"), ("a-pod-with-a-rather-long-name", "1000")):
                container = {"name": "c", "image": "i", "resources": {"requests": {"cpu": wanted}}}
                body = {"metadata": {"name": name}, "spec": {"containers": [container]}}
                ask = urllib.request.Request(
                    f"{server}/api/v1/namespaces/default/pods", json.dumps(body).encode()
                )
                ask.add_header("Content-Type", "application/json")
                urllib.request.urlopen(ask).read()
            asked, end = True, time.monotonic() + 3.5
    os.kill(pid, signal.SIGINT)
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        try:
            select.select([fd], [], [], 0.05)[0] and os.read(fd, 65536)
        except OSError:
            pass  # the terminal is closed with its last process
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            return text.decode(), status
    raise AssertionError("it does not end")


@pytest.mark.parametrize("columns", [60, 80, 120])
def test_the_view_fits_the_terminal(tmp_path, columns):
    text, status = screen(columns, tmp_path)
    assert status == 0
    drawn = text.split("--watch", 1)[1]
    assert "nodes" in drawn and "pending" in drawn
    assert "default/small  →  node-000" in drawn
    assert "default/a-pod-with-a-rather-long-name  waits: 0/3" in drawn
    for line in re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", drawn).replace("\r", "").split("\n"):
        assert len(line) <= columns, line


def test_plain_lines_in_a_pipe(tmp_path):
    up = Up(tmp_path, "--speed=10x", nodes=3)
    try:
        until("a line", lambda: "nodes 3/3" in up.output(), timeout=20)
        assert "\x1b" not in up.output()
    finally:
        assert up.stop() == 0


def test_kube_scheduler_can_be_its_scheduler(tmp_path):
    """client-go as the scheduler uses it: informers and leases in protobuf, bindings, events."""
    program = pathlib.Path(os.environ.get("BERTH_E2E_CACHE", "")) / "kube-scheduler"
    if not program.is_file():
        pytest.skip("no kube-scheduler")
    up = Up(tmp_path, "--no-scheduler", "--speed=10x", nodes=3)
    log = open(tmp_path / "scheduler.log", "w")
    scheduler = subprocess.Popen(
        [program, f"--kubeconfig={up.kubeconfig}", "--secure-port=0"], stdout=log, stderr=log
    )
    try:
        container = {"name": "c", "image": "nginx"}
        for i in range(5):
            body = {"metadata": {"name": f"p{i}"}, "spec": {"containers": [container]}}
            up.core.create_namespaced_pod("default", body)
        until(
            "five that run",
            lambda: (
                sum(
                    p.status.phase == "Running"
                    for p in up.core.list_namespaced_pod("default").items
                )
                == 5
            ),
            timeout=60,
        )
        until("events", lambda: len(up.core.list_namespaced_event("default").items) >= 5)
        text = (tmp_path / "scheduler.log").read_text()
        text = re.sub(r"^E.*The manifest file is empty, ignoring\.$", "", text, flags=re.M)
        assert not re.search(r"^E\d{4}", text, re.M), text
    finally:
        scheduler.terminate()
        scheduler.wait()
        assert up.stop() == 0
