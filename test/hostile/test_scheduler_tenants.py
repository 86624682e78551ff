"""One pod must not hold the engine: a tenant's pods as large as etcd takes them, beside pods that
others wait for. src/scheduler/heavy_pods_bench.cc measures 22 kinds, heavy_pods_test.cc compares
their decisions with those of ordinary pods."""

import pytest
from kit.fake import pod

PARTS = 9_000


def not_in(i, k):
    return {"matchExpressions": [{"key": "app", "operator": "NotIn", "values": [f"x{i}-{k}"]}]}


def spread(action):
    def spec(i):
        return {
            "topologySpreadConstraints": [
                {
                    "maxSkew": 1,
                    "topologyKey": f"k{i}-{k}",
                    "whenUnsatisfiable": action,
                    "labelSelector": not_in(i, k),
                }
                for k in range(PARTS)
            ]
        }

    return spec


def affinity(kind, key):
    def spec(i):
        terms = [
            {"topologyKey": key or f"k{i}-{k}", "labelSelector": not_in(i, k)} for k in range(PARTS)
        ]
        return {"affinity": {kind: {"requiredDuringSchedulingIgnoredDuringExecution": terms}}}

    return spec


def resources(i):
    return {
        "containers": [
            {"name": f"c{k}", "resources": {"requests": {f"example.com/r{i}-{k}": "1"}}}
            for k in range(PARTS)
        ]
    }


def selector(i):
    return {"nodeSelector": {f"k{i}-{k}": "v" for k in range(PARTS)}}


@pytest.mark.parametrize(
    "spec",
    [
        pytest.param(spread("ScheduleAnyway"), id="should-spread"),
        pytest.param(spread("DoNotSchedule"), id="must-spread"),
        pytest.param(affinity("podAntiAffinity", "zone"), id="anti-affinity"),
        pytest.param(affinity("podAffinity", None), id="affinity"),
        pytest.param(resources, id="resources"),
        pytest.param(selector, id="node-selector"),
    ],
)
def test_l7_large_pods_do_not_hold_the_engine(scheduler, spec):
    # Columns for their keys or counters for their terms would take more than a gigabyte.
    made = scheduler(nodes=1_000, canary=10, memory=350)
    made.canary(30)
    for i in range(5):
        made.api.put("pods", pod(f"large-{i}", namespace="tenant", **spec(i)))
