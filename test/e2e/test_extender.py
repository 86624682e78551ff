"""Extenders: what they are asked, and what becomes of their answers."""

import base64
import json
import signal
import threading

import pytest

from harness.extender import Extender
from harness.peers import since
from harness.processes import until
from harness.scheduler import configuration, program


@pytest.fixture
def extended(quiet_world):
    """Starts schedulers of their own name with an extender, or with several (each an extender, or a
    pair of one and its options)."""
    world = quiet_world
    world.scheduler_name = world.namespace
    ended = []

    def begin(*extenders, **options):
        pairs = [e if isinstance(e, tuple) else (e, {}) for e in extenders]
        scheduler = world.cluster.scheduler(
            world.namespace,
            profiles=[{"schedulerName": world.namespace}],
            extenders=[e.config(**options, **own) for e, own in pairs],
        )
        world.extended_scheduler = scheduler
        ended.extend([scheduler.kill, *(e.close for e, _ in pairs)])
        return world

    yield begin
    for end in ended:
        end()


def names(nodes):
    return [n["metadata"]["name"] for n in nodes["items"]]


def test_filter_and_prioritize(extended, quiet_world):
    def filtered(body):
        keep = [n for n in body["Nodes"]["items"] if not n["metadata"]["name"].endswith("-a")]
        return {"Nodes": {"metadata": {}, "items": keep}, "FailedNodes": {}, "Error": ""}

    extender = Extender(
        filter=filtered,
        prioritize=lambda body: [
            {"Host": n, "Score": 10 if n.endswith("-c") else 0} for n in names(body["Nodes"])
        ],
    )
    for n in "abc":
        quiet_world.node(n)
    world = extended(extender, weight=100)
    world.pod("one")
    assert world.bound("one") == f"{world.namespace}-c"
    (verb, body, headers), (verb2, body2, _) = extender.calls
    assert (verb, verb2) == ("filter", "prioritize")
    assert set(body) == {"Pod", "Nodes", "NodeNames"} and body["NodeNames"] is None
    assert sorted(names(body["Nodes"])) == [f"{world.namespace}-{n}" for n in "abc"]
    assert sorted(names(body2["Nodes"])) == [f"{world.namespace}-{n}" for n in "bc"]
    assert body["Pod"]["metadata"]["name"] == "one" and body["Pod"]["spec"]["containers"]
    assert "kind" not in body["Pod"] and headers["Content-Type"] == "application/json"


def test_node_names_when_the_extender_has_a_cache(extended, quiet_world):
    extender = Extender(
        filter=lambda body: {
            "NodeNames": [n for n in body["NodeNames"] if n.endswith("-b")],
            "FailedNodes": {},
            "Error": "",
        }
    )
    for n in "ab":
        quiet_world.node(n)
    world = extended(extender, nodeCacheCapable=True)
    world.pod("one")
    assert world.bound("one") == f"{world.namespace}-b"
    _, body, _ = extender.calls[0]
    assert body["Nodes"] is None and sorted(body["NodeNames"]) == [
        f"{world.namespace}-{n}" for n in "ab"
    ]


def test_refusals_are_reasons(extended, quiet_world):
    extender = Extender(
        filter=lambda body: {
            "NodeNames": [],
            "Error": "",
            "FailedNodes": {
                n: "reason B" if n.endswith("-c") else "reason A" for n in body["NodeNames"]
            },
        }
    )
    for n in "abc":
        quiet_world.node(n)
    world = extended(extender, nodeCacheCapable=True)
    world.pod("one")
    world.unschedulable(
        "one",
        "0/3 nodes are available: 1 reason B, 2 reason A. no new claims to deallocate, preemption: "
        "0/3 nodes are available: 3 No preemption victims found for incoming pod.",
    )


def test_errors(extended, quiet_world):
    answers = {"broken": (500, "{}"), "exploded": {"Error": "extender exploded"}}
    extender = Extender(
        filter=lambda body: answers.get(
            body["Pod"]["metadata"]["name"], {"NodeNames": body["NodeNames"]}
        )
    )
    node = quiet_world.node("a")
    world = extended(extender, nodeCacheCapable=True)
    world.pods(["broken", "exploded", "fine"])
    world.unschedulable(
        "broken",
        f"failed filter with extender at URL {extender.url}/filter, code 500",
        "SchedulerError",
    )
    world.unschedulable("exploded", "extender exploded", "SchedulerError")
    assert world.bound("fine") == node


def test_ignorable_extender_may_be_down(extended, quiet_world):
    node = quiet_world.node("a")
    world = extended(Extender(filter=lambda body: (500, "{}")), ignorable=True)
    world.pod("one")
    assert world.bound("one") == node


def test_bind(extended, quiet_world):
    def bind(body):
        quiet_world.cluster.core.create_namespaced_pod_binding(
            body["PodName"],
            body["PodNamespace"],
            {
                "metadata": {"name": body["PodName"], "uid": body["PodUID"]},
                "target": {"kind": "Node", "name": body["Node"]},
            },
            _preload_content=False,
        )
        return {"Error": ""}

    extender = Extender(bind=bind)
    node = quiet_world.node("a")
    world = extended(extender)
    pod = world.pod("one")
    assert world.bound("one") == node
    ((verb, body, _),) = extender.calls
    assert verb == "bind" and body == {
        "PodName": "one",
        "PodNamespace": world.namespace,
        "PodUID": pod["metadata"]["uid"],
        "Node": node,
    }
    world.event("one", "Scheduled")
    assert not [r for r in world.requests() if r.path.endswith("/binding")]


def test_managed_resources(extended, quiet_world):
    """Only pods that ask for a managed resource are shown; who ignores it in the fit leaves
    counting to the extender."""
    extender = Extender(filter=lambda body: {"NodeNames": body["NodeNames"]})
    node = quiet_world.node("a")
    world = extended(
        extender,
        nodeCacheCapable=True,
        managedResources=[{"name": "example.com/lamp", "ignoredByScheduler": True}],
    )
    world.pod("plain")
    assert world.bound("plain") == node and not extender.calls
    world.pod("lamp", extra={"example.com/lamp": "3"})
    assert world.bound("lamp") == node and len(extender.calls) == 1


def passing(body):
    return {"NodeNames": body["NodeNames"]}


def test_extenders_are_asked_in_order_ignorable_ones_last(extended, quiet_world):
    order = []

    def keeping(name, without):
        def answer(body):
            order.append((name, sorted(n[-1] for n in body["NodeNames"])))
            return {"NodeNames": [n for n in body["NodeNames"] if not n.endswith(without)]}

        return answer

    lenient, first, second = (
        Extender(filter=keeping(*p)) for p in (("lenient", "-z"), ("first", "-a"), ("second", "-b"))
    )
    for n in "abc":
        quiet_world.node(n)
    world = extended((lenient, {"ignorable": True}), first, second, nodeCacheCapable=True)
    world.pod("one")
    assert world.bound("one") == f"{world.namespace}-c"
    assert order == [("first", ["a", "b", "c"]), ("second", ["b", "c"]), ("lenient", ["c"])]


def test_scores_of_several_extenders_add_up(extended, quiet_world):
    def scoring(scores):
        return lambda body: [{"Host": n, "Score": scores[n[-1]]} for n in body["NodeNames"]]

    one = Extender(prioritize=scoring({"a": 10, "b": 0, "c": 4}))
    two = Extender(prioritize=scoring({"a": 0, "b": 10, "c": 8}))
    for n in "abc":
        quiet_world.node(n)
    world = extended((one, {"weight": 100}), (two, {"weight": 100}), nodeCacheCapable=True)
    world.pod("one")
    assert world.bound("one") == f"{world.namespace}-c"
    assert one.verbs() == two.verbs() == ["prioritize"]


def test_a_hanging_extender_costs_its_timeout(extended, quiet_world):
    """A pod it is asked about fails when the time is up; pods it is not asked about are not held
    up for longer."""
    release = threading.Event()

    def hang(_):
        release.wait(60)
        return {"NodeNames": []}

    extender = Extender(filter=hang)
    node = quiet_world.node("a")
    world = extended(
        extender,
        nodeCacheCapable=True,
        httpTimeout="2s",
        managedResources=[{"name": "example.com/lamp", "ignoredByScheduler": True}],
    )
    world.pod("lamp", extra={"example.com/lamp": "1"})
    until("asked", lambda: extender.calls)
    world.pod("plain")
    assert world.bound("plain", timeout=10) == node
    world.unschedulable(
        "lamp",
        f'Post "{extender.url}/filter": context deadline exceeded '
        "(Client.Timeout exceeded while awaiting headers)",
        "SchedulerError",
    )
    release.set()


def test_nonsense(extended, quiet_world):
    """Answers that are no JSON, of the wrong type, or about nodes that nobody asked about."""
    answers = {
        "garbage": (200, "<html>"),
        "empty": (200, ""),
        "cut": (200, '{"NodeNames":["'),
        "list": (200, "[]"),
        "mistyped": (200, '{"NodeNames":"a"}'),
        "lying": {"NodeNames": ["nowhere"]},
        "silent": {},
    }
    extender = Extender(filter=lambda body: answers[body["Pod"]["metadata"]["name"]])
    quiet_world.node("a")
    world = extended(extender, nodeCacheCapable=True)
    world.pods(list(answers))
    for name, words in {
        "garbage": "invalid character '<' looking for beginning of value",
        "empty": "EOF",
        "cut": "unexpected EOF",
        "list": "json: cannot unmarshal array into Go value of type v1.ExtenderFilterResult",
        "mistyped": "json: cannot unmarshal string into Go struct field "
        "ExtenderFilterResult.NodeNames of type []string",
        "lying": f'extender "{extender.url}" claims a filtered node "nowhere" which is not found in '
        "the input node list",
    }.items():
        world.unschedulable(name, words, "SchedulerError")
    world.unschedulable(
        "silent",
        "0/1 nodes are available: no new claims to deallocate, preemption: 0/1 nodes are available: "
        "1 Preemption is not helpful for scheduling.",
    )


def test_refusals_that_preemption_cannot_help(extended, quiet_world):
    extender = Extender(
        filter=lambda body: {
            "NodeNames": [],
            "FailedNodes": dict.fromkeys(body["NodeNames"], "no"),
            "FailedAndUnresolvableNodes": {n: "never" for n in body["NodeNames"] if n[-1] == "b"},
        }
    )
    for n in "ab":
        quiet_world.node(n)
    world = extended(extender, nodeCacheCapable=True)
    world.pod("one")
    world.unschedulable(
        "one",
        "0/2 nodes are available: 1 never, 1 no. no new claims to deallocate, preemption: "
        "0/2 nodes are available: 1 No preemption victims found for incoming pod, "
        "1 Preemption is not helpful for scheduling.",
    )


def test_a_dead_extender(extended, quiet_world):
    extender = Extender(filter=passing)
    extender.server.server_close()
    quiet_world.node("a")
    world = extended(extender, nodeCacheCapable=True)
    extender.server.shutdown = lambda: None
    world.pod("one")
    port = extender.server.server_port
    world.unschedulable(
        "one",
        f'Post "{extender.url}/filter": dial tcp 127.0.0.1:{port}: connect: connection refused',
        "SchedulerError",
    )


def test_pods_that_an_extender_refused_are_tried_again(extended, quiet_world):
    allowed = []
    extender = Extender(
        filter=lambda body: {
            "NodeNames": body["NodeNames"] if allowed else [],
            "FailedNodes": {} if allowed else dict.fromkeys(body["NodeNames"], "not yet"),
        }
    )
    node = quiet_world.node("a")
    world = extended(extender, nodeCacheCapable=True)
    world.pod("one")
    world.unschedulable("one")
    allowed.append(True)
    world.node("b", taints=[{"key": "k", "effect": "NoSchedule"}])
    assert world.bound("one") == node


def test_bind_errors(extended, quiet_world):
    answers = {"refused": {"Error": "out of ink"}, "broken": (500, "{}")}
    extender = Extender(bind=lambda body: answers[body["PodName"]])
    quiet_world.node("a")
    world = extended(extender)
    world.pods(list(answers))
    world.unschedulable("refused", "out of ink", "SchedulerError")
    world.unschedulable(
        "broken",
        f"failed bind with extender at URL {extender.url}/bind, code 500",
        "SchedulerError",
    )


def test_an_ignorable_binder_may_be_down(extended, quiet_world):
    extender = Extender(bind=lambda body: (503, "{}"))
    node = quiet_world.node("a")
    world = extended(extender, ignorable=True)
    world.pod("one")
    assert world.bound("one") == node
    assert extender.verbs() == ["bind"]
    assert [r for r in world.requests() if r.path.endswith("/binding")]


@pytest.mark.parametrize("capable", [False, True])
def test_preempt(extended, quiet_world, capable):
    """The extender strikes one of two candidates."""

    def preempt(body):
        key = "NodeNameToMetaVictims" if capable else "NodeNameToVictims"
        kept = {n: v for n, v in body[key].items() if n.endswith("-b")}
        return {
            "NodeNameToMetaVictims": {
                n: {
                    "Pods": [
                        {"UID": p["UID"] if capable else p["metadata"]["uid"]} for p in v["Pods"]
                    ],
                    "NumPDBViolations": v["NumPDBViolations"],
                }
                for n, v in kept.items()
            }
        }

    extender = Extender(preempt=preempt)
    low, high = quiet_world.priority_class(1), quiet_world.priority_class(1000)
    nodes = [quiet_world.node(n, cpu="2") for n in "ab"]
    world = extended(extender, nodeCacheCapable=capable)
    uids = {}
    for node in nodes:
        name = "low-" + node[-1]
        pod = world.pod(name, cpu="2", priority_class=low, node_name=node)
        uids[node] = pod["metadata"]["uid"]
    pod = world.pod("high", cpu="1", priority_class=high)
    assert world.bound("high") == nodes[1]
    world.gone("low-b")
    assert world.exists("low-a")
    verb, body, _ = extender.calls[0]
    assert verb == "preempt"
    assert body["Pod"]["metadata"]["uid"] == pod["metadata"]["uid"]
    if capable:
        assert body["NodeNameToVictims"] is None
        assert body["NodeNameToMetaVictims"] == {
            n: {"Pods": [{"UID": uids[n]}], "NumPDBViolations": 0} for n in nodes
        }
    else:
        assert body["NodeNameToMetaVictims"] is None
        victims = body["NodeNameToVictims"]
        assert {n: [p["metadata"]["uid"] for p in v["Pods"]] for n, v in victims.items()} == {
            n: [uid] for n, uid in uids.items()
        }
        victim = victims[nodes[0]]["Pods"][0]
        assert victim["spec"]["nodeName"] == nodes[0] and victim["spec"]["containers"]
        assert "kind" not in victim
        assert ("managedFields" in victim["metadata"]) == (not since("1.35"))


def test_preempt_errors(extended, quiet_world):
    answers = {
        "nothing": {"NodeNameToMetaVictims": {}},
        "stranger": {"NodeNameToMetaVictims": {"nowhere": {"Pods": [{"UID": "x"}]}}},
        "broken": (500, "{}"),
    }
    extender = Extender(preempt=lambda body: answers[body["Pod"]["metadata"]["name"]])
    low, high = quiet_world.priority_class(1), quiet_world.priority_class(1000)
    node = quiet_world.node("a", cpu="2")
    world = extended(extender, nodeCacheCapable=True)
    world.pod("low", cpu="2", priority_class=low, node_name=node)
    world.pods(list(answers), cpu="1", priority_class=high)
    for name, words in {
        "nothing": "no new claims to deallocate, preemption: no candidate node for preemption",
        "stranger": 'preemption: nodeinfo not found for node name "nowhere"',
        "broken": f"preemption: failed preempt with extender at URL {extender.url}/preempt, code 500",
    }.items():
        world.unschedulable(name, f"0/1 nodes are available: 1 Insufficient cpu. {words}")
    assert world.exists("low")


def test_whole_objects(extended, quiet_world):
    """As the API server has them, but for kind and version: berth itself has no use for the most of
    it."""
    extender = Extender(filter=lambda body: {"Nodes": body["Nodes"]})
    node = quiet_world.node("a", labels={"shelf": "top"})
    world = extended(extender)
    pod = world.pod("one", annotations={"note": "for & by the extender"})
    assert world.bound("one") == node
    _, body, _ = extender.calls[0]
    del pod["kind"], pod["apiVersion"]
    if since("1.35"):  # kube-scheduler drops them when it reads a pod
        del pod["metadata"]["managedFields"]
    assert body["Pod"] == pod
    (sent,) = body["Nodes"]["items"]
    assert body["Nodes"]["metadata"] == {} and sent["metadata"]["managedFields"]
    assert sent["metadata"]["labels"]["shelf"] == "top"
    assert sent["status"]["conditions"][0]["reason"] == "KubeletReady"


def client_tls(certificates, name, inline):
    crt, key = certificates.issue(name, "scheduler")
    files = {"caFile": certificates.ca, "certFile": crt, "keyFile": key}
    if not inline:
        return {k: str(v) for k, v in files.items()}
    return {
        k.replace("File", "Data"): base64.b64encode(v.read_bytes()).decode()
        for k, v in files.items()
    }


@pytest.mark.parametrize("how", ["files", "inline", "insecure", "unknown-authority"])
def test_tls(extended, quiet_world, how):
    certificates = quiet_world.cluster.certs
    name = f"extender-{how}"
    crt, key = certificates.issue(name, name, hosts=["DNS:extender.example.com"])
    clients = certificates.ca if how in ("files", "inline") else None
    extender = Extender(tls=(crt, key, clients), filter=passing)
    node = quiet_world.node("a")
    options = {
        "files": {
            "enableHTTPS": True,
            "tlsConfig": {
                **client_tls(certificates, name + "-client", False),
                "serverName": "extender.example.com",
            },
        },
        "inline": {
            "enableHTTPS": True,
            "tlsConfig": {
                **client_tls(certificates, name + "-client", True),
                "serverName": "extender.example.com",
            },
        },
        "insecure": {"enableHTTPS": True},
        "unknown-authority": {"tlsConfig": {"serverName": "extender.example.com"}},
    }[how]
    world = extended(extender, nodeCacheCapable=True, **options)
    world.pod("one")
    if how == "unknown-authority":
        world.unschedulable(
            "one",
            f'Post "{extender.url}/filter": tls: failed to verify certificate: x509: certificate '
            "signed by unknown authority",
            "SchedulerError",
        )
    else:
        assert world.bound("one") == node


@pytest.mark.skipif(program().name == "kube-scheduler", reason="kube-scheduler does not reload")
def test_extenders_change_without_a_restart(extended, quiet_world):
    first = Extender(filter=passing)
    second = Extender(filter=lambda body: {"Nodes": body["Nodes"]})
    node = quiet_world.node("a")
    world = extended(first, nodeCacheCapable=True)
    world.pod("one")
    assert world.bound("one") == node and len(first.calls) == 1
    scheduler = world.extended_scheduler

    def take_up(*extenders):
        body = configuration(
            world.cluster.scheduler_kubeconfig,
            profiles=[{"schedulerName": world.namespace}],
            extenders=list(extenders),
        )
        taken = scheduler.log().count("Configuration taken up")
        scheduler.config_path.write_text(json.dumps(body))
        scheduler.child.send_signal(signal.SIGHUP)
        until("taken up", lambda: scheduler.log().count("Configuration taken up") > taken)

    take_up(second.config())
    world.pod("two")
    assert world.bound("two") == node and len(first.calls) == 1
    (call,) = second.calls
    assert [n["metadata"]["name"] for n in call[1]["Nodes"]["items"]] == [node]
    take_up()
    world.pod("three")
    assert world.bound("three") == node and len(second.calls) == 1
    second.close()
