// berth-conformance --values: quantities, selectors, pod requests and the other values, compared
// case by case.
#include <array>
#include <cmath>
#include <cstdio>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <simdjson.h>

#include "api/codec/json.h"
#include "api/rules/image_name.h"
#include "api/rules/label_selector.h"
#include "api/rules/node_affinity.h"
#include "api/rules/pod_priority.h"
#include "api/rules/pod_requests.h"
#include "api/rules/qualified_name.h"
#include "api/rules/quantity.h"
#include "api/rules/toleration.h"
#include "api/time.h"
#include "cluster/table/node_tree.h"
#include "config/behaviour.h"
#include "conformance/runner.h"
#include "files/read.h"
#include "framework/runtime/num_feasible_nodes.h"
#include "queue/backoff.h"

namespace berth::conformance {
namespace {

using simdjson::dom::element;

constexpr int kShownDifferences = 5;

// A missing key reads as null.
element At(element object, std::string_view key) {
  static simdjson::dom::parser parser;
  static const element kNull = parser.parse(std::string_view("null")).value();
  element out;
  return object.at_key(key).get(out) == simdjson::SUCCESS ? out : kNull;
}

std::string Text(element e) {
  if (e.is_string()) return std::string(e.get_string().value());
  return simdjson::minify(e);
}

std::string String(element object, std::string_view key) { return Text(At(object, key)); }
int64_t Int(element object, std::string_view key) { return At(object, key).get_int64().value(); }

std::string Text(bool b) { return b ? "true" : "false"; }
std::string Text(int64_t n) { return std::to_string(n); }
std::string Text(std::string_view s) { return std::string(s); }

// Compares our values with the recorded ones of one case, by name.
class Comparison {
 public:
  Comparison(element recorded, const config::Behaviour& behaviour)
      : recorded_(recorded), behaviour_(behaviour) {}

  const config::Behaviour& Behaviour() const { return behaviour_; }

  template <class T>
  void Same(std::string_view name, const T& ours) {
    Difference(name, Text(ours), Text(At(recorded_, name)));
  }

  void Difference(std::string_view name, const std::string& ours, const std::string& theirs) {
    if (ours == theirs) return;
    differences_ +=
        "    " + std::string(name) + "\n      ours   " + ours + "\n      theirs " + theirs + "\n";
  }

  // Compares the error if there is one on either side; true if there is none on ours.
  template <class T>
  bool Ok(const Result<T>& result, std::string_view name = "error") {
    const std::string ours = result ? "null" : result.error().Message();
    Difference(name, behaviour_.says_label_key ? api::InLaterWords(ours) : ours,
               Text(At(recorded_, name)));
    return result.has_value();
  }

  const std::string& Differences() const { return differences_; }

 private:
  element recorded_;
  const config::Behaviour& behaviour_;
  std::string differences_;
};

// Decodes a Kubernetes object of the corpus; a case whose object does not decode is a difference.
template <class T>
std::optional<T> Decode(Comparison& c, element json) {
  if (json.is_null()) return std::nullopt;
  Result<T> value = api::FromJson<T>(simdjson::to_string(json));
  if (value) return std::move(*value);
  c.Difference("input", value.error().Message(), "decodes");
  return std::nullopt;
}

api::StringMap Labels(element json) {
  api::StringMap labels;
  simdjson::dom::object object;
  if (json.get(object) != simdjson::SUCCESS) return labels;
  for (const auto [key, value] : object) labels.emplace(std::string(key), Text(value));
  return labels;
}

std::string FormatName(api::Quantity::Format format) {
  switch (format) {
    case api::Quantity::Format::kDecimalSI:
      return "DecimalSI";
    case api::Quantity::Format::kBinarySI:
      return "BinarySI";
    case api::Quantity::Format::kDecimalExponent:
      return "DecimalExponent";
  }
  return "";
}

void CheckQuantity(element in, Comparison& c) {
  const Result<api::Quantity> q = api::Quantity::Parse(String(in, "in"));
  if (!c.Ok(q)) return;
  c.Same("string", q->String());
  c.Same("canonical", q->Canonical());
  c.Same("format", FormatName(q->format()));
  c.Same("value", q->Value());
  c.Same("milliValue", q->MilliValue());
  c.Same("sign", int64_t{q->Sign()});
  c.Same("isZero", q->IsZero());
  const std::string recorded = String(in, "asApproxFloat");
  const double ours = q->AsApproxDouble();
  const double theirs = std::strtod(recorded.c_str(), nullptr);
  if (ours != theirs && !(std::isnan(ours) && std::isnan(theirs))) {
    std::array<char, 64> buffer;
    std::snprintf(buffer.data(), buffer.size(), "%.17g", ours);
    c.Difference("asApproxFloat", buffer.data(), recorded);
  }
}

void CheckQuantityJson(element in, Comparison& c) {
  const Result<api::Quantity> q = api::Quantity::ParseJson(String(in, "json"));
  if (!c.Ok(q)) return;
  c.Same("canonical", q->Canonical());
  c.Same("out", "\"" + q->String() + "\"");
}

void CheckQuantityCmp(element in, Comparison& c) {
  const Result<api::Quantity> a = api::Quantity::Parse(String(in, "a"));
  const Result<api::Quantity> b = api::Quantity::Parse(String(in, "b"));
  if (!c.Ok(a) || !c.Ok(b)) return;
  c.Same("cmp", int64_t{a->Compare(*b)});
  c.Same("equal", *a == *b);
  api::Quantity sum = *a;
  sum.Add(*b);
  c.Same("add", sum.String());
  api::Quantity difference = *a;
  difference.Sub(*b);
  c.Same("sub", difference.String());
}

void CheckLabelSelector(element in, Comparison& c) {
  const auto selector = Decode<api::LabelSelector>(c, At(in, "selector"));
  const Result<api::Selector> s = api::Selector::From(selector);
  if (!c.Ok(s)) return;
  c.Same("string", s->String());
  c.Same("empty", s->Empty());
  simdjson::dom::array matches;
  if (At(in, "matches").get(matches) != simdjson::SUCCESS) return;
  for (const element match : matches) {
    c.Difference(String(match, "labels"), Text(s->Matches(Labels(At(match, "labels")))),
                 String(match, "match"));
  }
}

void CheckLabelSelectorParse(element in, Comparison& c) {
  const Result<api::Selector> s = api::Selector::Parse(String(in, "parse"));
  if (!c.Ok(s)) return;
  c.Same("string", s->String());
  c.Same("match", s->Matches(Labels(At(in, "labels"))));
}

void CheckNodeSelector(element in, Comparison& c) {
  const auto required = Decode<api::NodeSelector>(c, At(in, "required"));
  const element node = At(in, "node");
  const api::RequiredNodeAffinity affinity(Labels(At(in, "nodeSelector")),
                                           required ? &*required : nullptr);
  const Result<bool> match = affinity.Match(String(node, "name"), Labels(At(node, "labels")));
  c.Ok(match, "matchError");
  c.Same("match", match.value_or(false));
  if (required) c.Ok(api::NodeSelectorMatcher::Strict(*required), "parseError");
}

void CheckToleration(element in, Comparison& c) {
  const auto toleration = Decode<api::Toleration>(c, At(in, "toleration"));
  const auto taint = Decode<api::Taint>(c, At(in, "taint"));
  if (toleration && taint) c.Same("tolerates", api::Tolerates(*toleration, *taint));
}

void CheckUntoleratedTaint(element in, Comparison& c) {
  std::vector<api::Taint> taints;
  std::vector<api::Toleration> tolerations;
  for (const element e : At(in, "taints").get_array()) {
    taints.push_back(Decode<api::Taint>(c, e).value_or(api::Taint()));
  }
  for (const element e : At(in, "tolerations").get_array()) {
    tolerations.push_back(Decode<api::Toleration>(c, e).value_or(api::Toleration()));
  }
  const api::Taint* ours = api::FirstUntolerated(taints, tolerations, api::ForbidsScheduling);
  const auto theirs = Decode<api::Taint>(c, At(in, "untolerated"));
  if (ours ? theirs != *ours : theirs.has_value()) {
    c.Difference("untolerated", ours ? api::ToJson(*ours) : "null", String(in, "untolerated"));
  }
}

// {"name":amount} sorted by name, the way the corpus prints maps.
template <class List, class Print>
std::string MapText(const List& list, const Print& print) {
  std::string out = "{";
  for (const auto& [name, amount] : list) {
    if (out.size() > 1) out += ",";
    out += "\"" + std::string(name) + "\":" + print(amount);
  }
  return out + "}";
}

std::string ListText(const api::ResourceList& list) {
  return MapText(list, [](const api::Quantity& q) { return "\"" + q.String() + "\""; });
}

// The fields of `amounts` and of the recorded object `name`.
void SameAmounts(Comparison& c, element recorded, const api::ResourceAmounts& amounts) {
  Comparison inner(recorded, c.Behaviour());
  inner.Same("milliCPU", amounts.milli_cpu);
  inner.Same("memory", amounts.memory);
  inner.Same("ephemeralStorage", amounts.ephemeral_storage);
  inner.Same("scalar", MapText(amounts.scalars, [](int64_t n) { return std::to_string(n); }));
  if (!inner.Differences().empty()) c.Difference("amounts", inner.Differences(), "");
}

void CheckPodRequests(element in, Comparison& c) {
  const auto pod = Decode<api::Pod>(c, At(in, "pod"));
  if (!pod) return;
  c.Same("requests", ListText(api::PodRequests(*pod)));
  const api::RequestRules& rules = c.Behaviour().requests;
  // Recorded with the status alone: that of the pod as a whole does not count.
  const api::RequestRules status_alone{.max_of_totals = rules.max_of_totals};
  c.Same("requestsWithStatus",
         ListText(api::PodRequests(*pod, {.use_status = true, .rules = status_alone})));
  c.Same("limits", ListText(api::PodLimits(*pod)));
  const api::PodResources resources = api::PodResources::Of(*pod, rules);
  SameAmounts(c, At(in, "filter"), resources.filter);
  const element node = At(in, "node");
  SameAmounts(c, node, resources.node);
  c.Difference("nonZeroMilliCPU", Text(resources.nonzero_milli_cpu),
               String(node, "nonZeroMilliCPU"));
  c.Difference("nonZeroMemory", Text(resources.nonzero_memory), String(node, "nonZeroMemory"));
  // Recorded with every feature on, unlike what NodeResourcesFit really scores
  // (PodResources::fit_score).
  const api::ResourceList score = api::PodRequests(
      *pod,
      {.use_status = true, .default_cpu = true, .default_memory = true, .rules = status_alone});
  c.Difference("score.milliCPU", Text(score.at("cpu").MilliValue()),
               String(At(in, "score"), "milliCPU"));
  c.Difference("score.memory", Text(score.at("memory").Value()), String(At(in, "score"), "memory"));
}

queue::BackoffOptions BackoffOf(element in) {
  queue::BackoffOptions options;
  options.initial_ns = Int(in, "initialSeconds") * 1'000'000'000;
  options.max_ns = Int(in, "maxSeconds") * 1'000'000'000;
  return options;
}

void CheckBackoff(element in, Comparison& c) {
  c.Same("durationNs", queue::BackoffDuration(BackoffOf(in), Int(in, "count")));
}

void CheckBackoffTime(element in, Comparison& c) {
  queue::BackoffOptions options = BackoffOf(in);
  options.align_to_second = At(in, "popFromBackoffQ").get_bool().value();
  const Result<api::Time> since = api::Time::Parse(String(in, "timestamp"));
  if (!c.Ok(since)) return;
  const auto end = queue::BackoffExpiration(options, *since, Int(in, "unschedulableCount"),
                                            Int(in, "consecutiveErrorsCount"));
  c.Same("backoffExpiration", end ? end->FormatNano() : std::string("null"));
}

void CheckNumFeasibleNodes(element in, Comparison& c) {
  // The profile's percentage counts before the configuration's.
  const bool own = !At(in, "profilePercentage").is_null();
  const int64_t percentage = Int(in, own ? "profilePercentage" : "globalPercentage");
  c.Same("result", int64_t{framework::NumFeasibleNodesToFind(
                       static_cast<int32_t>(percentage), static_cast<int32_t>(Int(in, "nodes")))});
}

void CheckNodeOrder(element in, Comparison& c) {
  cluster::NodeTree tree;
  std::vector<std::string> names;
  std::map<std::string, uint32_t> ids;
  std::map<std::string, std::string> zone_keys;
  for (const element op : At(in, "ops").get_array()) {
    const std::string name = String(op, "name");
    const auto [it, is_new] = ids.try_emplace(name, static_cast<uint32_t>(names.size()));
    if (is_new) names.push_back(name);
    const std::string what = String(op, "op");
    const std::string zone = cluster::ZoneKey(Labels(At(op, "labels")));
    if (what == "remove") {
      tree.Remove(it->second);
      zone_keys.erase(name);
      continue;
    }
    zone_keys[name] = zone;
    what == "add" ? tree.Add(it->second, zone) : tree.Update(it->second, zone);
  }
  std::string order;
  for (const uint32_t id : tree.List()) order += (order.empty() ? "\"" : ",\"") + names[id] + "\"";
  c.Same("order", "[" + order + "]");
  for (const auto& [name, zone] : zone_keys)
    c.Difference(name, zone, String(At(in, "zoneKeys"), name));
}

void CheckImageName(element in, Comparison& c) {
  c.Same("out", api::NormalizedImageName(String(in, "in")));
}

// A pod with the priority and the start time of a case.
api::Pod PriorityPod(element in) {
  api::Pod pod;
  if (!At(in, "priority").is_null()) pod.spec.priority = static_cast<int32_t>(Int(in, "priority"));
  if (!At(in, "startTime").is_null()) {
    pod.status.start_time = api::Time::Parse(String(in, "startTime")).value_or(api::Time());
  }
  return pod;
}

void CheckPodPriority(element in, Comparison& c) {
  c.Same("result", int64_t{api::PodPriority(PriorityPod(in))});
}

void CheckMoreImportantPod(element in, Comparison& c) {
  c.Same("aMoreImportant",
         api::MoreImportantPod(PriorityPod(At(in, "a")), PriorityPod(At(in, "b")), api::Time()));
}

void CheckQueueSort(element in, Comparison& c) {
  const element a = At(in, "a");
  const element b = At(in, "b");
  c.Same("aFirst", api::QueueLess(api::PodPriority(PriorityPod(a)),
                                  api::Time::Parse(String(a, "timestamp")).value_or(api::Time()),
                                  api::PodPriority(PriorityPod(b)),
                                  api::Time::Parse(String(b, "timestamp")).value_or(api::Time())));
}

// A JSON value that should be a time. The words of a wrong type are those of the JSON decoder.
template <class T>
Result<T> TimeFromJson(element json) {
  if (json.is_null()) return T();
  if (json.is_string()) return T::Parse(json.get_string().value());
  return Fail("json: cannot unmarshal number into Go value of type string");
}

template <class T>
void CheckTimeAs(element in, Comparison& c) {
  simdjson::dom::parser parser;
  const Result<T> time = TimeFromJson<T>(parser.parse(String(in, "in")).value());
  if (!c.Ok(time)) return;
  c.Same("zero", time->IsZero());
  c.Same("out", time->IsZero() ? std::string("null") : "\"" + time->Format() + "\"");
  if (!At(in, "unixNano").is_null()) c.Same("unixNano", time->UnixNano());
}

void CheckTime(element in, Comparison& c) {
  String(in, "kind") == "Time" ? CheckTimeAs<api::Time>(in, c) : CheckTimeAs<api::MicroTime>(in, c);
}

void CheckDuration(element in, Comparison& c) {
  const Result<api::Duration> duration = api::Duration::Parse(String(in, "in"));
  if (!c.Ok(duration)) return;
  c.Same("out", duration->Format());
  c.Same("ns", duration->ns);
}

struct Section {
  std::string_view name;
  void (*check)(element, Comparison&);
};

constexpr std::array kSections{
    Section{"quantity", CheckQuantity},
    Section{"quantityJSON", CheckQuantityJson},
    Section{"quantityCmp", CheckQuantityCmp},
    Section{"labelSelector", CheckLabelSelector},
    Section{"labelSelectorParse", CheckLabelSelectorParse},
    Section{"nodeSelector", CheckNodeSelector},
    Section{"toleration", CheckToleration},
    Section{"untoleratedTaint", CheckUntoleratedTaint},
    Section{"podRequests", CheckPodRequests},
    Section{"backoff", CheckBackoff},
    Section{"backoffTime", CheckBackoffTime},
    Section{"numFeasibleNodesToFind", CheckNumFeasibleNodes},
    Section{"nodeOrder", CheckNodeOrder},
    Section{"imageName", CheckImageName},
    Section{"podPriority", CheckPodPriority},
    Section{"moreImportantPod", CheckMoreImportantPod},
    Section{"queueSort", CheckQueueSort},
    Section{"time", CheckTime},
    Section{"duration", CheckDuration},
};

const Section* FindSection(std::string_view name) {
  for (const Section& section : kSections) {
    if (section.name == name) return &section;
  }
  return nullptr;
}

// True if every case of the section matched.
bool RunSection(const Section& section, const config::Behaviour& behaviour,
                simdjson::dom::array cases) {
  size_t matched = 0;
  int shown = 0;
  for (const element in : cases) {
    Comparison c(in, behaviour);
    section.check(in, c);
    if (c.Differences().empty()) {
      ++matched;
    } else if (shown++ < kShownDifferences) {
      std::printf("  %s\n%s", std::string(simdjson::minify(in)).substr(0, 2000).c_str(),
                  c.Differences().c_str());
    }
  }
  std::printf("%s matched %zu/%zu\n", std::string(section.name).c_str(), matched, cases.size());
  return matched == cases.size();
}

int RunLines(const config::Behaviour& behaviour, const std::string& text, const std::string& file) {
  simdjson::dom::parser parser;
  simdjson::dom::document_stream lines;
  if (parser.parse_many(text, text.size() + 1).get(lines) != simdjson::SUCCESS) {
    std::fprintf(stderr, "%s: not JSON lines\n", file.c_str());
    return 2;
  }
  bool all = true;
  size_t sections = 0;
  for (auto line : lines) {
    simdjson::dom::object object;
    if (line.get(object) != simdjson::SUCCESS) {
      std::fprintf(stderr, "%s: line %zu is not a JSON object\n", file.c_str(), sections + 1);
      return 2;
    }
    for (const auto [name, cases] : object) {
      const Section* section = FindSection(name);
      simdjson::dom::array array;
      if (!section || cases.get(array) != simdjson::SUCCESS) {
        std::fprintf(stderr, "%s: unknown section %s\n", file.c_str(), std::string(name).c_str());
        return 2;
      }
      ++sections;
      all = RunSection(*section, behaviour, array) && all;
    }
  }
  return all && sections > 0 ? 0 : 1;
}

}  // namespace

int RunValues(int minor, const std::string& file) {
  const Result<std::string> text = files::ReadFile(file);
  if (!text) {
    std::fprintf(stderr, "%s\n", text.error().Message().c_str());
    return 2;
  }
  const config::Behaviour behaviour{config::FeatureGates(minor)};
  return RunLines(behaviour, *text, file);
}

}  // namespace berth::conformance
