"""Measures schedulers beside a real API server: pods per second, CPU seconds and peak memory.

Every measurement has a fresh etcd and kube-apiserver. Nodes and pending pods are made first, then
the scheduler is started; pods/s counts from the first bound pod to the last, as a watch sees them,
so starting up is not in it, while CPU seconds and memory are those of the whole process. All three
speak as system:kube-scheduler and without client-side limits that matter. The client that only
binds gives pods to nodes in turn and writes the Binding and the Event.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile
import time

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPOSITORY / "test/e2e"))

from harness.cluster import Cluster  # noqa: E402
from harness.peers import peers_folder  # noqa: E402
from harness.processes import Process  # noqa: E402
from harness.scheduler import configuration  # noqa: E402

LOAD = REPOSITORY / "build/e2e-load"
UNLIMITED = [
    "--enable-priority-and-fairness=false",
    "--max-requests-inflight=0",
    "--max-mutating-requests-inflight=0",
    "--event-ttl=30m",
]
KINDS = ["basic", "spread", "anti-affinity"]


def load(command, **options):
    flags = [f"--{k.replace('_', '-')}={v}" for k, v in options.items()]
    return [str(LOAD), *flags, command]


def start(cluster, who, args):
    """The process that gets pods bound."""
    if who == "bind-only":
        return Process(
            load("bind", kubeconfig=cluster.scheduler_kubeconfig, in_flight=args.in_flight),
            cluster.folder / "bind-only.log",
        )
    path = args.berth if who == "berth" else peers_folder() / "kube-scheduler"
    return cluster.scheduler(
        who, path=path, config=configuration(cluster.scheduler_kubeconfig, qps=args.qps)
    )


def measure(who, kind, nodes, pods, args):
    with tempfile.TemporaryDirectory(prefix="berth-bench-") as folder:
        process = None
        cluster = Cluster(folder, audit=False, apiserver_flags=UNLIMITED)
        try:
            subprocess.run(
                load(
                    "make", kubeconfig=cluster.admin_kubeconfig, nodes=nodes, pods=pods, kind=kind
                ),
                check=True,
            )
            time.sleep(1)  # the API server has digested it
            server_before = cluster.apiserver.sample()[0] + cluster.etcd.sample()[0]
            watch = subprocess.Popen(
                load(
                    "watch", kubeconfig=cluster.admin_kubeconfig, pods=pods, limit=f"{args.limit}s"
                ),
                stdout=subprocess.PIPE,
                text=True,
            )
            assert watch.stdout.readline() == "ready\n"
            process = start(cluster, who, args)
            seen = json.loads(watch.communicate(timeout=args.limit + 30)[0])
            time.sleep(1)  # the last events
            cpu, rss = process.sample()
            assert seen["bound"] == pods, (
                f"{who} bound {seen['bound']} of {pods} pods:\n{process.log_tail()}"
            )
            server = cluster.apiserver.sample()[0] + cluster.etcd.sample()[0] - server_before
            return {
                "scheduler": who,
                "kind": kind,
                "nodes": nodes,
                "pods": pods,
                "bound": seen["bound"],
                "seconds": round(seen["seconds"], 3),
                "pods_per_second": round(seen["bound"] / max(seen["seconds"], 1e-3), 1),
                "cpu_seconds": round(cpu, 2),
                "peak_rss_mib": round(rss / 1024, 1),
                "apiserver_and_etcd_cpu_seconds": round(server, 2),
            }
        finally:
            if process:
                process.kill()
            cluster.close()


MEASURED = [
    "seconds",
    "pods_per_second",
    "cpu_seconds",
    "peak_rss_mib",
    "apiserver_and_etcd_cpu_seconds",
]


def median(rows):
    """Each figure's own median: a run that was fast for one need not be for another."""
    return rows[0] | {m: sorted(r[m] for r in rows)[len(rows) // 2] for m in MEASURED}


def table(rows):
    lines = [
        "| nodes | pods | kind | who | pods/s | CPU s | peak MiB |",
        "|---:|---:|---|---|---:|---:|---:|",
    ]
    lines += [
        f"| {r['nodes']:,} | {r['bound']:,} | {r['kind']} | {r['scheduler']} | {r['pods_per_second']:,.0f} | "
        f"{r['cpu_seconds']:.2f} | {r['peak_rss_mib']:.0f} |"
        for r in rows
    ]
    return "\n".join(lines)


def verdicts(rows):
    """berth against the bars: 150 % of the bind-only client; 1/20 of kube-scheduler's CPU (spread:
    1/40); 1/3 of its memory."""
    by = {(r["scheduler"], r["kind"], r["nodes"]): r for r in rows}
    for (who, kind, nodes), berth in by.items():
        if who != "berth":
            continue
        bind, kube = by.get(("bind-only", kind, nodes)), by.get(("kube-scheduler", kind, nodes))
        said = []
        if bind:
            share = berth["pods_per_second"] / bind["pods_per_second"]
            said.append(f"{share:.0%} of bind-only ({'ok' if share >= 1.5 else 'BELOW 150 %'})")
        if kube:
            bar = {"basic": 20, "spread": 40}.get(kind)
            ratio = kube["cpu_seconds"] / max(berth["cpu_seconds"], 0.01)
            said.append(
                f"1/{ratio:.1f} of the CPU"
                + ("" if not bar else " (ok)" if ratio >= bar else f" (ABOVE 1/{bar})")
            )
            memory = kube["peak_rss_mib"] / max(berth["peak_rss_mib"], 1)
            said.append(f"1/{memory:.1f} of the memory ({'ok' if memory >= 3 else 'ABOVE 1/3'})")
        yield f"{nodes:,} nodes, {kind}: " + ", ".join(said)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--nodes", default="1000,5000")
    parser.add_argument(
        "--pods",
        type=int,
        default=3000,
        help="pods per measurement (anti-affinity: at most one a node)",
    )
    parser.add_argument("--kinds", default=",".join(KINDS))
    parser.add_argument("--who", default="bind-only,berth,kube-scheduler")
    parser.add_argument(
        "--repeat",
        type=int,
        default=1,
        help="measurements of each, in turn; the table has their medians",
    )
    parser.add_argument(
        "--in-flight", type=int, default=100, help="requests at once of the bind-only client"
    )
    parser.add_argument(
        "--qps", type=int, default=10000, help="clientConnection.qps and burst of both schedulers"
    )
    parser.add_argument("--limit", type=int, default=600, help="seconds one measurement may take")
    parser.add_argument("--berth", type=pathlib.Path, default=REPOSITORY / "build/bin/berth")
    parser.add_argument("--json", type=pathlib.Path, default=REPOSITORY / "build/bench-e2e.json")
    args = parser.parse_args()
    rows = []
    for nodes in map(int, args.nodes.split(",")):
        for kind in args.kinds.split(","):
            pods = min(args.pods, nodes) if kind == "anti-affinity" else args.pods
            # In turn: a machine that is slow for a minute is so for all of them.
            runs = {who: [] for who in args.who.split(",")}
            for _ in range(args.repeat):
                for who, measured in runs.items():
                    measured.append(measure(who, kind, nodes, pods, args))
                    print(json.dumps(measured[-1]), flush=True)
            rows += [median(measured) for measured in runs.values()]
    args.json.write_text(json.dumps(rows, indent=1) + "\n")
    print("\n" + table(rows) + "\n")
    print("\n".join(verdicts(rows)))


if __name__ == "__main__":
    main()
