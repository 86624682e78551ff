#include "plan/question.h"

#include <algorithm>
#include <charconv>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "plan/consolidate.h"
#include "plan/drain.h"
#include "plan/grow.h"
#include "plan/pools.h"
#include "plan/restore_spread.h"

namespace berth::plan {
namespace {

constexpr std::string_view kQuestions[] = {"drain", "outage", "upgrade",     "shrink",
                                           "grow",  "fit",    "consolidate", "restore-spread"};

std::vector<std::string> ByLabel(const Inventory& inventory, std::string_view key,
                                 std::string_view value) {
  api::Selector selector;
  selector.Add(api::Requirement::Equal(key, value));
  return inventory.Select(selector);
}

Result<std::vector<std::string>> ByPool(const Inventory& inventory, const std::string& pool) {
  for (const std::string_view key : kPoolLabels) {
    auto nodes = ByLabel(inventory, key, pool);
    if (!nodes.empty()) return nodes;
  }
  return Fail(fmt::format("no node is in a pool {}; choose nodes with a selector", pool));
}

Result<std::vector<std::string>> ByName(const Inventory& inventory,
                                        const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    if (inventory.FindNode(name) == nullptr) return Fail("no node " + name + " in the input");
  }
  return names;
}

// "3" or "10%" of `nodes`, at least one.
Result<size_t> ParseSurge(const std::string& text, size_t nodes) {
  int64_t number = 0;
  const bool percent = text.ends_with('%');
  const char* end = text.data() + text.size() - (percent ? 1 : 0);
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || stop != end || number < 1 || number > kMostNodes) {
    return Fail(fmt::format("surge: \"{}\" is not a number of nodes, or a percentage", text));
  }
  const auto count = static_cast<size_t>(number);
  return percent ? std::max<size_t>(1, (nodes * count + 99) / 100) : count;
}

Result<Plan> Consolidate(Model& model, const Question& question, std::vector<std::string> nodes,
                         const PriceList& prices, const std::function<bool(size_t)>& go_on) {
  ConsolidateOptions options;
  options.candidates = std::move(nodes);
  options.max_moves = question.max_disruption.value_or(INT64_MAX);
  options.lose_local_data = question.lose_local_data;
  options.eviction_cost = question.eviction_cost;
  options.seed = static_cast<uint64_t>(question.seed);
  options.go_on = go_on;
  if (!prices.Empty()) {
    options.value = [&](const api::Node& node) { return prices.Hourly(node).value_or(0); };
  }
  return PlanConsolidation(model.inventory(), model.mover(), options);
}

Result<Plan> AddNodes(Model& model, const Question& question) {
  const Inventory& inventory = model.inventory();
  if (question.like.empty()) return Fail("like: what are the new nodes like?");
  const api::Node* found = inventory.FindNode(question.like);
  if (found == nullptr) return Fail("like: no node " + question.like + " in the input");
  const api::Node like = *found;
  if (question.question == "fit") {
    return PlanFit(model.inventory(), model.mover(), like, static_cast<size_t>(kMostNodes));
  }
  if (question.count < 1 || question.count > kMostNodes) {
    return Fail(fmt::format("count: a number of nodes from 1 to {}", kMostNodes));
  }
  return PlanGrow(model.inventory(), model.mover(), like, static_cast<size_t>(question.count));
}

}  // namespace

const api::TypeInfo& Question::Type() {
  static const api::TypeInfo type = api::Describe<Question>("Question")
                                        .Always(1, "question", &Question::question)
                                        .Field(2, "nodes", &Question::nodes)
                                        .Field(3, "selector", &Question::selector)
                                        .Field(4, "pool", &Question::pool)
                                        .Field(5, "zone", &Question::zone)
                                        .Field(6, "topology", &Question::topology)
                                        .Field(7, "like", &Question::like)
                                        .Field(8, "count", &Question::count)
                                        .Field(9, "surge", &Question::surge)
                                        .Field(10, "soft", &Question::soft)
                                        .Field(11, "maxDisruption", &Question::max_disruption)
                                        .Field(12, "deleteEmptyDirData", &Question::lose_local_data)
                                        .Field(13, "evictionCost", &Question::eviction_cost)
                                        .Field(14, "seed", &Question::seed)
                                        .Build();
  return type;
}

bool IsQuestion(const std::string& word) {
  return std::find(std::begin(kQuestions), std::end(kQuestions), word) != std::end(kQuestions);
}

Result<std::vector<std::string>> ChosenNodes(const Question& q, const Inventory& inventory) {
  const int ways = !q.nodes.empty() + !q.selector.empty() + !q.pool.empty() + !q.zone.empty() +
                   !q.topology.empty();
  if (ways > 1) return Fail("choose nodes by one of names, selector, pool, zone, topology");
  if (ways == 0) {
    if (q.question == "consolidate") return inventory.Select(api::Selector());
    return Fail("choose nodes: by name, or by selector, pool or zone");
  }
  if (!q.nodes.empty()) return ByName(inventory, q.nodes);
  if (!q.pool.empty()) return ByPool(inventory, q.pool);
  std::vector<std::string> nodes;
  std::string what;
  if (!q.zone.empty()) {
    nodes = ByLabel(inventory, "topology.kubernetes.io/zone", q.zone);
    what = "in zone " + q.zone;
  } else if (!q.topology.empty()) {
    const size_t equals = q.topology.find('=');
    if (equals == std::string::npos) return Fail("topology: write KEY=VALUE");
    nodes = ByLabel(inventory, q.topology.substr(0, equals), q.topology.substr(equals + 1));
    what = "with " + q.topology;
  } else {
    const auto selector = api::Selector::Parse(q.selector);
    if (!selector) return Fail(selector.error().In("selector"));
    nodes = inventory.Select(*selector);
    what = "matching " + q.selector;
  }
  if (nodes.empty()) return Fail("no node " + what + " in the input");
  return nodes;
}

std::vector<std::string> NodeTypes(const Inventory& inventory) {
  std::set<std::string> seen;
  std::vector<std::string> types;
  for (const std::string& name : inventory.Select(api::Selector())) {
    const api::Node& node = *inventory.FindNode(name);
    const std::string* type =
        api::FindValue(node.metadata.labels, "node.kubernetes.io/instance-type");
    std::string key = type != nullptr ? *type : std::string();
    if (type == nullptr) {
      for (const auto& [resource, amount] : node.status.allocatable) {
        key += fmt::format("{}={},", resource, amount.String());
      }
    }
    for (const api::Taint& taint : node.spec.taints) {
      if (!taint.key.starts_with("node.kubernetes.io/")) key += taint.key + taint.value;
    }
    if (seen.insert(key).second) types.push_back(name);
  }
  return types;
}

Result<Plan> Answer(Model& model, const Question& question, const PriceList& prices,
                    const std::function<bool(size_t trials)>& go_on) {
  const std::string& what = question.question;
  Inventory& inventory = model.inventory();
  if (!IsQuestion(what)) return Fail("cannot plan " + what);
  if (what == "fit" || what == "grow") return AddNodes(model, question);
  if (what == "restore-spread") {
    RestoreSpreadOptions options;
    options.soft = question.soft;
    options.max_moves = question.max_disruption.value_or(INT64_MAX);
    options.lose_local_data = question.lose_local_data;
    options.go_on = go_on;
    return PlanRestoreSpread(inventory, model.mover(), options);
  }
  auto nodes = ChosenNodes(question, inventory);
  if (!nodes) return Fail(nodes.error());
  if (what == "drain") return PlanDrain(inventory, model.mover(), *nodes);
  if (what == "outage") return PlanOutage(inventory, model.mover(), *nodes);
  if (what == "consolidate") return Consolidate(model, question, std::move(*nodes), prices, go_on);
  if (what == "shrink") {
    if (question.count < 1) return Fail("count: how many nodes are to go?");
    return PlanShrink(inventory, model.mover(), *nodes, static_cast<size_t>(question.count));
  }
  const auto surge = ParseSurge(question.surge, nodes->size());
  if (!surge) return Fail(surge.error());
  return PlanUpgrade(inventory, model.mover(), *nodes, *surge);
}

}  // namespace berth::plan
