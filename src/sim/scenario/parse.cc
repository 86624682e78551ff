// ParseScenario: decodes the file strictly, then checks what types alone cannot say.
#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "api/codec/json.h"
#include "api/codec/yaml.h"
#include "sim/scenario/scenario.h"
#include "sim/workloads.h"

namespace berth::sim {
namespace {

constexpr std::string_view kApiVersion = "berth.dev/v1alpha1";
constexpr api::DecodeOptions kStrict{.strict = true};
constexpr Nanos kLongestRun = 366 * 24 * 60 * kMinute;

template <class... Args>
tl::unexpected<Error> Wrong(std::string_view path, fmt::format_string<Args...> text,
                            Args&&... args) {
  return Fail(Error(fmt::format(text, std::forward<Args>(args)...)).In(path));
}

std::string Sub(std::string_view path, std::string_view field) {
  return path.empty() ? std::string(field) : fmt::format("{}.{}", path, field);
}

Result<void> CheckName(const std::string& path, const std::string& name) {
  if (name.empty()) return Wrong(path, "is missing");
  const auto good = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.';
  };
  if (name.size() > 200 || !std::all_of(name.begin(), name.end(), good)) {
    return Wrong(path, "\"{}\" is no name: lower case letters, digits, - and . only", name);
  }
  return {};
}

Result<void> CheckCount(const std::string& path, int64_t count, int64_t low) {
  if (count < low || count > kMaxCount) {
    return Wrong(path, "{} is not from {} to {}", count, low, kMaxCount);
  }
  return {};
}

Result<void> CheckLength(const std::string& path, const std::optional<api::Duration>& length,
                         Nanos low) {
  if (length && (length->ns < low || length->ns > kLongestRun)) {
    return Wrong(path, "{} is not from {} to {}", length->Format(), api::Duration{low}.Format(),
                 api::Duration{kLongestRun}.Format());
  }
  return {};
}

Result<void> CheckAmount(const std::string& path, const api::Quantity& amount, bool required) {
  if (amount.MilliValue() < 0) return Wrong(path, "{} is negative", amount.String());
  if (required && amount.MilliValue() == 0) return Wrong(path, "is missing");
  return {};
}

// The first of them that failed.
Result<void> All(std::initializer_list<Result<void>> results) {
  for (const auto& result : results) {
    if (!result) return result;
  }
  return {};
}

Result<void> CheckTaints(const std::string& path, const std::vector<std::string>& taints,
                         bool key_is_enough) {
  for (size_t i = 0; i < taints.size(); ++i) {
    if (key_is_enough && taints[i].find(':') == std::string::npos && !taints[i].empty()) continue;
    if (auto taint = ParseTaint(taints[i]); !taint) {
      return Fail(taint.error().In(fmt::format("{}[{}]", path, i)));
    }
  }
  return {};
}

Result<void> CheckGroup(const std::string& path, const NodeGroup& group) {
  for (const auto& [name, amount] : group.resources) {
    if (auto ok = CheckAmount(fmt::format("{}.resources.{}", path, name), amount, false); !ok) {
      return ok;
    }
  }
  return All({CheckCount(Sub(path, "count"), group.count, 0),
              CheckName(Sub(path, "name"), group.name),
              CheckAmount(Sub(path, "cpu"), group.cpu, true),
              CheckAmount(Sub(path, "memory"), group.memory, true),
              CheckCount(Sub(path, "pods"), group.pods.value_or(0), 0),
              CheckTaints(Sub(path, "taints"), group.taints, false)});
}

Result<void> CheckSelector(const std::string& path, const std::string& text) {
  if (auto selector = api::Selector::Parse(text); !selector) {
    return Wrong(path, "\"{}\": {}", text, selector.error().Message());
  }
  return {};
}

Result<void> CheckPick(const std::string& path, const NodePick& pick) {
  if (pick.name.empty() && pick.selector.empty() && !pick.count) {
    return Wrong(path, "says no node; give name (\"*\" for all), selector or count");
  }
  if (pick.count) {
    if (auto ok = CheckCount(Sub(path, "count"), *pick.count, 1); !ok) return ok;
  }
  return CheckSelector(Sub(path, "selector"), pick.selector);
}

Result<void> CheckLifetime(const std::string& path, const api::StringMap& annotations) {
  const std::string* lifetime = api::FindValue(annotations, kLifetimeAnnotation);
  if (lifetime == nullptr) return {};
  if (auto ok = Spread::Parse(*lifetime); !ok) {
    return Fail(ok.error().In(fmt::format("{}.annotations[{}]", path, kLifetimeAnnotation)));
  }
  return {};
}

const api::PodTemplateSpec* TemplateOf(const api::Object& object) {
  return std::visit(
      [](const auto& value) -> const api::PodTemplateSpec* {
        if constexpr (requires { value.spec.template_.spec.containers; }) {
          return &value.spec.template_;
        } else {
          return nullptr;
        }
      },
      object);
}

// What scenarios ask of any object, wherever it comes from.
Result<void> CheckObject(const api::Object& object) {
  const api::ObjectMeta* metadata = api::MetadataOf(object);
  if (metadata == nullptr) return Fail(fmt::format("{} cannot be applied", api::KindOf(object)));
  if (metadata->name.empty() && metadata->generate_name.empty()) {
    return Wrong("metadata.name", "is missing");
  }
  if (const int64_t asked = ReplicasAsked(object); asked < 0 || asked > kMaxCount) {
    return Fail(fmt::format("asks for {} pods; from 0 to {} are simulated", asked, kMaxCount));
  }
  if (std::holds_alternative<api::CronJob>(object)) {
    return Fail(
        "CronJobs do not run here; give an event with `every` that applies a Job with a "
        "generateName");
  }
  if (const api::PodTemplateSpec* from = TemplateOf(object)) {
    return CheckLifetime("spec.template.metadata", from->metadata.annotations);
  }
  return CheckLifetime("metadata", metadata->annotations);
}

Result<void> AddInline(const std::string& path, const std::vector<api::RawJson>& from,
                       std::vector<api::Object>* objects) {
  for (size_t i = 0; i < from.size(); ++i) {
    const std::string at = fmt::format("{}[{}]", path, i);
    auto object = api::DecodeObject(from[i].text, kStrict);
    if (!object) return Fail(object.error().In(at));
    if (const auto* unknown = std::get_if<api::UnknownObject>(&*object)) {
      return Wrong(at, "scheduling knows no kind \"{}\" of apiVersion \"{}\"", unknown->kind,
                   unknown->api_version);
    }
    if (auto ok = CheckObject(*object); !ok) return Fail(ok.error().In(at));
    objects->push_back(std::move(*object));
  }
  return {};
}

Result<void> AddFile(const std::string& path, const std::string& file, const ManifestReader& read,
                     std::vector<api::Object>* objects) {
  auto more = read(file);
  if (!more) return Fail(more.error().In(path));
  if (auto ok = AddObjects(std::move(*more), objects); !ok) {
    return Fail(ok.error().In(file).In(path));
  }
  return {};
}

// The pod that `arrivals` describe.
Result<void> MakeArrival(const std::string& path, PodArrivals* arrivals) {
  api::PodTemplateSpec from;
  if (!arrivals->template_.text.empty()) {
    auto decoded = api::FromJson<api::PodTemplateSpec>(arrivals->template_.text, kStrict);
    if (!decoded) return Fail(decoded.error().In(Sub(path, "template")));
    from = std::move(*decoded);
  }
  api::Pod& pod = arrivals->pod;
  pod.metadata = std::move(from.metadata);
  pod.spec = std::move(from.spec);
  pod.metadata.namespace_ = arrivals->namespace_;
  for (const auto& [key, value] : arrivals->labels) pod.metadata.labels[key] = value;
  if (!arrivals->lifetime.empty()) {
    if (auto ok = Spread::Parse(arrivals->lifetime); !ok) {
      return Fail(ok.error().In(Sub(path, "lifetime")));
    }
    pod.metadata.annotations[std::string(kLifetimeAnnotation)] = arrivals->lifetime;
  }
  if (pod.spec.containers.empty()) {
    api::Container& container = pod.spec.containers.emplace_back();
    container.name = "main";
    container.image = "main";
  }
  auto& requests = pod.spec.containers.front().resources.requests;
  if (arrivals->cpu) requests["cpu"] = *arrivals->cpu;
  if (arrivals->memory) requests["memory"] = *arrivals->memory;
  if (!arrivals->priority_class_name.empty()) {
    pod.spec.priority_class_name = arrivals->priority_class_name;
  }
  if (arrivals->priority) pod.spec.priority = arrivals->priority;
  return CheckLifetime(Sub(path, "template.metadata"), pod.metadata.annotations);
}

Result<void> CheckArrivals(const std::string& path, PodArrivals* arrivals) {
  if (arrivals->count.has_value() == arrivals->per_second.has_value()) {
    return Wrong(path, "give either count or perSecond");
  }
  if (arrivals->for_ && !arrivals->per_second) {
    return Wrong(Sub(path, "for"), "only arrivals with perSecond go on");
  }
  const double rate = arrivals->per_second.value_or(1);
  if (!(rate > 0 && rate <= 100'000)) {
    return Wrong(Sub(path, "perSecond"), "{} is not above 0 and up to 100000", rate);
  }
  if (!arrivals->priority_class_name.empty() && arrivals->priority) {
    return Wrong(Sub(path, "priority"), "the class says it already; give one of them");
  }
  if (auto ok = All(
          {CheckName(Sub(path, "name"), arrivals->name),
           CheckCount(Sub(path, "count"), arrivals->count.value_or(1), 1),
           CheckLength(Sub(path, "for"), arrivals->for_, 1),
           CheckAmount(Sub(path, "cpu"), arrivals->cpu.value_or(api::Quantity()), false),
           CheckAmount(Sub(path, "memory"), arrivals->memory.value_or(api::Quantity()), false)});
      !ok) {
    return ok;
  }
  return MakeArrival(path, arrivals);
}

Result<void> CheckScale(const std::string& path, const ScaleWorkload& scale) {
  constexpr std::string_view kKinds[] = {"Deployment", "ReplicaSet", "ReplicationController",
                                         "StatefulSet", "Job"};
  if (std::find(std::begin(kKinds), std::end(kKinds), scale.kind) == std::end(kKinds)) {
    return Wrong(Sub(path, "kind"), "\"{}\" is none of {}", scale.kind, fmt::join(kKinds, ", "));
  }
  if (scale.name.empty()) return Wrong(Sub(path, "name"), "is missing");
  return CheckCount(Sub(path, "replicas"), scale.replicas, 0);
}

Result<void> CheckDelete(const std::string& path, const DeleteObjects& d) {
  if (d.kind.empty()) return Wrong(Sub(path, "kind"), "is missing");
  if (d.name.empty() && d.selector.empty()) {
    return Wrong(path, "give name (\"*\" for all) or selector");
  }
  return CheckSelector(Sub(path, "selector"), d.selector);
}

Result<void> CheckResize(const std::string& path, const ResizeNodes& resize) {
  if (!resize.cpu && !resize.memory && !resize.pods) {
    return Wrong(path, "changes nothing; give cpu, memory or pods");
  }
  return All({CheckPick(Sub(path, "nodes"), resize.nodes),
              CheckAmount(Sub(path, "cpu"), resize.cpu.value_or(api::Quantity()), false),
              CheckAmount(Sub(path, "memory"), resize.memory.value_or(api::Quantity()), false),
              CheckCount(Sub(path, "pods"), resize.pods.value_or(0), 0)});
}

Result<void> CheckWhen(const ScenarioEvent& event) {
  const std::string& path = event.path;
  if (!event.at && !event.every) return Wrong(path, "when? Give at or every");
  if (!event.every && (event.until || event.times)) {
    return Wrong(path, "until and times belong to every");
  }
  if (event.times) {
    if (auto ok = CheckCount(Sub(path, "times"), *event.times, 1); !ok) return ok;
  }
  return All({CheckLength(Sub(path, "at"), event.at, 0),
              CheckLength(Sub(path, "every"), event.every, kMillisecond),
              CheckLength(Sub(path, "until"), event.until, 0)});
}

// Checks what happens, and that it is one thing.
Result<void> CheckWhat(ScenarioEvent* event, const ManifestReader& read) {
  const std::string& path = event->path;
  std::vector<std::string_view> given;
  Result<void> first;
  const auto look = [&](std::string_view field, bool is_given, auto&& check) {
    if (!is_given) return;
    given.push_back(field);
    if (first) first = check(Sub(path, field));
  };
  const auto look_at = [&](std::string_view field, auto& what, auto&& check) {
    look(field, what.has_value(), [&](const std::string& at) { return check(at, *what); });
  };
  look("apply", !event->apply.empty(),
       [&](const std::string& at) { return AddInline(at, event->apply, &event->objects); });
  look("applyFile", !event->apply_file.empty(), [&](const std::string& at) {
    return AddFile(at, event->apply_file, read, &event->objects);
  });
  look_at("delete", event->delete_, CheckDelete);
  look_at("scale", event->scale, CheckScale);
  look_at("cordon", event->cordon, CheckPick);
  look_at("uncordon", event->uncordon, CheckPick);
  look_at("drain", event->drain, CheckPick);
  const auto taint = [](bool key_is_enough) {
    return [=](const std::string& at, const TaintNodes& t) -> Result<void> {
      if (t.taints.empty()) return Wrong(Sub(at, "taints"), "is missing");
      return All({CheckPick(Sub(at, "nodes"), t.nodes),
                  CheckTaints(Sub(at, "taints"), t.taints, key_is_enough)});
    };
  };
  look_at("taint", event->taint, taint(false));
  look_at("untaint", event->untaint, taint(true));
  look_at("label", event->label, [](const std::string& at, const LabelNodes& l) -> Result<void> {
    if (l.labels.empty() && l.remove.empty()) return Wrong(at, "give labels or remove");
    return CheckPick(Sub(at, "nodes"), l.nodes);
  });
  look_at("resize", event->resize, CheckResize);
  look_at("addNodes", event->add_nodes, CheckGroup);
  look_at("removeNodes", event->remove_nodes, CheckPick);
  look_at("pods", event->pods,
          [](const std::string& at, PodArrivals& p) { return CheckArrivals(at, &p); });
  look_at("crashScheduler", event->crash_scheduler,
          [](const std::string& at, const CrashScheduler& crash) {
            return CheckLength(Sub(at, "down"), crash.down, kMillisecond);
          });
  if (!first) return first;
  if (given.empty()) return Wrong(path, "nothing happens; give one action, such as apply or pods");
  if (given.size() > 1) {
    return Wrong(path, "{} at once; give every action an event of its own",
                 fmt::join(given, " and "));
  }
  return {};
}

Result<void> TakeSpread(const std::string& path, const std::string& text, Spread* out) {
  if (text.empty()) return {};
  auto spread = Spread::Parse(text);
  if (!spread) return Fail(spread.error().In(path));
  *out = *spread;
  return {};
}

Result<void> TakeNetwork(const ScenarioFile& file, Scenario* scenario) {
  const NetworkSpec network = file.network.value_or(NetworkSpec());
  return All({TakeSpread("network.writes", network.writes, &scenario->writes),
              TakeSpread("network.watches", network.watches, &scenario->watches),
              TakeSpread("network.cycle", network.cycle, &scenario->cycle),
              TakeSpread("podStartup", file.pod_startup, &scenario->pod_startup)});
}

Result<void> CheckHead(const ScenarioFile& file) {
  if (file.api_version != kApiVersion) {
    return Wrong("apiVersion", "\"{}\" is not \"{}\"", file.api_version, kApiVersion);
  }
  if (file.kind != "Scenario") return Wrong("kind", "\"{}\" is not \"Scenario\"", file.kind);
  if (file.seed < 0) return Wrong("seed", "{} is negative", file.seed);
  if (file.reference_pod) {
    if (auto ok = All({CheckAmount("referencePod.cpu", file.reference_pod->cpu, true),
                       CheckAmount("referencePod.memory", file.reference_pod->memory, true)});
        !ok) {
      return ok;
    }
  }
  return All({CheckLength("duration", file.duration, kSecond),
              CheckLength("sampleEvery", file.sample_every, 100 * kMillisecond)});
}

Result<ScenarioFile> Decode(std::string_view text) {
  std::string json;
  if (api::LooksLikeJson(text)) {
    json = text;
  } else {
    const auto take = [&](size_t index, std::string document) -> Result<void> {
      if (!json.empty()) return Wrong(fmt::format("document {}", index + 1), "one is enough");
      json = std::move(document);
      return {};
    };
    if (auto ok = api::ForEachYamlDocument(text, take, {.strict = true}); !ok) {
      return Fail(ok.error());
    }
    if (json.empty()) return Fail("the file is empty");
  }
  return api::FromJson<ScenarioFile>(json, kStrict);
}

Nanos NanosOf(const api::Duration& duration) { return duration.ns; }

}  // namespace

Result<void> AddObjects(std::vector<api::Object> objects, std::vector<api::Object>* to) {
  for (api::Object& object : objects) {
    if (std::holds_alternative<api::UnknownObject>(object)) continue;
    if (std::holds_alternative<api::CronJob>(object)) continue;  // a dump has its jobs
    const api::ObjectMeta* metadata = api::MetadataOf(object);
    if (metadata == nullptr) continue;
    if (auto ok = CheckObject(object); !ok) {
      return Fail(ok.error().In(fmt::format("{} {}", api::KindOf(object), metadata->name)));
    }
    to->push_back(std::move(object));
  }
  return {};
}

Result<api::Taint> ParseTaint(std::string_view text) {
  const size_t colon = text.rfind(':');
  const auto wrong = [&] {
    return Fail(
        fmt::format("\"{}\" is no taint; write KEY:EFFECT or KEY=VALUE:EFFECT with the "
                    "effect NoSchedule, PreferNoSchedule or NoExecute",
                    text));
  };
  if (colon == std::string_view::npos) return wrong();
  api::Taint taint;
  taint.effect = text.substr(colon + 1);
  const std::string_view front = text.substr(0, colon);
  const size_t equals = front.find('=');
  taint.key = front.substr(0, equals);
  if (equals != std::string_view::npos) taint.value = front.substr(equals + 1);
  const bool known = taint.effect == "NoSchedule" || taint.effect == "PreferNoSchedule" ||
                     taint.effect == "NoExecute";
  if (!known || taint.key.empty()) return wrong();
  return taint;
}

bool MatchesPattern(std::string_view pattern, std::string_view text) {
  size_t p = 0;
  size_t t = 0;
  size_t star = std::string_view::npos;
  size_t resume = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      resume = t;
    } else if (p < pattern.size() && pattern[p] == text[t]) {
      ++p;
      ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++resume;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

Result<Scenario> ParseScenario(std::string_view text, const ManifestReader& read) {
  auto file = Decode(text);
  if (!file) return Fail(file.error());
  if (auto ok = CheckHead(*file); !ok) return Fail(ok.error());
  Scenario scenario;
  scenario.seed = static_cast<uint64_t>(file->seed);
  scenario.duration = file->duration ? std::optional(NanosOf(*file->duration)) : std::nullopt;
  scenario.sample_every =
      file->sample_every ? std::optional(NanosOf(*file->sample_every)) : std::nullopt;
  scenario.config = file->config;
  scenario.reference_pod = file->reference_pod;
  if (auto ok = TakeNetwork(*file, &scenario); !ok) return Fail(ok.error());
  for (size_t i = 0; i < file->cluster.size(); ++i) {
    const std::string path = fmt::format("cluster[{}]", i);
    if (auto ok = AddFile(path, file->cluster[i], read, &scenario.objects); !ok) {
      return Fail(ok.error());
    }
  }
  if (auto ok = AddInline("objects", file->objects, &scenario.objects); !ok) {
    return Fail(ok.error());
  }
  std::set<std::string_view> names;
  for (size_t i = 0; i < file->nodes.size(); ++i) {
    const std::string path = fmt::format("nodes[{}]", i);
    if (auto ok = CheckGroup(path, file->nodes[i]); !ok) return Fail(ok.error());
    if (!names.insert(file->nodes[i].name).second) {
      return Wrong(path + ".name", "\"{}\" is the name of another group", file->nodes[i].name);
    }
  }
  for (size_t i = 0; i < file->events.size(); ++i) {
    ScenarioEvent& event = file->events[i];
    event.path = fmt::format("events[{}]", i);
    if (auto ok = CheckWhen(event); !ok) return Fail(ok.error());
    if (auto ok = CheckWhat(&event, read); !ok) return Fail(ok.error());
  }
  scenario.nodes = std::move(file->nodes);
  scenario.events = std::move(file->events);
  return scenario;
}

}  // namespace berth::sim
