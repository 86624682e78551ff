"""One side of the side-by-side: a fresh cluster, a population, a scheduler, and what came of it."""

import re
import time

from . import objects, population
from .cluster import Cluster
from .population import NAMESPACE, Population
from .processes import until
from .world import condition_of, data

CLAIM = {"kind": "PersistentVolumeClaim", "apiVersion": "v1", "namespace": NAMESPACE}


class Side:
    def __init__(self, folder, program, seed, before_scheduler=None):
        """before_scheduler: called with the cluster when all objects are there; .before is its answer."""
        self.people = Population(seed)
        self.cluster = Cluster(folder)
        self.core = self.cluster.core
        try:
            self._create()
            self.before = before_scheduler(self.cluster) if before_scheduler else None
            self.scheduler = self.cluster.scheduler(
                "side", path=program, kubeconfig=self.cluster.scheduler_kubeconfig
            )
        except BaseException:
            self.cluster.close()
            raise

    def close(self):
        self.cluster.close()

    def _create(self):
        c, people = self.cluster, self.people
        self.core.create_namespace({"metadata": {"name": NAMESPACE}})
        for name, mode in (("local", "WaitForFirstConsumer"), ("immediate", "Immediate")):
            c.storage.create_storage_class(
                {
                    "metadata": {"name": name},
                    "volumeBindingMode": mode,
                    "provisioner": "kubernetes.io/no-provisioner",
                }
            )
        c.resource.create_device_class(
            {
                "metadata": {"name": "gpu"},
                "spec": {
                    "selectors": [
                        {"cel": {"expression": f'device.driver == "{population.DRIVER}"'}}
                    ]
                },
            }
        )
        for node in people.nodes:
            self.core.create_node(node, _preload_content=False)
        for kind, what in people.others:
            getattr(self, "_" + kind.replace(" ", "_"))(what)
        roomy = next(
            n for n in people.nodes if n["status"]["allocatable"]["cpu"] == "64" and not n["spec"]
        )["metadata"]["name"]
        # More devices than single-device claims, fewer than nine after all of them have one.
        singles = sum(1 for k, w in people.others if k == "device claim" and w[1] == 1)
        c.resource.create_resource_slice(
            {
                "metadata": {"name": "slice"},
                "spec": {
                    "driver": population.DRIVER,
                    "nodeName": roomy,
                    "pool": {"name": roomy, "generation": 1, "resourceSliceCount": 1},
                    "devices": [{"name": f"gpu-{i}"} for i in range(min(8, singles))],
                },
            }
        )
        for pod in people.fixed:
            self.core.create_namespaced_pod(NAMESPACE, pod, _preload_content=False)
        for pod in people.pods:
            self.core.create_namespaced_pod(NAMESPACE, pod, _preload_content=False)

    def _priorityclass(self, body):
        self.cluster.scheduling.create_priority_class(body)

    def _claim(self, body):
        self.core.create_namespaced_persistent_volume_claim(NAMESPACE, body, _preload_content=False)

    def _bound(self, what):
        name, node = what
        claim = data(
            self.core.create_namespaced_persistent_volume_claim(
                NAMESPACE, objects.unbound_claim(name, "local"), _preload_content=False
            )
        )
        self.core.create_persistent_volume(
            objects.local_volume(
                f"pv-{name}",
                "local",
                [node],
                claim_ref={**CLAIM, "name": name, "uid": claim["metadata"]["uid"]},
            )
        )
        self.core.patch_namespaced_persistent_volume_claim(
            name,
            NAMESPACE,
            {
                "metadata": {"annotations": {"pv.kubernetes.io/bind-completed": "yes"}},
                "spec": {"volumeName": f"pv-{name}"},
            },
        )
        self.core.patch_namespaced_persistent_volume_claim_status(
            name, NAMESPACE, {"status": {"phase": "Bound"}}
        )

    def _device_claim(self, what):
        name, count = what
        self.cluster.resource.create_namespaced_resource_claim(
            NAMESPACE,
            {
                "metadata": {"name": name},
                "spec": {
                    "devices": {
                        "requests": [
                            {"name": "gpu", "exactly": {"deviceClassName": "gpu", "count": count}}
                        ]
                    }
                },
            },
        )

    def pods(self):
        items = data(self.core.list_namespaced_pod(NAMESPACE, _preload_content=False))["items"]
        return {p["metadata"]["name"]: p for p in items}

    def settle(self, quiet=0.8, timeout=90):
        """Waits until every pod has an answer and nothing has been written for a while."""
        until(
            "every pod answered",
            lambda: all(condition_of(p) or p["spec"].get("nodeName") for p in self.pods().values()),
            timeout,
            every=0.3,
        )
        end = time.monotonic() + timeout
        last, since = self._versions(), time.monotonic()
        while time.monotonic() - since < quiet:
            assert time.monotonic() < end, "the cluster does not come to rest"
            time.sleep(0.2)
            now = self._versions()
            if now != last:
                last, since = now, time.monotonic()

    def _versions(self):
        events = data(
            self.cluster.events_api.list_namespaced_event(NAMESPACE, _preload_content=False)
        )["items"]
        return (
            {(n, p["metadata"]["resourceVersion"]) for n, p in self.pods().items()},
            len(events),
        )

    def outcome(self):
        """Pod name -> (bound, reason, message), without what differs between runs by nature."""
        found = {}
        for name, pod in self.pods().items():
            condition = condition_of(pod) or {}
            found[name] = (
                bool(pod["spec"].get("nodeName")),
                condition.get("reason"),
                condition.get("message"),
            )
        return found

    def notes(self):
        """The first failure of each pod and every other event, as (pod, type, reason, action, note)
        without chosen nodes and uids. Later failures join a series, which keeps the note of its
        first one, so which of them can be read depends on how often a pod was tried."""
        answer = self.cluster.events_api.list_namespaced_event(NAMESPACE, _preload_content=False)
        found, failed = set(), set()
        for e in sorted(data(answer)["items"], key=lambda e: e["eventTime"]):
            name, reason = e["regarding"]["name"], e["reason"]
            if reason == "FailedScheduling" and name in failed:
                continue
            if reason == "FailedScheduling":
                failed.add(name)
            note = re.sub(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", "UID", e["note"])
            if reason == "Scheduled":
                note = re.sub(r" to \S+$", " to NODE", note)
            found.add((name, e["type"], reason, e["action"], note))
        return found
