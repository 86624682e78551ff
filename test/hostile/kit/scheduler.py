"""berth scheduler as the victim of a made-up API server."""

import json
import signal
import socket
import subprocess

from . import seccomp
from .fake import Fake, node, pod
from .up import BERTH, Victim, until


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Scheduler(Victim):
    """`attack` is called by the server (kit/fake.py). `filter`: a program of kit/seccomp.py."""

    def __init__(
        self, folder, attack=None, nodes=3, flags=(), user=None, server="http", filter=None
    ):
        super().__init__(folder)
        self.api = Fake(attack)
        for i in range(nodes):
            self.api.put("nodes", node(f"node-{i}", zone=f"zone-{i}"))
        self.kubeconfig = self.folder / "kubeconfig"
        self.kubeconfig.write_text(
            json.dumps(
                {
                    "apiVersion": "v1",
                    "kind": "Config",
                    "current-context": "it",
                    "clusters": [
                        {
                            "name": "it",
                            "cluster": {"server": f"{server}://127.0.0.1:{self.api.port}"},
                        }
                    ],
                    "users": [{"name": "it", "user": user or {}}],
                    "contexts": [{"name": "it", "context": {"cluster": "it", "user": "it"}}],
                }
            )
        )
        with open(self.folder / "log", "ab") as log:
            self.child = subprocess.Popen(
                [BERTH, "scheduler", f"--kubeconfig={self.kubeconfig}", "--leader-elect=false"]
                + ["--secure-port=0", *flags],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                preexec_fn=(lambda: seccomp.apply(filter)) if filter else None,
            )

    def stop(self):
        """0 for an orderly end, which kube-scheduler's exit code calls an error."""
        if self.alive():
            self.child.send_signal(signal.SIGTERM)
        try:
            code = self.child.wait(timeout=20)
        finally:
            self.api.close()
        return 0 if code == 1 and "finished without leader elect" in self.log() else code or -1

    def kill(self):
        super().kill()
        self.api.close()

    def canary(self, within=10.0):
        """A pod created now is bound within that many seconds."""
        self.canaries += 1
        name = f"canary-{self.canaries}"
        self.api.put("pods", pod(name))
        until("a bound canary", lambda: ("default", name) in self.api.bound, timeout=within)
