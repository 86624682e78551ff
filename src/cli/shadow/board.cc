#include "cli/shadow/board.h"

#include <algorithm>
#include <utility>

namespace berth::cli {
namespace {

using shadow::Comparison;
using shadow::Outcome;

constexpr std::string_view kUnexplained = "unexplained";

bool Contains(const std::string& text, const std::string& part) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
  return std::search(text.begin(), text.end(), part.begin(), part.end(),
                     [&](char a, char b) { return lower(a) == b; }) != text.end();
}

bool Matches(const Comparison& c, const ComparisonQuery& query) {
  if (query.outcome == kUnexplained ? IsExplained(c.outcome)
                                    : !query.outcome.empty() && c.outcome_name != query.outcome) {
    return false;
  }
  return query.search.empty() || Contains(c.Pod(), query.search) ||
         Contains(c.their_node, query.search) || Contains(c.our_node, query.search);
}

void Keep(const Comparison& comparison, size_t most, std::deque<Comparison>& kept) {
  kept.push_back(comparison);
  if (kept.size() > most) kept.pop_front();
}

}  // namespace

const api::TypeInfo& ShadowOverview::Type() {
  static const api::TypeInfo type = api::Describe<ShadowOverview>("ShadowOverview")
                                        .Always(1, "status", &ShadowOverview::status)
                                        .Always(2, "summary", &ShadowOverview::summary)
                                        .Field(3, "suspicions", &ShadowOverview::suspicions)
                                        .Build();
  return type;
}

const api::TypeInfo& ComparisonList::Type() {
  static const api::TypeInfo type = api::Describe<ComparisonList>("ComparisonList")
                                        .Always(1, "items", &ComparisonList::items)
                                        .Always(2, "total", &ComparisonList::total)
                                        .Build();
  return type;
}

Board::Board(std::string server, std::string kubernetes_version, double lag_seconds) {
  summary_.server = status_.server = std::move(server);
  summary_.kubernetes_version = status_.kubernetes_version = std::move(kubernetes_version);
  status_.lag_seconds = lag_seconds;
}

void Board::Add(const Comparison& comparison) {
  const std::lock_guard lock(mutex_);
  summary_.Add(comparison);
  if (unexplained_ != nullptr) {
    counters_[static_cast<size_t>(comparison.outcome)]->Add();
    if (!IsExplained(comparison.outcome)) unexplained_->Add();
  }
  Keep(comparison, kRecent, recent_);
  if (!IsExplained(comparison.outcome) || comparison.outcome == Outcome::kRace) {
    Keep(comparison, kDiffering, differing_);
  }
}

void Board::SetStatus(const ShadowStatus& status) {
  const std::lock_guard lock(mutex_);
  status_ = status;
}

void Board::SetUnseen(uint64_t bindings) {
  const std::lock_guard lock(mutex_);
  summary_.unseen = static_cast<int64_t>(bindings);
}

ShadowOverview Board::Look() const {
  ShadowOverview overview;
  {
    const std::lock_guard lock(mutex_);
    overview.status = status_;
    overview.summary = summary_.WithoutDifferences();
  }
  overview.summary.Conclude();
  overview.suspicions = Suspicions(overview.summary);
  return overview;
}

ComparisonList Board::List(const ComparisonQuery& query) const {
  const bool differing = query.outcome == kUnexplained || query.outcome == "Race" ||
                         std::any_of(shadow::kOutcomeNames.begin() + shadow::kOutcomes - 5,
                                     shadow::kOutcomeNames.end(),
                                     [&](std::string_view name) { return name == query.outcome; });
  ComparisonList list;
  const std::lock_guard lock(mutex_);
  const std::deque<Comparison>& kept = differing ? differing_ : recent_;
  for (auto c = kept.rbegin(); c != kept.rend(); ++c) {
    if (!Matches(*c, query)) continue;
    ++list.total;
    if (list.items.size() < query.limit) list.items.push_back(*c);
  }
  return list;
}

std::vector<Comparison> Board::Latest(size_t most) const {
  std::vector<Comparison> latest;
  const std::lock_guard lock(mutex_);
  for (auto c = differing_.rbegin(); c != differing_.rend() && latest.size() < most; ++c) {
    if (!IsExplained(c->outcome)) latest.push_back(*c);
  }
  std::reverse(latest.begin(), latest.end());
  return latest;
}

shadow::Summary Board::Conclude(const std::string& from, const std::string& to) const {
  const std::lock_guard lock(mutex_);
  shadow::Summary summary = summary_;
  summary.from = from;
  summary.to = to;
  summary.Conclude();
  return summary;
}

void Board::Count(server::Registry& registry) {
  using server::Stability;
  server::CounterFamily& comparisons = registry.AddCounter(
      {"berth_shadow_comparisons_total",
       "Number of decisions of the other scheduler, by the outcome of the comparison.",
       Stability::kNone,
       {"outcome"}});
  for (size_t i = 0; i < shadow::kOutcomes; ++i) {
    counters_[i] = comparisons.With({shadow::kOutcomeNames[i]});
  }
  unexplained_ = registry
                     .AddCounter({"berth_shadow_unexplained_total",
                                  "Number of decisions that nothing explains.",
                                  Stability::kNone,
                                  {}})
                     .Only();
  const auto gauge = [&](std::string name, std::string help) {
    return registry.AddGauge({std::move(name), std::move(help), Stability::kNone, {}}).Only();
  };
  server::Gauge* unseen = gauge("berth_shadow_unseen_bindings",
                                "Bindings since the start that were not seen as they happened.");
  server::Gauge* open =
      gauge("berth_shadow_open", "Decisions that wait for the end of their lag window.");
  server::Gauge* pending = gauge("berth_shadow_pending_pods", "Pods that wait for a node.");
  server::Gauge* nodes = gauge("berth_shadow_nodes", "Nodes of the cluster.");
  server::Gauge* synced = gauge("berth_shadow_synced", "1 once every kind has been listed.");
  registry.OnCollect([=, this] {
    const std::lock_guard lock(mutex_);
    unseen->Set(static_cast<double>(summary_.unseen));
    open->Set(static_cast<double>(status_.open));
    pending->Set(static_cast<double>(status_.pending));
    nodes->Set(static_cast<double>(status_.nodes));
    synced->Set(status_.synced ? 1 : 0);
  });
}

}  // namespace berth::cli
