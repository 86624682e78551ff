#include "explain/suggestions.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "api/rules/label_selector.h"
#include "cluster/transaction.h"
#include "explain/causes.h"
#include "explain/cluster_copy.h"
#include "explain/explainer.h"
#include "explain/search.h"

namespace berth::explain {
namespace {

using cluster::NodeIndex;
using cluster::PodId;

constexpr size_t kExamples = 5;
constexpr size_t kMaxNodesTried = 32;  // of a kind, one by one
constexpr size_t kMaxMoved = 5;        // pods that would have to go elsewhere
constexpr size_t kMaxPriorities = 5;
constexpr int64_t kMebi = int64_t{1} << 20;
constexpr std::string_view kHostName = "kubernetes.io/hostname";
constexpr std::string_view kNewNode = "new-node";

std::string Nodes(int64_t count) { return count == 1 ? "1 node" : fmt::format("{} nodes", count); }

class Suggester {
 public:
  Suggester(const scheduler::Source& source, const framework::Profile& profile, PodId id,
            const SuggestOptions& options)
      : source_(source),
        cluster_(*source.cluster),
        options_(options),
        id_(id),
        original_(ToObject(cluster_.GetPod(id))),
        search_(cluster_, profile) {
    original_.status.nominated_node_name.clear();
  }

  SuggestionList Run(std::vector<ChangedInput>* inputs) {
    const cluster::Pod& pod = cluster_.GetPod(id_);
    list_.namespace_ = pod.namespace_();
    list_.name = pod.name;
    if (pod.node != cluster::kNoNode) {
      list_.message = "is on node " + cluster_.NodeName(pod.node);
      return list_;
    }
    Gates();
    list_.feasible_now = Try(original_);
    if (list_.feasible_now > 0) {
      if (gated_.empty()) {
        list_.message = fmt::format("fits on {} now", Nodes(list_.feasible_now));
      }
      return Finish(inputs);
    }
    list_.message = search_.Message();
    list_.causes = RootCauses(source_, original_);
    rejected_by_ = RejectingPlugins();
    std::vector<PodChange> loosenings = Loosenings(cluster_, original_);
    PodChanges(loosenings);
    Requests(original_, "", {});
    Cordoned();
    PodsInTheWay();
    Preemption();
    NewNodes();
    if (found_.empty() || OnlyNewNodes()) Pairs(loosenings);
    return Finish(inputs);
  }

 private:
  struct Found {
    Suggestion suggestion;
    ChangedInput input;
  };

  bool Exhausted() const { return static_cast<size_t>(list_.tried) >= options_.max_trials; }

  // On how many nodes `pod` fits. Its search stays readable until the next.
  int64_t Try(const api::Pod& pod) {
    ++list_.tried;
    held_ = cluster_.Snapshot(pod);
    tried_ = *held_;
    tried_.id = id_;  // its own nomination is not in its way
    search_.Run(tried_, /*score=*/false);
    return search_.error().empty() ? static_cast<int64_t>(search_.feasible_count()) : 0;
  }

  std::vector<std::string> Examples(const framework::NodeSet& nodes) const {
    std::vector<std::string> names;
    nodes.ForEach([&](NodeIndex n) {
      if (names.size() < kExamples) names.push_back(cluster_.NodeName(n));
    });
    return names;
  }

  void Add(std::string kind, std::string text, int64_t nodes, std::vector<std::string> examples,
           ByName<std::string> change, ChangedInput input) {
    found_.push_back(
        {{std::move(kind), std::move(text), nodes, std::move(examples), std::move(change)},
         std::move(input)});
  }

  std::set<std::string> RejectingPlugins() const {
    std::set<std::string> names;
    search_.diagnosis().rejected.ForEach([&](NodeIndex n) {
      const uint8_t plugin = search_.cycle().verdicts()[n].plugin;
      if (plugin != framework::kNoPlugin) {
        names.emplace(search_.profile().At(plugin).Name());
      }
    });
    return names;
  }

  // A gate keeps the pod out, whatever the nodes are like.
  void Gates() {
    const framework::Status gate = GateOf(source_, search_.profile(), id_);
    if (gate.Ok()) return;
    gated_ = gate.Message();
    list_.message = gated_;
    if (original_.spec.scheduling_gates.empty()) return;
    std::vector<std::string> names;
    for (const auto& scheduling_gate : original_.spec.scheduling_gates) {
      names.push_back(scheduling_gate.name);
    }
    original_.spec.scheduling_gates.clear();
    const int64_t nodes = Try(original_);
    if (nodes == 0) return;
    const std::string joined = fmt::format("{}", fmt::join(names, ", "));
    Add("RemoveGate",
        fmt::format("fits on {} if scheduling gate {} were removed", Nodes(nodes), joined), nodes,
        Examples(search_.feasible()), {{"gates", joined}}, {original_, {}, {}, false});
  }

  void PodChanges(const std::vector<PodChange>& changes) {
    std::set<std::string> raised;  // keys whose smallest helpful skew is known
    for (const PodChange& change : changes) {
      if (Exhausted()) return;
      const bool skew = change.kind == "RaiseMaxSkew";
      const std::string key = skew ? change.change.find("topologyKey")->second : "";
      if (skew && raised.contains(key)) continue;
      api::Pod pod = original_;
      change.apply(pod);
      const int64_t nodes = Try(pod);
      if (nodes == 0) continue;
      if (skew) raised.insert(key);
      Add(change.kind, fmt::format("fits on {} if {}", Nodes(nodes), change.text), nodes,
          Examples(search_.feasible()), change.change, {std::move(pod), {}, {}, false});
    }
  }

  // --- Requests

  struct Demand {
    std::string resource;
    int64_t amount = 0;
  };

  std::vector<Demand> DemandsOf(const api::Pod& pod) const {
    const auto snapshot = cluster_.Snapshot(pod);
    const cluster::Amounts& fit = snapshot->shape->fit;
    std::vector<Demand> demands;
    const auto add = [&](std::string_view resource, int64_t amount) {
      if (amount > 0) demands.push_back({std::string(resource), amount});
    };
    add("cpu", fit.cpu);
    add("memory", fit.memory);
    add("ephemeral-storage", fit.ephemeral_storage);
    for (const auto& [id, amount] : fit.scalars) add(cluster_.Resources().Name(id), amount);
    return demands;
  }

  int64_t Free(const std::string& resource, NodeIndex n) const {
    const cluster::ResourceColumn* column = cluster_.Resource(cluster_.Resources().Find(resource));
    return column == nullptr ? 0 : column->allocatable[n] - column->requested[n];
  }

  static int64_t Rounded(const std::string& resource, int64_t amount) {
    const bool bytes = resource == "memory" || resource == "ephemeral-storage";
    return bytes && amount >= kMebi ? amount / kMebi * kMebi : amount;
  }

  // Requests low enough for some nodes. `also` is what else was changed in `pod`.
  void Requests(const api::Pod& pod, const std::string& also, const ByName<std::string>& change) {
    if (!rejected_by_.contains("NodeResourcesFit") || Exhausted()) return;
    const std::vector<Demand> demands = DemandsOf(pod);
    api::Pod light = pod;
    DropRequests(light);
    if (demands.empty() || Try(light) == 0) return;
    std::vector<NodeIndex> nodes;  // that fit but for the requests
    search_.feasible().ForEach([&](NodeIndex n) { nodes.push_back(n); });
    bool any = false;
    for (const Demand& demand : demands) {
      std::vector<int64_t> free;
      for (const NodeIndex n : nodes) {
        const bool rest_fits = std::all_of(demands.begin(), demands.end(), [&](const Demand& d) {
          return d.resource == demand.resource || d.amount <= Free(d.resource, n);
        });
        const int64_t amount = Rounded(demand.resource, Free(demand.resource, n));
        if (rest_fits && amount > 0 && amount < demand.amount) free.push_back(amount);
      }
      if (free.empty()) continue;
      std::sort(free.rbegin(), free.rend());
      std::set<int64_t> targets{free.front(), free[free.size() / 4]};
      for (auto target = targets.rbegin(); target != targets.rend(); ++target) {
        any = TryLower(pod, {{demand.resource, *target}}, demands, also, change) || any;
      }
    }
    if (!any) LowerSeveral(pod, demands, nodes, also, change);
  }

  bool TryLower(const api::Pod& pod, const std::vector<Demand>& targets,
                const std::vector<Demand>& demands, const std::string& also,
                ByName<std::string> change) {
    if (Exhausted()) return false;
    api::Pod lower = pod;
    std::vector<std::string> parts;
    for (const Demand& target : targets) {
      LowerRequest(lower, target.resource, target.amount);
      parts.push_back(fmt::format("{} request ≤ {}", target.resource,
                                  AmountText(target.resource, target.amount)));
      for (const Demand& demand : demands) {
        if (demand.resource != target.resource) continue;
        const std::string suffix = targets.size() == 1 ? "" : "." + target.resource;
        change["resource" + suffix] = target.resource;
        change["from" + suffix] = AmountText(target.resource, demand.amount);
        change["to" + suffix] = AmountText(target.resource, target.amount);
      }
    }
    const int64_t nodes = Try(lower);
    if (nodes == 0) return false;
    Add(also.empty() ? "LowerRequest" : "Several",
        fmt::format("fits on {} if {}{}", Nodes(nodes), also.empty() ? "" : also + " and ",
                    fmt::join(parts, " and ")),
        nodes, Examples(search_.feasible()), std::move(change), {std::move(lower), {}, {}, false});
    return true;
  }

  // Nodes that lack more than one resource: the one where least has to be given up.
  void LowerSeveral(const api::Pod& pod, const std::vector<Demand>& demands,
                    const std::vector<NodeIndex>& nodes, const std::string& also,
                    const ByName<std::string>& change) {
    NodeIndex best = cluster::kNoNode;
    double best_share = 0;
    for (const NodeIndex n : nodes) {
      double share = 1;
      for (const Demand& d : demands) {
        share = std::min(share, static_cast<double>(Rounded(d.resource, Free(d.resource, n))) /
                                    static_cast<double>(d.amount));
      }
      if (share <= best_share) continue;
      best_share = share;
      best = n;
    }
    if (best == cluster::kNoNode) return;
    std::vector<Demand> targets;
    for (const Demand& d : demands) {
      const int64_t amount = Rounded(d.resource, Free(d.resource, best));
      if (amount < d.amount) targets.push_back({d.resource, amount});
    }
    if (!targets.empty()) (void)TryLower(pod, targets, demands, also, change);
  }

  // --- Nodes

  const api::Node* NodeObject(const std::string& name) const {
    if (source_.nodes == nullptr) return nullptr;
    const auto it = source_.nodes->find(name);
    return it == source_.nodes->end() ? nullptr : it->second.get();
  }

  static void Uncordon(api::Node& node) {
    node.spec.unschedulable = false;
    std::erase_if(node.spec.taints, [](const api::Taint& taint) {
      return taint.key == "node.kubernetes.io/unschedulable";
    });
  }

  void Cordoned() {
    std::vector<std::string> cordoned;
    cluster_.Unschedulable().ForEach([&](NodeIndex n) {
      if (cluster_.Nodes().Contains(n) && cordoned.size() < kMaxNodesTried) {
        cordoned.push_back(cluster_.NodeName(n));
      }
    });
    std::vector<std::string> names;
    ChangedInput input{original_, {}, {}, false};
    for (const std::string& name : cordoned) {
      const api::Node* object = NodeObject(name);
      if (object == nullptr || Exhausted()) continue;
      api::Node node = *object;
      Uncordon(node);
      cluster_.SetNode(node);
      if (Try(original_) > 0 && search_.feasible().Contains(cluster_.FindNode(name))) {
        names.push_back(name);
        input.nodes.push_back(std::move(node));
      }
      cluster_.SetNode(*object);
    }
    if (names.empty()) return;
    const auto count = static_cast<int64_t>(names.size());
    std::vector<std::string> examples(names.begin(),
                                      names.begin() + std::min<std::ptrdiff_t>(count, kExamples));
    std::string text =
        count == 1 ? fmt::format("fits on {} if it were uncordoned", names.front())
                   : fmt::format("fits on {} that are cordoned, if one were uncordoned: {}{}",
                                 Nodes(count), fmt::join(examples, ", "),
                                 names.size() > examples.size() ? ", …" : "");
    if (count > 1) input.nodes.resize(1);  // one is enough
    const std::string one = input.nodes.front().metadata.name;
    Add("Uncordon", std::move(text), count, std::move(examples), {{"node", one}}, std::move(input));
  }

  // The largest node of every zone: the kind a cluster autoscaler could add.
  std::vector<const api::Node*> Largest() const {
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
      const std::string* zone =
          api::FindValue(node->metadata.labels, "topology.kubernetes.io/zone");
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

  void NewNodes() {
    for (const api::Node* like : Largest()) {
      if (Exhausted() || cluster_.FindNode(kNewNode) != cluster::kNoNode) return;
      api::Node node = *like;
      node.metadata.name = kNewNode;
      node.metadata.uid.clear();
      if (const auto it = node.metadata.labels.find(kHostName); it != node.metadata.labels.end()) {
        it->second = kNewNode;
      }
      Uncordon(node);
      node.status.images.clear();
      node.status.volumes_in_use.clear();
      cluster_.SetNode(node);
      const bool fits =
          Try(original_) > 0 && search_.feasible().Contains(cluster_.FindNode(kNewNode));
      const std::string name = like->metadata.name;
      if (fits) {
        const std::string* zone =
            api::FindValue(node.metadata.labels, "topology.kubernetes.io/zone");
        std::string text = fmt::format("fits on a new node like {}{}", name,
                                       zone == nullptr ? "" : " in zone " + *zone);
        Add("AddNode", std::move(text), 1, {std::string(kNewNode)}, {{"like", name}},
            {original_, {node}, {}, false});
      }
      cluster_.RemoveNode(kNewNode);
      if (fits) return;
    }
  }

  bool OnlyNewNodes() const {
    return std::all_of(found_.begin(), found_.end(), [](const Found& found) {
      return found.suggestion.kind == "AddNode" || found.suggestion.kind == "RaisePriority";
    });
  }

  // --- Other pods

  // Does some required anti-affinity term of `from` cover a pod with `labels` in `namespace_`?
  // Namespace selectors count as covering: the trial decides.
  static bool KeepsAway(const api::Pod& from, const std::string& from_namespace,
                        const api::StringMap& labels, const std::string& namespace_) {
    if (!from.spec.affinity || !from.spec.affinity->pod_anti_affinity) return false;
    for (const api::PodAffinityTerm& term :
         from.spec.affinity->pod_anti_affinity
             ->required_during_scheduling_ignored_during_execution) {
      const bool named =
          term.namespace_selector ||
          (term.namespaces.empty() ? from_namespace == namespace_
                                   : std::find(term.namespaces.begin(), term.namespaces.end(),
                                               namespace_) != term.namespaces.end());
      if (!named || !term.label_selector) continue;
      const auto selector = api::Selector::From(*term.label_selector);
      if (selector && selector->Matches(labels)) return true;
    }
    return false;
  }

  bool InTheWay(const cluster::Pod& other) const {
    const cluster::Pod& mine = cluster_.GetPod(id_);
    for (const cluster::HostPort& port : mine.shape->host_ports) {
      for (const cluster::HostPort& taken : other.shape->host_ports) {
        if (port.port == taken.port) return true;
      }
    }
    const api::StringMap& labels = mine.shape->source.metadata.labels;
    return KeepsAway(other.shape->source, other.namespace_(), labels, mine.namespace_()) ||
           KeepsAway(original_, mine.namespace_(), other.shape->source.metadata.labels,
                     other.namespace_());
  }

  // Nodes where one or few pods stand in the way by anti-affinity or host ports.
  void PodsInTheWay() {
    if (!rejected_by_.contains("InterPodAffinity") && !rejected_by_.contains("NodePorts")) return;
    std::map<NodeIndex, std::vector<PodId>> by_node;
    cluster_.Nodes().ForEach([&](NodeIndex n) {
      for (const PodId id : cluster_.Record(n).pods) {
        if (InTheWay(cluster_.GetPod(id))) by_node[n].push_back(id);
      }
    });
    size_t tried = 0;
    size_t found = 0;
    for (const auto& [n, pods] : by_node) {
      if (++tried > kMaxNodesTried || found == 2 || Exhausted()) return;
      if (pods.size() > kMaxMoved || AnySibling(cluster_, id_, pods)) continue;
      if (MovePods(n, pods)) ++found;
    }
  }

  bool MovePods(NodeIndex node, const std::vector<PodId>& pods) {
    ChangedInput input{original_, {}, {}, false};
    std::vector<std::string> names;
    for (const PodId id : pods) {
      names.push_back(cluster_.GetPod(id).Key());
      input.moved_pods.push_back(cluster_.GetPod(id).uid);
    }
    const cluster::Transaction without(cluster_);
    for (const PodId id : pods) cluster_.Unplace(id);
    const int64_t nodes = Try(original_);
    if (nodes > 0) {
      const std::string joined = fmt::format("{}", fmt::join(names, ", "));
      Add("MovePods",
          fmt::format("fits on {} if {} were not on {}", Nodes(nodes), joined,
                      cluster_.NodeName(node)),
          nodes, Examples(search_.feasible()),
          {{"node", cluster_.NodeName(node)}, {"pods", joined}}, std::move(input));
    }
    return nodes > 0;
  }

  // Nodes on which evictions would make room for `pod`, which fits nowhere.
  PreemptionView Evictions(const api::Pod& pod) {
    if (Try(pod) > 0 || !search_.error().empty()) return {};
    PreemptionView view = ViewPreemption(search_, cluster_);
    DropSiblingVictims(source_, id_, &view);
    return view;
  }

  void AddEvictions(std::string kind, const std::string& condition, const PreemptionView& view,
                    ByName<std::string> change, api::Pod pod) {
    std::vector<std::string> examples;
    std::set<std::string> broken;
    for (const PreemptionCandidate& candidate : view.candidates) {
      if (examples.size() < kExamples) examples.push_back(candidate.node);
    }
    for (const Victim& victim : view.candidates.front().victims) {
      if (victim.violates_pdb) broken.insert(victim.pdbs.begin(), victim.pdbs.end());
    }
    std::string text = fmt::format(
        "gets room on {} if {}: evicts {} {} from {}", Nodes(view.candidate_count), condition,
        view.candidates.front().victims.size(),
        view.candidates.front().victims.size() == 1 ? "pod" : "pods", view.candidates.front().node);
    if (!broken.empty()) text += fmt::format(", against PDB {}", fmt::join(broken, ", "));
    Add(std::move(kind), std::move(text), view.candidate_count, std::move(examples),
        std::move(change), {std::move(pod), {}, {}, true});
  }

  void Preemption() {
    if (Exhausted()) return;
    api::Pod pod = original_;
    if (pod.spec.preemption_policy && *pod.spec.preemption_policy == "Never") {
      pod.spec.preemption_policy = std::string("PreemptLowerPriority");
      const PreemptionView view = Evictions(pod);
      if (!view.candidates.empty()) {
        AddEvictions("AllowPreemption", "its preemptionPolicy were PreemptLowerPriority", view,
                     {{"preemptionPolicy", "PreemptLowerPriority"}}, pod);
        return;
      }
    }
    const int32_t own = cluster_.GetPod(id_).shape->priority;
    std::set<int32_t> priorities;
    cluster_.Nodes().ForEach([&](NodeIndex n) {
      for (const PodId other : cluster_.Record(n).pods) {
        const int32_t priority = cluster_.GetPod(other).shape->priority;
        if (priority >= own && priority < 1'000'000'000) priorities.insert(priority);
      }
    });
    size_t tried = 0;
    for (const int32_t priority : priorities) {
      if (++tried > kMaxPriorities || Exhausted()) return;
      pod.spec.priority = priority + 1;
      const PreemptionView view = Evictions(pod);
      if (view.candidates.empty()) continue;
      AddEvictions("RaisePriority", fmt::format("its priority were above {}", priority), view,
                   {{"from", std::to_string(own)}, {"to", std::to_string(priority + 1)}}, pod);
      return;
    }
  }

  // --- Two changes at once

  void Pairs(const std::vector<PodChange>& changes) {
    for (const PodChange& first : changes) {
      if (first.kind == "RaiseMaxSkew") continue;  // dropping it says whether it matters
      api::Pod pod = original_;
      first.apply(pod);
      rejected_by_.insert("NodeResourcesFit");
      Requests(pod, first.text, first.change);
      for (const PodChange& second : changes) {
        if (&second <= &first || Exhausted() || Conflict(first, second)) continue;
        api::Pod both = pod;
        second.apply(both);
        const int64_t nodes = Try(both);
        if (nodes == 0) continue;
        ByName<std::string> change;
        change["first"] = first.kind;
        change["second"] = second.kind;
        Add("Several",
            fmt::format("fits on {} if {} and {}", Nodes(nodes), first.text, second.text), nodes,
            Examples(search_.feasible()), std::move(change), {std::move(both), {}, {}, false});
      }
    }
  }

  // Changes that name positions in the same list do not go together.
  static bool Conflict(const PodChange& first, const PodChange& second) {
    return second.kind == "RaiseMaxSkew" ||
           (first.kind == second.kind &&
            (first.kind.starts_with("DropPod") || first.kind == "DropNodeAffinity"));
  }

  SuggestionList Finish(std::vector<ChangedInput>* inputs) {
    // Nearest first: what the user can change in the pod, then by nodes.
    const auto rank = [](const Found& found) {
      const std::string& kind = found.suggestion.kind;
      return kind == "Several" ? 2 : kind == "AddNode" || kind == "RaisePriority" ? 1 : 0;
    };
    std::stable_sort(found_.begin(), found_.end(), [&](const Found& a, const Found& b) {
      if (rank(a) != rank(b)) return rank(a) < rank(b);
      return a.suggestion.nodes > b.suggestion.nodes;
    });
    if (found_.size() > options_.shown) found_.resize(options_.shown);
    for (Found& found : found_) {
      list_.items.push_back(std::move(found.suggestion));
      if (inputs != nullptr) inputs->push_back(std::move(found.input));
    }
    return std::move(list_);
  }

  const scheduler::Source& source_;
  cluster::Cluster& cluster_;
  SuggestOptions options_;
  PodId id_;
  api::Pod original_;
  Search search_;
  std::shared_ptr<const cluster::Pod> held_;  // holds the shape of tried_
  cluster::Pod tried_;
  std::string gated_;
  std::set<std::string> rejected_by_;
  std::vector<Found> found_;
  SuggestionList list_;
};

}  // namespace

Result<SuggestionList> Suggest(const scheduler::Source& source, PodId id,
                               const SuggestOptions& options, std::vector<ChangedInput>* inputs) {
  const std::string& scheduler = source.cluster->GetPod(id).shape->source.spec.scheduler_name;
  const framework::Profile* profile = source.ProfileFor(scheduler);
  if (profile == nullptr) {
    return Fail(fmt::format("pod {} belongs to scheduler \"{}\", which is not this one",
                            source.cluster->GetPod(id).Key(), scheduler));
  }
  return Suggester(source, *profile, id, options).Run(inputs);
}

}  // namespace berth::explain
