#include "kube/extender/extender_wire.h"

#include <algorithm>
#include <charconv>
#include <initializer_list>

#include <fmt/format.h>

#include "api/codec/json_scan.h"
#include "api/go/go_text.h"
#include "config/json_tree.h"
#include "kube/json_kind.h"

namespace berth::kube {
namespace {

using config::JsonTree;
using scheduler::CallExtender;
using scheduler::ExtenderAnswer;
using Verb = CallExtender::Verb;

// --- Walking over well-formed JSON

std::string_view FirstValue(std::string_view text) {
  const size_t begin = api::SkipJsonBlanks(text, 0);
  const auto end = api::SkipJsonValue(text, begin);
  return end ? text.substr(begin, *end - begin) : std::string_view();
}

// Calls visit(key with its quotes, value) for every member of an object; not at all for others.
template <class Visit>
void ForEachMember(std::string_view object, const Visit& visit) {
  if (object.empty() || object.front() != '{') return;
  size_t pos = api::SkipJsonBlanks(object, 1);
  while (pos < object.size() && object[pos] == '"') {
    const auto key_end = api::SkipJsonValue(object, pos);
    if (!key_end) return;
    const size_t colon = api::SkipJsonBlanks(object, *key_end);
    const size_t begin = api::SkipJsonBlanks(object, colon + 1);
    const auto end = api::SkipJsonValue(object, begin);
    if (!end) return;
    visit(object.substr(pos, *key_end - pos), object.substr(begin, *end - begin));
    pos = api::SkipJsonBlanks(object, *end);
    if (pos >= object.size() || object[pos] != ',') return;
    pos = api::SkipJsonBlanks(object, pos + 1);
  }
}

template <class Visit>
void ForEachItem(std::string_view array, const Visit& visit) {
  if (array.empty() || array.front() != '[') return;
  size_t pos = api::SkipJsonBlanks(array, 1);
  while (pos < array.size() && array[pos] != ']') {
    const auto end = api::SkipJsonValue(array, pos);
    if (!end) return;
    visit(array.substr(pos, *end - pos));
    pos = api::SkipJsonBlanks(array, *end);
    if (pos >= array.size() || array[pos] != ',') return;
    pos = api::SkipJsonBlanks(array, pos + 1);
  }
}

bool SameName(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [&](char x, char y) { return lower(x) == lower(y); });
}

// The value of the last member whose name is `name` in some case; empty: none, or null.
std::string_view Member(std::string_view object, std::string_view name) {
  std::string_view found;
  ForEachMember(object, [&](std::string_view key, std::string_view value) {
    if (SameName(key.substr(1, key.size() - 2), name)) found = value;
  });
  return found == "null" ? std::string_view() : found;
}

// --- Requests

void AppendNames(std::string& out, const std::vector<std::string>& names) {
  out += '[';
  for (size_t i = 0; i < names.size(); ++i) {
    if (i > 0) out += ',';
    api::AppendJsonString(out, names[i]);
  }
  out += ']';
}

void AppendNodes(std::string& out, const std::vector<std::string>& names,
                 const ExtenderObjects& objects) {
  out += R"({"metadata":{},"items":[)";
  for (size_t i = 0; i < names.size(); ++i) {
    if (i > 0) out += ',';
    out += objects.node(names[i]);
  }
  out += "]}";
}

// A victim that has been given its node just now, in the version before that: with the node.
std::string OnNode(std::string pod, const std::string& node) {
  if (!Member(Member(pod, "spec"), "nodeName").empty()) return pod;
  std::string out = "{";
  ForEachMember(pod, [&](std::string_view key, std::string_view value) {
    if (out.size() > 1) out += ',';
    out.append(key).append(":");
    if (key != "\"spec\"" || value.size() < 2) {
      out += value;
      return;
    }
    out += R"({"nodeName":)";
    api::AppendJsonString(out, node);
    if (value != "{}") out += ',';
    out += value.substr(1);
  });
  return out += '}';
}

template <class AppendPod>
void AppendVictims(std::string& out, const CallExtender& call, const AppendPod& append_pod) {
  out += '{';
  bool first = true;
  for (const auto& [node, victims] : call.victims) {
    if (!first) out += ',';
    first = false;
    api::AppendJsonString(out, node);
    out += R"(:{"Pods":[)";
    for (size_t i = 0; i < victims.pods.size(); ++i) {
      if (i > 0) out += ',';
      append_pod(victims.pods[i], node);
    }
    out += fmt::format(R"(],"NumPDBViolations":{}}})", victims.pdb_violations);
  }
  out += '}';
}

std::string PreemptionBody(const CallExtender& call, bool node_cache_capable,
                           const ExtenderObjects& objects) {
  std::string out = R"({"Pod":)" + objects.pod(call.pod);
  if (node_cache_capable) {
    out += R"(,"NodeNameToVictims":null,"NodeNameToMetaVictims":)";
    AppendVictims(out, call, [&](const scheduler::PodRef& pod, const std::string&) {
      out += R"({"UID":)";
      api::AppendJsonString(out, pod.uid);
      out += '}';
    });
  } else {
    out += R"(,"NodeNameToVictims":)";
    AppendVictims(out, call, [&](const scheduler::PodRef& pod, const std::string& node) {
      out += OnNode(objects.pod(pod), node);
    });
    out += R"(,"NodeNameToMetaVictims":null)";
  }
  return out += '}';
}

std::string BindingBody(const CallExtender& call) {
  std::string out = R"({"PodName":)";
  api::AppendJsonString(out, call.pod.name);
  out += R"(,"PodNamespace":)";
  api::AppendJsonString(out, call.pod.namespace_);
  out += R"(,"PodUID":)";
  api::AppendJsonString(out, call.pod.uid);
  out += R"(,"Node":)";
  api::AppendJsonString(out, call.nodes.empty() ? std::string() : call.nodes.front());
  return out += '}';
}

// --- Typed values, with encoding/json's complaints

// Reads parts of one answer; the first complaint is kept.
class Reader {
 public:
  const std::string& Error() const { return error_; }

  // True: `value` may be read as a Go value that JSON writes with `open`.
  bool Is(std::string_view value, char open, std::string_view where, std::string_view type) {
    if (value.empty() || value == "null") return false;
    if (value.front() == open) return true;
    if (!error_.empty()) return false;
    std::string kind(JsonKind(value));
    if (kind == "number") kind += " " + std::string(value);
    error_ = where.empty()
                 ? fmt::format("json: cannot unmarshal {} into Go value of type {}",
                               JsonKind(value), type)
                 : fmt::format("json: cannot unmarshal {} into Go struct field {} of type {}", kind,
                               where, type);
    return false;
  }

  std::string String(std::string_view value, std::string_view where,
                     std::string_view type = "string") {
    if (!Is(value, '"', where, type)) return "";
    const auto tree = config::ParseJson(value);
    return tree ? tree->text : "";
  }

  int64_t Int64(std::string_view value, std::string_view where, std::string_view type = "int64") {
    if (value.empty() || value == "null") return 0;
    int64_t number = 0;
    const char* const end = value.data() + value.size();
    const auto [stop, failure] = std::from_chars(value.data(), end, number);
    if (failure == std::errc() && stop == end) return number;
    if (JsonKind(value) != "number") {
      Is(value, '\0', where, type);
    } else if (error_.empty()) {
      error_ = fmt::format("json: cannot unmarshal number {} into Go struct field {} of type {}",
                           value, where, type);
    }
    return 0;
  }

  std::vector<std::string> Strings(std::string_view value, std::string_view where) {
    std::vector<std::string> strings;
    if (!Is(value, '[', where, "[]string")) return strings;
    ForEachItem(value, [&](std::string_view item) { strings.push_back(String(item, where)); });
    return strings;
  }

  std::map<std::string, std::string> Reasons(std::string_view value, std::string_view where) {
    std::map<std::string, std::string> reasons;
    if (!Is(value, '{', where, "v1.FailedNodesMap")) return reasons;
    ForEachMember(value, [&](std::string_view key, std::string_view reason) {
      reasons[String(key, where)] = String(reason, where);
    });
    return reasons;
  }

  std::vector<std::string> NodeNames(std::string_view list, std::string_view where) {
    std::vector<std::string> names;
    if (!Is(list, '{', where, "v1.NodeList")) return names;
    const std::string_view items = Member(list, "items");
    if (!Is(items, '[', "NodeList.Nodes.items", "[]v1.Node")) return names;
    ForEachItem(items, [&](std::string_view node) {
      names.push_back(
          String(Member(Member(node, "metadata"), "name"), "ObjectMeta.Nodes.items.name"));
    });
    return names;
  }

  void Filter(std::string_view value, bool node_cache_capable, ExtenderAnswer* answer) {
    if (!Is(value, '{', "", "v1.ExtenderFilterResult")) return;
    const std::string_view names = Member(value, "NodeNames");
    auto named = Strings(names, "ExtenderFilterResult.NodeNames");
    auto listed = NodeNames(Member(value, "Nodes"), "ExtenderFilterResult.Nodes");
    answer->nodes = node_cache_capable && !names.empty() ? std::move(named) : std::move(listed);
    answer->failed = Reasons(Member(value, "FailedNodes"), "ExtenderFilterResult.FailedNodes");
    answer->failed_and_unresolvable = Reasons(Member(value, "FailedAndUnresolvableNodes"),
                                              "ExtenderFilterResult.FailedAndUnresolvableNodes");
    OwnError(value, "ExtenderFilterResult.Error");
  }

  void Scores(std::string_view value, ExtenderAnswer* answer) {
    if (!Is(value, '[', "", "v1.HostPriorityList")) return;
    ForEachItem(value, [&](std::string_view item) {
      if (!Is(item, '{', "", "v1.HostPriority")) return;
      answer->scores.emplace_back(String(Member(item, "Host"), "HostPriority.Host"),
                                  Int64(Member(item, "Score"), "HostPriority.Score"));
    });
  }

  void Victims(std::string_view value, ExtenderAnswer* answer) {
    if (!Is(value, '{', "", "v1.ExtenderPreemptionResult")) return;
    constexpr std::string_view kWhere = "ExtenderPreemptionResult.NodeNameToMetaVictims";
    const std::string_view nodes = Member(value, "NodeNameToMetaVictims");
    if (!Is(nodes, '{', kWhere, "map[string]*v1.MetaVictims")) return;
    ForEachMember(nodes, [&](std::string_view key, std::string_view victims) {
      ExtenderAnswer::Victims& taken = answer->victims[String(key, kWhere)];
      if (!Is(victims, '{', kWhere, "v1.MetaVictims")) return;
      taken.pdb_violations = Int64(Member(victims, "NumPDBViolations"),
                                   "MetaVictims.NodeNameToMetaVictims.NumPDBViolations");
      const std::string_view pods = Member(victims, "Pods");
      if (!Is(pods, '[', "MetaVictims.NodeNameToMetaVictims.Pods", "[]*v1.MetaPod")) return;
      ForEachItem(pods, [&](std::string_view pod) {
        taken.uids.push_back(String(Member(pod, "UID"), "MetaPod.NodeNameToMetaVictims.Pods.UID"));
      });
    });
  }

  void Bind(std::string_view value) {
    if (!Is(value, '{', "", "v1.ExtenderBindingResult")) return;
    OwnError(value, "ExtenderBindingResult.Error");
  }

 private:
  void OwnError(std::string_view value, std::string_view where) {
    const std::string own = String(Member(value, "Error"), where);
    if (error_.empty()) error_ = own;
  }

  std::string error_;
};

// The first JSON value of the body, well-formed.
Result<std::string_view> CheckedValue(std::string_view body) {
  const size_t begin = api::SkipJsonBlanks(body, 0);
  if (begin >= body.size()) return Fail("EOF");
  const std::string_view value = FirstValue(body);
  if (!value.empty() && !api::FindJsonError(value)) return value;
  const auto tree = config::ParseJson(value.empty() ? body.substr(begin) : value);
  const std::string why = tree ? "unexpected EOF" : tree.error().Message();
  return Fail(why == "unexpected end of JSON input" ? "unexpected EOF" : why);
}

}  // namespace

std::string ExtenderRequestBody(const CallExtender& call, bool node_cache_capable,
                                const ExtenderObjects& objects) {
  if (call.verb == Verb::kBind) return BindingBody(call);
  if (call.verb == Verb::kPreempt) return PreemptionBody(call, node_cache_capable, objects);
  std::string out = R"({"Pod":)" + objects.pod(call.pod);
  if (node_cache_capable) {
    out += R"(,"Nodes":null,"NodeNames":)";
    AppendNames(out, call.nodes);
  } else {
    out += R"(,"Nodes":)";
    AppendNodes(out, call.nodes, objects);
    out += R"(,"NodeNames":null)";
  }
  return out += '}';
}

Result<ExtenderAnswer> ReadExtenderAnswer(Verb verb, bool node_cache_capable,
                                          std::string_view body) {
  const auto value = CheckedValue(body);
  if (!value) return Fail(value.error());
  ExtenderAnswer answer;
  Reader reader;
  switch (verb) {
    case Verb::kFilter:
      reader.Filter(*value, node_cache_capable, &answer);
      break;
    case Verb::kPrioritize:
      reader.Scores(*value, &answer);
      break;
    case Verb::kPreempt:
      reader.Victims(*value, &answer);
      break;
    case Verb::kBind:
      reader.Bind(*value);
      break;
  }
  if (!reader.Error().empty()) return Fail(reader.Error());
  return answer;
}

namespace {

// The object without the members of these names, which have their quotes. Others are kept as they
// are, but for `changed`.
std::string Without(std::string_view object, std::initializer_list<std::string_view> names,
                    std::string_view changed, std::string_view value_of_changed) {
  std::string out = "{";
  ForEachMember(object, [&](std::string_view key, std::string_view value) {
    if (std::find(names.begin(), names.end(), key) != names.end()) return;
    if (out.size() > 1) out += ',';
    out.append(key).append(":").append(key == changed ? value_of_changed : value);
  });
  return out += '}';
}

}  // namespace

std::string ForExtenders(std::string_view json, bool without_managed_fields) {
  const std::string_view object = FirstValue(json);
  if (object.empty() || object.front() != '{') return std::string(json);
  std::string metadata;
  std::string_view changed;
  if (without_managed_fields) {
    ForEachMember(object, [&](std::string_view key, std::string_view value) {
      if (key != "\"metadata\"" || value.empty() || value.front() != '{') return;
      changed = key;
      metadata = Without(value, {"\"managedFields\""}, {}, {});
    });
  }
  return Without(object, {"\"kind\"", "\"apiVersion\""}, changed, metadata);
}

}  // namespace berth::kube
