"""A random cluster whose outcome does not depend on chance, for the side-by-side test.

Schedulers pick at random between equally good nodes, so two runs place pods differently. Here that
has no consequences: what pods can collide with (labels, ports, full nodes, devices) belongs to pods
that were placed by hand, and pods to be scheduled are either tiny or ask for what big nodes have
plenty of. So which pods are unschedulable, and why, is the same in every run of a correct
scheduler.
"""

import random

from . import objects
from .objects import node_affinity, node_names, pod_affinity, spread, taint

ZONE = "topology.kubernetes.io/zone"
NAMESPACE = "side"
DRIVER = "gpu.example.com"
GROUPS = ["red", "green", "blue", "grey"]
PREEMPTION_NODES = 3


class Population:
    def __init__(self, seed, nodes=30, fixed=40, pods=150):
        self.random = random.Random(seed)
        self.nodes, self.fixed, self.pods, self.others = [], [], [], []
        self._nodes(nodes)
        self._fixed(fixed)
        self._preemption()
        kinds = [
            self._plain,
            self._selector,
            self._affinity,
            self._by_name,
            self._medium,
            self._huge,
            self._extended,
            self._tolerant,
            self._pod_affinity,
            self._anti_affinity,
            self._spread,
            self._port,
            self._gated,
            self._never,
            self._missing_claim,
            self._immediate_claim,
            self._waiting_claim,
            self._pinned_claim,
            self._device,
            self._mixed,
        ]
        for i in range(pods):
            name = f"pod-{i:03}"
            pod = kinds[i % len(kinds)](name)
            self.pods.append(pod if i < len(kinds) else self._burdened(pod))

    def _node(self, name, cpu, labels, taints=None, unschedulable=False):
        self.nodes.append(
            objects.node(
                name,
                cpu=cpu,
                memory="64Gi",
                pods="400",
                labels=labels,
                taints=taints,
                unschedulable=unschedulable,
                extra={"example.com/fpga": "0"},
            )
        )

    def _nodes(self, count):
        r = self.random
        for i in range(count):
            labels = {
                ZONE: f"z{i % 3}",
                "disk": r.choice(["ssd", "hdd"]),
                "rank": str(r.randrange(10)),
            }
            if r.random() < 0.15:
                del labels[ZONE]
            taints = (
                [taint("team", r.choice("abc"), r.choice(["NoSchedule", "NoExecute"]))]
                if r.random() < 0.25
                else None
            )
            self._node(
                f"node-{i:02}",
                r.choice(["1", "1", "64", "64", "2"]),
                labels,
                taints,
                r.random() < 0.1,
            )

    def _fixed(self, count):
        """Pods placed by hand; on a third of the small nodes one takes all there is."""
        r = self.random
        small = [
            n["metadata"]["name"]
            for n in self.nodes
            if n["status"]["allocatable"]["cpu"] in ("1", "2")
        ]
        full = {n: "1" if self._cpu(n) == "1" else "2" for n in small[::3]}
        for i, (name, cpu) in enumerate(full.items()):
            self.fixed.append(objects.pod(f"full-{i:02}", cpu=cpu, node_name=name))
        for i in range(count):
            apart = None
            if r.random() < 0.15:
                apart = pod_affinity(
                    {"shy": r.choice(GROUPS)}, r.choice([ZONE, "kubernetes.io/hostname"]), anti=True
                )
            # Ports 7000.. are each wanted by at most one pod to be scheduled.
            self.fixed.append(
                objects.pod(
                    f"fixed-{i:02}",
                    labels={"group": r.choice(GROUPS)},
                    affinity=apart,
                    ports=[7000 + i % 10],
                    node_name=(
                        r.choice(self.nodes)["metadata"]["name"]
                        if i >= len(self.nodes)
                        else self.nodes[i]["metadata"]["name"]
                    ),
                )
            )

    def _cpu(self, name):
        return next(
            n["status"]["allocatable"]["cpu"] for n in self.nodes if n["metadata"]["name"] == name
        )

    def _preemption(self):
        """Nodes nobody else can use, each full of a victim, and a preemptor for each."""
        self.others += [
            ("priorityclass", {"metadata": {"name": "high"}, "value": 1000}),
            (
                "priorityclass",
                {"metadata": {"name": "polite"}, "value": 500, "preemptionPolicy": "Never"},
            ),
        ]
        for i in range(PREEMPTION_NODES):
            name = f"reserved-{i}"
            self._node(name, "1", {"reserved": str(i)}, [taint("reserved", str(i))])
            self.fixed.append(objects.pod(f"victim-{i}", cpu="1", node_name=name))
            self.pods.append(
                objects.pod(
                    f"preemptor-{i}",
                    cpu="1",
                    priority_class="high",
                    node_selector={"reserved": str(i)},
                    tolerations=[{"key": "reserved", "operator": "Exists"}],
                )
            )

    def _burdened(self, pod):
        """Often one more constraint, so that nodes fail for different reasons."""
        r, spec = self.random, pod["spec"]
        if r.random() < 0.3:
            spec["nodeSelector"] = {
                **spec.get("nodeSelector", {}),
                "disk": r.choice(["ssd", "hdd"]),
            }
        if r.random() < 0.2:
            spec.setdefault(
                "tolerations", [{"key": "team", "operator": "Equal", "value": r.choice("abc")}]
            )
        if r.random() < 0.2:
            spec["containers"][0].setdefault("resources", {})["requests"] = {
                "cpu": r.choice(["70", "3"]),
                "memory": "1Gi",
            }
        return pod

    # Pods, one function per kind of constraint.
    def _plain(self, name, **more):
        return objects.pod(name, cpu="1m", **more)

    def _selector(self, name):
        return self._plain(name, node_selector={"disk": self.random.choice(["ssd", "hdd", "tape"])})

    def _affinity(self, name):
        r = self.random
        rule = r.choice(
            [
                ("rank", "Gt", ["6"]),
                ("rank", "Lt", ["0"]),
                ("rank", "In", ["3", "4"]),
                ("disk", "NotIn", ["ssd"]),
                (ZONE, "DoesNotExist", None),
                ("nothing", "Exists", None),
            ]
        )
        return self._plain(name, affinity=node_affinity(*rule))

    def _by_name(self, name):
        return self._plain(
            name, affinity=node_names(self.random.choice(["node-00", "node-07", "nowhere"]))
        )

    def _medium(self, name):
        """Fits only nodes of 64 CPUs, which have room for all of these."""
        return objects.pod(
            name,
            cpu="1500m" if self.random.random() < 0.3 else "500m",
            node_selector={"disk": self.random.choice(["ssd", "hdd"])},
        )

    def _huge(self, name):
        return self.random.choice(
            [
                lambda: objects.pod(name, cpu="100"),
                lambda: objects.pod(name, memory="1Ti"),
                lambda: objects.pod(name, cpu="65", memory="65Gi"),
            ]
        )()

    def _extended(self, name):
        return objects.pod(
            name, extra={self.random.choice(["example.com/fpga", "example.com/none"]): "1"}
        )

    def _tolerant(self, name):
        r = self.random
        key = [{"key": "team", "operator": "Equal", "value": r.choice("abc")}]
        return self._plain(
            name,
            tolerations=(
                key if r.random() < 0.5 else [{"operator": "Exists", "effect": "NoExecute"}]
            ),
        )

    def _pod_affinity(self, name):
        return self._plain(
            name,
            affinity=pod_affinity(
                {"group": self.random.choice([*GROUPS, "nobody"])},
                self.random.choice([ZONE, "kubernetes.io/hostname"]),
            ),
        )

    def _anti_affinity(self, name):
        r = self.random
        if r.random() < 0.5:  # told off by what fixed pods say
            return self._plain(name, labels={"shy": r.choice(GROUPS)})
        return self._plain(
            name,
            affinity=pod_affinity(
                {"group": r.choice(GROUPS)}, r.choice([ZONE, "kubernetes.io/hostname"]), anti=True
            ),
        )

    def _spread(self, name):
        r = self.random
        constraint = spread(
            {"group": r.choice(GROUPS)},
            r.choice([ZONE, "kubernetes.io/hostname", "nothing"]),
            skew=r.choice([1, 1, 2]),
        )
        if r.random() < 0.3:
            constraint["nodeTaintsPolicy"] = "Honor"
        return self._plain(name, spread=[constraint])

    def _port(self, name):
        port = 7000 + int(name[-3:]) // 20 if name.endswith("11") else 20000 + int(name[-3:])
        return self._plain(name, ports=[port], node_selector={"disk": "ssd"})

    def _gated(self, name):
        return self._plain(name, gates=["example.com/gate"])

    def _never(self, name):
        return objects.pod(name, cpu="1", node_selector={"reserved": "x"}, priority_class="polite")

    def _missing_claim(self, name):
        return self._plain(name, volumes=[objects.claim_volume("missing")])

    def _claim(self, name, storage_class):
        self.others.append(("claim", objects.unbound_claim(name, storage_class)))
        return [objects.claim_volume(name)]

    def _immediate_claim(self, name):
        return self._plain(name, volumes=self._claim(name, "immediate"))

    def _waiting_claim(self, name):
        return self._plain(name, volumes=self._claim(name, "local"))

    def _pinned_claim(self, name):
        """A bound volume on one node, and a pod that may be too much for it."""
        node = self.random.choice(self.nodes)["metadata"]["name"]
        self.others.append(("bound", (name, node)))
        return objects.pod(
            name, cpu=self.random.choice(["1m", "70"]), volumes=[objects.claim_volume(name)]
        )

    def _device(self, name):
        self.others.append(("device claim", (name, self.random.choice([1, 1, 9]))))
        return self._plain(name, claims=[{"name": "gpu", "resourceClaimName": name}])

    def _mixed(self, name):
        r = self.random
        return objects.pod(
            name,
            cpu=r.choice(["1m", "100"]),
            node_selector=r.choice([None, {"disk": "ssd"}]),
            tolerations=r.choice([None, [{"key": "team", "operator": "Exists"}]]),
            spread=r.choice(
                [None, [spread({"group": r.choice(GROUPS)}, "kubernetes.io/hostname")]]
            ),
            affinity=pod_affinity({"group": r.choice(GROUPS)}, anti=r.random() < 0.5),
        )
