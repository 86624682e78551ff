"""--record-dir: what a scheduler beside a real API server decided is decided again by replay."""

import json
import subprocess

from harness.processes import until
from harness.scheduler import program


def replay(folder, *flags):
    return subprocess.run(
        [str(program()), "replay", str(folder), *flags], capture_output=True, text=True, timeout=60
    )


def test_a_recorded_run_is_replayed(quiet_world, tmp_path):
    world, cluster = quiet_world, quiet_world.cluster
    folder = tmp_path / "recording"
    profile = [{"schedulerName": "recorded"}]
    s = cluster.scheduler(
        "recorded", profiles=profile, flags=[f"--record-dir={folder}", "--record-max-bytes=64Mi"]
    )
    node = world.node("a", cpu="2")
    for i in range(20):
        world.pod(f"fits-{i}", cpu="50m", scheduler="recorded")
    world.pod("too-large", cpu="64", scheduler="recorded")
    for i in range(20):
        assert world.bound(f"fits-{i}") == node
    until("the large pod is refused", lambda: world.condition("too-large") is not None)
    # A run that is still written can be played as far as it is on the disk.
    assert replay(folder).returncode == 0
    s.stop()

    answer = replay(folder, "-o", "json", "--pod", f"{world.namespace}/too-large")
    assert answer.returncode == 0, answer.stdout + answer.stderr
    played = json.loads(answer.stdout)
    assert played["same"] and played["closed"] and played["bindings"] == 20
    story = [entry["what"] for entry in played["pod"]]
    assert story[0] in ("first seen", "listed") and any("Insufficient cpu" in e for e in story)

    # Owner only: pod specs are in it.
    for file in folder.iterdir():
        assert file.stat().st_mode & 0o077 == 0

    # A second start is a second run; the first stays.
    s = cluster.scheduler("recorded-again", profiles=profile, flags=[f"--record-dir={folder}"])
    world.pod("later", cpu="50m", scheduler="recorded")
    assert world.bound("later") == node
    s.stop()
    runs = json.loads(replay(folder, "--list", "-o", "json").stdout)
    assert [run["run"] for run in runs] == [1, 2]
    assert replay(folder).returncode == 0 and replay(folder, "--run", "1").returncode == 0


def test_a_directory_that_cannot_be_written_is_an_error(cluster, tmp_path):
    (tmp_path / "file").write_text("")
    s = cluster.scheduler("unrecorded", flags=[f"--record-dir={tmp_path / 'file'}"])
    assert s.expect_exit() == 1
    assert "--record-dir" in s.log()


def test_a_recorded_decision_is_explained_and_made_under_other_rules(quiet_world, tmp_path):
    world, cluster = quiet_world, quiet_world.cluster
    folder = tmp_path / "recording"
    profile = [{"schedulerName": "explained"}]
    s = cluster.scheduler("explained", profiles=profile, flags=[f"--record-dir={folder}"])
    node = world.node("a", cpu="2")
    world.pod("fits", cpu="50m", scheduler="explained")
    world.pod("too-large", cpu="64", scheduler="explained")
    assert world.bound("fits") == node
    until("the large pod is refused", lambda: world.condition("too-large") is not None)
    s.stop()

    def explained(pod):
        answer = subprocess.run(
            [str(program()), "explain", "pod", f"{world.namespace}/{pod}", "-o", "json"]
            + ["--recording", str(folder)],
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert answer.returncode == 0, answer.stderr
        return json.loads(answer.stdout)

    assert explained("fits")["record"]["node"] == node
    assert "Insufficient cpu" in explained("too-large")["record"]["message"]

    larger = tmp_path / "larger.yaml"
    larger.write_text(
        "apiVersion: v1\nkind: Node\nmetadata: {name: added-by-replay}\n"
        "status: {allocatable: {cpu: '128', memory: 64Gi, pods: '110'}}\n"
    )
    page = tmp_path / "page.html"
    answer = replay(folder, "--nodes-add", str(larger), "--html", str(page), "-o", "json")
    assert answer.returncode == 0, answer.stdout + answer.stderr
    difference = json.loads(answer.stdout)
    moved = {pod["pod"]: pod["other"] for pod in difference["moved"]}
    assert moved[f"{world.namespace}/too-large#1"] == "added-by-replay"
    assert difference["gained"] == 1 and difference["lost"] == 0
    assert "<svg" in page.read_text()
