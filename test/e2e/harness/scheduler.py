"""The scheduler under test: berth, or any kube-scheduler, as a child process with a configuration
file and flags."""

import json
import os
import pathlib

from .processes import Process, free_port, until

REPOSITORY = pathlib.Path(__file__).resolve().parents[3]


# Another build of berth, with a sanitizer for example, is named in BERTH_PROGRAM.
BERTH = pathlib.Path(os.environ.get("BERTH_PROGRAM", REPOSITORY / "build/bin/berth")).absolute()


def program():
    return pathlib.Path(os.environ.get("BERTH_E2E_SCHEDULER", BERTH)).absolute()


def command(path=None):
    """How a scheduler is called: berth has a subcommand; a file named kube-scheduler is called as
    such."""
    path = pathlib.Path(path or program())
    return [str(path)] if path.name == "kube-scheduler" else [str(path), "scheduler"]


def configuration(
    kubeconfig, profiles=None, leader_elect=False, lease_namespace=None, qps=2000, **more
):
    body = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "clientConnection": {"kubeconfig": str(kubeconfig), "qps": qps, "burst": qps},
        "leaderElection": {"leaderElect": leader_elect},
        **more,
    }
    if lease_namespace:
        body["leaderElection"]["resourceNamespace"] = lease_namespace
    if profiles:
        body["profiles"] = profiles
    return body


class Scheduler(Process):
    """argv: program, --config, --secure-port (0 unless serve), flags."""

    def __init__(
        self,
        folder,
        name,
        kubeconfig,
        flags=(),
        config=None,
        serve=False,
        path=None,
        env=None,
        **config_options,
    ):
        folder = pathlib.Path(folder)
        self.name = name
        self.config_path = None
        argv = command(path)
        if config is not False:
            body = config or configuration(kubeconfig, **config_options)
            self.config_path = folder / f"{name}.config.json"
            self.config_path.write_text(json.dumps(body, indent=1))
            argv.append(f"--config={self.config_path}")
        self.serving_port = free_port() if serve else 0
        argv.append(f"--secure-port={self.serving_port}")
        if serve:
            argv += [
                "--bind-address=127.0.0.1",
                f"--cert-dir={folder / (name + '-serving')}",
                f"--authentication-kubeconfig={kubeconfig}",
                f"--authorization-kubeconfig={kubeconfig}",
            ]
        super().__init__([*argv, *flags], folder / f"{name}.log", env={**os.environ, **(env or {})})

    def expect_exit(self, timeout=20):
        until(f"{self.name} ends", lambda: not self.running(), timeout)
        return self.child.returncode
