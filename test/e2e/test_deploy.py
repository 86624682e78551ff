"""What is in deploy/ is accepted by the API server, whatever the choices, and so is its configuration by berth."""

import json
import os
import subprocess

import pytest

from harness.scheduler import REPOSITORY, program

DEPLOY = REPOSITORY / "deploy"
CHART = DEPLOY / "helm/berth"
CHOICES = {
    "beside": [],
    "replace": ["--set=mode=replace", "--set=size=huge"],
    "all": [
        *("--set=mode=replace", "--set=priorityClass.create=true", "--set=replicas=3"),
        *("--set=priorityClass.name=schedulers", "--set=config.percentageOfNodesToScore=50"),
        *("--set=serviceAccount.name=other", "--set=extraArgs[0]=--threads=2"),
        *("--set=resources.requests.cpu=2", "--set=podAnnotations.a=b", "--set=podLabels.team=x"),
        "--set=replicasShareWork=true",
    ],
}


@pytest.fixture(scope="session")
def helm():
    found = subprocess.run([REPOSITORY / "tools/helm"], capture_output=True, text=True)
    if found.returncode == 9:
        pytest.skip("helm cannot be built here: " + found.stderr)
    assert found.returncode == 0, found.stderr
    return found.stdout.strip()


def render(helm, *flags):
    return subprocess.run(
        [
            helm,
            "template",
            "berth",
            CHART,
            "--namespace=kube-system",
            "--kube-version=1.37.0",
            *flags,
        ],
        check=True,
        capture_output=True,
        text=True,
    ).stdout


def accepted(cluster, path):
    """The objects of a manifest as the API server would keep them."""
    try:
        answer = cluster.kubectl(
            *("apply", "--dry-run=server", "--validate=strict", "-o", "json", "-f", path)
        )
    except subprocess.CalledProcessError as error:
        pytest.fail(error.stderr)
    found = json.loads(answer)
    return found["items"] if found["kind"] == "List" else [found]


def one(objects, kind):
    (found,) = [o for o in objects if o["kind"] == kind]
    return found


def check_configuration(objects, folder):
    """The configuration in a ConfigMap is valid, and the Lease it names is one that berth may update."""
    (body,) = one(objects, "ConfigMap")["data"].values()
    path = folder / "scheduler.yaml"
    path.write_text(body)
    subprocess.run([program(), "config", "validate", path], check=True)
    return body


def test_the_static_pod(cluster):
    (pod,) = accepted(cluster, DEPLOY / "static-pod.yaml")
    assert pod["spec"]["containers"][0]["securityContext"]["runAsUser"] == 0


@pytest.mark.parametrize("name", ["base", "beside"])
def test_kustomizations(cluster, tmp_path, name):
    path = tmp_path / "objects.yaml"
    path.write_text(cluster.kubectl("kustomize", DEPLOY / "kustomize" / name))
    objects = accepted(cluster, path)
    assert one(objects, "Deployment") and one(objects, "PodDisruptionBudget")
    if name == "beside":
        body = check_configuration(objects, tmp_path)
        assert "schedulerName: berth" in body
        assert "berth-leader-locking" not in [o["metadata"]["name"] for o in objects]


@pytest.mark.parametrize("choice", CHOICES)
def test_the_chart(cluster, helm, tmp_path, choice):
    path = tmp_path / "objects.yaml"
    path.write_text(render(helm, *CHOICES[choice]))
    objects = accepted(cluster, path)
    body = check_configuration(objects, tmp_path)
    assert ("schedulerName: default-scheduler" in body) == (choice != "beside")
    container = one(objects, "Deployment")["spec"]["template"]["spec"]["containers"][0]
    assert (
        container["resources"]["requests"]["cpu"]
        == {
            "beside": "100m",
            "replace": "1",
            "all": "2",
        }[choice]
    )


def test_the_component_for_replicas_that_share_work(cluster, tmp_path):
    folder = tmp_path / "both"
    folder.mkdir()
    up = os.path.relpath(DEPLOY / "kustomize", folder)
    (folder / "kustomization.yaml").write_text(
        "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n"
        f"resources: [{up}/base]\ncomponents: [{up}/hands]\n"
    )
    path = tmp_path / "objects.yaml"
    path.write_text(cluster.kubectl("kustomize", "--load-restrictor=LoadRestrictionsNone", folder))
    objects = accepted(cluster, path)
    container = one(objects, "Deployment")["spec"]["template"]["spec"]["containers"][0]
    assert container["command"][-2:] == ["--replicas-share-work", "--replica-address=$(POD_IP)"]
    assert container["env"][0]["name"] == "POD_IP"
    assert one(objects, "Role")["rules"][0]["resources"] == ["leases"]


def test_the_chart_for_the_prometheus_operator(helm):
    text = render(
        helm, "--set=monitoring.serviceMonitor=true", "--set=monitoring.rules[0].name=some"
    )
    assert "kind: ServiceMonitor" in text and "kind: PrometheusRule" in text


def test_the_chart_is_clean(helm):
    subprocess.run([helm, "lint", "--strict", CHART], check=True)


@pytest.mark.parametrize("flag", ["mode=instead", "size=giant"])
def test_the_chart_names_wrong_choices(helm, flag):
    with pytest.raises(subprocess.CalledProcessError) as error:
        render(helm, "--set=" + flag)
    assert flag.split("=")[1] in error.value.stderr
