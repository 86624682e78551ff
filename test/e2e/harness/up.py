"""berth up as a process of its own, and the clients that talk to it."""

import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import time

from kubernetes import client, config

from harness.processes import until
from harness.scheduler import BERTH, REPOSITORY


def minor():
    """The flag that makes berth up the API server of the peers' minor, if their folder tells it."""
    found = re.search(r"v(1\.\d+)\.\d+$", os.environ.get("BERTH_E2E_CACHE", ""))
    return [f"--kubernetes-version={found[1]}"] if found else []


class Up:
    """One running `berth up`. Its kubeconfig is for kubectl and the Python client."""

    def __init__(self, folder, *flags, nodes=5, port=0):
        self.folder = pathlib.Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.kubeconfig = self.folder / "kubeconfig"
        self.kubeconfig.unlink(missing_ok=True)
        self.log = open(self.folder / "up.log", "ab")
        self.started = time.monotonic()
        self.child = subprocess.Popen(
            [BERTH, "up", f"--nodes={nodes}", f"--port={port}"]
            + [f"--kubeconfig-out={self.kubeconfig}", *minor(), *flags],
            stdout=self.log,
            stderr=self.log,
        )
        until("a kubeconfig", lambda: self.kubeconfig.exists() or self.child.poll() is not None)
        assert self.child.poll() is None, self.output()
        self.server = re.search(r"server: (\S+)", self.kubeconfig.read_text())[1]
        self.api = config.new_client_from_config(str(self.kubeconfig))
        self.core = client.CoreV1Api(self.api)
        self.apps = client.AppsV1Api(self.api)
        self.custom = client.CustomObjectsApi(self.api)

    def output(self):
        self.log.flush()
        return (self.folder / "up.log").read_text()

    def kubectl(self, program, *arguments, input=None, fails=False, timeout=60):
        """What kubectl prints, its errors too when it is to fail."""
        done = subprocess.run(
            [program, *map(str, arguments)],
            env=os.environ | {"KUBECONFIG": str(self.kubeconfig), "HOME": str(self.folder)},
            input=input if input is None or isinstance(input, str) else json.dumps(input),
            capture_output=True,
            text=True,
            timeout=timeout,
        )
        assert (done.returncode != 0) == fails, f"{arguments}: {done.stdout}{done.stderr}"
        return done.stdout + (done.stderr if fails else "")

    def kill(self):
        self.child.kill()
        self.child.wait()

    def stop(self):
        if self.child.poll() is None:
            self.child.send_signal(signal.SIGINT)
        code = self.child.wait(timeout=20)
        self.log.close()
        return code


def kubectls():
    """kubectl of the server's version, and Debian's (kubernetes-client), unpacked without being
    installed."""
    found = {}
    cache = os.environ.get("BERTH_E2E_CACHE")
    if cache:
        found["current"] = str(pathlib.Path(cache) / "kubectl")
    folder = REPOSITORY / "build/debian-kubectl"
    debian = folder / "usr/bin/kubectl"
    if not debian.exists() and shutil.which("apt-get") and shutil.which("dpkg"):
        folder.mkdir(parents=True, exist_ok=True)
        subprocess.run(
            ["apt-get", "download", "-q", "kubernetes-client"], cwd=folder, capture_output=True
        )
        for package in folder.glob("kubernetes-client*.deb"):
            subprocess.run(["dpkg", "-x", package, folder], check=True)
    if debian.exists():
        found["debian"] = str(debian)
    return found


def drain(connection):
    """How many bytes a socket still has to give until the server ends it."""
    connection.settimeout(20)
    received = 0
    try:
        while some := connection.recv(1 << 20):
            received += len(some)
    except ConnectionResetError:
        pass
    return received
