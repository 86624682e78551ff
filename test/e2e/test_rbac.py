"""deploy/kustomize/base/rbac.yaml grants what kube-scheduler has, and nothing else."""

from kubernetes import client

from harness.cluster import BERTH_ACCOUNT, SCHEDULER_USER


def subjects_are(subjects, user=None, account=None):
    for s in subjects or []:
        if user and s.kind == "User" and s.name == user:
            return True
        if account and s.kind == "ServiceAccount" and (s.namespace, s.name) == account:
            return True
    return False


def rights(cluster, **who):
    """All (namespace or *, group, resource, name, verb) and non-resource rights given to a subject
    by name."""
    rbac = cluster.rbac
    cluster_roles = {r.metadata.name: r for r in rbac.list_cluster_role().items}
    roles = {
        (r.metadata.namespace, r.metadata.name): r
        for r in rbac.list_role_for_all_namespaces().items
    }
    found = set()

    def add(scope, rules):
        for rule in rules or []:
            for verb in rule.verbs:
                for url in rule.non_resource_ur_ls or []:
                    found.add((scope, "url", url, "", verb))
                for group in rule.api_groups or []:
                    for resource in rule.resources or []:
                        for name in rule.resource_names or ["*"]:
                            found.add((scope, group, resource, name, verb))

    for b in rbac.list_cluster_role_binding().items:
        if subjects_are(b.subjects, **who):
            add("*", cluster_roles[b.role_ref.name].rules)
    for b in rbac.list_role_binding_for_all_namespaces().items:
        if subjects_are(b.subjects, **who):
            scope = b.metadata.namespace
            role = (
                cluster_roles[b.role_ref.name]
                if b.role_ref.kind == "ClusterRole"
                else roles[scope, b.role_ref.name]
            )
            add(scope, role.rules)
    return found


def test_no_more_rights_than_kube_scheduler(cluster):
    bootstrap, berth = rights(cluster, user=SCHEDULER_USER), rights(cluster, account=BERTH_ACCOUNT)
    assert bootstrap and berth
    assert berth - bootstrap == set()


def test_no_fewer_rights_than_kube_scheduler(cluster):
    bootstrap, berth = rights(cluster, user=SCHEDULER_USER), rights(cluster, account=BERTH_ACCOUNT)
    assert bootstrap - berth == set()


def allowed(cluster, **attributes):
    """The API server's own answer to whether berth's account may do that."""
    namespace, account = BERTH_ACCOUNT
    answer = client.AuthorizationV1Api(cluster.api).create_subject_access_review(
        {
            "spec": {
                "user": f"system:serviceaccount:{namespace}:{account}",
                "groups": [
                    "system:serviceaccounts",
                    f"system:serviceaccounts:{namespace}",
                    "system:authenticated",
                ],
                **attributes,
            }
        }
    )
    return bool(answer.status.allowed)


def may(cluster, verb, group, resource):
    resource, _, sub = resource.partition("/")
    return allowed(
        cluster,
        resourceAttributes={
            "namespace": "default",
            "verb": verb,
            "group": group,
            "resource": resource,
            "subresource": sub,
        },
    )


def test_rights_that_a_minor_added(cluster):
    """Claims are allocated through a subresource from 1.36 on, which also has berth make claims
    for extended resources; 1.37 has rules with taints of devices."""
    version = client.VersionApi(cluster.api).get_code()
    minor = int(version.minor.rstrip("+"))
    group = "resource.k8s.io"
    for verb, resource, since in (
        ("update", "resourceclaims/binding", 36),
        ("patch", "resourceclaims/binding", 36),
        ("create", "resourceclaims", 36),
        ("delete", "resourceclaims", 36),
        ("list", "devicetaintrules", 37),
        ("watch", "devicetaintrules", 37),
    ):
        assert may(cluster, verb, group, resource) == (minor >= since), (verb, resource)


def test_the_version_may_be_asked(cluster):
    """--kubernetes-version=auto does."""
    assert allowed(cluster, nonResourceAttributes={"verb": "get", "path": "/version"})


def test_writes_that_must_be_refused(cluster):
    """Rights nobody should have given away by a wildcard."""
    for verb, group, resource, expected in (
        ("create", "", "pods/binding", True),
        ("patch", "", "pods/status", True),
        ("delete", "", "pods", True),
        ("update", "", "persistentvolumes", True),
        ("update", "resource.k8s.io", "resourceclaims/status", True),
        ("create", "", "pods", False),
        ("get", "", "secrets", False),
        ("delete", "", "nodes", False),
        ("update", "", "nodes", False),
        ("create", "rbac.authorization.k8s.io", "clusterrolebindings", False),
    ):
        assert may(cluster, verb, group, resource) == expected, (verb, resource)
