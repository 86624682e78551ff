#include "explain/groups/help.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "cluster/pods/group_members.h"
#include "cluster/pods/group_state.h"
#include "explain/cluster_copy.h"
#include "explain/patches.h"
#include "explain/suggestions.h"
#include "explain/workload.h"

namespace berth::explain {
namespace {

using cluster::PodId;
using scheduler::PartialPlacement;

constexpr size_t kShown = 12;
constexpr size_t kOwnersTried = 16;  // groups and Jobs that could end
constexpr size_t kOwnersShown = 3;
constexpr size_t kCordonedTried = 32;
constexpr size_t kNodeKindsTried = 6;
constexpr size_t kMaxNewNodes = 64;
constexpr int64_t kSteps = 16;  // parts of a request to choose from
constexpr int64_t kMebi = int64_t{1} << 20;
constexpr std::string_view kHostName = "kubernetes.io/hostname";
constexpr std::string_view kNewNode = "new-node";
constexpr std::string_view kJobName = "batch.kubernetes.io/job-name";  // on pods of Jobs

void Uncordon(api::Node& node) {
  node.spec.unschedulable = false;
  std::erase_if(node.spec.taints, [](const api::Taint& taint) {
    return taint.key == "node.kubernetes.io/unschedulable";
  });
}

// Something that ends by itself and then leaves its nodes: a pod group or a Job.
struct Owner {
  std::string name;  // "podgroup default/first"
  std::vector<PodId> pods;
};

class Help {
 public:
  Help(const scheduler::Source& source, const api::PodGroup& group, const PartialPlacement& best,
       GroupTrial& trial)
      : source_(source), group_(group), best_(best), trial_(trial), cluster_(trial.cluster()) {
    for (const PartialPlacement::Member& member : best.members) {
      if (member.node != cluster::kNoNode) continue;
      if (blocked_ == cluster::kNoPod) blocked_ = member.pod;
      plugins_.insert(member.plugins.begin(), member.plugins.end());
    }
  }

  std::vector<Suggestion> Find() {
    Ends();
    Uncordoned();
    LowerMinimum();
    DropTopology();
    if (blocked_ != cluster::kNoPod) {
      Loosen();
      Requests();
    }
    NewNodes();
    Priority();
    if (found_.size() > kShown) found_.resize(kShown);
    return std::move(found_);
  }

 private:
  Suggestion& Add(std::string kind, const std::string& condition, ByName<std::string> change) {
    Suggestion& suggestion = found_.emplace_back();
    suggestion.kind = std::move(kind);
    suggestion.text = "the group is scheduled " + condition;
    suggestion.change = std::move(change);
    return suggestion;
  }

  bool IsOwn(const cluster::Pod& pod) const {
    const std::string* name = cluster::GroupNameOf(pod);
    return name != nullptr && *name == group_.metadata.name &&
           pod.namespace_() == group_.metadata.namespace_;
  }

  // --- The end of others

  std::vector<Owner> Owners() const {
    std::map<std::string, std::vector<PodId>> by_name;
    for (PodId id = 0; id < cluster_.PodIdLimit(); ++id) {
      if (!cluster_.PodExists(id)) continue;
      const cluster::Pod& pod = cluster_.GetPod(id);
      if (pod.node == cluster::kNoNode || IsOwn(pod)) continue;
      const std::string* group = cluster::GroupNameOf(pod);
      const std::string* job = api::FindValue(pod.shape->source.metadata.labels, kJobName);
      if (group == nullptr && job == nullptr) continue;
      by_name[group != nullptr ? fmt::format("podgroup {}/{}", pod.namespace_(), *group)
                               : fmt::format("job {}/{}", pod.namespace_(), *job)]
          .push_back(id);
    }
    std::vector<Owner> owners;
    for (auto& [name, pods] : by_name) owners.push_back({name, std::move(pods)});
    std::ranges::stable_sort(owners, std::ranges::greater(),
                             [](const Owner& owner) { return owner.pods.size(); });
    if (owners.size() > kOwnersTried) owners.resize(kOwnersTried);
    return owners;
  }

  // Each by itself; if none is enough, the largest ones together.
  void Ends() {
    const std::vector<Owner> owners = Owners();
    size_t shown = 0;
    for (const Owner& owner : owners) {
      if (shown == kOwnersShown || trial_.Exhausted()) return;
      if (!trial_.FitsWithout(group_, owner.pods)) continue;
      ++shown;
      Add("WaitFor", fmt::format("when {} ends ({} pods)", owner.name, owner.pods.size()),
          {{"ends", owner.name}});
    }
    if (shown > 0) return;
    std::vector<PodId> gone;
    std::vector<std::string> names;
    for (const Owner& owner : owners) {
      gone.insert(gone.end(), owner.pods.begin(), owner.pods.end());
      names.push_back(owner.name);
      if (names.size() < 2 || trial_.Exhausted()) continue;
      if (!trial_.FitsWithout(group_, gone)) continue;
      const std::string joined = fmt::format("{}", fmt::join(names, ", "));
      Add("WaitFor", fmt::format("when all of these end ({} pods): {}", gone.size(), joined),
          {{"ends", joined}});
      return;
    }
  }

  // --- Nodes

  const api::Node* NodeObject(const std::string& name) const {
    if (source_.nodes == nullptr) return nullptr;
    const auto it = source_.nodes->find(name);
    return it == source_.nodes->end() ? nullptr : it->second.get();
  }

  // As few as are needed, in order of row.
  void Uncordoned() {
    std::vector<std::string> names;
    cluster_.Unschedulable().ForEach([&](cluster::NodeIndex n) {
      if (cluster_.Nodes().Contains(n) && names.size() < kCordonedTried &&
          NodeObject(cluster_.NodeName(n)) != nullptr) {
        names.push_back(cluster_.NodeName(n));
      }
    });
    std::vector<std::string> open;
    bool fits = false;
    for (const std::string& name : names) {
      if (fits || trial_.Exhausted()) break;
      api::Node node = *NodeObject(name);
      Uncordon(node);
      cluster_.SetNode(node);
      open.push_back(name);
      fits = trial_.Fits(group_);
    }
    // Those that were not needed are cordoned again, one by one.
    for (size_t i = open.size(); fits && i-- > 0 && open.size() > 1;) {
      cluster_.SetNode(*NodeObject(open[i]));
      if (!trial_.Exhausted() && trial_.Fits(group_)) {
        open.erase(open.begin() + static_cast<std::ptrdiff_t>(i));
        continue;
      }
      api::Node node = *NodeObject(open[i]);
      Uncordon(node);
      cluster_.SetNode(node);
    }
    for (const std::string& name : open) cluster_.SetNode(*NodeObject(name));
    if (!fits) return;
    const std::string joined = fmt::format("{}", fmt::join(open, ", "));
    Suggestion& suggestion =
        Add("Uncordon", fmt::format("if {} were uncordoned", joined), {{"nodes", joined}});
    suggestion.what_if.emplace().uncordon = open;
    std::string command = "kubectl uncordon";
    for (const std::string& name : open) command += " " + ShellQuoted(name);
    suggestion.patch = std::move(command);
  }

  // Kinds of nodes that a pod of the group may run on: those it would get now, and the largest.
  std::vector<const api::Node*> NodeKinds() const {
    std::vector<const api::Node*> kinds;
    std::set<std::string> seen;  // amounts and labels of nodes differ; one of each amount is enough
    const auto add = [&](const api::Node* node) {
      if (node == nullptr || kinds.size() == kNodeKindsTried) return;
      std::string amounts;
      for (const auto& [resource, amount] : node->status.allocatable) {
        amounts += fmt::format("{}={},", resource, amount.MilliValue());
      }
      if (seen.insert(amounts).second) kinds.push_back(node);
    };
    for (const PartialPlacement::Member& member : best_.members) {
      if (member.node != cluster::kNoNode) add(NodeObject(cluster_.NodeName(member.node)));
    }
    if (source_.nodes == nullptr) return kinds;
    std::set<std::string> resources{"cpu", "memory"};
    const cluster::Amounts& fit = cluster_.GetPod(trial_.waiting().front()).shape->fit;
    for (const auto& [id, amount] : fit.scalars) resources.insert(cluster_.Resources().Name(id));
    for (const std::string& resource : resources) {
      const api::Node* largest = nullptr;
      int64_t most = -1;
      for (const auto& [name, node] : *source_.nodes) {
        const auto it = node->status.allocatable.find(resource);
        const int64_t amount = it == node->status.allocatable.end() ? 0 : it->second.MilliValue();
        if (amount < most || (amount == most && name > largest->metadata.name)) continue;
        most = amount;
        largest = node.get();
      }
      add(largest);
    }
    return kinds;
  }

  bool FitsWithNew(const api::Node& like, size_t count) {
    std::vector<std::string> names;
    for (size_t i = 0; i < count; ++i) {
      api::Node node = like;
      node.metadata.name = fmt::format("{}-{}", kNewNode, i + 1);
      node.metadata.uid.clear();
      const auto host = node.metadata.labels.find(kHostName);
      if (host != node.metadata.labels.end()) host->second = node.metadata.name;
      Uncordon(node);
      node.status.images.clear();
      node.status.volumes_in_use.clear();
      cluster_.SetNode(node);
      names.push_back(node.metadata.name);
    }
    const bool fits = trial_.Fits(group_);
    for (const std::string& name : names) cluster_.RemoveNode(name);
    return fits;
  }

  void NewNodes() {
    if (cluster_.FindNode(fmt::format("{}-1", kNewNode)) != cluster::kNoNode) return;
    const size_t most = std::min(kMaxNewNodes, trial_.waiting().size());
    for (const api::Node* like : NodeKinds()) {
      if (trial_.Exhausted()) return;
      size_t enough = 1;
      bool fits = FitsWithNew(*like, enough);
      while (!fits && enough < most && !trial_.Exhausted()) {
        enough = std::min(most, enough * 2);
        fits = FitsWithNew(*like, enough);
      }
      if (!fits) continue;
      size_t few = enough / 2 + 1;  // half as many were not enough
      while (few < enough && !trial_.Exhausted()) {
        const size_t middle = (few + enough) / 2;
        if (FitsWithNew(*like, middle)) {
          enough = middle;
        } else {
          few = middle + 1;
        }
      }
      Suggestion& suggestion =
          Add("AddNode",
              enough == 1 ? fmt::format("with a new node like {}", like->metadata.name)
                          : fmt::format("with {} new nodes like {}", enough, like->metadata.name),
              {{"count", std::to_string(enough)}, {"like", like->metadata.name}});
      suggestion.nodes = static_cast<int64_t>(enough);
      suggestion.what_if.emplace().add_nodes = {
          {like->metadata.name, static_cast<int64_t>(enough)}};
      return;
    }
  }

  // --- The group

  void LowerMinimum() {
    if (!group_.spec.scheduling_policy.gang || best_.placed == 0 || trial_.Exhausted()) return;
    const auto fits =
        static_cast<int32_t>(best_.placed + cluster::PlacedMemberCount(cluster_, group_));
    if (fits >= cluster::MinCountOf(group_)) return;
    api::PodGroup changed = group_;
    changed.spec.scheduling_policy.gang->min_count = fits;
    if (!trial_.Fits(changed)) return;
    Suggestion& suggestion =
        Add("LowerMinCount", fmt::format("if minCount were {}", fits),
            {{"from", std::to_string(cluster::MinCountOf(group_))}, {"to", std::to_string(fits)}});
    suggestion.patch = fmt::format(
        "kubectl patch podgroup -n {} {} --type merge -p "
        "'{{\"spec\":{{\"schedulingPolicy\":{{\"gang\":{{\"minCount\":{}}}}}}}}}'",
        ShellQuoted(group_.metadata.namespace_), ShellQuoted(group_.metadata.name), fits);
  }

  void DropTopology() {
    const auto& constraints = group_.spec.scheduling_constraints;
    if (!constraints || constraints->topology.empty() || trial_.Exhausted()) return;
    api::PodGroup changed = group_;
    changed.spec.scheduling_constraints.reset();
    if (!trial_.Fits(changed)) return;
    const std::string& key = constraints->topology.front().key;
    Add("DropTopology", fmt::format("without its topology constraint on {}", key), {{"key", key}});
  }

  // What would be preempted is named: others pay for it.
  void Priority() {
    if (trial_.Exhausted()) return;
    int32_t highest = cluster::PriorityOf(group_);
    for (PodId id = 0; id < cluster_.PodIdLimit(); ++id) {
      if (!cluster_.PodExists(id)) continue;
      const cluster::Pod& pod = cluster_.GetPod(id);
      if (pod.node == cluster::kNoNode || IsOwn(pod)) continue;
      if (pod.shape->priority < 1'000'000'000) highest = std::max(highest, pod.shape->priority);
    }
    if (highest >= 1'000'000'000) return;
    api::PodGroup changed = group_;
    changed.spec.priority = highest + 1;
    const scheduler::GroupResult result =
        trial_.RunChanged(changed, [&](api::Pod& pod) { pod.spec.priority = highest + 1; });
    if (result.preemption.victims.empty()) return;
    const size_t count = result.preemption.victims.size();
    std::vector<std::string> names;
    for (size_t i = 0; i < std::min<size_t>(3, count); ++i) {
      names.push_back(cluster_.GetPod(result.preemption.victims[i]).Key());
    }
    Add("RaisePriority",
        fmt::format("if its priority were above {}, preempting {} pods: {}{}", highest, count,
                    fmt::join(names, ", "), count > names.size() ? ", …" : ""),
        {{"priority", std::to_string(highest + 1)}});
  }

  // --- Its pods

  // For the workload of the first pod that does not fit.
  void AddPatch(Suggestion& suggestion, const std::function<void(api::Pod&)>& edit) const {
    const Workload workload = WorkloadOf(cluster_, blocked_);
    api::Pod changed = workload.pod().pod;
    edit(changed);
    suggestion.patch = WorkloadPatch(workload, SpecPatch(workload.pod().pod, changed));
  }

  void Loosen() {
    for (const PodChange& change : Loosenings(cluster_, ToObject(cluster_.GetPod(blocked_)))) {
      if (change.kind == "RaiseMaxSkew") continue;  // dropping it says whether it matters
      if (trial_.Exhausted()) return;
      if (!trial_.RunChanged(group_, change.apply).status.Ok()) continue;
      Suggestion& suggestion =
          Add(change.kind, "if " + change.text + " for all of its pods", change.change);
      suggestion.kind = change.kind;
      AddPatch(suggestion, change.apply);
    }
  }

  // The largest request with which all pods fit, of each resource by itself.
  void Requests() {
    if (!plugins_.contains("NodeResourcesFit")) return;
    const cluster::Amounts fit = cluster_.GetPod(blocked_).shape->fit;
    std::vector<std::pair<std::string, int64_t>> demands{{"cpu", fit.cpu}, {"memory", fit.memory}};
    for (const auto& [id, amount] : fit.scalars) {
      demands.emplace_back(cluster_.Resources().Name(id), amount);
    }
    for (const auto& [resource, amount] : demands) {
      const std::vector<int64_t> targets = TargetsBelow(resource, amount);
      const auto edit_to = [&, name = resource](int64_t target) {
        return [name, target](api::Pod& pod) { LowerRequest(pod, name, target); };
      };
      size_t low = 0;
      size_t high = targets.size();  // those from here on are not known to fit
      while (low < high) {
        const size_t middle = (low + high) / 2;
        if (!trial_.Exhausted() &&
            trial_.RunChanged(group_, edit_to(targets[middle])).status.Ok()) {
          high = middle;
        } else {
          low = middle + 1;
        }
      }
      if (low == targets.size()) continue;
      const std::string text = AmountText(resource, targets[low]);
      Suggestion& suggestion =
          Add("LowerRequest", fmt::format("if its pods had {} request ≤ {}", resource, text),
              {{"from", AmountText(resource, amount)}, {"resource", resource}, {"to", text}});
      AddPatch(suggestion, edit_to(targets[low]));
    }
  }

  // Largest first.
  static std::vector<int64_t> TargetsBelow(const std::string& resource, int64_t amount) {
    std::vector<int64_t> targets;
    const bool bytes = resource == "memory";
    for (int64_t part = kSteps - 1; part >= 1; --part) {
      int64_t target = amount <= kSteps ? amount - (kSteps - part) : amount / kSteps * part;
      if (bytes && target >= kMebi) target = target / kMebi * kMebi;
      if (target >= 1 && target < amount) targets.push_back(target);
    }
    return targets;
  }

  const scheduler::Source& source_;
  const api::PodGroup& group_;
  const PartialPlacement& best_;
  GroupTrial& trial_;
  cluster::Cluster& cluster_;
  PodId blocked_ = cluster::kNoPod;  // the first pod that does not fit
  std::set<std::string> plugins_;    // that reject nodes for such pods
  std::vector<Suggestion> found_;
};

}  // namespace

std::vector<Suggestion> HelpForGroup(const scheduler::Source& source, const api::PodGroup& group,
                                     const PartialPlacement& best, GroupTrial& trial) {
  return Help(source, group, best, trial).Find();
}

}  // namespace berth::explain
