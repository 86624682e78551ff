// berth-conformance --admissions: the kubelet's admission as NodeResourceTopologyMatch replays it
// with accuracy Exact, against recorded admissions of the kubelet's own managers.
#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <simdjson.h>

#include "api/codec/json.h"
#include "conformance/lines.h"
#include "conformance/runner.h"
#include "plugins/node_resource_topology/worlds.h"

namespace berth::conformance {
namespace {

using plugins::node_resource_topology::CellUse;
using plugins::node_resource_topology::KubeletNode;
using plugins::node_resource_topology::KubeletPod;
using plugins::node_resource_topology::NodeTopology;
using simdjson::dom::element;

std::string_view String(element object, std::string_view key) {
  std::string_view text;
  return object[key].get(text) == simdjson::SUCCESS ? text : std::string_view();
}

int64_t Int(element object, std::string_view key) {
  int64_t n = 0;
  return object[key].get(n) == simdjson::SUCCESS ? n : 0;
}

// What the node's agent would publish.
std::string TopologyOf(element line) {
  std::string zones;
  size_t id = 0;
  for (const element cell : line["cells"].get_array()) {
    const auto resource = [&](std::string_view name, std::string_view capacity,
                              std::string_view allocatable, std::string_view available) {
      return fmt::format(R"({{"name":"{}","capacity":"{}","allocatable":"{}","available":"{}"}})",
                         name, Int(cell, capacity), Int(cell, allocatable), Int(cell, available));
    };
    zones += fmt::format(R"({}{{"name":"node-{}","type":"Node","resources":[{},{},{}]}})",
                         zones.empty() ? "" : ",", id++,
                         resource("cpu", "cpus", "allocatableCPUs", "freeCPUs"),
                         resource("memory", "memory", "memory", "freeMemory"),
                         resource("hugepages-2Mi", "huge", "huge", "freeHuge"));
  }
  return fmt::format(
      R"({{"zones":[{}],"attributes":[{{"name":"topologyManagerPolicy","value":"{}"}},)"
      R"({{"name":"topologyManagerScope","value":"{}"}}]}})",
      zones, String(line, "policy"), String(line, "scope"));
}

std::vector<KubeletPod> Pods(element line, std::string_view key) {
  std::vector<KubeletPod> pods;
  simdjson::dom::array list;
  if (line[key].get(list) != simdjson::SUCCESS) return pods;
  for (const element pod : list) {
    pods.emplace_back(*api::FromJson<api::Pod>(simdjson::minify(pod)));
  }
  return pods;
}

int64_t MemoryOf(const KubeletPod& pod, std::string_view resource) {
  for (const auto& [name, bytes] : pod.together.memory) {
    if (name == resource) return bytes;
  }
  return 0;
}

// Others may leave a pod no cell with enough memory.
bool AreCrowded(element line, const std::vector<const KubeletPod*>& pods) {
  for (const auto& [resource, free] :
       {std::pair("memory", "freeMemory"), std::pair("hugepages-2Mi", "freeHuge")}) {
    int64_t all = 0;
    for (const KubeletPod* pod : pods) all += MemoryOf(*pod, resource);
    for (const KubeletPod* pod : pods) {
      const int64_t own = MemoryOf(*pod, resource);
      int64_t to_take = 0;  // for all cells to have less than `own`
      for (const element cell : line["cells"].get_array()) {
        to_take += std::max<int64_t>(0, Int(cell, free) - own + 1);
      }
      if (own > 0 && to_take <= all - own) return true;
    }
  }
  return false;
}

struct Answer {
  bool fits = false;
  // The kubelet makes no hint at all for memory where no cells have enough of it, and then takes it
  // from anywhere. That may be so for pods with more than one cell could ever have, and for pods
  // that come when others have taken theirs. Such pods are refused here.
  bool may_lack_hints = false;
};

Answer Ask(element line) {
  const auto topology = NodeTopology::Parse(TopologyOf(line));
  const auto node = KubeletNode::Of(*topology);
  bool shares_memory = false;
  for (const KubeletPod& pod : Pods(line, "settled")) {
    shares_memory |= node->CellsForMemory(pod) > 1;
  }
  const auto in_flight = Pods(line, "inFlight");
  std::vector<const KubeletPod*> pointers;
  for (const KubeletPod& other : in_flight) pointers.push_back(&other);
  const KubeletPod pod(*api::FromJson<api::Pod>(simdjson::minify(line["pod"])));
  Answer answer;
  answer.fits = FitsInEveryWorld(*node, node->Published(*topology, shares_memory), pointers, pod);
  pointers.push_back(&pod);
  answer.may_lack_hints = node->CellsForMemory(pod) > 1 || AreCrowded(line, pointers);
  return answer;
}

// Init containers that end leave CPUs that may be used again or not, by numbers that are not
// published; so do pods over several cells, and pods in flight that choose by them.
bool IsOneWorld(element line) {
  return String(line, "policy") == "single-numa-node" &&
         simdjson::minify(line).find("\"initContainers\"") == std::string::npos;
}

}  // namespace

int RunAdmissions(const std::string& file) {
  // By group: admitted by the kubelet in every order, and those of them that were refused here.
  std::map<std::string, std::pair<size_t, size_t>> careful;
  const int result = CheckLines(file, [&](element line) {
    bool every = false;
    if (line["every"].get(every) != simdjson::SUCCESS) every = false;
    Checked checked{.group = fmt::format("{}/{}", String(line, "policy"), String(line, "scope")),
                    .difference = {}};
    const auto [fits, may_lack_hints] = Ask(line);
    auto& [all, refused] = careful[checked.group];
    all += every ? 1 : 0;
    refused += every && !fits ? 1 : 0;
    if (fits && !every) {
      checked.difference =
          fmt::format("seed {}: berth says yes, the kubelet may refuse the pod", Int(line, "seed"));
    } else if (every && !fits && !may_lack_hints && IsOneWorld(line)) {
      checked.difference =
          fmt::format("seed {}: berth says no, the kubelet admits the pod", Int(line, "seed"));
    }
    return checked;
  });
  for (const auto& [group, counts] : careful) {
    fmt::print("{} admitted in every order {}, of these refused in a world not recorded {}\n",
               group, counts.first, counts.second);
  }
  return result;
}

}  // namespace berth::conformance
