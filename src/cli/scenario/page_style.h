// The style sheet of the page.
#pragma once

#include <string_view>

namespace berth::cli {

inline constexpr std::string_view kPageStyle = R"css(
:root {
  color-scheme: light dark;
  --page: #f6f7f9; --card: #ffffff; --ink: #16181d; --soft: #5b6270; --edge: #e1e4ea;
  --grid: #e8eaef; --base: #a9b0bc; --mark: #8c94a3; --shade: #e34948;
  --s0: #2a78d6; --s1: #d9730d; --s2: #13946a; --s3: #7a4fc9; --s4: #c23b6b; --s5: #6b7280;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #101216; --card: #181b21; --ink: #e9ebef; --soft: #9aa2b1; --edge: #2a2f38;
    --grid: #262b33; --base: #5b6371; --mark: #7d8594; --shade: #e66767;
    --s0: #5ba0f2; --s1: #f09a4a; --s2: #3cc594; --s3: #a98bf0; --s4: #ee7ca4; --s5: #9aa2b1;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0 auto; padding: 24px 16px 40px; max-width: 1280px;
  background: var(--page); color: var(--ink);
  font: 15px/1.45 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", sans-serif;
}
h1 { margin: 0 0 4px; font-size: 24px; line-height: 1.2; overflow-wrap: anywhere; }
h2 { margin: 32px 0 12px; font-size: 17px; }
h3 { margin: 0; font-size: 14px; font-weight: 650; }
p { margin: 0; }
.lead, .note, figcaption p, footer { color: var(--soft); }
.note { margin-top: 8px; font-size: 13px; }
figcaption p { font-size: 12px; }
.tiles {
  display: grid; gap: 12px; margin-top: 20px;
  grid-template-columns: repeat(auto-fit, minmax(130px, 1fr));
}
.tile, .chart, .card {
  margin: 0; padding: 14px 16px; background: var(--card);
  border: 1px solid var(--edge); border-radius: 10px;
}
.tile b { display: block; font-size: 22px; font-weight: 650; line-height: 1.25; }
.tile span { color: var(--soft); font-size: 13px; }
.charts {
  display: grid; gap: 16px; margin-top: 16px;
  grid-template-columns: repeat(auto-fill, minmax(min(350px, 100%), 1fr));
}
.chart { display: flex; flex-direction: column; padding: 14px 12px 8px; }
.chart svg { display: block; width: 100%; height: auto; margin-top: auto; padding-top: 6px; }
.legend { display: flex; flex-wrap: wrap; gap: 2px 14px; margin: 6px 0 0; padding: 0; list-style: none;
  font-size: 12px; color: var(--soft); }
.legend i { display: inline-block; width: 10px; height: 10px; margin-right: 6px; border-radius: 3px; }
svg text { fill: var(--soft); font-size: 11px; }
svg text.y { text-anchor: end; }
.grid { stroke: var(--grid); } .base { stroke: var(--base); }
.mark { stroke: var(--mark); stroke-dasharray: 2 3; }
.shade { fill: var(--shade); opacity: 0.14; }
.line { fill: none; stroke-width: 1.8; stroke-linejoin: round; stroke-linecap: round; }
.area { stroke: var(--card); stroke-width: 0.6; }
.hover { fill: var(--ink); fill-opacity: 0; } .hover:hover { fill-opacity: 0.1; }
.line.s0 { stroke: var(--s0); } .line.s1 { stroke: var(--s1); } .line.s2 { stroke: var(--s2); }
.line.s3 { stroke: var(--s3); } .line.s4 { stroke: var(--s4); } .line.s5 { stroke: var(--s5); }
.area.s0, .bar.s0 { fill: var(--s0); } .area.s1 { fill: var(--s1); } .area.s2 { fill: var(--s2); }
.area.s3 { fill: var(--s3); } .area.s4 { fill: var(--s4); } .area.s5 { fill: var(--s5); }
i.s0 { background: var(--s0); } i.s1 { background: var(--s1); } i.s2 { background: var(--s2); }
i.s3 { background: var(--s3); } i.s4 { background: var(--s4); } i.s5 { background: var(--s5); }
.tables {
  display: grid; gap: 16px; align-items: start;
  grid-template-columns: repeat(auto-fit, minmax(min(440px, 100%), 1fr));
}
.scroll { overflow-x: auto; }
table { width: 100%; margin-top: 8px; border-collapse: collapse; font-size: 13px;
  font-variant-numeric: tabular-nums; }
th { color: var(--soft); font-weight: 600; text-align: right; white-space: nowrap; }
td { text-align: right; white-space: nowrap; }
th.t, td.t { text-align: left; white-space: normal; overflow-wrap: anywhere; min-width: 90px; }
th, td { padding: 5px 8px; border-bottom: 1px solid var(--edge); }
tr > :first-child { padding-left: 0; } tr > :last-child { padding-right: 0; }
tbody tr:last-child td { border-bottom: 0; }
footer { margin-top: 28px; font-size: 13px; }
)css";

}  // namespace berth::cli
