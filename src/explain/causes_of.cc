// Causes that follow from the changes that would help: what has to be given up is what is missing.
#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "explain/causes.h"

namespace berth::explain {
namespace {

std::string Of(const Suggestion& suggestion, std::string_view key) {
  const auto it = suggestion.change.find(key);
  return it == suggestion.change.end() ? "" : it->second;
}

std::string Replicas(const Workload& workload) {
  return workload.pending == 1 ? "it" : fmt::format("each of its {} pods", workload.pending);
}

std::string NotEnough(const Suggestion& suggestion, const Workload& workload) {
  if (workload.single()) {
    return fmt::format("it requests {} {}; no node that it may use has more than {} free",
                       Of(suggestion, "from"), Of(suggestion, "resource"), Of(suggestion, "to"));
  }
  return fmt::format(
      "its pods request {} {} each; the nodes that they may use have enough free for "
      "{} each",
      Of(suggestion, "from"), Of(suggestion, "resource"), Of(suggestion, "to"));
}

std::string Taint(const Suggestion& suggestion) {
  const std::string value = Of(suggestion, "value");
  return fmt::format("nodes that could run it have the taint {}{}{}:{}, which it does not tolerate",
                     Of(suggestion, "key"), value.empty() ? "" : "=", value,
                     Of(suggestion, "effect"));
}

struct Rule {
  std::string_view kind;   // of a suggestion
  std::string_view cause;  // its kind
};

// In order: what only this pod asks for before what the cluster lacks.
constexpr std::array kRules{Rule{"FreeHostPort", "HostPortTaken"},
                            Rule{"DropPodAntiAffinity", "PodAntiAffinity"},
                            Rule{"DropPodAffinity", "PodAffinity"},
                            Rule{"DropTopologySpread", "TopologySpread"},
                            Rule{"DropNodeSelector", "NodeSelector"},
                            Rule{"DropNodeAffinity", "NodeAffinity"},
                            Rule{"ReleaseVolume", "Volume"},
                            Rule{"DropResourceClaim", "ResourceClaim"},
                            Rule{"LowerRequest", "NotEnoughFree"},
                            Rule{"AddToleration", "UntoleratedTaint"},
                            Rule{"Uncordon", "Cordoned"},
                            Rule{"Several", "Several"}};

std::string TextOf(const Suggestion& s, std::string_view cause, const Workload& workload) {
  if (cause == "HostPortTaken") {
    return fmt::format("host port {}/{} is taken on every node that could run it", Of(s, "port"),
                       Of(s, "protocol"));
  }
  if (cause == "PodAntiAffinity") {
    return fmt::format(
        "its required anti-affinity over {} leaves no node: pods that {} keeps away "
        "from are near all that could run it",
        Of(s, "topologyKey"), Replicas(workload));
  }
  if (cause == "PodAffinity") {
    return fmt::format(
        "its required affinity over {} leaves no node: the pods it has to be near "
        "are not where it could run",
        Of(s, "topologyKey"));
  }
  if (cause == "TopologySpread") {
    return fmt::format("its required spread over {} allows only nodes that cannot run it",
                       Of(s, "topologyKey"));
  }
  if (cause == "NodeSelector") {
    return fmt::format("nodes with the label {}={} of its nodeSelector cannot run it, others could",
                       Of(s, "key"), Of(s, "value"));
  }
  if (cause == "NodeAffinity") {
    return "nodes that its required node affinity allows cannot run it, others could";
  }
  if (cause == "Volume") {
    const std::string claim = Of(s, "claim");
    return fmt::format("its volume {}{} keeps it from nodes that could run it", Of(s, "volume"),
                       claim.empty() ? "" : fmt::format(" (PersistentVolumeClaim {})", claim));
  }
  if (cause == "ResourceClaim") {
    return fmt::format("no node that could run it has devices for resource claim {}",
                       Of(s, "claim"));
  }
  if (cause == "NotEnoughFree") return NotEnough(s, workload);
  if (cause == "UntoleratedTaint") return Taint(s);
  if (cause == "Cordoned") {
    return fmt::format("nodes that could run it are cordoned: {}", fmt::join(s.examples, ", "));
  }
  return "no single change of the pod helps; " + s.text;
}

// Facts say more than what follows from a trial.
bool IsKnown(std::string_view cause, const std::vector<Cause>& facts) {
  const auto has = [&](std::string_view kind) {
    return std::any_of(facts.begin(), facts.end(),
                       [&](const Cause& fact) { return fact.kind == kind; });
  };
  if (cause == "NodeSelector") return has("NoSuchLabel");
  if (cause == "Volume") return has("MissingClaim") || has("MissingStorageClass");
  if (cause == "NotEnoughFree") return has("LargerThanAnyNode") || has("NoSuchResource");
  return false;
}

}  // namespace

void AddCausesOf(const std::vector<Suggestion>& helped, const Workload& workload,
                 const std::string& message, std::vector<Cause>* causes) {
  std::set<std::string> seen;
  for (const Rule& rule : kRules) {
    if (IsKnown(rule.cause, *causes)) continue;
    for (const Suggestion& suggestion : helped) {
      if (suggestion.kind != rule.kind) continue;
      // The first of a kind and subject: the largest amount, the smallest change.
      std::string subject(rule.cause);
      for (const char* key : {"resource", "key", "topologyKey", "port", "volume", "claim"}) {
        subject += "|" + Of(suggestion, key);
      }
      if (rule.cause == "Several" && !causes->empty()) break;
      if (!seen.insert(subject).second) continue;
      causes->push_back({std::string(rule.cause), TextOf(suggestion, rule.cause, workload), ""});
    }
  }
  if (causes->empty() && !message.empty()) causes->push_back({"Unknown", message, ""});
}

}  // namespace berth::explain
