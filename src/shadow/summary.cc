#include "shadow/summary.h"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "base/visible.h"

namespace berth::shadow {
namespace {

constexpr size_t kShown = 50;

constexpr std::array<std::string_view, kOutcomes> kMeanings = {
    "the same node, or both found none",
    "another node with the same total",
    "a better node was not among those that kube-scheduler sampled",
    "equal on a state of the cluster within the lag window",
    "the chosen node has a lower total here",
    "a filter rejects the chosen node here",
    "they placed the pod, berth finds no node",
    "they found no node, berth does",
    "both find no node, and preempt differently"};

// Within a table of Markdown.
std::string Cell(std::string_view text) {
  std::string cell;
  for (const char c : Visible(text)) {
    if (c == '|' || c == '`' || c == '<') cell += '\\';
    cell += c;
  }
  return cell;
}

std::string Percent(int64_t part, int64_t all) {
  return all == 0 ? "-"
                  : fmt::format("{:.2f} %",
                                100.0 * static_cast<double>(part) / static_cast<double>(all));
}

std::string Weights(const WeightGuess& guess) {
  if (guess.last == 0) return "0, disabled";
  if (guess.first == guess.last) return fmt::format("{}", guess.first);
  if (guess.last >= kMostWeight) return fmt::format("{} or more", guess.first);
  return fmt::format("{} to {}", guess.first, guess.last);
}

}  // namespace

const api::TypeInfo& PluginCount::Type() {
  static const api::TypeInfo type = api::Describe<PluginCount>("PluginCount")
                                        .Always(1, "plugin", &PluginCount::plugin)
                                        .Always(2, "count", &PluginCount::count)
                                        .Build();
  return type;
}

const api::TypeInfo& Counts::Type() {
  static const api::TypeInfo type = api::Describe<Counts>("Counts")
                                        .Always(1, "same", &Counts::same)
                                        .Always(2, "tie", &Counts::tie)
                                        .Always(3, "sampled", &Counts::sampled)
                                        .Always(4, "race", &Counts::race)
                                        .Always(5, "scoreGap", &Counts::score_gap)
                                        .Always(6, "infeasible", &Counts::infeasible)
                                        .Always(7, "weWait", &Counts::we_wait)
                                        .Always(8, "theyWait", &Counts::they_wait)
                                        .Always(9, "preemption", &Counts::preemption)
                                        .Build();
  return type;
}

const api::TypeInfo& Summary::Type() {
  static const api::TypeInfo type =
      api::Describe<Summary>("Summary")
          .Always(1, "server", &Summary::server)
          .Always(2, "kubernetesVersion", &Summary::kubernetes_version)
          .Always(3, "from", &Summary::from)
          .Always(4, "to", &Summary::to)
          .Always(5, "compared", &Summary::compared)
          .Always(6, "bound", &Summary::bound)
          .Always(7, "unexplained", &Summary::unexplained)
          .Always(8, "unseen", &Summary::unseen)
          .Always(9, "outcomes", &Summary::outcomes)
          .Field(10, "weights", &Summary::weights)
          .Field(11, "rejectingPlugins", &Summary::rejecting)
          .Field(12, "differences", &Summary::differences)
          .Build();
  return type;
}

void Summary::Add(const Comparison& comparison) {
  ++compared;
  if (comparison.decision == "Bound") ++bound;
  ++counts_[static_cast<size_t>(comparison.outcome)];
  if (IsExplained(comparison.outcome)) return;
  ++unexplained;
  if (comparison.outcome == Outcome::kScoreGap) guesses_.Add(comparison.ranges);
  if (!comparison.plugin.empty()) ++rejecting_[comparison.plugin];
  if (differences.size() < kMostKept) differences.push_back(comparison);
}

void Summary::Conclude() {
  outcomes = {.same = Count(Outcome::kSame),
              .tie = Count(Outcome::kTie),
              .sampled = Count(Outcome::kSampled),
              .race = Count(Outcome::kRace),
              .score_gap = Count(Outcome::kScoreGap),
              .infeasible = Count(Outcome::kInfeasible),
              .we_wait = Count(Outcome::kWeWait),
              .they_wait = Count(Outcome::kTheyWait),
              .preemption = Count(Outcome::kPreemption)};
  weights = guesses_.Best();
  rejecting.clear();
  for (const auto& [plugin, count] : rejecting_) rejecting.push_back({plugin, count});
  std::stable_sort(rejecting.begin(), rejecting.end(),
                   [](const auto& a, const auto& b) { return a.count > b.count; });
}

std::vector<std::string> Suspicions(const Summary& summary) {
  std::vector<std::string> lines;
  for (const PluginCount& plugin : summary.rejecting) {
    lines.push_back(fmt::format("{} rejects {} of the chosen nodes: is it disabled there?",
                                plugin.plugin, plugin.count));
  }
  for (size_t i = 0; i < std::min<size_t>(3, summary.weights.size()); ++i) {
    const WeightGuess& guess = summary.weights[i];
    if (guess.explained < summary.weights.front().explained) break;
    lines.push_back(fmt::format("{}: weight {} (here {}) fits {} of {} gaps", guess.plugin,
                                Weights(guess), guess.ours, guess.explained, guess.gaps));
  }
  return lines;
}

std::string ToMarkdown(const Summary& summary) {
  std::string text = fmt::format(
      "# Shadow report\n\n{}: {} decisions compared, {} unexplained.\n\n"
      "| | |\n|---|---|\n| server | {} |\n| berth decides as | kube-scheduler {} |\n"
      "| from | {} |\n| to | {} |\n| pods bound | {} |\n| bindings not seen | {} |\n\n"
      "| outcome | decisions | share | meaning |\n|---|---|---|---|\n",
      summary.unexplained == 0 ? "Equal" : "Different", summary.compared, summary.unexplained,
      Cell(summary.server), summary.kubernetes_version, summary.from, summary.to, summary.bound,
      summary.unseen);
  for (size_t i = 0; i < kOutcomes; ++i) {
    const auto outcome = static_cast<Outcome>(i);
    text += fmt::format("| {} | {} | {} | {} |\n", NameOf(outcome), summary.Count(outcome),
                        Percent(summary.Count(outcome), summary.compared), kMeanings[i]);
  }
  const std::vector<std::string> suspicions = Suspicions(summary);
  if (!suspicions.empty()) text += "\n## What the differences have in common\n\n";
  for (const std::string& line : suspicions) text += "- " + line + "\n";
  if (summary.differences.empty()) return text;
  text += "\n## Differences\n\n| pod | outcome | theirs | berth | why |\n|---|---|---|---|---|\n";
  for (size_t i = 0; i < std::min(kShown, summary.differences.size()); ++i) {
    const Comparison& c = summary.differences[i];
    text += fmt::format("| {} | {} | {} | {} | {} |\n", Cell(c.Pod()), c.outcome_name,
                        Cell(c.their_node.empty() ? "-" : c.their_node),
                        Cell(c.our_node.empty() ? "-" : c.our_node), Cell(Why(c)));
  }
  if (summary.unexplained > static_cast<int64_t>(kShown)) {
    text += fmt::format("\n{} more are not shown.\n",
                        summary.unexplained - static_cast<int64_t>(kShown));
  }
  return text;
}

}  // namespace berth::shadow
