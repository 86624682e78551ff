"""The embedded API server beside the real one: the same requests, the same answers."""

import json

import pytest
from kubernetes.client.rest import ApiException

from harness.up import Up

PODS = "/api/v1/namespaces/parity/pods"
MAPS = "/api/v1/namespaces/parity/configmaps"
DEPLOYMENTS = "/apis/apps/v1/namespaces/parity/deployments"
CRONJOBS = "/apis/batch/v1/namespaces/parity/cronjobs"
CONTAINER = {"name": "c", "image": "nginx"}


def pod(name="p", container=None, **spec):
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name},
        "spec": {"containers": [CONTAINER | (container or {})], **spec},
    }


def deployment(name="d", labels=None, selector=None, **spec):
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name},
        "spec": {
            "selector": {"matchLabels": selector or {"a": "b"}},
            "template": {
                "metadata": {"labels": labels or {"a": "b"}},
                "spec": {"containers": [CONTAINER]},
            },
            **spec,
        },
    }


def cronjob(schedule, **spec):
    template = {"spec": {"restartPolicy": "Never", "containers": [CONTAINER]}}
    return {
        "apiVersion": "batch/v1",
        "kind": "CronJob",
        "metadata": {"name": "c"},
        "spec": {"schedule": schedule, "jobTemplate": {"spec": {"template": template}}, **spec},
    }


def config_map(name="m", **metadata):
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, **metadata}}


# Method, path, body: both servers are asked and must agree on code, reason and message.
REFUSED = {
    "no such object": ("GET", f"{PODS}/none", None),
    "no such path": ("GET", "/apis/nothing.io/v1/things", None),
    "no such namespace": ("POST", "/api/v1/namespaces/nowhere/configmaps", config_map()),
    "a name with capitals": ("POST", MAPS, config_map("Bad_Name")),
    "no name": ("POST", MAPS, config_map("")),
    "a label with a bad value": ("POST", MAPS, config_map(labels={"a": "b c"})),
    "a label with a bad key": ("POST", MAPS, config_map(labels={"a b": "c"})),
    "another namespace": ("POST", MAPS, config_map(namespace="default")),
    "a version at creation": ("POST", MAPS, config_map(resourceVersion="5")),
    "another kind": ("POST", MAPS, pod()),
    "no containers": ("POST", PODS, {**pod(), "spec": {"containers": []}}),
    "a bad quantity": ("POST", PODS, pod(container={"resources": {"requests": {"cpu": "x"}}})),
    "more requested than the limit": (
        "POST",
        PODS,
        pod(container={"resources": {"requests": {"cpu": "2"}, "limits": {"cpu": "1"}}}),
    ),
    "an unknown policy": ("POST", PODS, pod(restartPolicy="Sometimes")),
    "an unknown priority class": ("POST", PODS, pod(priorityClassName="none")),
    "a selector that does not match": ("POST", DEPLOYMENTS, deployment(labels={"x": "y"})),
    "replicas below zero": ("POST", DEPLOYMENTS, deployment(replicas=-1)),
    "a schedule of three fields": ("POST", CRONJOBS, cronjob("* * *")),
    "a zone nobody knows": ("POST", CRONJOBS, cronjob("@daily", timeZone="Nowhere/Land")),
    "a zone that is a path": ("POST", CRONJOBS, cronjob("@daily", timeZone="../UTC")),
    "a zone without a name": ("POST", CRONJOBS, cronjob("@daily", timeZone="")),
    "the zone of the machine": ("POST", CRONJOBS, cronjob("@daily", timeZone="Local")),
    "a zone in the schedule": ("POST", CRONJOBS, cronjob("TZ=UTC 0 0 * * *")),
    "a bad label selector": ("GET", f"{PODS}?labelSelector=a%20b%20c", None),
    "a bad field selector": ("GET", f"{PODS}?fieldSelector=spec.color%3Dred", None),
    "a bad version to watch from": ("GET", f"{PODS}?watch=1&resourceVersion=x", None),
    "two unknown fields, strictly": (
        "POST",
        f"{MAPS}?fieldValidation=Strict",
        config_map() | {"nonsense": 1, "other": {}},
    ),
    "deleting what is not there": ("DELETE", f"{MAPS}/none", None),
    "a name twice": ("POST", MAPS, config_map("there")),
    "an old version": ("PUT", f"{MAPS}/there", config_map("there", resourceVersion="1")),
    "another name than the path's": ("PUT", f"{MAPS}/there", config_map("other")),
    "binding what is not there": (
        "POST",
        f"{PODS}/none/binding",
        {"metadata": {"name": "none"}, "target": {"name": "n"}},
    ),
}


@pytest.fixture(scope="module")
def servers(cluster, tmp_path_factory):
    up = Up(tmp_path_factory.mktemp("up"), "--no-scheduler", nodes=1)
    for one in (up, cluster):
        one.core.create_namespace({"metadata": {"name": "parity"}})
        call(one.api, "POST", MAPS, config_map("there"))
    yield {"berth": up.api, "kube-apiserver": cluster.api}
    cluster.core.delete_namespace("parity")
    assert up.stop() == 0


def call(api, method, path, body):
    path, _, query = path.partition("?")
    pairs = [tuple(p.split("=", 1)) for p in query.split("&") if p]
    pairs = [(k, v.replace("%20", " ").replace("%3D", "=")) for k, v in pairs]
    headers = {"Accept": "application/json", "Content-Type": "application/json"}
    try:
        answer = api.call_api(
            path,
            method,
            query_params=pairs,
            header_params=headers,
            body=body,
            auth_settings=["BearerToken"],
            _preload_content=False,
            _request_timeout=20,
        )
        return answer[1], json.loads(answer[0].data)
    except ApiException as error:
        if "json" not in error.headers["Content-Type"]:
            return error.status, {"message": error.body}
        return error.status, json.loads(error.body)


@pytest.mark.parametrize("what", REFUSED)
def test_refusals_have_the_same_words(servers, what):
    answers = {}
    for name, api in servers.items():
        code, status = call(api, *REFUSED[what])
        answers[name] = (code, status.get("reason"), status.get("message"))
    assert answers["berth"] == answers["kube-apiserver"]
    assert answers["berth"][0] >= 400


def without(value, *names):
    if isinstance(value, dict):
        return {k: without(v, *names) for k, v in value.items() if k not in names}
    if isinstance(value, list):
        return [without(v, *names) for v in value]
    return value


OURS = ("uid", "resourceVersion", "creationTimestamp", "managedFields")
# The test cluster runs without the admission plugin of service accounts.
OURS += ("serviceAccount", "serviceAccountName")
CREATED = {
    "a pod": (PODS, pod("same")),
    "a pod with limits and a probe": (
        PODS,
        pod(
            "probed",
            container={
                "resources": {"limits": {"cpu": "1", "memory": "1Gi"}},
                "livenessProbe": {"httpGet": {"path": "/", "port": 80}},
                "ports": [{"containerPort": 80}],
            },
        ),
    ),
    "a deployment": (DEPLOYMENTS, deployment("same")),
    "a cron job": (CRONJOBS, cronjob("@daily")),
    "a cron job in a zone": (
        CRONJOBS,
        cronjob("@daily", timeZone="Europe/Berlin") | {"metadata": {"name": "zoned"}},
    ),
    "a map": (MAPS, config_map("same")),
}


@pytest.mark.parametrize("what", CREATED)
def test_objects_get_the_same_defaults(servers, what):
    path, body = CREATED[what]
    objects = {}
    for name, api in servers.items():
        code, made = call(api, "POST", path, body)
        assert code == 201, made
        objects[name] = without(made, *OURS)
    assert objects["berth"] == objects["kube-apiserver"]
