"""berth up with kubectl: the current one, and the old one of Debian."""

import json
import pathlib
import subprocess
import time

import pytest
import yaml

from harness.processes import until
from harness.up import Up, kubectls

KUBECTLS = kubectls()
DEPLOYMENT = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {"name": "web"},
    "spec": {
        "replicas": 3,
        "selector": {"matchLabels": {"app": "web"}},
        "template": {
            "metadata": {"labels": {"app": "web"}},
            "spec": {"containers": [{"name": "c", "image": "nginx"}]},
        },
    },
}


def changed(**spec):
    copy = json.loads(json.dumps(DEPLOYMENT))
    copy["spec"].update(spec)
    return copy


@pytest.fixture(scope="module", params=sorted(KUBECTLS) or ["none"])
def kube(request, tmp_path_factory):
    """A function that runs kubectl on a cluster of its own."""
    if not KUBECTLS:
        pytest.skip("no kubectl")
    up = Up(tmp_path_factory.mktemp("up"), "--speed=10x", nodes=6)

    def run(*arguments, **options):
        return up.kubectl(KUBECTLS[request.param], *arguments, **options)

    run.up = up
    run.program = KUBECTLS[request.param]
    run.old = request.param == "debian"
    yield run
    assert up.stop() == 0, up.output()


@pytest.fixture
def space(kube, request):
    """A namespace of the test's own."""
    name = request.node.originalname.replace("_", "-").removeprefix("test-")[:40]
    kube("create", "namespace", name)
    until("a service account", lambda: "default" in kube("get", "sa", "-n", name, "-o", "name"))
    yield name
    kube("delete", "namespace", name, "--wait=false")


def read(kube, *arguments):
    return json.loads(kube("get", *arguments, "-o", "json"))


def test_the_first_five_minutes(kube, space):
    assert kube("get", "nodes").count(" Ready ") == 6
    kube("create", "deployment", "web", "--image=nginx", "-n", space)
    kube("scale", "deployment", "web", "--replicas=5", "-n", space)
    kube("rollout", "status", "deployment/web", "-n", space, "--timeout=30s")
    kube("wait", "--for=condition=Available", "deployment/web", "-n", space, "--timeout=30s")
    wide = kube("get", "pods", "-o", "wide", "-n", space)
    assert wide.splitlines()[0].split()[:5] == ["NAME", "READY", "STATUS", "RESTARTS", "AGE"]
    assert wide.count("1/1") == 5 and wide.count("node-00") == 5
    assert "deployment.apps/web" in kube("get", "all", "-n", space)
    listed = yaml.safe_load(kube("get", "pods", "-o", "yaml", "-n", space))
    assert {p["status"]["phase"] for p in listed["items"]} == {"Running"}


def test_describe_says_what_happened(kube, space):
    kube("run", "one", "--image=nginx", "-n", space)
    kube("wait", "--for=condition=Ready", "pod/one", "-n", space, "--timeout=30s")
    text = until(
        "the event",
        lambda: (t := kube("describe", "pod", "one", "-n", space)) and "Scheduled" in t and t,
    )
    assert "Successfully assigned" in text and "default-scheduler" in text
    assert "Allocatable" in kube("describe", "node", "node-0001")
    assert "Scheduled" in kube("get", "events", "-n", space)


def test_what_is_not_there_is_said(kube, space):
    kube("run", "one", "--image=nginx", "-n", space)
    kube("wait", "--for=condition=Ready", "pod/one", "-n", space, "--timeout=30s")
    assert "simulated node" in kube("logs", "one", "-n", space)
    assert "nothing to exec" in kube("exec", "one", "-n", space, "--", "ls", fails=True)
    assert "Metrics API not available" in kube("top", "node", fails=True)
    if not kube.old:
        assert "no tokens" in kube("create", "token", "default", "-n", space, fails=True)
        assert "Scheduled" in kube("events", "-n", space)


def test_resources_are_described(kube):
    assert "deployments" in kube("api-resources")
    assert "apps/v1" in kube("api-versions")
    assert "livenessProbe" in kube("explain", "pod.spec.containers")
    assert "image" in kube("explain", "deployment", "--recursive")


def test_apply_changes_and_prunes_fields(kube, space):
    kube("apply", "-n", space, "-f", "-", input=changed())
    assert "unchanged" in kube("apply", "-n", space, "-f", "-", input=changed())
    kube("apply", "-n", space, "-f", "-", input=changed(replicas=2, minReadySeconds=1))
    spec = read(kube, "deployment", "web", "-n", space)["spec"]
    assert (spec["replicas"], spec["minReadySeconds"]) == (2, 1)
    kube("apply", "-n", space, "-f", "-", input=changed(replicas=2))
    assert "minReadySeconds" not in read(kube, "deployment", "web", "-n", space)["spec"]
    two = changed()
    two["spec"]["template"]["spec"]["containers"].append({"name": "d", "image": "redis"})
    kube("apply", "-n", space, "-f", "-", input=two)
    spec = read(kube, "deployment", "web", "-n", space)["spec"]["template"]["spec"]
    assert [c["name"] for c in spec["containers"]] == ["c", "d"], "merged by name"


def test_server_side_apply_and_its_conflicts(kube, space):
    apply = ("apply", "--server-side", "-n", space, "-f", "-")
    kube(*apply, "--field-manager=a", input=changed())
    refused = kube(*apply, "--field-manager=b", input=changed(replicas=7), fails=True)
    assert "conflict" in refused and ".spec.replicas" in refused
    kube(*apply, "--field-manager=b", "--force-conflicts", input=changed(replicas=7))
    assert read(kube, "deployment", "web", "-n", space)["spec"]["replicas"] == 7


def test_unknown_fields_are_refused(kube, space):
    wrong = changed(nonsense=1)
    refused = kube("apply", "-n", space, "-f", "-", input=wrong, fails=True)
    assert 'unknown field "nonsense"' in refused or 'unknown field "spec.nonsense"' in refused


def test_patches_of_all_three_types(kube, space):
    kube("apply", "-n", space, "-f", "-", input=changed())
    patch = ("patch", "deployment", "web", "-n", space)
    strategic = {"spec": {"template": {"spec": {"containers": [{"name": "d", "image": "e"}]}}}}
    kube(*patch, "-p", json.dumps(strategic))
    kube(*patch, "--type=merge", "-p", '{"metadata":{"labels":{"tier":"front"}}}')
    kube(*patch, "--type=json", "-p", '[{"op":"replace","path":"/spec/replicas","value":4}]')
    web = read(kube, "deployment", "web", "-n", space)
    assert {c["name"] for c in web["spec"]["template"]["spec"]["containers"]} == {"c", "d"}
    assert (web["metadata"]["labels"]["tier"], web["spec"]["replicas"]) == ("front", 4)


def test_rollout(kube, space):
    kube("apply", "-n", space, "-f", "-", input=changed())
    kube("rollout", "status", "deployment/web", "-n", space, "--timeout=30s")
    kube("set", "image", "deployment/web", "c=nginx:2", "-n", space)
    kube("rollout", "status", "deployment/web", "-n", space, "--timeout=30s")
    assert len(kube("rollout", "history", "deployment/web", "-n", space).split("\n")) >= 4
    kube("rollout", "undo", "deployment/web", "-n", space)
    kube("rollout", "status", "deployment/web", "-n", space, "--timeout=30s")
    spec = read(kube, "deployment", "web", "-n", space)["spec"]["template"]["spec"]
    assert spec["containers"][0]["image"] == "nginx"


def test_labels_taints_and_cordons_change_where_pods_go(kube, space):
    kube("label", "node", "node-0004", "disk=ssd", "--overwrite")
    kube("taint", "node", "node-0005", "only=me:NoSchedule", "--overwrite")
    kube("cordon", "node-0006")
    picky = changed(replicas=4)
    picky["spec"]["template"]["spec"]["nodeSelector"] = {"disk": "ssd"}
    kube("apply", "-n", space, "-f", "-", input=picky)
    kube("rollout", "status", "deployment/web", "-n", space, "--timeout=30s")
    nodes = {p["spec"]["nodeName"] for p in read(kube, "pods", "-n", space)["items"]}
    assert nodes == {"node-0004"}
    kube("apply", "-n", space, "-f", "-", input=changed(replicas=12))
    kube("rollout", "status", "deployment/web", "-n", space, "--timeout=30s")
    nodes = {p["spec"]["nodeName"] for p in read(kube, "pods", "-n", space)["items"]}
    assert not nodes & {"node-0005", "node-0006"}
    kube("uncordon", "node-0006")
    kube("taint", "node", "node-0005", "only-")


def test_drain_respects_budgets(kube, space):
    kube("apply", "-n", space, "-f", "-", input=changed(replicas=2))
    kube("rollout", "status", "deployment/web", "-n", space, "--timeout=30s")
    budget = {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": "web"},
        "spec": {"minAvailable": 2, "selector": {"matchLabels": {"app": "web"}}},
    }
    kube("apply", "-n", space, "-f", "-", input=budget)
    node = read(kube, "pods", "-n", space)["items"][0]["spec"]["nodeName"]
    if kube.old:  # it knows policy/v1beta1 only, which is gone
        kube("cordon", node)
    else:
        drain = ("drain", node, "--ignore-daemonsets", "--force")
        refused = kube(*drain, "--timeout=3s", fails=True)
        assert "violate the pod's disruption budget" in refused
        kube("delete", "pdb", "web", "-n", space)
        assert "drained" in kube(*drain, "--timeout=30s")
        pods = read(kube, "pods", "-n", space)["items"]
        assert node not in {p["spec"].get("nodeName") for p in pods}
    kube("uncordon", node)


def test_watching(kube, space):
    watch = subprocess.Popen(
        [kube.program, "--kubeconfig", kube.up.kubeconfig, "get", "pods", "-w", "-n", space],
        stdout=subprocess.PIPE,
        text=True,
    )
    time.sleep(0.5)
    kube("run", "seen", "--image=nginx", "-n", space)
    kube("wait", "--for=condition=Ready", "pod/seen", "-n", space, "--timeout=30s")
    kube("delete", "pod", "seen", "-n", space)
    watch.terminate()
    lines = watch.communicate()[0]
    assert "Pending" in lines and "Running" in lines and "Terminating" in lines


def test_lists_with_pages_and_selectors(kube, space):
    kube("apply", "-n", space, "-f", "-", input=changed(replicas=7))
    kube("rollout", "status", "deployment/web", "-n", space, "--timeout=30s")
    kube("run", "other", "--image=nginx", "-n", space)
    names = kube("get", "pods", "-n", space, "--chunk-size=2", "-o", "name").split()
    assert len(names) == 8
    assert len(kube("get", "pods", "-n", space, "-l", "app=web", "-o", "name").split()) == 7
    field = "--field-selector=metadata.name=other"
    assert kube("get", "pods", "-n", space, field, "-o", "name").split() == ["pod/other"]


def test_small_objects(kube, space):
    kube("create", "configmap", "c", "--from-literal=a=b", "-n", space)
    assert read(kube, "configmap", "c", "-n", space)["data"] == {"a": "b"}
    kube("create", "secret", "generic", "s", "--from-literal=a=b", "-n", space)
    assert read(kube, "secret", "s", "-n", space)["data"] == {"a": "Yg=="}
    kube("create", "serviceaccount", "robot", "-n", space)
    kube("create", "quota", "q", "--hard=pods=9", "-n", space)
    kube("create", "role", "r", "--verb=get", "--resource=pods", "-n", space)
    assert read(kube, "role", "r", "-n", space)["rules"][0]["verbs"] == ["get"]
    kube("create", "deployment", "web", "--image=nginx", "-n", space)
    kube("expose", "deployment", "web", "--port=80", "-n", space)
    until(
        "an address",
        lambda: read(kube, "endpoints", "web", "-n", space).get("subsets"),
    )
    assert kube("auth", "can-i", "create", "pods").strip() == "yes"


def test_jobs_end(kube, space):
    kube("create", "job", "sum", "--image=busybox", "-n", space)
    kube("wait", "--for=condition=Complete", "job/sum", "-n", space, "--timeout=30s")


def test_cron_jobs_have_a_time_zone(kube, space):
    template = {"spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "c"}]}}
    spec = {"schedule": "0 9 * * *", "jobTemplate": {"spec": {"template": template}}}
    job = {"apiVersion": "batch/v1", "kind": "CronJob", "metadata": {"name": "morning"}}
    wrong = job | {"spec": spec | {"timeZone": "Nowhere/Land"}}
    said = kube("apply", "-n", space, "-f", "-", input=wrong, fails=True)
    assert 'Invalid value: "Nowhere/Land": unknown time zone Nowhere/Land' in said
    right = job | {"spec": spec | {"timeZone": "Asia/Tokyo"}}
    kube("apply", "-n", space, "-f", "-", input=right)
    assert "Asia/Tokyo" in kube("get", "cronjob", "-n", space)


def test_autoscalers_are_kept(kube, space):
    if kube.old:
        pytest.skip("it asks for autoscaling/v1")
    kube("apply", "-n", space, "-f", "-", input=DEPLOYMENT)
    kube("autoscale", "deployment", "web", "-n", space, "--max=5", "--cpu=70%")
    text = kube("get", "hpa", "web", "-n", space, "-o", "yaml")
    assert yaml.safe_load(text)["spec"]["minReplicas"] == 1
    assert "web" in kube("get", "hpa", "-n", space)


def test_custom_resources_keep_what_they_are_given(kube, space):
    definition = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "widgets.example.com"},
        "spec": {
            "group": "example.com",
            "scope": "Namespaced",
            "names": {"kind": "Widget", "plural": "widgets", "singular": "widget"},
            "versions": [
                {
                    "name": "v1",
                    "served": True,
                    "storage": True,
                    "schema": {"openAPIV3Schema": {"type": "object"}},
                }
            ],
        },
    }
    widget = {
        "apiVersion": "example.com/v1",
        "kind": "Widget",
        "metadata": {"name": "w"},
        "spec": {"deep": [{"a": {"b": 1.5}}]},
    }
    kube("apply", "-f", "-", input=definition)
    kube("wait", "--for=condition=Established", "crd/widgets.example.com", "--timeout=10s")
    kube("apply", "-n", space, "-f", "-", input=widget)
    assert read(kube, "widgets", "w", "-n", space)["spec"] == widget["spec"]
    kube("patch", "widget", "w", "-n", space, "--type=merge", "-p", '{"spec":{"size":3}}')
    assert read(kube, "widgets", "w", "-n", space)["spec"]["size"] == 3
    kube("delete", "crd", "widgets.example.com")


def test_the_printed_commands_work(kube):
    text = kube.up.output()
    commands = [x.strip() for x in text.splitlines() if x.strip().startswith("kubectl ")]
    assert len(commands) == 3, text
    for command in commands[:2]:
        kube(*command.split()[1:])
    assert commands[2].endswith("--watch")
    kube("delete", "deployment", "web")
    assert pathlib.Path(text.split("export KUBECONFIG=")[1].split()[0]) == kube.up.kubeconfig
