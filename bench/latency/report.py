"""Table, verdicts and plot of bench/latency's rows."""

import math


def pairs(rows):
    """(kube-scheduler's row, berth's row) of each case; either may be None."""
    cases = {}
    for row in rows:
        cases.setdefault((row["nodes"], row["scenario"], row["rate"]), {})[row["scheduler"]] = row
    for case in cases.values():
        yield case.get("kube-scheduler"), case.get("berth")


def name_of(row):
    if row["scenario"] == "pace":
        return f"{row['rate']:,} pods/s"
    return row["scenario"] + (f", {row['rate']} pods/s" if row["rate"] else "")


def table(rows):
    lines = [
        "| nodes | pods | who | p50 ms | p90 | p99 | max | CPU µs per pod | wake-ups per pod |",
        "|---:|---|---|---:|---:|---:|---:|---:|---:|",
    ]
    for pair in pairs(rows):
        for row in filter(None, pair):
            missing = f" ({row['missing']} not bound)" if row["missing"] else ""
            lines.append(
                f"| {row['nodes']:,} | {name_of(row)} | {row['scheduler']}{missing} | {row['p50']:.1f} "
                f"| {row['p90']:.1f} | {row['p99']:.1f} | {row['max']:.1f} "
                f"| {row['cpu_us_per_pod']:,} | {row['wakeups_per_pod']:.1f} |"
            )
    return "\n".join(lines)


def hop_table(rows):
    traced = [r for r in rows if r.get("hops")]
    if not traced:
        return ""
    legs = list(traced[0]["hops"])
    lines = [
        "| p50 / p99 ms | " + " | ".join(legs) + " |",
        "|---|" + "---:|" * len(legs),
    ]
    for row in traced:
        cells = [f"{row['hops'][leg][0]:.2f} / {row['hops'][leg][1]:.2f}" for leg in legs]
        lines.append(f"| {name_of(row)} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def verdicts(rows):
    """berth against its bars: p50 and p99 below kube-scheduler's; p50 at 200 pods/s at most 2 ms
    above that at 50."""
    p50 = {}
    for kube, berth in pairs(rows):
        if berth and berth["scenario"] == "pace":
            p50[berth["nodes"], berth["rate"]] = berth["p50"]
        if not kube or not berth:
            continue
        said = [
            f"{f} {berth[f]:.1f} of {kube[f]:.1f} ms ({'ok' if berth[f] < kube[f] else 'ABOVE'})"
            for f in ("p50", "p99")
        ]
        yield f"{berth['nodes']:,} nodes, {name_of(berth)}: " + ", ".join(said)
    for nodes in sorted({n for n, _ in p50}):
        if (nodes, 50) in p50 and (nodes, 200) in p50:
            more = p50[nodes, 200] - p50[nodes, 50]
            yield (
                f"{nodes:,} nodes: p50 at 200 pods/s {more:+.1f} ms against 50 "
                f"({'ok' if more <= 2 else 'ABOVE 2 ms'})"
            )


WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 720, 400, 60, 150, 40, 50
COLORS = {"kube-scheduler": "#c2410c", "berth": "#0369a1"}


def plot(rows):
    """p50 (solid) and p99 (dashed) over the rate, both axes logarithmic, in the first cluster size."""
    rows = [r for r in rows if r["scenario"] == "pace" and r["nodes"] == rows[0]["nodes"]]
    if not rows:
        return ""
    rates = sorted({r["rate"] for r in rows})
    values = [max(0.1, r[f]) for r in rows for f in ("p50", "p99")]
    low = 10 ** math.floor(math.log10(min(values)))
    high = 10 ** math.ceil(math.log10(max(values) * 1.001))

    def x(rate):
        span = math.log(rates[-1] / rates[0]) or 1
        return LEFT + (WIDTH - LEFT - RIGHT) * math.log(rate / rates[0]) / span

    def y(value):
        share = math.log(max(value, low) / low) / math.log(high / low)
        return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * share

    busy = ", other work on every core" if rows[0]["busy"] else ""
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
        'font-family="sans-serif" font-size="12">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>',
        f'<text x="{LEFT}" y="20" font-size="14">From created to bound, ms: '
        f"{rows[0]['nodes']:,} nodes{busy}</text>",
    ]
    tick = low
    while tick <= high:
        out.append(
            f'<line x1="{LEFT}" y1="{y(tick):.1f}" x2="{WIDTH - RIGHT}" y2="{y(tick):.1f}" '
            f'stroke="#d4d4d4"/><text x="{LEFT - 6}" y="{y(tick) + 4:.1f}" text-anchor="end">'
            f"{tick:g}</text>"
        )
        tick *= 10
    for rate in rates:
        out.append(
            f'<text x="{x(rate):.1f}" y="{HEIGHT - BOTTOM + 18}" text-anchor="middle">{rate:,}</text>'
        )
    out.append(
        f'<text x="{(LEFT + WIDTH - RIGHT) / 2:.0f}" y="{HEIGHT - 12}" text-anchor="middle">'
        "pods created per second</text>"
    )
    legend = TOP + 10
    for who, color in COLORS.items():
        mine = sorted((r for r in rows if r["scheduler"] == who), key=lambda r: r["rate"])
        if not mine:
            continue
        for figure, dash in (("p50", ""), ("p99", ' stroke-dasharray="5 4"')):
            points = " ".join(f"{x(r['rate']):.1f},{y(r[figure]):.1f}" for r in mine)
            out.append(
                f'<polyline points="{points}" fill="none" stroke="{color}" stroke-width="2"{dash}/>'
            )
            right = WIDTH - RIGHT + 10
            out.append(
                f'<line x1="{right}" y1="{legend}" x2="{right + 24}" y2="{legend}" stroke="{color}" '
                f'stroke-width="2"{dash}/><text x="{right + 30}" y="{legend + 4}">{who} {figure}</text>'
            )
            legend += 20
    return "\n".join(out) + "\n</svg>\n"
