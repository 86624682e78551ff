"""berth up as the victim: how it is started, reached, measured and asked whether it still works."""

import base64
import http.client
import json
import os
import pathlib
import re
import resource
import signal
import socket
import ssl
import subprocess
import time

REPOSITORY = pathlib.Path(__file__).resolve().parents[3]
BERTH = pathlib.Path(os.environ.get("BERTH_PROGRAM", REPOSITORY / "build/bin/berth"))
JSON = "application/json"


def until(what, check, timeout=20.0, every=0.02):
    """Calls check until it returns something true, and returns that."""
    end = time.monotonic() + timeout
    while True:
        answer = check()
        if answer:
            return answer
        assert time.monotonic() < end, f"after {timeout} s still not: {what}"
        time.sleep(every)


class Victim:
    """A process under attack: its log, its memory, its end."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.canaries = 0

    def log(self):
        return (self.folder / "log").read_text(errors="replace")

    def alive(self):
        return self.child.poll() is None

    def kill(self):
        self.child.kill()
        self.child.wait()

    def _status(self, field):
        text = pathlib.Path(f"/proc/{self.child.pid}/status").read_text()
        return int(re.search(rf"{field}:\s+(\d+) kB", text)[1]) / 1024

    def rss(self):
        """Resident memory now, in MiB."""
        return self._status("VmRSS")

    def peak(self):
        """The most it ever was."""
        return self._status("VmHWM")

    def cpu(self):
        """Seconds of processor time so far."""
        fields = pathlib.Path(f"/proc/{self.child.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Up(Victim):
    """One `berth up` on a port the system chose. `files`: its limit of open files (soft, hard)."""

    def __init__(self, folder, *flags, nodes=3, files=None):
        super().__init__(folder)
        self.data = self.folder / "data"
        self.kubeconfig = self.folder / "kubeconfig"
        self.flags = [f"--data-dir={self.data}" if f == "--data-dir" else f for f in flags]
        self.nodes, self.files = nodes, files
        self._start()

    def _start(self):
        self.kubeconfig.unlink(missing_ok=True)
        with open(self.folder / "log", "ab") as log:
            self.child = subprocess.Popen(
                [BERTH, "up", f"--nodes={self.nodes}", "--port=0", "--speed=10x"]
                + [f"--kubeconfig-out={self.kubeconfig}", *self.flags],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                preexec_fn=self._limit if self.files else None,
            )
        until("a kubeconfig", lambda: self.kubeconfig.exists() or self.child.poll() is not None, 60)
        assert self.child.poll() is None, self.log()
        text = self.kubeconfig.read_text()
        self.server = re.search(r"server: (\S+)", text)[1]
        self.tls = self.server.startswith("https://")
        host, port = self.server.split("://")[1].rsplit(":", 1)
        self.host, self.port = host.strip("[]"), int(port)
        self.token = (re.search(r"token: (\S+)", text) or [None, None])[1]
        self.context = None
        if self.tls:
            ca = re.search(r"certificate-authority-data: (\S+)", text)[1]
            self.context = ssl.create_default_context(cadata=base64.b64decode(ca).decode())

    def _limit(self):
        resource.setrlimit(resource.RLIMIT_NOFILE, self.files)

    # --- its process

    def stop(self):
        if self.alive():
            self.child.send_signal(signal.SIGINT)
        return self.child.wait(timeout=20)

    def restart(self):
        assert self.stop() == 0, self.log()
        self._start()

    # --- requests

    def dial(self, timeout=20):
        made = socket.create_connection((self.host, self.port), timeout=timeout)
        return self.context.wrap_socket(made, server_hostname=self.host) if self.tls else made

    def say(self, sent, timeout=20):
        """Sends bytes on a new connection and returns status, headers and body of the answer."""
        with self.dial(timeout) as sock:
            try:
                sock.sendall(sent)
            except OSError:
                pass  # it was refused before all was sent
            return answer(sock)

    def request(self, method, path, body=None, headers=None, timeout=30):
        """Status, and the answer as JSON if it is any. The token goes with it, if there is one;
        None as a header leaves it out."""
        given = {"Host": f"localhost:{self.port}"}
        if body is not None and not isinstance(body, (bytes, str)):
            body = json.dumps(body)
            given["Content-Type"] = JSON
        if self.token:
            given["Authorization"] = f"Bearer {self.token}"
        given |= headers or {}
        text = body.encode() if isinstance(body, str) else body or b""
        head = f"{method} {path} HTTP/1.1\r\n"
        for name, value in given.items():
            head += f"{name}: {value}\r\n" if value is not None else ""
        if text or method not in ("GET", "HEAD"):
            head += f"Content-Length: {len(text)}\r\n"
        status, _, got = self.say(f"{head}Connection: close\r\n\r\n".encode() + text, timeout)
        try:
            return status, json.loads(got)
        except ValueError:
            return status, got

    def create(self, kind, name, namespace="default", **more):
        path = f"/api/v1/namespaces/{namespace}/{kind}"
        return self.request("POST", path, {"metadata": {"name": name}, **more})

    # --- does it still work?

    def canary(self, within=10.0):
        """A pod created now is bound within that many seconds. Returns how long it took."""
        self.canaries += 1
        name = f"canary-{self.canaries}"
        container = {"name": "c", "image": "nginx"}
        began = time.monotonic()
        status, said = self.create("pods", name, spec={"containers": [container]})
        assert status == 201, said
        path = f"/api/v1/namespaces/default/pods/{name}"
        until(
            "a bound canary",
            lambda: self.request("GET", path)[1].get("spec", {}).get("nodeName"),
            timeout=within,
        )
        took = time.monotonic() - began
        self.request("DELETE", path + "?gracePeriodSeconds=0")
        return took


def answer(sock):
    """Status, headers and body of the next answer on a connection."""
    response = http.client.HTTPResponse(sock)
    response.begin()
    return response.status, dict(response.getheaders()), response.read()


def closed(sock, timeout=5.0):
    """Has the server closed the connection?"""
    sock.settimeout(timeout)
    try:
        return sock.recv(1) == b""
    except ConnectionResetError:
        return True
    except TimeoutError:
        return False
