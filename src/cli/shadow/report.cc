#include "cli/shadow/report.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/visible.h"
#include "term/terminal.h"

namespace berth::cli {
namespace {

using shadow::Comparison;
using shadow::Outcome;
using term::Tone;

constexpr size_t kTableRows = 18;  // besides two per difference

// Cut to `width` columns; names of Kubernetes are ASCII.
std::string Cut(std::string text, size_t width) {
  if (text.size() > width) text = text.substr(0, width - 2) + "..";
  return text;
}

std::string Or(const std::string& text) { return text.empty() ? "none" : text; }

Tone ToneOf(Outcome outcome, int64_t count) {
  if (count == 0) return Tone::kDim;
  if (!IsExplained(outcome)) return Tone::kBad;
  return outcome == Outcome::kRace ? Tone::kWarn : Tone::kGood;
}

std::string Nodes(const Comparison& c) {
  return fmt::format("theirs {}, berth {}", Or(c.their_node), Or(c.our_node));
}

}  // namespace

const api::TypeInfo& ShadowStatus::Type() {
  static const api::TypeInfo type =
      api::Describe<ShadowStatus>("ShadowStatus")
          .Always(1, "server", &ShadowStatus::server)
          .Always(2, "kubernetesVersion", &ShadowStatus::kubernetes_version)
          .Always(3, "seconds", &ShadowStatus::seconds)
          .Always(4, "nodes", &ShadowStatus::nodes)
          .Always(5, "pending", &ShadowStatus::pending)
          .Always(6, "open", &ShadowStatus::open)
          .Always(7, "synced", &ShadowStatus::synced)
          .Always(8, "lagSeconds", &ShadowStatus::lag_seconds)
          .Build();
  return type;
}

std::string LiveTable(const ShadowStatus& status, const shadow::Summary& summary,
                      const std::vector<Comparison>& latest, Screen screen, bool colour) {
  const size_t width = screen.columns;
  const int64_t s = status.seconds;
  std::string text =
      term::Toned(Cut(fmt::format("berth shadow  {}", Visible(status.server)), width), Tone::kBold,
                  colour) +
      "\n" +
      Cut(fmt::format("kube-scheduler {}, {} nodes, {} pending, {:02}:{:02}:{:02}{}",
                      status.kubernetes_version, status.nodes, status.pending, s / 3600,
                      s / 60 % 60, s % 60, status.synced ? "" : ", listing"),
          width) +
      "\n\n" + term::Toned("OUTCOME      DECISIONS    SHARE", Tone::kBold, colour) + "\n";
  for (size_t i = 0; i < shadow::kOutcomes; ++i) {
    const auto outcome = static_cast<Outcome>(i);
    const int64_t count = summary.Count(outcome);
    const double share = summary.compared == 0 ? 0.0
                                               : 100.0 * static_cast<double>(count) /
                                                     static_cast<double>(summary.compared);
    text += term::Toned(fmt::format("{:<11}  {:>9}  {:>5.1f} %", NameOf(outcome), count, share),
                        ToneOf(outcome, count), colour) +
            "\n";
  }
  text += fmt::format("\n{} compared, {} unexplained, {} waiting for the lag window\n",
                      summary.compared, summary.unexplained, status.open);
  const size_t differences = screen.rows > kTableRows ? (screen.rows - kTableRows) / 2 : 0;
  if (latest.empty() || differences == 0) return text;
  text += "\n" + term::Toned("LATEST DIFFERENCES", Tone::kBold, colour) + "\n";
  const size_t first = latest.size() - std::min(differences, latest.size());
  for (size_t i = first; i < latest.size(); ++i) {
    const Comparison& c = latest[i];
    text += Cut(Visible(fmt::format("{}  {}  {}", c.Pod(), c.outcome_name, Nodes(c))), width) +
            "\n" + Cut("  " + Visible(Why(c)), width) + "\n";
  }
  return text;
}

std::string Line(const Comparison& c) {
  std::string line = fmt::format("{}  {:<10}  {}  {}", c.time, c.outcome_name, c.Pod(), Nodes(c));
  if (const std::string why = Why(c); !why.empty()) line += ": " + why;
  return Visible(line);
}

std::string Conclusion(const shadow::Summary& summary, bool colour) {
  std::string outcomes;
  for (size_t i = 0; i < shadow::kOutcomes; ++i) {
    const auto outcome = static_cast<Outcome>(i);
    if (summary.Count(outcome) == 0) continue;
    outcomes += fmt::format("{}{} {}", outcomes.empty() ? "" : ", ", NameOf(outcome),
                            summary.Count(outcome));
  }
  const std::string verdict =
      fmt::format("{} decisions compared, {} unexplained", summary.compared, summary.unexplained);
  std::string text =
      term::Toned(verdict, summary.unexplained == 0 ? Tone::kGood : Tone::kBad, colour) + "\n";
  if (!outcomes.empty()) text += outcomes + "\n";
  if (summary.unseen > 0) {
    text += fmt::format("{} bindings were not seen as they happened\n", summary.unseen);
  }
  for (const std::string& line : Suspicions(summary)) text += line + "\n";
  return text;
}

}  // namespace berth::cli
