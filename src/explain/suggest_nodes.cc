// Nodes that would help: uncordoned, labelled, new.
#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "explain/patches.h"
#include "explain/suggester.h"

namespace berth::explain {
namespace {

using cluster::NodeIndex;

constexpr size_t kExamples = 5;
constexpr size_t kMaxNodesTried = 32;  // of a kind, one by one
constexpr size_t kMaxNewNodes = 64;
constexpr std::string_view kHostName = "kubernetes.io/hostname";
constexpr std::string_view kZone = "topology.kubernetes.io/zone";
constexpr std::string_view kNewNode = "new-node";

void Uncordon(api::Node& node) {
  node.spec.unschedulable = false;
  std::erase_if(node.spec.taints, [](const api::Taint& taint) {
    return taint.key == "node.kubernetes.io/unschedulable";
  });
}

std::vector<std::string> FirstOf(const std::vector<std::string>& names) {
  return {names.begin(),
          names.begin() + static_cast<std::ptrdiff_t>(std::min<size_t>(kExamples, names.size()))};
}

bool IsPlainName(std::string_view name) {
  return name.find_first_not_of(
             "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./") ==
         std::string_view::npos;
}

// "kubectl uncordon a b"; empty when a name would mean something to a shell.
std::string Command(std::string_view verb, const std::vector<std::string>& names,
                    std::string_view rest = "") {
  if (!std::all_of(names.begin(), names.end(), IsPlainName) || !IsPlainName(rest)) return "";
  return fmt::format("kubectl {} {}", verb, fmt::join(names, " "));
}

}  // namespace

const api::Node* Suggester::NodeObject(const std::string& name) const {
  if (source_.nodes == nullptr) return nullptr;
  const auto it = source_.nodes->find(name);
  return it == source_.nodes->end() ? nullptr : it->second.get();
}

void Suggester::Cordoned() {
  std::vector<std::string> cordoned;
  cluster_.Unschedulable().ForEach([&](NodeIndex n) {
    if (cluster_.Nodes().Contains(n) && cordoned.size() < kMaxNodesTried) {
      cordoned.push_back(cluster_.NodeName(n));
    }
  });
  std::vector<std::string> useful;  // for the first pod
  std::vector<std::string> enough;  // each for all pods
  std::optional<TrialResult> result;
  for (const std::string& name : cordoned) {
    const api::Node* object = NodeObject(name);
    if (object == nullptr || Exhausted()) continue;
    api::Node node = *object;
    Uncordon(node);
    cluster_.SetNode(node);
    const TrialResult tried = TryAsIs();
    const bool used =
        std::find(tried.examples.begin(), tried.examples.end(), name) != tried.examples.end() ||
        tried.nodes > now_.nodes;
    if (used) useful.push_back(name);
    if (tried.fits && used) {
      enough.push_back(name);
      if (!result) result = tried;
    }
    cluster_.SetNode(*object);
  }
  if (enough.empty()) {
    (void)UncordonSeveral(useful);
    return;
  }
  const std::vector<std::string> examples = FirstOf(enough);
  std::string text;
  if (workload_.pending > 1) {
    text = fmt::format("{} if {} were uncordoned", Fit(), enough.front());
  } else if (enough.size() == 1) {
    text = fmt::format("fits on {} if it were uncordoned", enough.front());
  } else {
    text = fmt::format("fits on {} nodes that are cordoned, if one were uncordoned: {}{}",
                       enough.size(), fmt::join(examples, ", "),
                       enough.size() > examples.size() ? ", …" : "");
  }
  result->nodes = static_cast<int64_t>(enough.size());
  result->examples = examples;
  Found& found = Add("Uncordon", std::move(text), *result, {{"node", enough.front()}}, PodEdit());
  found.input.nodes.push_back(*NodeObject(enough.front()));
  Uncordon(found.input.nodes.back());
  found.suggestion.patch = Command("uncordon", {enough.front()});
  if (found.suggestion.what_if) found.suggestion.what_if->uncordon = {enough.front()};
}

// As few of them as are needed together, in the order given.
bool Suggester::UncordonSeveral(const std::vector<std::string>& names) {
  if (workload_.pending < 2) return false;
  std::vector<std::string> open;
  TrialResult result;
  for (const std::string& name : names) {
    if (Exhausted()) break;
    api::Node node = *NodeObject(name);
    Uncordon(node);
    cluster_.SetNode(node);
    open.push_back(name);
    result = TryAsIs();
    if (result.fits) break;
  }
  for (const std::string& name : open) cluster_.SetNode(*NodeObject(name));
  if (!result.fits) return false;
  const std::string joined = fmt::format("{}", fmt::join(open, ", "));
  Found& found = Add("Uncordon", fmt::format("{} if {} were uncordoned", Fit(), joined), result,
                     {{"nodes", joined}}, PodEdit());
  for (const std::string& name : open) {
    found.input.nodes.push_back(*NodeObject(name));
    Uncordon(found.input.nodes.back());
  }
  found.suggestion.patch = Command("uncordon", open);
  if (found.suggestion.what_if) found.suggestion.what_if->uncordon = open;
  return true;
}

// A label that no node has, on as few of `names` as are needed.
void Suggester::LabelNodes(const std::string& key, const std::string& value,
                           const std::vector<std::string>& names) {
  if (source_.nodes == nullptr) return;
  for (const auto& [name, node] : *source_.nodes) {
    const std::string* has = api::FindValue(node->metadata.labels, key);
    if (has != nullptr && *has == value) return;
  }
  std::vector<std::string> labelled;
  std::vector<api::Node> nodes;
  TrialResult result;
  for (const std::string& name : names) {
    const api::Node* object = NodeObject(name);
    // A label that says something else is not to be overwritten.
    if (object == nullptr || api::FindValue(object->metadata.labels, key) != nullptr) continue;
    if (Exhausted()) break;
    api::Node& node = nodes.emplace_back(*object);
    node.metadata.labels[key] = value;
    cluster_.SetNode(node);
    labelled.push_back(name);
    result = TryAsIs();
    if (result.fits) break;
  }
  for (const std::string& name : labelled) cluster_.SetNode(*NodeObject(name));
  if (!result.fits) return;
  const std::string joined = fmt::format("{}", fmt::join(labelled, ", "));
  Found& found = Add("LabelNode",
                     fmt::format("{} if {} had the label {}={}", Fits(result), joined, key, value),
                     result, {{"key", key}, {"nodes", joined}, {"value", value}}, PodEdit());
  found.input.nodes = std::move(nodes);
  if (IsPlainName(key) && IsPlainName(value)) {
    const std::string command = Command("label node", labelled);
    if (!command.empty()) found.suggestion.patch = fmt::format("{} {}={}", command, key, value);
  }
  found.suggestion.what_if.reset();  // it would need the whole node
}

// The largest node of every zone: the kind a cluster autoscaler could add.
std::vector<const api::Node*> Suggester::Largest() const {
  std::map<std::string, const api::Node*> by_zone;
  if (source_.nodes == nullptr) return {};
  const auto size = [](const api::Node& node) {
    const auto amount = [&](std::string_view resource) {
      const auto it = node.status.allocatable.find(resource);
      return it == node.status.allocatable.end() ? 0 : it->second.MilliValue();
    };
    return std::tuple(node.spec.taints.empty(), amount("cpu"), amount("memory"));
  };
  for (const auto& [name, node] : *source_.nodes) {
    const std::string* zone = api::FindValue(node->metadata.labels, kZone);
    const api::Node*& best = by_zone[zone == nullptr ? "" : *zone];
    if (best == nullptr || size(*best) < size(*node) ||
        (size(*best) == size(*node) && node->metadata.name < best->metadata.name)) {
      best = node.get();
    }
  }
  std::vector<const api::Node*> nodes;
  for (const auto& [zone, node] : by_zone) nodes.push_back(node);
  std::stable_sort(nodes.begin(), nodes.end(),
                   [&](const auto* a, const auto* b) { return size(*a) > size(*b); });
  if (nodes.size() > kMaxNodesTried) nodes.resize(kMaxNodesTried);
  return nodes;
}

void Suggester::NewNodes() {
  for (const api::Node* like : Largest()) {
    if (Exhausted() || NewNodesLike(*like)) return;
  }
}

TrialResult Suggester::TryNewNodes(const api::Node& like, size_t count,
                                   std::vector<api::Node>* made) {
  made->clear();
  for (size_t i = 0; i < count; ++i) {
    api::Node& node = made->emplace_back(like);
    node.metadata.name = i == 0 ? std::string(kNewNode) : fmt::format("{}-{}", kNewNode, i + 1);
    node.metadata.uid.clear();
    if (const auto it = node.metadata.labels.find(kHostName); it != node.metadata.labels.end()) {
      it->second = node.metadata.name;
    }
    Uncordon(node);
    node.status.images.clear();
    node.status.volumes_in_use.clear();
    cluster_.SetNode(node);
  }
  TrialResult result = TryAsIs();
  const NodeIndex first = cluster_.FindNode(kNewNode);
  result.fits =
      result.fits && (workload_.pending > 1 || rehearsal_.search().feasible().Contains(first));
  for (const api::Node& node : *made) cluster_.RemoveNode(node.metadata.name);
  return result;
}

// As few nodes as all pods need.
bool Suggester::NewNodesLike(const api::Node& like) {
  if (cluster_.FindNode(kNewNode) != cluster::kNoNode) return false;
  std::vector<api::Node> made;
  TrialResult result = TryNewNodes(like, 1, &made);
  if (result.nodes == now_.nodes && !result.fits) return false;  // it does not fit there
  const size_t most = std::min(kMaxNewNodes, workload_.pending);
  size_t enough = 1;
  while (!result.fits && enough < most && !Exhausted()) {
    enough = std::min(most, enough * 2);
    result = TryNewNodes(like, enough, &made);
  }
  if (!result.fits) return false;
  size_t few = enough / 2 + 1;  // half as many were not enough
  while (few < enough && !Exhausted()) {
    const size_t middle = (few + enough) / 2;
    if (TryNewNodes(like, middle, &made).fits) {
      enough = middle;
    } else {
      few = middle + 1;
    }
  }
  result = TryNewNodes(like, enough, &made);
  if (!result.fits) return false;
  const std::string* zone = api::FindValue(like.metadata.labels, kZone);
  const std::string where =
      fmt::format("like {}{}", like.metadata.name, zone == nullptr ? "" : " in zone " + *zone);
  std::string text = workload_.pending == 1 ? "fits on a new node " + where
                     : enough == 1          ? fmt::format("{} with a new node {}", Fit(), where)
                                   : fmt::format("{} with {} new nodes {}", Fit(), enough, where);
  result.nodes = static_cast<int64_t>(enough);
  result.examples.clear();
  for (const api::Node& node : made) result.examples.push_back(node.metadata.name);
  result.examples = FirstOf(result.examples);
  Found& found = Add("AddNode", std::move(text), result,
                     {{"count", std::to_string(enough)}, {"like", like.metadata.name}}, PodEdit());
  found.input.nodes = std::move(made);
  if (found.suggestion.what_if) {
    found.suggestion.what_if->add_nodes = {{like.metadata.name, static_cast<int64_t>(enough)}};
  }
  return true;
}

}  // namespace berth::explain
