"""What must hold at every revision, checked from the API server's own history of pods and nodes."""

import collections
import json
import ssl
import urllib.request

ALONE = "alone"  # pods with the same value of this label never share a node
SPREAD = "spread"  # pods with the same value are spread over the zones, maxSkew 1
# A binding follows what the scheduler saw, which is older than its commit by the time of a request,
# and by some ten seconds where its watch had been cut. So many changes may lie between the two.
LAG = 2000


def millis(text):
    """Of cpu, in the spelling the API server keeps."""
    return int(text[:-1]) if text.endswith("m") else int(text) * 1000


def asked(pod):
    return sum(
        millis(c.get("resources", {}).get("requests", {}).get("cpu", "0"))
        for c in pod["spec"]["containers"]
    )


def events(cluster, since, until_name):
    """All changes of pods after a revision, up to the deletion of the pod with that name, which comes
    last."""
    context = ssl.create_default_context(cafile=str(cluster.certs.ca))
    context.load_cert_chain(*map(str, cluster.admin_pair))
    url = f"{cluster.server}/api/v1/pods?watch=true&resourceVersion={since}&timeoutSeconds=120"
    with urllib.request.urlopen(url, timeout=130, context=context) as answer:
        for line in answer:
            event = json.loads(line)
            assert event["type"] in ("ADDED", "MODIFIED", "DELETED"), event
            yield event
            if event["type"] == "DELETED" and event["object"]["metadata"]["name"] == until_name:
                return
    raise AssertionError("the history ended early")


class History:
    """Replays the events. `capacity`: cpu by node, in thousandths; `most`: pods of a node; `zones`:
    zone by node."""

    def __init__(self, capacity, most, zones):
        self.capacity, self.most, self.zones = capacity, most, zones
        self.node_of = {}  # uid: node
        self.taken = {node: {} for node in capacity}  # node: {uid: cpu}
        self.alone = collections.Counter()  # (group, node): pods
        self.spread = collections.Counter()  # (group, zone): pods
        # By group, the zones' smallest count after each of its changes: [(change, smallest)].
        self.smallest = collections.defaultdict(lambda: collections.deque([(0, 0)]))
        self.pending = {}  # uid: pod
        self.revisions = self.bindings = self.moves = self.overfull = 0
        self.together = 0
        # Bindings overtake each other: one that seems to break a spread does not if the zones that
        # lag behind catch up within the lag. (change, group, pods of the zone)
        self.suspects = []
        self.fullest = 0

    def apply(self, event):
        pod = event["object"]
        uid, node = pod["metadata"]["uid"], pod["spec"].get("nodeName")
        self.revisions += 1
        before = self.node_of.get(uid)
        if before and node != before:
            self.moves += 1
        if event["type"] == "DELETED":
            self.pending.pop(uid, None)
            if before:
                self._leave(uid, pod, before)
        elif not node:
            self.pending[uid] = pod
        elif not before:
            self.bindings += 1
            self._enter(uid, pod, node)

    def _enter(self, uid, pod, node):
        self.pending.pop(uid, None)
        self.node_of[uid] = node
        self.taken[node][uid] = asked(pod)
        sum_of_node = sum(self.taken[node].values())
        self.fullest = max(self.fullest, sum_of_node * 100 // self.capacity[node])
        if sum_of_node > self.capacity[node] or len(self.taken[node]) > self.most:
            self.overfull += 1
        self._count(pod, node, 1)
        labels = pod["metadata"].get("labels", {})
        if self.alone[labels.get(ALONE), node] > 1 and ALONE in labels:
            self.together += 1
        if SPREAD in labels:
            group = labels[SPREAD]
            pods = self.spread[group, self.zones[node]]
            if pods - self._largest_minimum(group) > 1:
                self.suspects.append((self.revisions, group, pods))

    def _leave(self, uid, pod, node):
        del self.taken[node][uid]
        del self.node_of[uid]
        self._count(pod, node, -1)

    def _count(self, pod, node, by):
        labels = pod["metadata"].get("labels", {})
        if ALONE in labels:
            self.alone[labels[ALONE], node] += by
        if SPREAD in labels:
            group = labels[SPREAD]
            self.spread[group, self.zones[node]] += by
            smallest = min(self.spread[group, zone] for zone in set(self.zones.values()))
            self.smallest[group].append((self.revisions, smallest))
            self.suspects = [
                (change, of, pods)
                for change, of, pods in self.suspects
                if of != group or pods - smallest > 1 or change < self.revisions - LAG
            ]

    @property
    def skewed(self):
        """Bindings that broke a spread."""
        return len(self.suspects)

    def _largest_minimum(self, group):
        """The most that every zone had at some time within the lag: the scheduler may have seen that."""
        seen = self.smallest[group]
        # The last one before the lag was still true when the lag began.
        while len(seen) > 1 and seen[1][0] < self.revisions - LAG:
            seen.popleft()
        return max(smallest for _, smallest in seen)

    def fitting(self):
        """Pending pods that some node has capacity for, and that no other rule keeps away."""
        free = {
            node: self.capacity[node] - sum(taken.values())
            for node, taken in self.taken.items()
            if len(taken) < self.most
        }
        return [uid for uid, pod in self.pending.items() if self._fits(pod, free)]

    def _fits(self, pod, free):
        labels = pod["metadata"].get("labels", {})
        if labels.get("schedulerless"):
            return False
        nodes = [node for node, cpu in free.items() if asked(pod) <= cpu]
        if ALONE in labels:
            nodes = [node for node in nodes if not self.alone[labels[ALONE], node]]
        if SPREAD in labels:
            counts = {z: self.spread[labels[SPREAD], z] for z in set(self.zones.values())}
            nodes = [n for n in nodes if counts[self.zones[n]] <= min(counts.values())]
        return bool(nodes)
