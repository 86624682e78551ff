#include "cli/explain/text.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "api/codec/json.h"
#include "base/visible.h"
#include "cli/plugin_names.h"
#include "framework/runtime/cycle_watch.h"
#include "term/terminal.h"

namespace berth::cli {
namespace {

using term::Wrapped;

constexpr size_t kMaxScoreColumns = 6;
constexpr size_t kMaxCandidates = 5;
constexpr size_t kMaxMoves = 6;

// Not wrapped: it is there to be pasted.
std::string Indented(std::string_view text, size_t indent) {
  std::string out;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    out += std::string(indent, ' ') + std::string(text.substr(0, end)) + "\n";
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  return out;
}

std::string Plural(int64_t n, std::string_view word) {
  return fmt::format("{} {}{}", n, word, n == 1 ? "" : "s");
}

// "0.4 µs", "12 µs", "1.5 ms", "2.1 s".
std::string ShortMs(double ms) {
  const auto number = [](double value) {
    return fmt::format("{:.{}f}", value, value < 9.95 ? 1 : 0);
  };
  if (ms < 0.9995) return number(ms * 1e3) + " µs";
  if (ms < 999.5) return number(ms) + " ms";
  return number(ms / 1e3) + " s";
}

class Writer {
 public:
  Writer(const explain::DecisionView& view, const ExplainTextOptions& options)
      : view_(view), options_(options) {}

  std::string Text(const explain::SuggestionList* suggestions) {
    Headline();
    if (suggestions != nullptr) Causes(*suggestions);
    RecordText();
    TodayText();
    FunnelText();
    NodeText();
    Ranking();
    PreemptionText();
    if (suggestions != nullptr) Suggestions(*suggestions);
    QueueText();
    return std::move(text_);
  }

 private:
  std::string In(std::string_view text, term::Tone tone) const {
    return term::Toned(text, tone, options_.colour);
  }
  void Heading(std::string_view text) { text_ += "\n" + In(text, term::Tone::kBold) + "\n"; }

  void Headline() {
    const auto& record = view_.record;
    std::string outcome = record ? record->outcome : view_.present ? view_.present->outcome : "";
    std::string message = record ? record->message : view_.present ? view_.present->message : "";
    if (!view_.pod_node.empty()) outcome = "on " + view_.pod_node;
    const term::Tone tone =
        !view_.pod_node.empty() || outcome == "Scheduled" ? term::Tone::kGood : term::Tone::kBad;
    text_ += In(options_.pod, term::Tone::kBold) + "  " + In(outcome, tone);
    if (record) {
      const std::string what = record->attempt == 0 ? "by another scheduler"
                                                    : fmt::format("attempt {}", record->attempt);
      text_ += In(fmt::format("  {}, {}", what, record->time.Format().substr(0, 19) + "Z"),
                  term::Tone::kDim);
    }
    text_ += "\n" + Wrapped(message, 2);
    if (record && !record->nominated_node.empty()) {
      text_ += fmt::format("  waits for room on {}: {} asked to go\n", record->nominated_node,
                           Plural(static_cast<int64_t>(record->victims.size()), "pod"));
    }
    if (!view_.durations_ms.empty()) text_ += In(Wrapped(Durations(), 2), term::Tone::kDim);
  }

  void Causes(const explain::SuggestionList& list) {
    if (list.causes.empty()) return;
    Heading("CAUSE");
    for (const explain::Cause& cause : list.causes) {
      std::string line = Wrapped(cause.text, 4);
      line[2] = '-';
      text_ += line;
      // Not wrapped: it is there to be pasted.
      if (!cause.remedy.empty()) text_ += "      " + cause.remedy + "\n";
    }
  }

  // What was recorded when the pod was decided on.
  void RecordText() {
    if (!view_.record) return;
    const explain::DecisionSummary& record = *view_.record;
    Heading("AS DECIDED");
    if (!record.node.empty()) text_ += Wrapped("chosen: " + Choice(record), 2);
    text_ += Wrapped(
        fmt::format("feasible: {} of {}", record.feasible, Plural(record.nodes, "node")), 2);
    for (const explain::Rejection& rejection : record.rejections) {
      text_ +=
          In(Wrapped(fmt::format("{} {}", rejection.nodes, rejection.reason), 6), term::Tone::kDim);
    }
  }

  // "general-06 with 693 points, one of 8 equal nodes".
  static std::string Choice(const explain::DecisionSummary& record) {
    if (record.feasible == 1) return record.node + ", the only feasible node";
    std::string text = fmt::format("{} with {} points", record.node, record.score);
    if (record.equal > 1) text += fmt::format(", one of {} equal nodes", record.equal);
    return text;
  }

  // Where the sections that follow describe another cluster than the one decided on.
  void TodayText() {
    if (!view_.record || !view_.recomputed) return;
    Heading("TODAY");
    std::string text = "the cluster has changed since; ";
    if (view_.present) {
      text += fmt::format("the outcome would be: {}{}. {}", view_.present->outcome,
                          view_.present->node.empty() ? "" : " on " + view_.present->node,
                          view_.present->message);
    } else if (const explain::NodeScore* best = BetterNode()) {
      text += fmt::format("it would go to {} now, with {} points. All that follows is as of today",
                          best->node, best->total);
    } else {
      text += "the outcome would be the same. All that follows is as of today";
    }
    text_ += Wrapped(text, 2);
  }

  // A node that has more points than the one the pod is on.
  const explain::NodeScore* BetterNode() const {
    const auto& nodes = view_.top_nodes;
    const auto chosen =
        std::find_if(nodes.begin(), nodes.end(), [](const auto& node) { return node.chosen; });
    if (chosen == nodes.end() || nodes.front().total <= chosen->total) return nullptr;
    return &nodes.front();
  }

  // In the order of the cycle.
  std::string Durations() const {
    std::vector<std::string> parts;
    for (size_t i = 0; i < framework::kPoints; ++i) {
      const auto name = framework::PointName(static_cast<framework::Point>(i));
      const auto it = view_.durations_ms.find(name);
      if (it != view_.durations_ms.end()) {
        parts.push_back(fmt::format("{} {}", name, ShortMs(it->second)));
      }
    }
    return fmt::format("took: {}", fmt::join(parts, ", "));
  }

  void FunnelText() {
    Heading("FILTERS");
    const auto line = [&](std::string_view plugin, std::string_view gone, int64_t left) {
      text_ += fmt::format("  {:<28} {:>7} {:>7}\n", plugin, gone, left);
    };
    line("nodes", "", view_.funnel.nodes);
    for (const explain::FunnelStep& step : view_.funnel.steps) {
      if (step.before == step.after) continue;
      line(step.plugin, fmt::format("-{}", step.before - step.after), step.after);
      for (const explain::Rejection& rejection : step.reasons) {
        std::string why = fmt::format("{} {}", rejection.nodes, rejection.reason);
        if (rejection.nodes <= 3 && !rejection.examples.empty()) {
          why += fmt::format(" ({})", fmt::join(rejection.examples, ", "));
        }
        text_ += In(Wrapped(why, 6), term::Tone::kDim);
      }
    }
    const std::string left =
        fmt::format("  {:<28} {:>7} {:>7}\n", "feasible", "", view_.funnel.feasible);
    text_ += In(left, view_.funnel.feasible > 0 ? term::Tone::kGood : term::Tone::kBad);
  }

  void NodeText() {
    if (!view_.node) return;
    const explain::NodeVerdict& node = *view_.node;
    Heading("NODE " + node.node);
    if (!node.fits) {
      text_ += Wrapped(fmt::format("{} {}: {}", In("refused", term::Tone::kBad),
                                   node.plugin.empty() ? "" : "by " + node.plugin,
                                   fmt::join(node.reasons, ", ")),
                       2);
      return;
    }
    text_ += fmt::format("  {}", In("fits", term::Tone::kGood));
    if (!node.score) {
      text_ += "\n";
      return;
    }
    text_ += fmt::format(", rank {} with {} points\n", node.score->rank, node.score->total);
    for (const explain::PluginScore& score : node.score->scores) {
      text_ += fmt::format("    {:<34} {:>4} = {:>3} × {}\n", score.plugin, score.weighted,
                           score.normalized, score.weight);
    }
  }

  // The plugins whose points differ between the nodes shown: the others decide nothing.
  std::vector<std::string> Deciding() const {
    std::vector<std::string> plugins;
    for (size_t i = 0; i < view_.top_nodes.front().scores.size(); ++i) {
      const auto& first = view_.top_nodes.front().scores[i];
      const bool differs =
          std::any_of(view_.top_nodes.begin(), view_.top_nodes.end(), [&](const auto& node) {
            return i < node.scores.size() && node.scores[i].weighted != first.weighted;
          });
      if (differs && plugins.size() < kMaxScoreColumns) plugins.push_back(first.plugin);
    }
    return plugins;
  }

  void Ranking() {
    if (view_.top_nodes.empty()) return;
    Heading("BEST NODES");
    const std::vector<std::string> plugins = Deciding();
    std::vector<std::string> header{"  RANK", "NODE", "TOTAL"};
    for (const std::string& plugin : plugins) header.push_back(ShortPluginName(plugin));
    term::Table table(header);
    for (size_t i = 2; i < header.size(); ++i) table.Right(i);
    for (const explain::NodeScore& node : view_.top_nodes) {
      std::vector<std::string> row{fmt::format("{} {}", node.chosen ? " *" : "  ", node.rank),
                                   node.node, std::to_string(node.total)};
      for (const std::string& plugin : plugins) {
        const auto it = std::find_if(node.scores.begin(), node.scores.end(),
                                     [&](const auto& s) { return s.plugin == plugin; });
        row.push_back(it == node.scores.end() ? "-" : std::to_string(it->weighted));
      }
      table.Row(std::move(row));
    }
    text_ += table.Text(options_.colour);
    if (view_.runner_up) text_ += Wrapped(view_.runner_up->text, 2);
  }

  void PreemptionText() {
    if (!view_.preemption) return;
    Heading("PREEMPTION");
    text_ += Wrapped(view_.preemption->message, 2);
    size_t shown = 0;
    for (const explain::PreemptionCandidate& candidate : view_.preemption->candidates) {
      if (++shown > kMaxCandidates) break;
      std::vector<std::string> victims;
      std::set<std::string> broken;
      for (const explain::Victim& victim : candidate.victims) {
        victims.push_back(fmt::format("{}/{}", victim.namespace_, victim.name));
        if (victim.violates_pdb) broken.insert(victim.pdbs.begin(), victim.pdbs.end());
      }
      text_ += Wrapped(
          fmt::format(
              "{} {}: {}{}{}", candidate.chosen ? "*" : "-", candidate.node,
              fmt::join(victims, ", "),
              broken.empty() ? "" : fmt::format("; against PDB {}", fmt::join(broken, ", ")),
              candidate.lost.empty() ? "" : "; not chosen: " + candidate.lost),
          2);
    }
    for (const explain::Rejection& rejection : view_.preemption->hopeless) {
      text_ +=
          In(Wrapped(fmt::format("{} {}", rejection.nodes, rejection.reason), 6), term::Tone::kDim);
    }
  }

  void Suggestions(const explain::SuggestionList& list) {
    if (list.items.empty()) {
      if (list.feasible_now > 0 || !view_.pod_node.empty()) return;
      Heading("WHAT WOULD HELP");
      text_ += fmt::format("  nothing that was tried ({} changes)\n", list.tried);
      return;
    }
    Heading("WHAT WOULD HELP");
    if (list.pending > 1) {
      text_ += Wrapped(fmt::format("{} pods of {} wait; each change was tried with all of them",
                                   list.pending, list.workload),
                       2);
    }
    for (const explain::Suggestion& suggestion : list.items) {
      std::string line = Wrapped(suggestion.text, 4);
      if (!line.empty()) line[2] = '-';
      text_ += line;
      text_ += In(Indented(suggestion.patch, 6), term::Tone::kDim);
    }
  }

  void QueueText() {
    const explain::QueuePlace& queue = view_.queue;
    if (queue.history.empty() && queue.waits_for.empty() && queue.gated_by.empty()) return;
    Heading("QUEUE");
    std::string where = queue.where;
    if (!queue.gated_by.empty()) where += ", held by " + queue.gated_by;
    if (queue.backoff_until) {
      where += ", backs off until " + queue.backoff_until->Format().substr(11, 8);
    }
    if (!queue.waits_for.empty() && queue.gated_by.empty()) {
      where += fmt::format(", waits for events of {}", fmt::join(queue.waits_for, ", "));
    }
    text_ += Wrapped(where, 2);
    size_t shown = 0;
    for (const explain::QueueMove& move : queue.history) {
      if (++shown > kMaxMoves) break;
      std::vector<std::string> hints;
      for (const explain::Hint& hint : move.hints) {
        hints.push_back(fmt::format("{}: {}", hint.plugin, hint.says));
      }
      text_ +=
          In(Wrapped(
                 fmt::format("{} {} -> {}{}", move.time.Format().substr(11, 8), move.event, move.to,
                             hints.empty() ? "" : fmt::format(" ({})", fmt::join(hints, ", "))),
                 4),
             term::Tone::kDim);
    }
  }

  const explain::DecisionView& view_;
  const ExplainTextOptions& options_;
  std::string text_;
};

}  // namespace

std::string ExplainText(const explain::DecisionView& view,
                        const explain::SuggestionList* suggestions,
                        const ExplainTextOptions& options) {
  // Names and messages come from outside: what a terminal would obey is shown as an escape.
  const auto shown = api::FromJson<explain::DecisionView>(VisibleJson(explain::ToText(view)));
  if (!shown) return Visible(shown.error().Message()) + "\n";
  ExplainTextOptions named = options;
  named.pod = Visible(options.pod);
  if (suggestions == nullptr) return Writer(*shown, named).Text(nullptr);
  auto list = api::FromJson<explain::SuggestionList>(VisibleJson(explain::ToText(*suggestions)));
  for (size_t i = 0; list && i < list->items.size(); ++i) {  // these have lines
    list->items[i].patch = Visible(suggestions->items[i].patch, "\n");
  }
  return Writer(*shown, named).Text(list ? &*list : nullptr);
}

}  // namespace berth::cli
