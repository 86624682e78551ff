"""Measures the scheduling cycles of kube-scheduler and of berth, one workload after the other.

For every workload kube-scheduler is measured with its default (it stops looking when it has found
enough nodes) and with all nodes scored, and berth with all nodes scored, one right after the other,
so that what else the machine does hits all three. CPU is that of all threads, garbage collection
included, divided by the pods; on a machine with other work it is the fairer figure, because
kube-scheduler waits for cores that are taken. berth gets more pods because one of its cycles is
about as long as reading the clock. So does kube-scheduler where its cycles are short: a run of a
millisecond has seen no garbage collection.
"""

import argparse
import json
import pathlib
import statistics
import subprocess

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
WORKLOADS = [
    "basic",
    "nodeaffinity",
    "podaffinity",
    "podantiaffinity",
    "preferred-podaffinity",
    "preferred-podantiaffinity",
    "topologyspread",
    "preferred-topologyspread",
    "csi-pvs",
    "preemption",
    "dra",
    "secrets",
    "intree-pvs",
    "wffc",
    "podaffinity-ns",
    "podantiaffinity-ns",
    "preferred-podaffinity-ns",
    "preferred-podantiaffinity-ns",
    "default-topologyspread",
    "mixed",
    "churn",
    "unschedulable",
    "gated",
    "daemonset",
    "daemonset-nodes",
    "indexed-job",
    "statefulset",
    "statefulset-services",
    "statefulset-apart",
]


def measured(command, workload, nodes, pods, percentage):
    """One run; berth-bench and the peer take the same flags and print the same figures."""
    flags = [f"--workload={workload}", f"--nodes={nodes}", f"--pods={pods}"]
    done = subprocess.run(
        [*command, *flags, f"--percentage={percentage}"],
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    return json.loads(done.stdout)


def measured_long(command, workload, nodes, pods, more_pods, percentage):
    """The same, over more pods if the first ones took less than 20 ms together."""
    run = measured(command, workload, nodes, pods, percentage)
    if run["mean_us"] * pods >= 20_000:
        return run
    return measured(command, workload, nodes, max(pods, more_pods), percentage)


def middle(runs, figure):
    return statistics.median(run[figure] for run in runs)


def compare(workload, args):
    kube = [str(args.kube or REPOSITORY / f"build/kube-cycles-{args.kubernetes_version}")]
    berth = [str(args.berth), "--json", f"--kubernetes-version={args.kubernetes_version}"]
    rows = {"sampled": [], "all": [], "berth": []}
    for _ in range(args.repeat):
        for who, percentage in (("sampled", 0), ("all", 100)):
            rows[who].append(
                measured_long(kube, workload, args.nodes, args.pods, args.berth_pods, percentage)
            )
        rows["berth"].append(measured(berth, workload, args.nodes, args.berth_pods, 100))
    result = {"workload": workload}
    for who, runs in rows.items():
        result[who] = {figure: middle(runs, figure) for figure in ("p50_us", "mean_us", "cpu_us")}
        failed = sum(run["failed"] for run in runs) / sum(run["pods"] for run in runs)
        result[who]["failed"] = failed
    return result


def number(value):
    return f"{value:,.1f}" if value < 100 else f"{value:,.0f}"


def text_of(result):
    sampled, everything, own = result["sampled"], result["all"], result["berth"]
    cells = [f"`{result['workload']}`"]
    for figure in ("cpu_us", "p50_us"):
        cells += [number(who[figure]) for who in (sampled, everything, own)]
        cells += [number(who[figure] / own[figure]) for who in (sampled, everything)]
    return "| " + " | ".join(cells) + " |"


HEAD = """\
| workload | CPU µs per pod: kube-scheduler, its sampling | all nodes | berth, all nodes \
| times: sampling | all nodes \
| median µs: kube-scheduler, its sampling | all nodes | berth, all nodes \
| times: sampling | all nodes |
|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|"""


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--workload", default="all", help="names separated by commas, or all")
    parser.add_argument("--nodes", type=int, default=5000)
    parser.add_argument("--pods", type=int, default=60, help="of kube-scheduler (default 60)")
    parser.add_argument("--berth-pods", type=int, default=3000, help="default 3000")
    parser.add_argument("--repeat", type=int, default=1, help="take the medians of so many runs")
    parser.add_argument("--berth", type=pathlib.Path, default=REPOSITORY / "build/bin/berth-bench")
    parser.add_argument("--kube", type=pathlib.Path, help="default build/kube-cycles-VERSION")
    parser.add_argument("--kubernetes-version", default="1.37", help="of both (default 1.37)")
    parser.add_argument("--json", action="store_true", help="one object per workload")
    args = parser.parse_args()
    chosen = WORKLOADS if args.workload == "all" else args.workload.split(",")
    if not args.json:
        print(HEAD, flush=True)
    for workload in chosen:
        result = compare(workload, args)
        print(json.dumps(result) if args.json else text_of(result), flush=True)


if __name__ == "__main__":
    main()
