// After any sequence of events every column of a cluster equals a recount from scratch.
#include <algorithm>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "api/rules/pod_requests.h"
#include "base/wrap.h"
#include "cluster/cluster.h"
#include "cluster/testing/builders.h"

namespace berth::cluster {
namespace {

const std::vector<std::string> kScalars{"example.com/gpu", "hugepages-2Mi", "x.io/fpga"};
const std::vector<std::string> kImages{"nginx:1", "redis:1", "busybox:latest"};

// What the events should have led to, kept as plain objects.
class Model {
 public:
  explicit Model(uint32_t seed) : random_(seed) {}

  void Step() {
    switch (random_() % 10) {
      case 0:
      case 1:
        return SetNode();
      case 2:
        return RemoveNode();
      case 3:
      case 4:
        return AddPod();
      case 5:
        return UpdatePod();
      case 6:
        return RemovePod();
      case 7:
      case 8:
        return Place();
      default:
        return Unplace();
    }
  }

  void Check() const {
    std::map<std::string, NodeIndex> row_of;  // of every node that exists or has pods
    for (const auto& [name, node] : nodes_) {
      row_of[name] = cluster_.FindNode(name);
      ASSERT_NE(row_of[name], kNoNode) << name;
    }
    std::map<NodeIndex, std::vector<PodId>> pods_on;
    for (const auto& [id, known] : pods_) {
      const Pod& pod = cluster_.GetPod(id);
      ASSERT_EQ(pod.uid, known.pod.metadata.uid);
      ASSERT_EQ(cluster_.FindPod(pod.uid), id);
      if (known.place.empty()) {
        ASSERT_EQ(pod.node, kNoNode) << pod.name;
        continue;
      }
      ASSERT_NE(pod.node, kNoNode) << pod.name;
      ASSERT_EQ(cluster_.NodeName(pod.node), known.place);
      ASSERT_EQ(pod.assumed, known.assumed);
      const auto [it, is_ghost] = row_of.try_emplace(known.place, pod.node);
      ASSERT_EQ(it->second, pod.node) << "all pods of a node are on its row";
      ASSERT_EQ(cluster_.Record(pod.node).pods.at(pod.position), id);
      pods_on[pod.node].push_back(id);
    }
    ASSERT_EQ(cluster_.PodCountTotal(), pods_.size());
    ASSERT_EQ(cluster_.NodeCount(), nodes_.size());
    ASSERT_EQ(cluster_.Nodes().Count(), nodes_.size());
    std::set<NodeIndex> in_order(cluster_.NodeOrder().begin(), cluster_.NodeOrder().end());
    ASSERT_EQ(in_order.size(), nodes_.size());
    std::map<NodeIndex, std::string> name_of;
    for (const auto& [name, row] : row_of) ASSERT_TRUE(name_of.emplace(row, name).second) << name;
    most_rows_ = std::max(most_rows_, row_of.size());
    ASSERT_LE(cluster_.Rows(), most_rows_) << "rows are reused before new ones are made";

    for (NodeIndex n = 0; n < cluster_.PodCount().size(); ++n) {
      const auto it = name_of.find(n);
      CheckRow(n, it == name_of.end() ? "" : it->second, pods_on[n]);
      if (::testing::Test::HasFatalFailure()) return;
    }
    CheckImages(row_of);
    CheckPorts();
  }

 private:
  struct Known {
    api::Pod pod;
    std::string place;  // "" while pending
    bool assumed = false;
  };

  bool Chance(uint32_t one_in) { return random_() % one_in == 0; }
  std::string NodeName() { return "n" + std::to_string(random_() % 12); }
  template <class Map>
  typename Map::iterator Pick(Map& map) {
    return std::next(map.begin(), static_cast<std::ptrdiff_t>(random_() % map.size()));
  }

  void SetNode() {
    MakeNode node(NodeName());
    if (!Chance(4)) node.Cpu(std::to_string(random_() % 64) + "00m");
    if (!Chance(4)) node.Memory(std::to_string(random_() % 1000) + "Mi");
    if (Chance(6)) node.Memory("9223372036854775807");
    for (const std::string& scalar : kScalars) {
      if (Chance(2)) node.Has(scalar, std::to_string(random_() % 9));
    }
    if (Chance(2)) node.Pods(std::to_string(random_() % 200));
    if (Chance(2)) node.Zone(std::string(1, static_cast<char>('a' + random_() % 3)));
    if (Chance(3)) node.Label("disk", Chance(2) ? "ssd" : "hdd");
    if (Chance(3)) node.Taint("t", Chance(2) ? "NoSchedule" : "PreferNoSchedule");
    if (Chance(5)) node.Cordoned();
    for (size_t i = 0; i < kImages.size(); ++i) {
      if (Chance(2)) node.Image({kImages[i]}, static_cast<int64_t>(100 * (i + 1)));
    }
    const api::Node& made = node;
    cluster_.SetNode(made);
    nodes_[made.metadata.name] = made;
  }
  void RemoveNode() {
    const std::string name = NodeName();
    ASSERT_EQ(cluster_.RemoveNode(name), nodes_.erase(name) == 1);
  }

  api::Pod RandomPod(const std::string& name) {
    MakePod pod(name);
    if (!Chance(4)) pod.Requests("cpu", std::to_string(random_() % 20) + "00m");
    if (!Chance(4)) pod.Requests("memory", std::to_string(random_() % 1000) + "Mi");
    if (Chance(8)) pod.Requests("memory", "9223372036854775807");
    for (const std::string& scalar : kScalars) {
      if (Chance(4)) pod.Requests(scalar, std::to_string(random_() % 4));
    }
    if (Chance(3)) pod.Label("app", std::string(1, static_cast<char>('a' + random_() % 3)));
    // No two pods ask for one port: who of them leaves first would matter.
    if (Chance(3)) pod.HostPort(static_cast<int32_t>(1 + next_port_++));
    if (Chance(4)) pod.On(NodeName());
    return pod;
  }
  void AddPod() {
    const std::string name = "p" + std::to_string(next_pod_++);
    api::Pod pod = RandomPod(name);
    const PodId id = cluster_.AddPod(pod);
    ASSERT_EQ(pods_.count(id), 0u);
    pods_[id] = {pod, pod.spec.node_name, false};
  }
  void UpdatePod() {
    if (pods_.empty()) return;
    auto& [id, known] = *Pick(pods_);
    known.pod = RandomPod(known.pod.metadata.name);
    cluster_.UpdatePod(id, known.pod);
    if (known.pod.spec.node_name.empty()) return;
    known.place = known.pod.spec.node_name;
    known.assumed = false;
  }
  void RemovePod() {
    if (pods_.empty()) return;
    const auto it = Pick(pods_);
    cluster_.RemovePod(it->first);
    pods_.erase(it);
  }
  void Place() {
    if (pods_.empty() || nodes_.empty()) return;
    auto& [id, known] = *Pick(pods_);
    if (!known.place.empty()) return;
    known.place = Pick(nodes_)->first;
    known.assumed = Chance(2);
    cluster_.Place(id, cluster_.FindNode(known.place), known.assumed);
  }
  void Unplace() {
    if (pods_.empty()) return;
    auto& [id, known] = *Pick(pods_);
    if (known.place.empty()) return;
    cluster_.Unplace(id);
    known.place.clear();
    known.assumed = false;
  }

  void CheckRow(NodeIndex n, const std::string& name, const std::vector<PodId>& pods) const {
    static const api::Node kNone;
    const auto it = nodes_.find(name);
    const bool exists = it != nodes_.end();
    const api::Node& node = exists ? it->second : kNone;
    SCOPED_TRACE("row " + std::to_string(n) + " " + name);
    if (n < cluster_.Rows()) {
      ASSERT_EQ(cluster_.Nodes().Contains(n), exists);
      ASSERT_EQ(cluster_.Unschedulable().Contains(n), node.spec.unschedulable);
      ASSERT_EQ(cluster_.Tainted().Contains(n), !node.spec.taints.empty());
      std::vector<PodId> listed = cluster_.Record(n).pods;
      std::sort(listed.begin(), listed.end());
      ASSERT_EQ(listed, pods);
    }
    ASSERT_EQ(cluster_.Taints().Get(cluster_.TaintSetOf()[n]), node.spec.taints);
    ASSERT_EQ(cluster_.PodCount()[n], static_cast<int64_t>(pods.size()));
    const auto has = [&](const std::string& resource) {
      const auto found = node.status.allocatable.find(resource);
      if (found == node.status.allocatable.end()) return int64_t{0};
      return resource == "cpu" ? found->second.MilliValue() : found->second.Value();
    };
    ASSERT_EQ(cluster_.AllowedPods()[n], has("pods"));

    std::map<std::string, int64_t> requested;
    int64_t nonzero_cpu = 0;
    int64_t nonzero_memory = 0;
    for (const PodId id : pods) {
      const api::PodResources asks = api::PodResources::Of(pods_.at(id).pod);
      const auto add = [](int64_t& sum, int64_t amount) { sum = WrapAdd(sum, amount); };
      add(requested["cpu"], asks.node.milli_cpu);
      add(requested["memory"], asks.node.memory);
      for (const auto& [scalar, amount] : asks.node.scalars) add(requested[scalar], amount);
      add(nonzero_cpu, asks.nonzero_milli_cpu);
      add(nonzero_memory, asks.nonzero_memory);
    }
    ASSERT_EQ(cluster_.NonzeroCpu()[n], nonzero_cpu);
    ASSERT_EQ(cluster_.NonzeroMemory()[n], nonzero_memory);
    std::vector<std::string> resources = kScalars;
    resources.insert(resources.end(), {"cpu", "memory", "ephemeral-storage"});
    for (const std::string& resource : resources) {
      const ResourceId id = cluster_.Resources().Find(resource);
      const ResourceColumn* column = id == kNoResource ? nullptr : cluster_.Resource(id);
      if (column == nullptr) {
        ASSERT_EQ(requested.count(resource), 0u) << resource;
        continue;
      }
      ASSERT_EQ(column->allocatable[n], has(resource)) << resource;
      ASSERT_EQ(column->requested[n], requested[resource]) << resource;
    }
    for (const std::string key : {"topology.kubernetes.io/zone", "disk"}) {
      const LabelColumn& column = cluster_.Labels(cluster_.Strings().Intern(key));
      const std::string* value = api::FindValue(node.metadata.labels, key);
      const StringId code = column.values[column.codes[n]];
      ASSERT_EQ(code, value == nullptr ? kNoString : cluster_.Strings().Find(*value)) << key;
    }
  }

  void CheckImages(const std::map<std::string, NodeIndex>& row_of) const {
    for (size_t i = 0; i < kImages.size(); ++i) {
      std::vector<NodeIndex> nodes;
      for (const auto& [name, node] : nodes_) {
        for (const api::ContainerImage& image : node.status.images) {
          if (image.names[0] == kImages[i]) nodes.push_back(row_of.at(name));
        }
      }
      std::sort(nodes.begin(), nodes.end());
      const auto* found = cluster_.Images().Find(cluster_.Strings().Intern(kImages[i]));
      ASSERT_EQ(found == nullptr ? std::vector<NodeIndex>() : found->nodes, nodes) << kImages[i];
      if (found != nullptr) {
        ASSERT_EQ(found->size, static_cast<int64_t>(100 * (i + 1)));
      }
    }
  }

  void CheckPorts() const {
    std::map<int32_t, NodeIndex> holder;
    for (const auto& [id, known] : pods_) {
      for (const api::ContainerPort& port : known.pod.spec.containers[0].ports) {
        holder[port.host_port] = cluster_.GetPod(id).node;
      }
    }
    for (int32_t port = 1; port <= next_port_; ++port) {
      const HostPort wanted{cluster_.Strings().Intern("0.0.0.0"), cluster_.Strings().Intern("TCP"),
                            port};
      std::vector<NodeIndex> conflicts;
      cluster_.HostPorts().ForEachConflict(wanted, 0, kNoNode,
                                           [&](NodeIndex n) { conflicts.push_back(n); });
      const auto it = holder.find(port);
      const bool held = it != holder.end() && it->second != kNoNode;
      ASSERT_EQ(conflicts, held ? std::vector<NodeIndex>{it->second} : std::vector<NodeIndex>());
    }
  }

  std::mt19937 random_;
  Cluster cluster_;
  std::map<std::string, api::Node> nodes_;
  std::map<PodId, Known> pods_;
  int next_pod_ = 0;
  int32_t next_port_ = 0;
  mutable size_t most_rows_ = 0;
};

class ClusterEvents : public ::testing::TestWithParam<uint32_t> {};

TEST_P(ClusterEvents, KeepEveryColumnEqualToARecount) {
  Model model(GetParam());
  for (int step = 0; step < 200; ++step) {
    model.Step();
    model.Check();
    ASSERT_FALSE(HasFatalFailure()) << "seed " << GetParam() << ", step " << step;
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, ClusterEvents, ::testing::Range(1u, 7u));

}  // namespace
}  // namespace berth::cluster
