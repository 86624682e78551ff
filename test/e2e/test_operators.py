"""What operators look at: metrics, log lines, dumps. Holds for kube-scheduler too, unless it says
otherwise."""

import json
import re
import shutil
import signal
import subprocess

import pytest
import yaml
from test_process import get

from harness.peers import since
from harness.processes import until
from harness.scheduler import REPOSITORY, program

MONITORING = REPOSITORY / "deploy/monitoring"
IS_BERTH = program().name != "kube-scheduler"


@pytest.fixture(scope="module")
def scraper_token(cluster):
    """A service account that may read /metrics."""
    cluster.core.create_namespaced_service_account("default", {"metadata": {"name": "operator"}})
    cluster.rbac.create_cluster_role(
        {
            "metadata": {"name": "operator"},
            "rules": [{"nonResourceURLs": ["/metrics", "/debug/*"], "verbs": ["get"]}],
        }
    )
    cluster.rbac.create_cluster_role_binding(
        {
            "metadata": {"name": "operator"},
            "roleRef": {
                "apiGroup": "rbac.authorization.k8s.io",
                "kind": "ClusterRole",
                "name": "operator",
            },
            "subjects": [{"kind": "ServiceAccount", "namespace": "default", "name": "operator"}],
        }
    )
    return cluster.token("operator")


def scrape(scheduler, token):
    def answer():
        status, text = get(scheduler.serving_port, "/metrics", token)
        return text if status == 200 else None

    return until("metrics", answer)


def samples(text):
    """name{labels} to value."""
    found = {}
    for line in text.splitlines():
        if line and not line.startswith("#"):
            series, value = line.rsplit(" ", 1)
            found[series] = float(value)
    return found


def total(found, name, /, **labels):
    """The sum of all series of that name with these labels."""
    parts = [f'{k}="{v}"' for k, v in labels.items()]
    return sum(
        value
        for series, value in found.items()
        if series.split("{")[0] == name and all(p in series for p in parts)
    )


@pytest.fixture(scope="module")
def busy(cluster, scraper_token, request):
    """A scheduler of its own that has bound pods, failed to, and preempted; with its metrics."""
    from harness.world import World

    world = World(cluster, "operators")
    scheduler = cluster.scheduler(
        "operators",
        serve=True,
        leader_elect=True,
        lease_namespace=world.namespace,
        flags=["-v=5"],
        profiles=[{"schedulerName": "operators"}],
    )
    node = world.node("a", cpu="2")
    world.node("b", cpu="2", taints=[{"key": "k", "effect": "NoSchedule"}])
    high, low = world.priority_class(1000), world.priority_class(-10)
    names = [f"small-{i}" for i in range(30)]
    world.pods(names, scheduler="operators", cpu="10m")
    world.bound(*names)
    world.pod("victim", scheduler="operators", cpu="1", priority_class=low)
    assert world.bound("victim") == node
    world.pod("big", scheduler="operators", cpu="64")
    world.unschedulable("big")
    world.pod("high", scheduler="operators", cpu="1", priority_class=high)
    world.bound("high")

    def settled():
        """kube-scheduler brings some of its series up to date once a second."""
        text = scrape(scheduler, scraper_token)
        found = samples(text)
        bound = total(found, "scheduler_schedule_attempts_total", result="scheduled")
        late = (
            total(found, "scheduler_cache_size", type="pods"),
            total(found, "scheduler_plugin_execution_duration_seconds_count"),
            total(found, "scheduler_preemption_goroutines_execution_total", result="success"),
        )
        return text if bound == 32 and all(late) else None

    text = until("all bindings counted", settled, every=0.5)
    yield world, scheduler, text
    scheduler.kill()
    world.leave()


NEW_POD = "UnscheduledPodAdd" if since("1.37") else "UnschedulablePodAdd"
COUNTED = [
    ("scheduler_scheduling_algorithm_duration_seconds_count", {}),
    ("scheduler_scheduling_attempt_duration_seconds_count", {"result": "scheduled"}),
    ("scheduler_scheduling_attempt_duration_seconds_count", {"result": "unschedulable"}),
    ("scheduler_pod_scheduling_sli_duration_seconds_count", {"attempts": "1"}),
    ("scheduler_pod_scheduling_attempts_count", {}),
    ("scheduler_queue_incoming_pods_total", {"queue": "active", "event": NEW_POD}),
    ("scheduler_queue_incoming_pods_total", {"event": "ScheduleAttemptFailure"}),
    ("scheduler_event_handling_duration_seconds_count", {"event": "NodeAdd"}),
    ("scheduler_event_handling_duration_seconds_count", {"event": NEW_POD}),
    ("scheduler_event_handling_duration_seconds_count", {"event": "AssignedPodAdd"}),
    ("scheduler_event_handling_duration_seconds_count", {"event": "AssignedPodDelete"}),
    ("scheduler_queueing_hint_execution_duration_seconds_count", {"event": "AssignedPodDelete"}),
    ("scheduler_preemption_attempts_total", {}),
    ("scheduler_preemption_victims_count", {}),
    ("scheduler_preemption_goroutines_execution_total", {"result": "success"}),
    *(
        []  # deprecated
        if since("1.37")
        else [("scheduler_preemption_goroutines_duration_seconds_count", {"result": "success"})]
    ),
    ("scheduler_unschedulable_pods", {"plugin": "NodeResourcesFit", "profile": "operators"}),
    ("scheduler_pending_pods", {"queue": "unschedulable"}),
    ("scheduler_cache_size", {"type": "nodes"}),
    ("scheduler_cache_size", {"type": "pods"}),
    ("scheduler_plugin_evaluation_total", {"extension_point": "PreFilter"}),
    (
        "scheduler_plugin_evaluation_total",
        {"extension_point": "Filter", "plugin": "NodeResourcesFit"},
    ),
    ("rest_client_requests_total", {"code": "201", "method": "POST"}),
    ("rest_client_request_duration_seconds_count", {"verb": "POST"}),
    ("rest_client_rate_limiter_duration_seconds_count", {"verb": "POST"}),
    ("rest_client_request_size_bytes_count", {"verb": "POST"}),
    ("rest_client_response_size_bytes_count", {"verb": "POST"}),
    ("leader_election_master_status", {"name": "kube-scheduler"}),
    ("process_resident_memory_bytes", {}),
    ("authentication_duration_seconds_count", {"result": "success"}),
    ("authentication_token_cache_request_total", {"status": "miss"}),
    ("authorization_duration_seconds_count", {"result": "allowed"}),
    ("registered_metrics_total", {"stability_level": "STABLE"}),
] + [
    ("scheduler_framework_extension_point_duration_seconds_count", {"extension_point": point})
    for point in (
        "PreEnqueue",
        "PreFilter",
        "Filter",
        "PostFilter",
        "Reserve",
        "Permit",
        "PreBind",
        "Bind",
        "PostBind",
    )
]


@pytest.mark.parametrize("name, labels", COUNTED, ids=lambda v: str(v))
def test_series_has_a_count(busy, name, labels):
    assert total(samples(busy[2]), name, **labels) > 0


def test_attempts_are_exact(busy):
    found = samples(busy[2])
    assert total(found, "scheduler_schedule_attempts_total", result="scheduled") == 32
    assert total(found, "scheduler_pod_scheduling_attempts_count") == 32
    # One observation for every attempt that ended, as long as all are timed.
    attempts = total(found, "scheduler_schedule_attempts_total")
    assert total(found, "scheduler_scheduling_attempt_duration_seconds_count") == attempts
    assert total(found, "scheduler_scheduling_algorithm_duration_seconds_count") >= 32


def test_one_cycle_in_ten_times_its_plugins(busy):
    """kube-scheduler throws dice for it; with 34 cycles it almost always has some."""
    found = samples(busy[2])
    assert total(found, "scheduler_plugin_execution_duration_seconds_count") > 0


@pytest.mark.skipif(not IS_BERTH, reason="kube-scheduler throws dice for each cycle")
@pytest.mark.parametrize(
    "point, plugin",
    [
        ("PreEnqueue", "SchedulingGates"),
        ("PreFilter", "NodeResourcesFit"),
        ("Filter", "TaintToleration"),
        ("Reserve", "VolumeBinding"),
        # From 1.35 on PreBind is left out where PreBindPreFlight has found nothing to do.
        ("PreBindPreFlight" if since("1.35") else "PreBind", "VolumeBinding"),
        ("PreBindPreFlight" if since("1.35") else "PreBind", "DynamicResources"),
        ("Bind", "DefaultBinder"),
    ],
)
def test_plugins_are_timed_at_every_point(busy, point, plugin):
    name = "scheduler_plugin_execution_duration_seconds_count"
    assert total(samples(busy[2]), name, extension_point=point, plugin=plugin) > 0


def test_every_metric_of_the_alerts_and_the_dashboard_is_scraped(busy):
    names = set()
    rules = yaml.safe_load((MONITORING / "rules.yaml").read_text())
    expressions = [r["expr"] for g in rules["groups"] for r in g["rules"]]
    dashboard = json.loads((MONITORING / "dashboard.json").read_text())
    expressions += re.findall(r'"expr": (".*?[^\\]")', json.dumps(dashboard))
    for expression in expressions:
        names |= set(
            re.findall(
                r"(?<![:\w])((?:scheduler|rest_client|leader_election|process)_[a-z_]+)", expression
            )
        )
    assert len(names) >= 8
    scraped = {series.split("{")[0] for series in samples(busy[2])}
    assert names - scraped == set()


@pytest.mark.skipif(not shutil.which("promtool"), reason="needs promtool (Debian: prometheus)")
def test_promtool_accepts_rules_and_metrics(busy):
    def promtool(*args, **options):
        return subprocess.run(
            ["promtool", *args], cwd=MONITORING, capture_output=True, text=True, **options
        )

    for args in (("check", "rules", "rules.yaml"), ("test", "rules", "rules_test.yaml")):
        answer = promtool(*args)
        assert answer.returncode == 0, answer.stdout + answer.stderr
    # Exit 3: only remarks on style, which Kubernetes' names have always earned.
    answer = promtool("check", "metrics", input=busy[2])
    assert answer.returncode in (0, 3), answer.stdout + answer.stderr
    assert "error" not in answer.stderr.lower().replace("_error", "").replace("error_", "")


def test_log_says_what_became_of_pods(busy):
    world, scheduler, _ = busy
    log = scheduler.log()
    bound = re.search(
        r'"Successfully bound pod to node" pod="operators/small-0" node="(\S+)" '
        r"evaluatedNodes=2 feasibleNodes=1",
        log,
    )
    assert bound and bound[1] == f"{world.namespace}-a"
    for line in (
        '"Attempting to schedule pod" pod="operators/small-0"',
        '"Unable to schedule pod; no fit; waiting" pod="operators/big" '
        'err="0/2 nodes are available:',
        '"Preemptor Pod preempted victim Pod" preemptor="operators/high" victim="operators/victim"',
        '"Pod moved to an internal scheduling queue" pod="operators/big" '
        'event="ScheduleAttemptFailure" queue="Unschedulable"',
        f'"Add event for node" node="{world.namespace}-a"',
        f'"Added node to NodeTree" node="{world.namespace}-a" zone=""',
        '"Add event for unscheduled pod" pod="operators/small-0"',
        '"Add event for scheduled pod" pod="operators/small-0"',
        '"Delete event for scheduled pod" pod="operators/victim"',
        '"Update event for unscheduled pod" pod="operators/big"',
        '"Updating pod condition and nominated node name" pod="operators/big" '
        'conditionType="PodScheduled" conditionStatus="False" conditionReason="Unschedulable" '
        'nominatedNodeName="" nominatingMode=1',
        f'conditionReason="Unschedulable" nominatedNodeName="{world.namespace}-a" nominatingMode=1',
    ):
        assert line in log, line
    # The plugin's logger is named in some, from -v=4 on.
    preemption = r'" logger="PostFilter.DefaultPreemption" '
    binder = r'" logger="Bind.DefaultBinder" '
    for line in (
        r'"No preemption candidate is found; preemption is not helpful for scheduling'
        rf'{preemption}pod="operators/big"',
        rf'"the target node for the preemption is determined{preemption}'
        + (
            rf'pod="operators/high" node="{bound[1]}"'
            if since("1.36")
            else rf'node="{bound[1]}" pod="operators/high"'
        ),
        rf'"Start the preemption asynchronously" preemptor="operators/high" '
        rf'node="{bound[1]}" numVictims=1',
        rf'"Async Preemption finished completely" preemptor="operators/high" '
        rf'node="{bound[1]}" result="success"',
        rf'"Attempting to bind pod to node{binder}pod="operators/small-0" node="{bound[1]}"',
        r'"Pod moved to an internal scheduling queue" pod="operators/big" '
        r'event="ScheduleAttemptFailure" queue="Unschedulable" schedulingCycle=\d+ hint=0 '
        r'unschedulable plugins=\{"NodeResourcesFit":\{\}(,"TaintToleration":\{\})?\}',
    ):
        assert re.search(line, log), line


def test_usr2_dumps_cache_and_queue(busy):
    world, scheduler, _ = busy
    scheduler.signal(signal.SIGUSR2)
    log = until(
        "dump", lambda: scheduler.log() if "Dump of scheduling queue" in scheduler.log() else None
    )
    assert f"Node name: {world.namespace}-a" in log
    assert "Scheduled Pods(number: 31)" in log
    assert "name: small-7, namespace: operators, uid: " in log
    assert "name: big, namespace: operators, uid: " in log
    assert "Cache mismatch" not in log


@pytest.mark.skipif(not IS_BERTH, reason="kube-scheduler has Go's profiles")
def test_there_are_no_go_profiles(busy, scraper_token):
    status, text = get(busy[1].serving_port, "/debug/pprof/profile", scraper_token)
    assert status == 404 and "perf record" in text


@pytest.mark.skipif(not shutil.which("curl"), reason="needs curl")
def test_http2_is_spoken_with_who_offers_it(busy, scraper_token):
    port = busy[1].serving_port

    def ask(path, *options):
        return subprocess.run(
            ["curl", "-skS", "-w", " %{http_version} %{response_code}", *options]
            + [f"https://127.0.0.1:{port}{path}"],
            capture_output=True,
            text=True,
            check=True,
        ).stdout

    known = ("-H", f"Authorization: Bearer {scraper_token}")
    assert ask("/healthz", "--http2") == "ok 2 200"
    assert ask("/healthz", "--http1.1") == "ok 1.1 200"
    assert ask("/metrics", "--http2").endswith(" 2 403")
    answer = ask("/metrics", "--http2", *known)
    assert answer.endswith(" 2 200") and "scheduler_schedule_attempts_total" in answer
    assert ask("/metrics", "--http2", "-H", "Authorization: Bearer x").endswith(" 2 401")


@pytest.mark.skipif(not IS_BERTH, reason="kube-scheduler does not explain")
def test_events_explain_what_would_help(quiet_world):
    """With the rights of system:kube-scheduler, and only when something else is true."""
    world, cluster = quiet_world, quiet_world.cluster
    s = cluster.scheduler(
        "explains", profiles=[{"schedulerName": "explains"}], flags=["--explain-events"]
    )
    world.node("a", cpu="2")
    nodes = len(cluster.core.list_node().items)  # those of other tests may be there
    world.pod("small", scheduler="explains", cpu="1")
    world.bound("small")
    world.pod("big", scheduler="explains", cpu="100")
    explained = world.event("big", "SchedulingExplained")
    assert explained["note"].startswith(f"0/{nodes} nodes fit. ")
    assert "Insufficient cpu. " in explained["note"]
    assert "Would help: " in explained["note"] and "cpu request ≤ " in explained["note"]
    assert explained["type"] == "Normal"
    world.node("b", cpu="200", taints=[{"key": "k", "effect": "NoSchedule"}])

    def anew():
        notes = [e["note"] for e in world.events("big", "SchedulingExplained")]
        return [n for n in notes if n.startswith(f"0/{nodes + 1} nodes fit.")]

    (again,) = until("it is explained anew", anew)
    assert "TaintToleration: " in again and "node(s) had untolerated taint(s)." in again
    assert len(world.events("big", "SchedulingExplained")) == 2
    assert world.events("small", "SchedulingExplained") == []
    s.kill()


def test_scores_are_logged_at_ten(quiet_world):
    world, cluster = quiet_world, quiet_world.cluster
    s = cluster.scheduler("ten", profiles=[{"schedulerName": "ten"}], flags=["-v=10"])
    for name in ("a", "b"):
        world.node(name)
    world.pod("one", scheduler="ten")
    world.bound("one")
    pod = f'pod="{world.namespace}/one"'
    for line in (
        rf'"Plugin scored node for pod" {pod} plugin="TaintToleration" node="\S+" score=300',
        rf'"Calculated node\'s final score for pod" {pod} node="\S+" score=\d+',
    ):
        until(line, lambda line=line: re.search(line, s.log()))
    s.kill()
