"""The same objects given to kube-scheduler and to the scheduler under test, each in a fresh cluster: the same pods are
unschedulable, with the same messages and the same events; and again after each of a row of changes.

BERTH_E2E_SEEDS=1,2,3 runs other populations.
"""

import os

import pytest

from harness.peers import peers_folder
from harness.population import NAMESPACE
from harness.scheduler import program
from harness.side import Side

SEEDS = [int(s) for s in os.environ.get("BERTH_E2E_SEEDS", "1").split(",")]


def delete_pod(name):
    return lambda side: side.core.delete_namespaced_pod(name, NAMESPACE)


def changes(people):
    """Things that wake some pods and not others, one after the other."""
    tainted = [
        n["metadata"]["name"]
        for n in people.nodes
        if n["metadata"]["name"].startswith("node") and n["spec"].get("taints")
    ]
    cordoned = [n["metadata"]["name"] for n in people.nodes if n["spec"].get("unschedulable")]
    full = [p["metadata"]["name"] for p in people.fixed if p["metadata"]["name"].startswith("full")]
    yield (
        "a taint is removed",
        lambda side: side.core.patch_node(tainted[0], {"spec": {"taints": None}}),
    )
    if cordoned:
        yield (
            "a node is uncordoned",
            lambda side: side.core.patch_node(cordoned[0], {"spec": {"unschedulable": None}}),
        )
    yield (
        "a label changes",
        lambda side: side.core.patch_node("node-07", {"metadata": {"labels": {"disk": "tape"}}}),
    )
    if full:
        yield "a full node is emptied", delete_pod(full[0])
    yield "a pod others keep away from goes", delete_pod("fixed-05")
    yield (
        "an allocatable amount grows",
        lambda side: side.core.patch_node_status(
            "node-02",
            {
                "status": {
                    "allocatable": {"example.com/fpga": "4"},
                    "capacity": {"example.com/fpga": "4"},
                }
            },
        ),
    )
    yield (
        "a node is cordoned",
        lambda side: side.core.patch_node("node-02", {"spec": {"unschedulable": True}}),
    )


def run(folder, path, seed):
    """The outcome after the start and after each change, and all events."""
    side = Side(folder, path, seed)
    try:
        side.settle()
        history = [("start", side.outcome())]
        for what, change in changes(side.people):
            change(side)
            side.settle()
            history.append((what, side.outcome()))
        assert side.scheduler.running(), side.scheduler.log_tail()
        return history, side.notes()
    finally:
        side.close()


@pytest.mark.parametrize("seed", SEEDS)
def test_same_outcome(tmp_path, seed):
    theirs, their_notes = run(tmp_path / "theirs", peers_folder() / "kube-scheduler", seed)
    ours, our_notes = run(tmp_path / "ours", program(), seed)
    pending = sum(1 for bound, _, _ in theirs[0][1].values() if not bound)
    messages = len({m for _, _, m in theirs[0][1].values() if m})
    print(
        f"\nseed {seed}: {len(theirs[0][1])} pods, {pending} not bound, {messages} different messages"
    )
    assert pending > 40 and messages > 25, "the population has lost its point"
    for (what, their_state), (_, our_state) in zip(theirs, ours, strict=True):
        differing = {
            n: (their_state.get(n), our_state.get(n))
            for n in their_state.keys() | our_state.keys()
            if their_state.get(n) != our_state.get(n)
        }
        assert not differing, f"after: {what}\n" + "\n".join(
            f"{n}:\n  kube-scheduler {a}\n  under test     {b}"
            for n, (a, b) in sorted(differing.items())
        )
    assert not their_notes ^ our_notes, "\n".join(
        f"{'kube-scheduler' if n in their_notes else 'under test'} alone: {n}"
        for n in sorted(their_notes ^ our_notes)
    )
