"""A berth up to look at, and what the tests create in it."""

import json
import pathlib
import re
import subprocess
import time
import urllib.error
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[2]


class Up:
    """A running `berth up` on a port the system chooses."""

    def __init__(self, folder, *flags):
        self.kubeconfig = pathlib.Path(folder) / "kubeconfig"
        self.log = open(pathlib.Path(folder) / "berth.log", "w+", encoding="utf-8")
        command = [
            ROOT / "build/bin/berth",
            "up",
            "--port",
            "0",
            "--kubeconfig-out",
            self.kubeconfig,
        ]
        self.process = subprocess.Popen(
            [*command, *flags], stdout=self.log, stderr=subprocess.STDOUT
        )
        self.url = self._wait_for_url()
        self.token = ""
        if found := re.search(r"token: (\S+)", self.kubeconfig.read_text(encoding="utf-8")):
            self.token = found[1]
        self.dashboard = self.url + "/dashboard/"

    def _wait_for_url(self):
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline:
            self.log.seek(0)
            text = self.log.read()
            if found := re.search(r"API server at (\S+), ready", text):
                return found[1]
            if self.process.poll() is not None:
                raise RuntimeError(text)
            time.sleep(0.05)
        raise RuntimeError("berth up does not start")

    def stop(self):
        if self.process.poll() is None:
            self.process.terminate()
            self.process.wait(20)
        self.log.close()

    def call(self, method, path, body=None):
        request = urllib.request.Request(self.url + path, method=method)
        if self.token:
            request.add_header("Authorization", "Bearer " + self.token)
        data = None
        if body is not None:
            data = json.dumps(body).encode()
            request.add_header("Content-Type", "application/json")
        with urllib.request.urlopen(request, data, timeout=20) as answer:
            return json.loads(answer.read())

    def explain(self, path):
        return self.call("GET", "/apis/explain/v1" + path)

    def pods(self):
        return self.call("GET", "/api/v1/pods")["items"]

    def wait(self, what, condition, seconds=30):
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            try:
                if result := condition():
                    return result
            except urllib.error.HTTPError:
                pass
            time.sleep(0.1)
        raise AssertionError(f"not within {seconds} s: {what}")

    def deployment(self, name, replicas, cpu="500m", memory="512Mi", **spec):
        body = {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": {"name": name, "namespace": "default"},
            "spec": {
                "replicas": replicas,
                "selector": {"matchLabels": {"app": name}},
                "template": {
                    "metadata": {"labels": {"app": name}},
                    "spec": {**container(cpu, memory), **spec},
                },
            },
        }
        self.call("POST", "/apis/apps/v1/namespaces/default/deployments", body)

    def pod(self, name, cpu="500m", memory="512Mi", **spec):
        body = {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": name, "namespace": "default"},
            "spec": {**container(cpu, memory), **spec},
        }
        self.call("POST", "/api/v1/namespaces/default/pods", body)

    def placed(self, prefix, count):
        def condition():
            names = [
                p
                for p in self.pods()
                if p["metadata"]["name"].startswith(prefix) and p["spec"].get("nodeName")
            ]
            return names if len(names) >= count else None

        return self.wait(f"{count} pods {prefix}* have a node", condition)


def container(cpu, memory):
    requests = {"cpu": cpu, "memory": memory}
    return {"containers": [{"name": "main", "image": "nginx", "resources": {"requests": requests}}]}
