#include "shadow/comparison.h"

#include <utility>

#include <fmt/format.h>

namespace berth::shadow {

const api::TypeInfo& Comparison::Type() {
  static const api::TypeInfo type = api::Describe<Comparison>("Comparison")
                                        .Always(1, "time", &Comparison::time)
                                        .Always(2, "namespace", &Comparison::namespace_)
                                        .Always(3, "name", &Comparison::name)
                                        .Always(4, "uid", &Comparison::uid)
                                        .Always(5, "schedulerName", &Comparison::scheduler_name)
                                        .Always(6, "decision", &Comparison::decision)
                                        .Always(7, "outcome", &Comparison::outcome_name)
                                        .Field(8, "firstOutcome", &Comparison::first_outcome)
                                        .Field(9, "theirNode", &Comparison::their_node)
                                        .Field(10, "ourNode", &Comparison::our_node)
                                        .Field(11, "theirTotal", &Comparison::their_total)
                                        .Field(12, "ourTotal", &Comparison::our_total)
                                        .Field(13, "scores", &Comparison::gaps)
                                        .Field(14, "plugin", &Comparison::plugin)
                                        .Field(15, "reason", &Comparison::reason)
                                        .Field(16, "theirMessage", &Comparison::their_message)
                                        .Field(17, "explanation", &Comparison::explanation)
                                        .Build();
  return type;
}

void Take(Finding finding, Comparison* comparison) {
  comparison->outcome = finding.outcome;
  comparison->outcome_name = NameOf(finding.outcome);
  comparison->our_node = std::move(finding.node);
  comparison->our_total = finding.ours;
  comparison->their_total = finding.theirs;
  comparison->gaps = std::move(finding.gaps);
  comparison->plugin = std::move(finding.plugin);
  comparison->reason = std::move(finding.reason);
  comparison->ranges = std::move(finding.ranges);
}

std::string Why(const Comparison& comparison) {
  if (comparison.outcome == Outcome::kScoreGap) {
    std::string why;
    for (const PluginGap& gap : comparison.gaps) {
      why += fmt::format("{}{} {} {} {}", why.empty() ? "" : ", ", gap.plugin, gap.theirs,
                         gap.theirs < gap.ours ? "<" : ">", gap.ours);
    }
    return why;
  }
  if (comparison.outcome == Outcome::kRace) return comparison.explanation;
  if (comparison.outcome == Outcome::kTheyWait) return comparison.their_message;
  if (comparison.plugin.empty()) return comparison.reason;
  return comparison.plugin + ": " + comparison.reason;
}

}  // namespace berth::shadow
