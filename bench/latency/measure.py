"""Measures how long pods wait for their binding beside a real API server.

kube-scheduler and berth run in turn in the same cluster. At each rate pods are created without
regard to earlier ones (open loop); a pod's latency is the time from the answer to its create until
a watch sees its binding. CPU and wake-ups (voluntary context switches) are those of the scheduler
while the pods were created and bound. Every figure is the median over the repetitions.

Besides the rates:
  extender    pods at 50 a second, with an extender that lets every node pass
  permit      pods in pairs, with a Permit plugin that lets the first wait for the second: from the
              second create until both are bound (berth only: kube-scheduler has no plugin for it)
  preemption  from the end of a victim until the pod that evicted it is bound
  requeue     from the deletion of a pod until the pod that waited for its node is bound

--busy keeps every core busy with other work meanwhile. --trace shows berth's hops.
"""

import argparse
import contextlib
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPOSITORY / "test/e2e"))

import report  # noqa: E402

from harness.cluster import Cluster  # noqa: E402
from harness.peers import peers_folder  # noqa: E402
from harness.processes import Process, free_port  # noqa: E402
from harness.scheduler import configuration  # noqa: E402

LOAD = REPOSITORY / "build/e2e-load"
UNLIMITED = [
    "--enable-priority-and-fairness=false",
    "--max-requests-inflight=0",
    "--max-mutating-requests-inflight=0",
    "--event-ttl=30m",
]
# Seconds at each rate: enough pods for a p99 in a full run, a third of that in a quick one.
SECONDS = {5: 30, 20: 15, 50: 12, 100: 9, 200: 9, 1000: 6}
SAMPLES = 40  # of preemption, requeue and permit
WHO = ["kube-scheduler", "berth"]
SCENARIOS = ["extender", "permit", "preemption", "requeue"]
PERMIT = "QuietNodes"  # of sdk/examples
HOPS = ["decoded", "taken", "decided", "written", "answered"]


def load(command, **options):
    flags = [f"--{k.replace('_', '-')}={v}" for k, v in options.items()]
    return [str(LOAD), *flags, command]


def percentile(values, share):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def wakeups(pid):
    """Voluntary context switches of all threads so far."""
    count = 0
    for status in pathlib.Path(f"/proc/{pid}/task").glob("*/status"):
        with contextlib.suppress(OSError):
            found = re.search(r"^voluntary_ctxt_switches:\s*(\d+)", status.read_text(), re.M)
            count += int(found.group(1))
    return count


@contextlib.contextmanager
def other_work(busy, seconds):
    """As many processes as cores that compute all the time, for `seconds` at most."""
    command = ["timeout", str(seconds), "sha256sum", "/dev/zero"]
    processes = [
        subprocess.Popen(command, stdout=subprocess.DEVNULL)
        for _ in range(os.cpu_count() if busy else 0)
    ]
    try:
        yield
    finally:
        for process in processes:
            process.terminate()
            process.wait()


class Run:
    """One cluster, in which measurements follow each other."""

    def __init__(self, args, nodes, folder):
        self.args, self.nodes = args, nodes
        self.cluster = Cluster(folder, audit=False, apiserver_flags=UNLIMITED)
        self.extender_port = free_port()
        self.extender = None
        self.count = 0
        self.load("make", nodes=nodes)

    def close(self):
        if self.extender:
            self.extender.kill()
        self.cluster.close()

    def load(self, command, **options):
        subprocess.run(
            load(command, kubeconfig=self.cluster.admin_kubeconfig, **options), check=True
        )

    def scheduler(self, who, scenario):
        more = {}
        if scenario == "extender":
            more["extenders"] = [
                {
                    "urlPrefix": f"http://127.0.0.1:{self.extender_port}",
                    "filterVerb": "filter",
                    "nodeCacheCapable": True,
                }
            ]
        flags = ["--trace-latency"] if who == "berth" and self.args.trace else []
        if scenario == "permit":
            flags.append(f"--plugin-path={REPOSITORY / 'build/plugins'}")
            enabled = {"enabled": [{"name": PERMIT}]}
            more["profiles"] = [
                {
                    "schedulerName": "default-scheduler",
                    "plugins": {"reserve": enabled, "permit": enabled},
                }
            ]
        self.count += 1
        return self.cluster.scheduler(
            f"{who}-{self.count}",
            path=self.args.berth if who == "berth" else peers_folder() / "kube-scheduler",
            config=configuration(self.cluster.scheduler_kubeconfig, qps=10000, **more),
            flags=flags,
        )

    def measure(self, who, scenario, rate=None):
        if scenario == "extender" and not self.extender:
            self.extender = Process(
                load("extender", address=f"127.0.0.1:{self.extender_port}"),
                self.cluster.folder / "extender.log",
            )
        commands = {"extender": "pace", "preemption": "preempt", "permit": "pairs"}
        command = commands.get(scenario, scenario)
        pods = SAMPLES // (1 if self.args.full else 2)
        if command == "pace":
            pods = max(50, int(rate * SECONDS[rate] / (1 if self.args.full else 3)))
        scheduler = self.scheduler(who, scenario)
        generator = subprocess.Popen(
            load(
                command,
                kubeconfig=self.cluster.admin_kubeconfig,
                nodes=self.nodes,
                pods=pods,
                rate=rate or 0,
                limit=f"{self.args.limit}s",
            ),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        try:
            line = generator.stdout.readline()
            assert line == "ready\n", f"{who} bound no pod:\n{scheduler.log_tail()}"
            with other_work(self.args.busy, self.args.limit):
                time.sleep(0.5)
                cpu, woken = scheduler.sample()[0], wakeups(scheduler.pid)
                seen = json.loads(generator.communicate("begin\n", timeout=self.args.limit * 3)[0])
                cpu, woken = scheduler.sample()[0] - cpu, wakeups(scheduler.pid) - woken
        finally:
            generator.kill()
            scheduler.kill()
            self.load("remove")
        return self.figures(who, scenario, rate, seen, cpu, woken, scheduler)

    def figures(self, who, scenario, rate, seen, cpu, woken, scheduler):
        waits = [max(0, s["to"] - s["from"]) / 1e3 for s in seen["samples"]]
        row = {
            "scheduler": who,
            "scenario": scenario,
            "busy": self.args.busy,
            "nodes": self.nodes,
            "rate": rate,
            "pods": len(waits),
            "missing": seen["missing"],
            "p50": percentile(waits, 0.50),
            "p90": percentile(waits, 0.90),
            "p99": percentile(waits, 0.99),
            "max": max(waits),
            "cpu_us_per_pod": round(cpu * 1e6 / len(waits)),
            "wakeups_per_pod": round(woken / len(waits), 1),
        }
        if who == "berth" and self.args.trace:
            row["hops"] = hops(scheduler.log(), seen["samples"])
        return row


def hops(log, samples):
    """Medians and p99 of the time between hops in milliseconds, from the create to the watcher."""
    traced = {}
    for line in log.splitlines():
        if '"Latency of a pod"' in line:
            found = dict(re.findall(r'(\w+)="?([^" ]+)"?', line.split("] ", 1)[1]))
            traced[found["pod"].split("/")[1]] = found
    legs = {}
    for sample in samples:
        found = traced.get(sample["pod"])
        if not found:
            continue
        read = int(found["readUnixMicros"])
        times = [sample["from"], read] + [read + int(found[h]) for h in HOPS]
        names = ["created to read"] + [f"to {h}" for h in HOPS]
        for name, before, after in zip(names, times, times[1:]):
            legs.setdefault(name, []).append((after - before) / 1e3)
        legs.setdefault("written to seen bound", []).append((sample["to"] - times[-2]) / 1e3)
    return {
        name: [round(percentile(v, 0.5), 3), round(percentile(v, 0.99), 3)]
        for name, v in legs.items()
    }


FIGURES = ["p50", "p90", "p99", "max", "cpu_us_per_pod", "wakeups_per_pod"]


def median(rows):
    """Each figure's own median."""
    return rows[0] | {f: sorted(r[f] for r in rows)[len(rows) // 2] for f in FIGURES}


def plan(args):
    for rate in map(int, filter(None, args.rates.split(","))):
        yield "pace", rate
    for scenario in filter(None, args.scenarios.split(",")):
        yield scenario, 50 if scenario == "extender" else None


def schedulers(args, scenario):
    return [w for w in args.who.split(",") if w == "berth" or scenario != "permit"]


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--nodes", default="1000", help="clusters to measure in: 100,1000,5000")
    parser.add_argument("--rates", default=",".join(map(str, SECONDS)), help="pods per second")
    parser.add_argument("--scenarios", default=",".join(SCENARIOS))
    parser.add_argument("--who", default=",".join(WHO))
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--full", action="store_true", help="three times as many pods")
    parser.add_argument("--busy", action="store_true", help="other work on every core meanwhile")
    parser.add_argument("--trace", action="store_true", help="berth's hops, from --trace-latency")
    parser.add_argument("--limit", type=int, default=60, help="seconds one pod may take")
    parser.add_argument("--berth", type=pathlib.Path, default=REPOSITORY / "build/bin/berth")
    parser.add_argument(
        "--json", type=pathlib.Path, help="default: build/bench-latency[-busy].json"
    )
    parser.add_argument("--svg", type=pathlib.Path, help="default: build/bench-latency[-busy].svg")
    args = parser.parse_args()
    name = "bench-latency-busy" if args.busy else "bench-latency"
    args.json = args.json or REPOSITORY / f"build/{name}.json"
    args.svg = args.svg or REPOSITORY / f"build/{name}.svg"

    measured = {}
    for nodes in map(int, args.nodes.split(",")):
        for _ in range(args.repeat):
            with tempfile.TemporaryDirectory(prefix="berth-latency-") as folder:
                run = Run(args, nodes, folder)
                try:
                    for scenario, rate in plan(args):
                        for who in schedulers(args, scenario):
                            row = run.measure(who, scenario, rate)
                            print(json.dumps(row), flush=True)
                            measured.setdefault((nodes, scenario, rate, who), []).append(row)
                finally:
                    run.close()
    rows = [median(repeated) for repeated in measured.values()]
    args.json.write_text(json.dumps(rows, indent=1) + "\n")
    args.svg.write_text(report.plot(rows))
    print("\n" + report.table(rows) + "\n")
    if args.trace:
        print(report.hop_table(rows) + "\n")
    print("\n".join(report.verdicts(rows)))


if __name__ == "__main__":
    main()
