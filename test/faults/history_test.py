"""The judge must find what it is there for: each rule is broken once."""

import unittest

from history import LAG, History

ZONES = {"n0": "a", "n1": "b", "n2": "b"}


def pod(name, node=None, cpu="100m", **labels):
    spec = {"containers": [{"resources": {"requests": {"cpu": cpu}}}]}
    if node:
        spec["nodeName"] = node
    return {"metadata": {"uid": name, "name": name, "labels": labels}, "spec": spec}


class HistoryTest(unittest.TestCase):
    def setUp(self):
        self.history = History(dict.fromkeys(ZONES, 1000), 3, ZONES)

    def change(self, kind, *args, **kwargs):
        self.history.apply({"type": kind, "object": pod(*args, **kwargs)})

    def added(self, *args, **kwargs):
        self.change("ADDED", *args, **kwargs)

    def deleted(self, *args, **kwargs):
        self.change("DELETED", *args, **kwargs)

    def found(self):
        h = self.history
        return {
            "moves": h.moves,
            "overfull": h.overfull,
            "together": h.together,
            "skewed": h.skewed,
        }

    def expect(self, **found):
        nothing = {"moves": 0, "overfull": 0, "together": 0, "skewed": 0}
        self.assertEqual(self.found(), {**nothing, **found})

    def test_nothing_is_wrong_with_pods_that_fit(self):
        self.added("p", cpu="600m", alone="x")
        self.assertEqual(self.history.fitting(), ["p"])
        self.added("p", "n0", cpu="600m", alone="x")
        self.added("q", "n1", cpu="600m", alone="x")
        self.deleted("p", "n0", cpu="600m", alone="x")
        self.added("r", "n0", cpu="600m", alone="x")
        self.expect()
        self.assertEqual((self.history.bindings, self.history.fullest), (3, 60))
        self.assertEqual(self.history.fitting(), [])

    def test_a_pod_that_moves(self):
        self.added("p", "n0")
        self.change("MODIFIED", "p", "n1")
        self.expect(moves=1)

    def test_more_cpu_than_a_node_has(self):
        self.added("p", "n0", cpu="600m")
        self.added("q", "n0", cpu="401m")
        self.expect(overfull=1)

    def test_more_pods_than_a_node_takes(self):
        for name in "pqrs":
            self.added(name, "n0", cpu="1m")
        self.expect(overfull=1)

    def test_pods_that_must_be_apart(self):
        self.added("p", "n0", alone="x")
        self.added("q", "n0", alone="y")
        self.expect()
        self.added("r", "n0", alone="x")
        self.expect(together=1)

    def test_a_zone_with_too_many(self):
        self.added("p", "n0", spread="x")
        self.expect()
        self.added("q", "n0", spread="x")
        self.expect(skewed=1)

    def test_a_pod_that_left_another_zone_a_moment_ago_still_counts(self):
        for name, node in (("p", "n0"), ("q", "n1")):
            self.added(name, node, spread="x")
        self.deleted("q", "n1", spread="x")
        self.added("r", "n0", spread="x")
        self.expect()
        self.deleted("r", "n0", spread="x")
        for i in range(LAG + 1):
            self.added(f"other-{i}")
        self.added("s", "n0", spread="x")
        self.expect(skewed=1)

    def test_bindings_that_overtake_each_other(self):
        self.added("p", "n0", spread="x")
        self.added("q", "n0", spread="x")
        self.expect(skewed=1)
        self.added("r", "n1", spread="x")
        self.expect()

    def test_what_may_be_pending(self):
        for node in ("n1", "n2"):
            self.added("full-" + node, node, cpu="1")
        self.added("p", "n0", alone="x", spread="x")
        for labels, fits in (
            ({}, True),
            ({"alone": "x"}, False),
            ({"spread": "x"}, False),
            ({"schedulerless": "1"}, False),
        ):
            with self.subTest(labels=labels):
                self.added("q", **labels)
                self.assertEqual(self.history.fitting(), ["q"] if fits else [])
                self.deleted("q", **labels)


if __name__ == "__main__":
    unittest.main()
