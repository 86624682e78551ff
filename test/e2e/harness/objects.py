"""Kubernetes objects of the tests as plain dictionaries."""

import copy

IMAGE = "registry.k8s.io/pause:3.10"


def node(
    name,
    cpu="4",
    memory="8Gi",
    pods="110",
    labels=None,
    taints=None,
    extra=None,
    unschedulable=False,
    images=None,
):
    amounts = {
        "cpu": cpu,
        "memory": memory,
        "pods": pods,
        "ephemeral-storage": "100Gi",
        **(extra or {}),
    }
    body = {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name, **(labels or {})}},
        "spec": {},
        "status": {
            "capacity": amounts,
            "allocatable": amounts,
            "conditions": [{"type": "Ready", "status": "True", "reason": "KubeletReady"}],
        },
    }
    if taints:
        body["spec"]["taints"] = taints
    if unschedulable:
        body["spec"]["unschedulable"] = True
    if images:
        body["status"]["images"] = images
    return body


def taint(key, value="", effect="NoSchedule"):
    return {"key": key, "value": value, "effect": effect}


def pod(
    name,
    cpu=None,
    memory=None,
    extra=None,
    labels=None,
    annotations=None,
    scheduler=None,
    priority_class=None,
    node_selector=None,
    affinity=None,
    tolerations=None,
    spread=None,
    gates=None,
    volumes=None,
    claims=None,
    ports=None,
    node_name=None,
    finalizers=None,
    owner=None,
    grace=0,
    policy=None,
    spec=None,
):
    requests = dict(extra or {})
    if cpu:
        requests["cpu"] = cpu
    if memory:
        requests["memory"] = memory
    container = {"name": "c", "image": IMAGE}
    if requests:
        container["resources"] = {"requests": requests}
        limits = {k: v for k, v in requests.items() if "/" in k}
        if limits:
            container["resources"]["limits"] = limits
    if ports:
        container["ports"] = [{"containerPort": p, "hostPort": p} for p in ports]
    metadata = {"name": name}
    body = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": metadata,
        "spec": {"containers": [container], "terminationGracePeriodSeconds": grace},
    }
    for key, value in (
        ("labels", labels),
        ("annotations", annotations),
        ("finalizers", finalizers),
    ):
        if value:
            metadata[key] = value
    if owner:
        metadata["ownerReferences"] = [{**owner, "controller": True}]
    if claims:
        body["spec"]["resourceClaims"] = claims
        container.setdefault("resources", {})["claims"] = [{"name": c["name"]} for c in claims]
    for key, value in (
        ("schedulerName", scheduler),
        ("priorityClassName", priority_class),
        ("nodeSelector", node_selector),
        ("affinity", affinity),
        ("tolerations", tolerations),
        ("topologySpreadConstraints", spread),
        ("volumes", volumes),
        ("nodeName", node_name),
        ("preemptionPolicy", policy),
    ):
        if value:
            body["spec"][key] = value
    if gates:
        body["spec"]["schedulingGates"] = [{"name": g} for g in gates]
    if spec:
        body["spec"].update(copy.deepcopy(spec))
    return body


def node_affinity(key, operator, values=None, preferred_weight=None):
    expression = {"key": key, "operator": operator}
    if values is not None:
        expression["values"] = values
    term = {"matchExpressions": [expression]}
    if preferred_weight:
        rule = {
            "preferredDuringSchedulingIgnoredDuringExecution": [
                {"weight": preferred_weight, "preference": term}
            ]
        }
    else:
        rule = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}
    return {"nodeAffinity": rule}


def node_names(*names):
    """Required node affinity by name, as DaemonSet pods carry it."""
    terms = [
        {"matchFields": [{"key": "metadata.name", "operator": "In", "values": [n]}]} for n in names
    ]
    return {
        "nodeAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}
        }
    }


def pod_affinity(labels, topology="kubernetes.io/hostname", anti=False, preferred_weight=None):
    term = {"labelSelector": {"matchLabels": labels}, "topologyKey": topology}
    if preferred_weight:
        rule = {
            "preferredDuringSchedulingIgnoredDuringExecution": [
                {"weight": preferred_weight, "podAffinityTerm": term}
            ]
        }
    else:
        rule = {"requiredDuringSchedulingIgnoredDuringExecution": [term]}
    return {"podAntiAffinity" if anti else "podAffinity": rule}


def spread(labels, topology="topology.kubernetes.io/zone", skew=1, when="DoNotSchedule", **more):
    return {
        "maxSkew": skew,
        "topologyKey": topology,
        "whenUnsatisfiable": when,
        "labelSelector": {"matchLabels": labels},
        **more,
    }


def claim_volume(claim, name="data"):
    return {"name": name, "persistentVolumeClaim": {"claimName": claim}}


def unbound_claim(name, storage_class, size="1Gi"):
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": name},
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "storageClassName": storage_class,
            "resources": {"requests": {"storage": size}},
        },
    }


def storage_class(name, provisioner, mode="WaitForFirstConsumer", topologies=None):
    body = {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {"name": name},
        "provisioner": provisioner,
        "volumeBindingMode": mode,
    }
    if topologies:
        body["allowedTopologies"] = topologies
    return body


def local_volume(name, storage_class, nodes, size="1Gi", claim_ref=None):
    body = {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": name},
        "spec": {
            "capacity": {"storage": size},
            "accessModes": ["ReadWriteOnce"],
            "persistentVolumeReclaimPolicy": "Retain",
            "storageClassName": storage_class,
            "local": {"path": "/mnt/disk"},
            "nodeAffinity": {
                "required": {
                    "nodeSelectorTerms": [
                        {
                            "matchExpressions": [
                                {
                                    "key": "kubernetes.io/hostname",
                                    "operator": "In",
                                    "values": list(nodes),
                                }
                            ]
                        }
                    ]
                }
            },
        },
    }
    if claim_ref:
        body["spec"]["claimRef"] = claim_ref
    return body
