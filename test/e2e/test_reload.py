"""A changed configuration is taken up without a restart. kube-scheduler cannot do this."""

import json
import signal

import pytest
from test_process import get

from harness.peers import since
from harness.processes import until
from harness.scheduler import configuration, program

pytestmark = pytest.mark.skipif(
    program().name == "kube-scheduler", reason="kube-scheduler does not reload"
)


def write(scheduler, cluster, *profiles, **fields):
    body = configuration(
        cluster.scheduler_kubeconfig, profiles=[{"schedulerName": name} for name in profiles]
    )
    body.update(fields)
    fresh = scheduler.config_path.with_suffix(".new")
    fresh.write_text(json.dumps(body))
    fresh.rename(scheduler.config_path)


@pytest.fixture
def reloaded(world):
    """A scheduler of its own, for pods of the profiles first-*."""
    scheduler = world.cluster.scheduler("reloaded", profiles=[{"schedulerName": "first-profile"}])
    yield scheduler
    scheduler.stop()


def test_a_new_profile_is_taken_up_on_sighup(world, reloaded):
    node = world.node("a")
    world.pod("first", scheduler="first-profile")
    assert world.bound("first") == node
    world.pod("second", scheduler="second-profile")
    write(reloaded, world.cluster, "first-profile", "second-profile")
    reloaded.child.send_signal(signal.SIGHUP)
    assert world.bound("second") == node
    world.pod("third", scheduler="first-profile")
    assert world.bound("third") == node
    assert reloaded.running()


def test_the_file_is_looked_at_without_a_signal(world, reloaded):
    node = world.node("a")
    world.pod("first", scheduler="first-profile")
    assert world.bound("first") == node, "it runs"
    world.pod("second", scheduler="third-profile")
    write(reloaded, world.cluster, "third-profile")
    assert world.bound("second") == node


def test_a_file_with_a_mistake_is_refused(world, reloaded):
    node = world.node("a")
    world.pod("before", scheduler="first-profile")
    assert world.bound("before") == node, "it runs"
    reloaded.config_path.write_text('{"kind": "Nonsense"}')
    reloaded.child.send_signal(signal.SIGHUP)
    until("refused", lambda: "was not taken up" in reloaded.log_tail())
    world.pod("first", scheduler="first-profile")
    assert world.bound("first") == node


def test_a_file_of_v1beta3_is_taken_up_with_a_warning(world, reloaded):
    node = world.node("a")
    world.pod("before", scheduler="first-profile")
    assert world.bound("before") == node, "it runs"
    old = "kubescheduler.config.k8s.io/v1beta3"
    write(reloaded, world.cluster, "first-profile", "old-profile", apiVersion=old)
    reloaded.child.send_signal(signal.SIGHUP)
    world.pod("first", scheduler="old-profile")
    assert world.bound("first") == node
    assert reloaded.log_tail().count(f"{old} is deprecated") == 1


def test_waiting_pods_are_tried_under_the_new_rules(world, reloaded):
    node = world.node("a")
    world.pod("picky", scheduler="first-profile", node_selector={"no": "such"})
    world.unschedulable("picky")
    lenient = {
        "schedulerName": "first-profile",
        "plugins": {"multiPoint": {"disabled": [{"name": "NodeAffinity"}]}},
    }
    write(reloaded, world.cluster, profiles=[lenient])
    reloaded.child.send_signal(signal.SIGHUP)
    assert world.bound("picky") == node


class Mounted:
    """A folder as a kubelet mounts a ConfigMap: the file is a link through ..data, which is swapped."""

    def __init__(self, folder, body):
        self.folder, self.versions = folder, 0
        folder.mkdir()
        self.swap(body)
        self.file = folder / "config.json"
        self.file.symlink_to("..data/config.json")

    def swap(self, body):
        self.versions += 1
        version = self.folder / f"..v{self.versions}"
        version.mkdir()
        (version / "config.json").write_text(json.dumps(body))
        fresh = self.folder / "..data_tmp"
        fresh.symlink_to(version.name)
        fresh.rename(self.folder / "..data")


def test_a_swapped_configmap_is_taken_up_counted_and_served(world, tmp_path):
    cluster = world.cluster
    body = configuration(
        cluster.scheduler_kubeconfig, profiles=[{"schedulerName": "mounted-profile"}]
    )
    mounted = Mounted(tmp_path / "mounted", body)
    s = cluster.scheduler(
        "mounted", config=False, serve=True, flags=[f"--config={mounted.file}", "-v=2"]
    )
    cluster.core.create_namespaced_service_account(
        world.namespace, {"metadata": {"name": "reader"}}
    )
    cluster.rbac.create_cluster_role_binding(
        {
            "metadata": {"name": "reload-reader"},
            "roleRef": {
                "apiGroup": "rbac.authorization.k8s.io",
                "kind": "ClusterRole",
                "name": "cluster-admin",
            },
            "subjects": [
                {"kind": "ServiceAccount", "namespace": world.namespace, "name": "reader"}
            ],
        }
    )
    world.cleanups.append(lambda: cluster.rbac.delete_cluster_role_binding("reload-reader"))
    token = cluster.token("reader", world.namespace)

    def ask(path):
        def answer():
            status, text = get(s.serving_port, path, token)
            return text if status == 200 else None

        return until(path, answer)

    def reloads(result):
        name = f'berth_config_reloads_total{{result="{result}"}}'
        (value,) = [x.split()[-1] for x in ask("/metrics").splitlines() if x.startswith(name)]
        return int(value)

    assert (reloads("success"), reloads("error")) == (0, 0), "alerts need something to rise from"
    node = world.node("a")
    body["profiles"] = [{"schedulerName": "swapped-profile"}]
    body["leaderElection"]["leaderElect"] = True
    mounted.swap(body)
    world.pod("first", scheduler="swapped-profile")
    assert world.bound("first") == node
    assert "a change of leaderElection takes effect at the next start" in s.log()
    served = json.loads(ask("/configz"))["componentconfig"]
    # In the names of Go until 1.35, then in those of v1.
    profiles, name = (
        ("profiles", "schedulerName") if since("1.36") else ("Profiles", "SchedulerName")
    )
    assert [p[name] for p in served[profiles]] == ["swapped-profile"]
    assert (reloads("success"), reloads("error")) == (1, 0)

    body["profiles"] = [{"schedulerName": "swapped-profile", "percentageOfNodesToScore": 101}]
    mounted.swap(body)
    until("refused", lambda: reloads("error") == 1)
    assert "not in valid range [0-100]" in s.log()
    world.pod("second", scheduler="swapped-profile")
    assert world.bound("second") == node
    s.kill()
