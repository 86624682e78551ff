"""What the secure port says, compared with kube-scheduler of the same minor: metrics, /configz, /statusz, /flagz.

Both run beside one API server, each for pods of its own scheduler name, and do the same work.
"""

import json
import re
import ssl
import urllib.error
import urllib.request

import pytest
import yaml

from harness.peers import peers_folder
from harness.processes import until
from harness.scheduler import REPOSITORY, program
from harness.world import World

pytestmark = pytest.mark.skipif(
    program().name == "kube-scheduler", reason="compares berth with kube-scheduler"
)

# Metrics of libraries that berth does not have (docs/metrics.md).
ABSENT = re.compile(
    "go_|workqueue_|aggregator_|apiserver_(?!delegated_)|etcd_|field_validation_|informer_|"
    "cardinality_enforcement_|rest_client_(transport|exec_plugin|dns)_"
)
PATHS = ["/metrics", "/configz", "/statusz", "/flagz"]


def ask(port, path, token, accept=None):
    """Status, headers and body."""
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    request = urllib.request.Request(f"https://127.0.0.1:{port}{path}")
    request.add_header("Authorization", f"Bearer {token}")
    if accept is not None:
        request.add_header("Accept", accept)
    try:
        with urllib.request.urlopen(request, timeout=10, context=context) as answer:
            return answer.status, answer.headers, answer.read().decode()
    except urllib.error.HTTPError as e:
        return e.code, e.headers, e.read().decode()


@pytest.fixture(scope="module")
def token(cluster):
    cluster.core.create_namespaced_service_account("default", {"metadata": {"name": "pages"}})
    cluster.rbac.create_cluster_role(
        {
            "metadata": {"name": "pages"},
            "rules": [{"nonResourceURLs": PATHS, "verbs": ["get"]}],
        }
    )
    cluster.rbac.create_cluster_role_binding(
        {
            "metadata": {"name": "pages"},
            "roleRef": {
                "apiGroup": "rbac.authorization.k8s.io",
                "kind": "ClusterRole",
                "name": "pages",
            },
            "subjects": [{"kind": "ServiceAccount", "namespace": "default", "name": "pages"}],
        }
    )
    return cluster.token("pages")


def work(world):
    """Twenty pods that are bound, one that fits nowhere, a victim and its preemptor."""
    node = world.node("a", cpu="2")
    high, low = world.priority_class(1000), world.priority_class(-10)
    names = [f"small-{i}" for i in range(20)]
    world.pods(names, cpu="10m")
    world.bound(*names)
    world.pod("victim", cpu="1500m", priority_class=low)
    assert world.bound("victim") == node
    world.pod("big", cpu="64")
    world.unschedulable("big")
    world.pod("high", cpu="1", priority_class=high)
    world.bound("high")


class Subject:
    """A scheduler, and what its port answers. Both have the same configuration, one after the
    other."""

    def __init__(self, cluster, token, path):
        self.token = token
        self.scheduler = cluster.scheduler(
            f"pages-{path.name}",
            serve=True,
            leader_elect=True,
            lease_namespace="default",
            path=path,
            profiles=[{"schedulerName": "pages"}],
        )

    def get(self, path, accept=None):
        return ask(self.scheduler.serving_port, path, self.token, accept)

    def metrics(self):
        def settled():
            status, _, text = self.get("/metrics")
            # kube-scheduler brings some of its series up to date once a second.
            signs = (
                r'^scheduler_schedule_attempts_total\{.*result="scheduled"\} 22$',
                r"^scheduler_plugin_execution_duration_seconds_count",
                r'^scheduler_cache_size\{type="pods"\} [1-9]',
            )
            seen = all(re.search(sign, text, re.M) for sign in signs)
            return text if status == 200 and seen else None

        return until("metrics", settled, every=0.5)

    def pages(self):
        answers = {"/configz": self.get("/configz")}
        for page, kind in (("/statusz", "Statusz"), ("/flagz", "Flagz")):
            for accept in accepts(kind):
                answers[page, accept] = self.get(page, accept)
        return answers


def accepts(kind):
    """Accept headers to try on the page of a kind."""
    for media in ("application/json", "application/yaml"):
        for version in ("v1alpha1", "v1beta1", "v1"):
            yield f"{media};v={version};g=config.k8s.io;as={kind}"
    yield from (
        "text/plain",
        "*/*",
        "",
        "text/html",
        "application/json",
        "application/yaml",
        "application/json, text/plain;q=0.5",
        f"application/json;v=v1beta1;g=config.k8s.io;as={kind};pretty=1",
        "application/json;v=v1beta1;g=config.k8s.io;as=Other",
    )


@pytest.fixture(scope="module")
def pair(cluster, token):
    """The metrics and the pages of kube-scheduler and of berth."""
    answers = []
    for who, path in (("theirs", peers_folder() / "kube-scheduler"), ("ours", program())):
        subject = Subject(cluster, token, path)
        world = World(cluster, f"pages-{who}", scheduler_name="pages")
        try:
            until("ready", lambda subject=subject: subject.get("/readyz")[0] == 200)
            work(world)
            answers.append((subject.metrics(), subject.pages()))
        finally:
            subject.scheduler.stop()
            world.leave()
    return answers


@pytest.fixture(scope="module")
def metrics(pair):
    return [Families(text) for text, _ in pair]


@pytest.fixture(scope="module")
def pages(pair):
    return [answers for _, answers in pair]


class Families(dict):
    """Name to type, help text, label names and buckets."""

    def __init__(self, text):
        self.text = text
        for line in text.splitlines():
            if line.startswith("# HELP "):
                _, _, name, *words = line.split(" ", 3)
                self[name] = {"help": "".join(words), "labels": set(), "le": set()}
            elif line.startswith("# TYPE "):
                self[line.split()[2]]["type"] = line.split()[3]
            elif line:
                self.add_sample(line.rsplit(" ", 1)[0])

    def add_sample(self, series):
        name, _, rest = series.partition("{")
        family = self.get(name) or self[re.sub("_(bucket|sum|count)$", "", name)]
        labels = dict(re.findall(r'(\w+)="((?:[^"\\]|\\.)*)"', rest))
        if "le" in labels:
            family["le"].add(labels.pop("le"))
        family["labels"].add(tuple(sorted(labels)))

    def values(self, name, *labels):
        """The combinations of label values of a family."""
        found = set()
        for line in self.text.splitlines():
            if line.startswith(name + "{"):
                all_of_them = dict(re.findall(r'(\w+)="([^"]*)"', line))
                found.add(tuple(all_of_them[label] for label in labels))
        return found


def test_the_same_metrics(metrics):
    theirs, ours = metrics
    assert {n for n in theirs if not ABSENT.match(n)} == {
        n for n in ours if not n.startswith("berth_")
    }


def test_metrics_are_described_alike(metrics):
    theirs, ours = metrics
    for name in sorted(set(theirs) & set(ours)):
        assert ours[name] == theirs[name], name


def test_points_queues_and_plugins_are_named_alike(metrics):
    theirs, ours = metrics
    for name, *labels in (
        ("scheduler_plugin_evaluation_total", "plugin", "extension_point", "profile"),
        ("scheduler_pending_pods", "queue"),
        ("scheduler_queued_entities", "queue", "type"),
        ("scheduler_schedule_attempts_total", "result", "profile"),
        ("scheduler_queue_incoming_entities_total", "queue", "event", "type"),
        ("scheduler_batch_attempts_total", "profile", "result"),
        ("scheduler_batch_cache_flushed_total", "profile", "reason"),
        ("scheduler_cache_size", "type"),
        ("version_info", "binary", "emulation", "min_compat"),
    ):
        assert ours.values(name, *labels) == theirs.values(name, *labels), name


def test_alerts_and_dashboard_use_metrics_that_exist(metrics):
    theirs, ours = metrics
    rules = yaml.safe_load((REPOSITORY / "deploy/monitoring/rules.yaml").read_text())
    text = " ".join(rule["expr"] for group in rules["groups"] for rule in group["rules"])
    text += (REPOSITORY / "deploy/monitoring/dashboard.json").read_text()
    used = set(re.findall(r"\b(?:scheduler|rest_client|leader_election|process)_\w+", text))
    used -= {name for name in used if f":{name}:" in text or f":{name}" in text}
    assert len(used) > 10
    for name in used:
        name = re.sub("_(bucket|sum|count)$", "", name)
        assert name in ours and name in theirs, name


def test_configz_is_the_same_text(pages):
    theirs, ours = (answers["/configz"] for answers in pages)
    assert ours[0] == theirs[0] == 200
    assert ours[2] == theirs[2]
    assert ours[1]["Content-Type"] == theirs[1]["Content-Type"]


# What each process has of its own: times, the compiler, berth's flags.
OWN = re.compile(
    r"(?m)(Started|Up|Go version)(: ?|[= ]).*$|"
    r'("?(startTime|uptimeSeconds|goVersion)"?: ?)("[^"]*"|[^,\s]*)'
)


def comparable(page, answer):
    status, headers, body = answer
    kept = [headers[name] for name in ("Content-Type", "Warning", "X-Content-Type-Options")]
    if status == 200 and page == "/flagz":
        body = re.split("debugging purposes only.\n", body)[0]
        body = re.sub(r'(?s)("?flags"?:).*', r"\1", body)
    if status == 200 and page == "/statusz":
        body = OWN.sub("", body)
        body = re.sub(r"(?m)^(Binary version|Emulation version|Paths)(: |[:= ]) ?", r"\1=", body)
    return status, kept, body


@pytest.mark.parametrize("page,kind", [("/statusz", "Statusz"), ("/flagz", "Flagz")])
def test_pages_are_negotiated_alike(pages, page, kind):
    theirs, ours = pages
    different = []
    for accept in accepts(kind):
        want, got = (comparable(page, side[page, accept]) for side in (theirs, ours))
        if want != got:
            different.append(f"{accept!r}\n theirs {want}\n ours   {got}")
    assert not different, "\n".join(different)


def test_flagz_has_all_flags_of_kube_scheduler(pages):
    """With their values: the files' names apart, both were started alike."""
    for accept in accepts("Flagz"):
        (status, _, text), (_, _, our_text) = (side["/flagz", accept] for side in pages)
        if status == 200 and "json" in accept and text.startswith("{"):
            want, got = json.loads(text)["flags"], json.loads(our_text)["flags"]
            assert set(want) <= set(got)
            apart = {"config", "secure-port", "cert-dir"}
            apart |= {"tls-cert-file", "tls-private-key-file"}  # kube-scheduler names what it made
            assert {k: v for k, v in want.items() if k not in apart} == {
                k: got[k] for k in want if k not in apart
            }
