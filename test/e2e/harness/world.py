"""One test's corner of a cluster: a namespace, nodes with names of its own, and waiting for what a scheduler does.

leave() removes all pods, claims and nodes, so that the next test's `0/N nodes` counts only its own.
"""

import json

from kubernetes.client.exceptions import ApiException

from . import objects
from .peers import said
from .processes import until

STRATEGIC = "application/strategic-merge-patch+json"


def data(answer):
    """The JSON of an answer taken with _preload_content=False."""
    return json.loads(answer.data)


class World:
    def __init__(self, cluster, namespace, scheduler_name=None):
        self.cluster = cluster
        self.namespace = namespace
        self.scheduler_name = scheduler_name
        self.audit_start = cluster.audit.position() if cluster.audit else 0
        cluster.core.create_namespace({"metadata": {"name": namespace}})
        self.cleanups = []

    # Making things.
    def node(self, name, **options):
        """Creates a node; the answer is its full name, unique to this test."""
        full = f"{self.namespace}-{name}"
        self.cluster.core.create_node(objects.node(full, **options), _preload_content=False)
        return full

    def pod(self, name, **options):
        options.setdefault("scheduler", self.scheduler_name)
        return data(
            self.cluster.core.create_namespaced_pod(
                self.namespace, objects.pod(name, **options), _preload_content=False
            )
        )

    def pods(self, names, **options):
        return [self.pod(n, **options) for n in names]

    def claim(self, name, storage_class, **options):
        return data(
            self.cluster.core.create_namespaced_persistent_volume_claim(
                self.namespace,
                objects.unbound_claim(name, storage_class, **options),
                _preload_content=False,
            )
        )

    def volume(self, name, storage_class, nodes, **options):
        full = f"{self.namespace}-{name}"
        self.cluster.core.create_persistent_volume(
            objects.local_volume(full, storage_class, nodes, **options)
        )
        self.cleanups.append(lambda: self.cluster.core.delete_persistent_volume(full))
        if not options.get("claim_ref"):  # the volume controller's part
            self.cluster.core.patch_persistent_volume_status(
                full, {"status": {"phase": "Available"}}
            )
        return full

    def storage_class(self, name, provisioner="kubernetes.io/no-provisioner", **options):
        full = f"{self.namespace}-{name}"
        self.cluster.storage.create_storage_class(
            objects.storage_class(full, provisioner, **options)
        )
        self.cleanups.append(lambda: self.cluster.storage.delete_storage_class(full))
        return full

    def priority_class(self, value, **more):
        name = f"{self.namespace}-p{value}"
        self.cluster.scheduling.create_priority_class(
            {"metadata": {"name": name}, "value": value, **more}
        )
        self.cleanups.append(lambda: self.cluster.scheduling.delete_priority_class(name))
        return name

    def patch_node(self, full_name, body):
        self.cluster.core.patch_node(full_name, body)

    # Seeing things.
    def get(self, name):
        return data(
            self.cluster.core.read_namespaced_pod(name, self.namespace, _preload_content=False)
        )

    def all(self):
        items = data(self.cluster.core.list_namespaced_pod(self.namespace, _preload_content=False))[
            "items"
        ]
        return {p["metadata"]["name"]: p for p in items}

    def exists(self, name):
        try:
            return self.get(name)
        except ApiException as e:
            if e.status == 404:
                return None
            raise

    def condition(self, name, kind="PodScheduled"):
        return condition_of(self.get(name), kind)

    def events(self, name=None, reason=None):
        items = data(
            self.cluster.events_api.list_namespaced_event(self.namespace, _preload_content=False)
        )["items"]
        return sorted(
            (
                e
                for e in items
                if (name is None or e["regarding"].get("name") == name)
                and (reason is None or e["reason"] == reason)
            ),
            key=lambda e: e["eventTime"] or "",
        )

    # Waiting.
    def bound(self, *names, timeout=30):
        """Waits until all these pods have a node; the answer is the list of nodes (one node for one
        name)."""

        def placed():
            found = self.all() if len(names) > 1 else {names[0]: self.get(names[0])}
            nodes = [found[n]["spec"].get("nodeName") for n in names if n in found]
            return nodes if len(nodes) == len(names) and all(nodes) else None

        try:
            nodes = until(f"{names} bound", placed, timeout)
        except AssertionError as e:
            why = {
                n: condition_of(p) for n, p in self.all().items() if not p["spec"].get("nodeName")
            }
            raise AssertionError(f"{e}; pending: {why}") from None
        return nodes if len(names) > 1 else nodes[0]

    def unschedulable(self, name, message=None, reason="Unschedulable", timeout=30):
        """Waits for PodScheduled=False with exactly this message, in the words of 1.34 (any message
        when None)."""
        message = message and said(message)

        def failed():
            c = self.condition(name)
            return (
                c
                if c
                and c["status"] == "False"
                and c.get("reason") == reason
                and (message is None or c.get("message") == message)
                else None
            )

        try:
            return until(f"{name} unschedulable", failed, timeout)
        except AssertionError:
            raise AssertionError(
                f"{name}: wanted {reason} {message!r}, has {self.condition(name)}, "
                f"node {self.get(name)['spec'].get('nodeName')}"
            ) from None

    def event(self, name, reason, note=None, timeout=20):
        """Waits for an event about a pod with this reason (and exactly this note, in the words of
        1.34)."""
        note = note and said(note)

        def seen():
            return next(
                (e for e in self.events(name, reason) if note is None or e["note"] == note), None
            )

        try:
            return until(f"event {reason} of {name}", seen, timeout)
        except AssertionError:
            raise AssertionError(
                f"{name}: wanted {reason} {note!r}, events: "
                f"{[(e['reason'], e['note']) for e in self.events(name)]}"
            ) from None

    def nominated(self, name, timeout=30):
        """Waits for status.nominatedNodeName."""
        return until(
            f"{name} nominated", lambda: self.get(name)["status"].get("nominatedNodeName"), timeout
        )

    def terminating(self, *names, timeout=30):
        until(
            f"{names} terminating",
            lambda: all(
                p and p["metadata"].get("deletionTimestamp") for p in map(self.exists, names)
            ),
            timeout,
        )

    def gone(self, name, timeout=30):
        until(f"{name} gone", lambda: self.exists(name) is None, timeout)

    def requests(self):
        """What schedulers sent about this namespace since the test began (audit log)."""
        return self.cluster.audit.since(self.audit_start, self.namespace)

    # Ending things.
    def delete(self, name):
        self.cluster.core.delete_namespaced_pod(name, self.namespace, grace_period_seconds=0)

    def drop_finalizers(self, name):
        self.cluster.core.patch_namespaced_pod(
            name, self.namespace, {"metadata": {"finalizers": None}}
        )

    def leave(self):
        core = self.cluster.core
        for name, p in self.all().items():
            if p["metadata"].get("finalizers"):
                self.drop_finalizers(name)
        core.delete_collection_namespaced_pod(self.namespace, grace_period_seconds=0)
        core.delete_collection_namespaced_persistent_volume_claim(self.namespace)
        until("pods gone", lambda: not self.all())
        core.delete_collection_node()
        for cleanup in reversed(self.cleanups):
            try:
                cleanup()
            except ApiException as e:
                if e.status != 404:
                    raise


def condition_of(pod, kind="PodScheduled"):
    return next((c for c in pod["status"].get("conditions", []) if c["type"] == kind), None)
