"""The process itself: names, flags, exit codes, endpoints."""

import json
import ssl
import subprocess
import urllib.error
import urllib.request

import pytest

from harness.processes import until
from harness.scheduler import command, program


def run(*args):
    return subprocess.run([*command(), *args], capture_output=True, text=True, timeout=30)


def test_unknown_flag_is_an_error():
    answer = run("--nope")
    assert answer.returncode == 1
    assert answer.stderr.strip().splitlines()[-1] == "Error: unknown flag: --nope"


@pytest.mark.parametrize(
    "flag, why",
    [
        ("--secure-port=abc", 'invalid argument "abc" for "--secure-port" flag'),
        ("--leader-elect=maybe", 'invalid argument "maybe" for "--leader-elect" flag'),
        ("--feature-gates=Nope=true", "unrecognized feature gate: Nope"),
        ("--config=/nowhere.yaml", "open /nowhere.yaml: no such file or directory"),
        ("--kubeconfig=/nowhere.conf", "stat /nowhere.conf: no such file or directory"),
    ],
)
def test_bad_flags_say_why(flag, why):
    answer = run("--secure-port=0", flag)
    assert answer.returncode == 1 and why in answer.stderr


@pytest.mark.before_main_scheduler
def test_flags_alone(quiet_world):
    """No configuration file: what a kubeadm static pod passes. It serves the name default-
    scheduler."""
    world, cluster = quiet_world, quiet_world.cluster
    s = cluster.scheduler(
        "flags",
        config=False,
        flags=[
            f"--kubeconfig={cluster.scheduler_kubeconfig}",
            "--leader-elect=false",
            "--kube-api-qps=100",
            "--kube-api-burst=200",
            "--kube-api-content-type=application/vnd.kubernetes.protobuf",
            "-v=2",
        ],
    )
    node = world.node("a")
    world.pod("one")
    assert world.bound("one") == node
    s.kill()


def test_called_kube_scheduler(quiet_world, tmp_path):
    """A link named kube-scheduler is all a control plane has to change."""
    world, cluster = quiet_world, quiet_world.cluster
    link = tmp_path / "kube-scheduler"
    link.symlink_to(program())
    s = cluster.scheduler("linked", path=link, profiles=[{"schedulerName": "linked"}])
    node = world.node("a")
    world.pod("one", scheduler="linked")
    assert world.bound("one") == node
    s.kill()


@pytest.mark.skipif(
    program().name == "kube-scheduler", reason="kube-scheduler v1.34 refuses these flags"
)
def test_flags_of_older_control_planes(quiet_world):
    world, cluster = quiet_world, quiet_world.cluster
    s = cluster.scheduler(
        "older",
        profiles=[{"schedulerName": "older"}],
        flags=["--port=0", "--address=127.0.0.1", "--logtostderr=true"],
    )
    node = world.node("a")
    world.pod("one", scheduler="older")
    assert world.bound("one") == node
    assert "--port" in s.log() and "--address" in s.log()
    s.kill()


def get(port, path, token=None):
    """Status and body of a GET on a scheduler's serving port, whose certificate is self-signed."""
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    request = urllib.request.Request(f"https://127.0.0.1:{port}{path}")
    if token:
        request.add_header("Authorization", f"Bearer {token}")
    try:
        with urllib.request.urlopen(request, timeout=10, context=context) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as e:
        return e.code, e.read().decode()


def test_health_endpoints(main_scheduler):
    port = main_scheduler.serving_port
    until("ready", lambda: get(port, "/readyz")[0] == 200)
    for path in ("/healthz", "/livez", "/readyz"):
        assert get(port, path) == (200, "ok")
    assert get(port, "/readyz?verbose") == (
        200,
        "[+]leaderElection ok\n[+]shutdown ok\n[+]sched-handler-sync ok\nreadyz check passed\n",
    )


def test_metrics_need_a_right(cluster, main_scheduler):
    port = main_scheduler.serving_port
    assert get(port, "/metrics")[0] == 403
    assert get(port, "/metrics", token="nonsense")[0] == 401
    cluster.core.create_namespaced_service_account("default", {"metadata": {"name": "scraper"}})
    cluster.rbac.create_cluster_role(
        {
            "metadata": {"name": "scraper"},
            "rules": [{"nonResourceURLs": ["/metrics", "/configz"], "verbs": ["get"]}],
        }
    )
    cluster.rbac.create_cluster_role_binding(
        {
            "metadata": {"name": "scraper"},
            "roleRef": {
                "apiGroup": "rbac.authorization.k8s.io",
                "kind": "ClusterRole",
                "name": "scraper",
            },
            "subjects": [{"kind": "ServiceAccount", "namespace": "default", "name": "scraper"}],
        }
    )
    token = cluster.token("scraper")
    status, text = until(
        "scraper allowed",
        lambda: (lambda a: a if a[0] == 200 else None)(get(port, "/metrics", token)),
    )
    assert status == 200 and "scheduler_pending_pods" in text
    status, text = get(port, "/configz", token)
    assert status == 200 and "componentconfig" in json.loads(text)
