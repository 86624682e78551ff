#include "explain/patches.h"

#include <map>
#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "api/codec/json.h"
#include "api/codec/yaml_writer.h"
#include "explain/report.h"

namespace berth::explain {
namespace {

std::string Quoted(std::string_view text) {
  const std::string json = api::ToJson(ByName<std::string>{{"t", std::string(text)}});
  return json.substr(5, json.size() - 6);  // of {"t":"…"}
}

// An object of a patch: members in order of arrival, each JSON.
class Members {
 public:
  void Add(std::string_view key, std::string value) {
    if (!text_.empty()) text_ += ',';
    text_ += Quoted(key) + ":" + value;
  }
  bool Empty() const { return text_.empty(); }
  std::string Text() const { return "{" + text_ + "}"; }

 private:
  std::string text_;
};

template <class T>
std::string ListOf(const std::vector<T>& items) {
  std::vector<std::string> texts;
  for (const T& item : items) texts.push_back(api::ToJson(item));
  return texts.empty() ? "null" : fmt::format("[{}]", fmt::join(texts, ","));
}

// What the admission of pods adds is no part of a template.
bool IsDefault(const api::Toleration& toleration) {
  return toleration.toleration_seconds && (toleration.key == "node.kubernetes.io/not-ready" ||
                                           toleration.key == "node.kubernetes.io/unreachable");
}

class SpecDiff {
 public:
  SpecDiff(const api::PodSpec& before, const api::PodSpec& after)
      : before_(before), after_(after) {}

  std::string Text() {
    if (before_.volumes != after_.volumes || before_.resource_claims != after_.resource_claims) {
      return "";
    }
    NodeSelector();
    Tolerations();
    Affinity();
    Spread();
    Containers("initContainers", before_.init_containers, after_.init_containers);
    Containers("containers", before_.containers, after_.containers);
    Gates();
    return whole_ && !spec_.Empty() ? spec_.Text() : "";
  }

 private:
  void NodeSelector() {
    Members changes;
    for (const auto& [key, value] : before_.node_selector) {
      if (!after_.node_selector.contains(key)) changes.Add(key, "null");
    }
    if (!changes.Empty()) spec_.Add("nodeSelector", changes.Text());
  }

  void Tolerations() {
    if (before_.tolerations == after_.tolerations) return;
    std::vector<api::Toleration> list;
    for (const api::Toleration& toleration : after_.tolerations) {
      if (!IsDefault(toleration)) list.push_back(toleration);
    }
    spec_.Add("tolerations", ListOf(list));
  }

  void Affinity() {
    if (!before_.affinity || !after_.affinity || before_.affinity == after_.affinity) return;
    constexpr std::string_view kRequired = "requiredDuringSchedulingIgnoredDuringExecution";
    constexpr std::string_view kPreferred = "preferredDuringSchedulingIgnoredDuringExecution";
    Members affinity;
    const auto& nodes = before_.affinity->node_affinity;
    const auto& nodes_after = after_.affinity->node_affinity;
    if (nodes && nodes_after && !(*nodes == *nodes_after)) {
      const auto& required = nodes_after->required_during_scheduling_ignored_during_execution;
      Members node;
      node.Add(kRequired, required ? api::ToJson(*required) : "null");
      affinity.Add("nodeAffinity", node.Text());
    }
    const auto pods = [&](std::string_view name, const auto& was, const auto& is) {
      if (!was || !is || *was == *is) return;
      Members terms;
      terms.Add(kRequired, ListOf(is->required_during_scheduling_ignored_during_execution));
      if (was->preferred_during_scheduling_ignored_during_execution !=
          is->preferred_during_scheduling_ignored_during_execution) {
        terms.Add(kPreferred, ListOf(is->preferred_during_scheduling_ignored_during_execution));
      }
      affinity.Add(name, terms.Text());
    };
    pods("podAffinity", before_.affinity->pod_affinity, after_.affinity->pod_affinity);
    pods("podAntiAffinity", before_.affinity->pod_anti_affinity,
         after_.affinity->pod_anti_affinity);
    if (!affinity.Empty()) spec_.Add("affinity", affinity.Text());
  }

  // Constraints are merged by topology key and whenUnsatisfiable does not matter: two with one key
  // cannot be told apart.
  void Spread() {
    std::vector<std::string> list;
    std::map<std::string, int> keys;
    const auto& was = before_.topology_spread_constraints;
    const auto& is = after_.topology_spread_constraints;
    for (const auto& constraint : was) ++keys[constraint.topology_key];
    for (size_t i = 0; i < was.size() && i < is.size(); ++i) {
      if (was[i] == is[i]) continue;
      if (keys[was[i].topology_key] > 1) whole_ = false;
      Members entry;
      entry.Add("topologyKey", Quoted(is[i].topology_key));
      entry.Add("maxSkew", std::to_string(is[i].max_skew));
      entry.Add("whenUnsatisfiable", Quoted(is[i].when_unsatisfiable));
      list.push_back(entry.Text());
    }
    if (!list.empty()) {
      spec_.Add("topologySpreadConstraints", fmt::format("[{}]", fmt::join(list, ",")));
    }
  }

  void Containers(std::string_view name, const std::vector<api::Container>& was,
                  const std::vector<api::Container>& is) {
    std::vector<std::string> list;
    for (size_t i = 0; i < was.size() && i < is.size(); ++i) {
      Members entry;
      Requests(was[i], is[i], &entry);
      Ports(was[i], is[i], &entry);
      if (was[i].resources.claims.size() != is[i].resources.claims.size()) whole_ = false;
      if (entry.Empty()) continue;
      Members named;
      named.Add("name", Quoted(was[i].name));
      const std::string text = entry.Text();
      list.push_back(named.Text().substr(0, named.Text().size() - 1) + "," + text.substr(1));
    }
    if (!list.empty()) spec_.Add(name, fmt::format("[{}]", fmt::join(list, ",")));
  }

  // Extended resources and huge pages are not overcommitted: their limit is their request.
  static void Requests(const api::Container& was, const api::Container& is, Members* entry) {
    Members requests;
    Members limits;
    for (const auto& [resource, amount] : was.resources.requests) {
      const auto it = is.resources.requests.find(resource);
      if (it != is.resources.requests.end() && it->second == amount) continue;
      const std::string value =
          it == is.resources.requests.end() ? "null" : Quoted(it->second.String());
      requests.Add(resource, value);
      const bool overcommitted =
          resource == "cpu" || resource == "memory" || resource == "ephemeral-storage";
      if (!overcommitted) limits.Add(resource, value);
    }
    if (requests.Empty()) return;
    Members resources;
    resources.Add("requests", requests.Text());
    if (!limits.Empty()) resources.Add("limits", limits.Text());
    entry->Add("resources", resources.Text());
  }

  static void Ports(const api::Container& was, const api::Container& is, Members* entry) {
    std::vector<std::string> list;
    for (size_t i = 0; i < was.ports.size() && i < is.ports.size(); ++i) {
      if (was.ports[i].host_port == is.ports[i].host_port) continue;
      list.push_back(
          fmt::format(R"({{"containerPort":{},"hostPort":null}})", was.ports[i].container_port));
    }
    if (!list.empty()) entry->Add("ports", fmt::format("[{}]", fmt::join(list, ",")));
  }

  void Gates() {
    std::vector<std::string> list;
    if (before_.scheduling_gates.size() <= after_.scheduling_gates.size()) return;
    for (const auto& gate : before_.scheduling_gates) {
      list.push_back(fmt::format(R"({{"$patch":"delete","name":{}}})", Quoted(gate.name)));
    }
    spec_.Add("schedulingGates", fmt::format("[{}]", fmt::join(list, ",")));
  }

  const api::PodSpec& before_;
  const api::PodSpec& after_;
  Members spec_;
  bool whole_ = true;
};

// A name of Kubernetes' kind: nothing in it means anything to a shell or a comment.
bool IsPlain(const std::string& name) {
  return !name.empty() &&
         name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-.") == std::string::npos;
}

// Lines of a manifest, under a comment that says whose.
std::string AsManifest(std::string_view of, const std::string& patch) {
  const auto yaml = api::JsonToYaml(patch);
  return yaml ? fmt::format("# to change in the manifest of {}:\n{}", of, *yaml) : "";
}

}  // namespace

std::string ShellQuoted(std::string_view text) {
  std::string quoted = "'";
  for (const char c : text) {
    if (c == '\'') {
      quoted += R"('\'')";
    } else {
      quoted += c;
    }
  }
  return quoted + "'";
}

std::string SpecPatch(const api::Pod& before, const api::Pod& after) {
  return SpecDiff(before.spec, after.spec).Text();
}

std::string WorkloadPatch(const Workload& workload, const std::string& spec) {
  if (spec.empty()) return "";
  const api::Pod& pod = workload.pod().pod;
  const std::string& ns = pod.metadata.namespace_;
  const std::string& name = pod.metadata.name;
  const bool plain = IsPlain(ns) && IsPlain(name);
  if (workload.kind.empty()) {
    const std::string patch = fmt::format(R"({{"spec":{}}})", spec);
    if (!plain) return AsManifest("the pod", patch);
    // Gates may be removed while the pod is pending; anything else needs another pod.
    if (spec.starts_with(R"({"schedulingGates":)")) {
      return fmt::format("kubectl -n {} patch pod {} --type=strategic -p {}", ns, name,
                         ShellQuoted(patch));
    }
    return fmt::format(
        "kubectl -n {0} get pod {1} -o yaml | kubectl patch --local -f - --type=strategic -o yaml "
        "-p {2} | kubectl replace --force -f -",
        ns, name, ShellQuoted(patch));
  }
  static const std::map<std::string, std::string> kPatched = {
      {"Deployment", "deployment"}, {"StatefulSet", "statefulset"}, {"DaemonSet", "daemonset"}};
  const std::string patch = fmt::format(R"({{"spec":{{"template":{{"spec":{}}}}}}})", spec);
  const auto kind = kPatched.find(workload.kind);
  if (kind == kPatched.end() || !plain || !IsPlain(workload.name)) {
    return AsManifest(fmt::format("{} {}/{}", workload.kind, ns, workload.name), patch);
  }
  std::string command = fmt::format("kubectl -n {} patch {} {} --type=strategic -p {}", ns,
                                    kind->second, workload.name, ShellQuoted(patch));
  // A rolling update waits for a pod that is not ready, so the pending one has to go.
  if (workload.kind == "StatefulSet") {
    command += fmt::format(" && kubectl -n {} delete pod {}", ns, name);
  }
  return command;
}

}  // namespace berth::explain
