"""`berth shadow` beside another scheduler, with the credentials of deploy/shadow and no others."""

import json
import pathlib

from . import kubeconfig
from .processes import Process, until
from .scheduler import BERTH, REPOSITORY

ACCOUNT = "berth-shadow"


def read_only_kubeconfig(cluster):
    cluster.kubectl("apply", "-f", REPOSITORY / "deploy/shadow/rbac.yaml")
    token = cluster.folder / "shadow.token"
    token.write_text(cluster.token(ACCOUNT, "kube-system"))
    return cluster.write_kubeconfig("shadow.conf", kubeconfig.by_token_file(token))


class Shadow(Process):
    """argv: berth shadow -o json with the configuration of the other scheduler, or another one."""

    def __init__(self, cluster, config=None, name="shadow", flags=()):
        folder = pathlib.Path(cluster.folder)
        self.report = folder / f"{name}.json"
        argv = [
            BERTH,
            "shadow",
            f"--kubeconfig={read_only_kubeconfig(cluster)}",
            "--output=json",
            f"--report={self.report}",
            *flags,
        ]
        if config:
            argv.append(f"--config={config}")
        self.name = name
        super().__init__(argv, folder / f"{name}.log")
        cluster.schedulers.append(self)  # ended with the cluster, if not before

    def comparisons(self):
        """Those printed until now. A line that is being written is left out."""
        found = []
        for line in self.log().splitlines():
            if not line.startswith("{"):
                continue
            try:
                entry = json.loads(line)
            except json.JSONDecodeError:
                continue
            if "decision" in entry:
                found.append(entry)
        return found

    def of(self, name, timeout=40):
        """The last comparison about a pod."""
        return until(
            f"a comparison of {name}",
            lambda: next((c for c in reversed(self.comparisons()) if c["name"] == name), None),
            timeout,
        )

    def finish(self):
        """Stops it; the exit code and the summary."""
        code = self.stop(grace=60)
        return code, json.loads(self.report.read_text())


def wrong(summary):
    """The unexplained differences, for messages of assertions."""
    lines = [f"{summary['outcomes']}"]
    for c in summary.get("differences", [])[:20]:
        lines.append(json.dumps(c))
    return "\n".join(lines)
