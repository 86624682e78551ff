// berth-conformance --hints: cluster events, compared with what kube-scheduler makes of them: who
// registers for which, what matches, what is derived from an update, what the queueing hint of a
// plugin says about a pod, and whether the queue tries the pod again.
#include "conformance/hints.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "api/codec/json_dom.h"
#include "cluster/objects/object_store.h"
#include "conformance/lines.h"
#include "conformance/objects.h"
#include "conformance/runner.h"
#include "framework/runtime/hint_map.h"
#include "queue/requeue.h"
#include "scheduler/profile_set.h"

namespace berth::conformance {
namespace {

using framework::HintMap;
using queue::ClusterEvent;
using simdjson::dom::element;

// --- Reading

std::string Text(element line, std::string_view key) {
  std::string_view text;
  return line.at_key(key).get(text) == simdjson::SUCCESS ? std::string(text) : "";
}

// False when it is absent or null.
bool Get(element line, std::string_view key, element* value) {
  return line.at_key(key).get(*value) == simdjson::SUCCESS && !value->is_null();
}

std::vector<element> List(element line, std::string_view key) {
  std::vector<element> items;
  element list;
  if (Get(line, key, &list) && list.is_array()) {
    for (const element item : list.get_array()) items.push_back(item);
  }
  return items;
}

std::vector<std::string> Texts(element line, std::string_view key) {
  std::vector<std::string> texts;
  for (const element item : List(line, key)) {
    std::string_view text;
    if (item.get(text) == simdjson::SUCCESS) texts.emplace_back(text);
  }
  return texts;
}

std::string Joined(const std::vector<std::string>& parts, std::string_view separator) {
  std::string out;
  for (const std::string& part : parts) {
    if (!out.empty()) out += separator;
    out += part;
  }
  return out;
}

std::string Lines(std::vector<std::string> parts, bool sorted) {
  if (sorted) std::sort(parts.begin(), parts.end());
  return Joined(parts, "; ");
}

// --- Events

std::string ActionName(uint16_t bit) {
  const ClusterEvent event{queue::EventResource::kWildCard, static_cast<uint16_t>(1u << bit)};
  return event.Label().substr(queue::ResourceName(event.resource).size());
}

// The actions that the minor has.
uint16_t KnownActions(const config::Behaviour& behaviour) {
  uint16_t actions = 0;
  for (const ClusterEvent& event : framework::IncomingEvents(behaviour)) {
    if (event.action != queue::kUpdate && event.action != queue::kAll) actions |= event.action;
  }
  return actions;
}

// An event in words, which are equal for equal events.
std::string EventText(const config::Behaviour& behaviour, const ClusterEvent& event) {
  std::vector<std::string> actions;
  const uint16_t known = KnownActions(behaviour);
  for (uint16_t bit = 0; bit < queue::kActionCount; ++bit) {
    if ((event.action & known) >> bit & 1) actions.push_back(ActionName(bit));
  }
  return event.Label() + "=" + std::string(queue::ResourceName(event.resource)) + "/" +
         Joined(actions, "|");
}

std::string EventText(element event) {
  return Text(event, "label") + "=" + Text(event, "resource") + "/" +
         Joined(Texts(event, "actionType"), "|");
}

Result<ClusterEvent> ReadEvent(const config::Behaviour& behaviour, element from) {
  for (const ClusterEvent& known : {queue::kUnschedulableTimeout, queue::kForceActivate}) {
    if (Text(from, "label") == known.custom_label) return known;
  }
  ClusterEvent event;
  const std::string resource = Text(from, "resource");
  constexpr auto kLast = static_cast<uint8_t>(queue::EventResource::kWildCard);
  uint8_t r = 0;
  while (r < kLast && queue::ResourceName(queue::EventResource{r}) != resource) ++r;
  event.resource = queue::EventResource{r};
  for (const std::string& name : Texts(from, "actionType")) {
    for (uint16_t bit = 0; bit < queue::kActionCount; ++bit) {
      if (ActionName(bit) == name) event.action |= static_cast<uint16_t>(1u << bit);
    }
  }
  // All updates of an older minor are the same as all that there are.
  const uint16_t updates = KnownActions(behaviour) & queue::kUpdate;
  if ((event.action & updates) == updates) event.action |= queue::kUpdate;
  if (EventText(behaviour, event) != EventText(from))
    return Fail("unknown event " + EventText(from));
  return event;
}

std::string RegisteredTexts(const config::Behaviour& behaviour,
                            const std::vector<framework::RegisteredEvent>& events) {
  std::vector<std::string> texts;
  for (const auto& [event, hint, function] : events) {
    texts.push_back(EventText(behaviour, event) + " " + std::string(hint));
  }
  return Lines(std::move(texts), false);
}

std::string EventTexts(const config::Behaviour& behaviour,
                       const std::vector<ClusterEvent>& events) {
  std::vector<std::string> texts;
  for (const ClusterEvent& event : events) texts.push_back(EventText(behaviour, event));
  return Lines(std::move(texts), false);
}

// --- The scheduler of a line

struct World {
  cluster::Cluster cluster;
  std::unique_ptr<scheduler::ProfileSet> profiles;
  std::unique_ptr<HintMap> map;

  const framework::Profile& Profile() const { return *profiles->Profiles().front(); }
  // The position of a plugin of the profile, or nothing.
  std::optional<uint8_t> Find(std::string_view name) const {
    const auto plugins = Profile().Plugins();
    for (size_t i = 0; i < plugins.size(); ++i) {
      if (plugins[i]->Name() == name) return static_cast<uint8_t>(i);
    }
    return std::nullopt;
  }
};

Result<std::unique_ptr<World>> MakeWorld(const config::Behaviour& behaviour, element line) {
  auto world = std::make_unique<World>();
  world->cluster.SetRequestRules(behaviour.requests);
  element given;
  if (Get(line, "objects", &given)) {
    if (auto ok = LoadObjects(given, world->cluster); !ok) return Fail(ok.error());
  }
  config::KubeSchedulerConfiguration config = config::Default(behaviour);
  if (Get(line, "config", &given)) {
    auto loaded = config::Load(simdjson::minify(given), behaviour);
    if (!loaded) return Fail(loaded.error());
    config = std::move(*loaded);
  }
  auto profiles = scheduler::ProfileSet::Make(config, behaviour, world->cluster);
  if (!profiles) return Fail(profiles.error());
  world->profiles = std::make_unique<scheduler::ProfileSet>(std::move(*profiles));
  auto map = HintMap::Make(world->Profile(), /*with_extenders=*/false);
  if (!map) return Fail(map.error());
  world->map = std::make_unique<HintMap>(std::move(*map));
  return world;
}

Result<queue::PodSnapshot> ReadPod(World& world, element line, std::string_view key) {
  element from;
  if (!Get(line, key, &from)) return Fail("no " + std::string(key));
  auto pod = api::FromDom<api::Pod>(from, key);
  if (!pod) return Fail(pod.error());
  return world.cluster.Snapshot(*pod);
}

template <class T>
Result<queue::EventObject> ReadAs(element from, std::string_view key) {
  auto object = api::FromDom<T>(from, key);
  if (!object) return Fail(object.error());
  return std::make_shared<const T>(std::move(*object));
}

using ObjectReader = Result<queue::EventObject> (*)(element, std::string_view);

template <class... T>
const std::map<std::string_view, ObjectReader>& Readers() {
  static const std::map<std::string_view, ObjectReader> kReaders{{T::kKind, &ReadAs<T>}...};
  return kReaders;
}

Result<queue::EventObject> ReadObject(World& world, element line, std::string_view key) {
  element from;
  if (!Get(line, key, &from)) return queue::EventObject();
  const std::string kind = Text(from, "kind");
  if (kind == api::Pod::kKind) {
    auto pod = ReadPod(world, line, key);
    if (!pod) return Fail(pod.error());
    return queue::EventObject(std::move(*pod));
  }
  const auto& readers =
      Readers<api::Node, api::PersistentVolume, api::PersistentVolumeClaim, api::CSINode,
              api::CSIDriver, api::CSIStorageCapacity, api::StorageClass, api::VolumeAttachment,
              api::ResourceClaim, api::ResourceSlice, api::DeviceClass>();
  const auto it = readers.find(kind);
  if (it == readers.end()) return Fail("unknown kind \"" + kind + "\"");
  return it->second(from, key);
}

// The pod and what happened.
struct Case {
  queue::PodSnapshot pod;
  queue::Event event;
};

Result<Case> ReadCase(const config::Behaviour& behaviour, World& world, element line) {
  Case out;
  auto pod = ReadPod(world, line, "pod");
  if (!pod) return Fail(pod.error());
  out.pod = std::move(*pod);
  element event;
  if (!Get(line, "event", &event)) return Fail("no event");
  auto what = ReadEvent(behaviour, event);
  if (!what) return Fail(what.error());
  out.event.what = *what;
  for (const auto& [key, object] :
       {std::pair("oldObj", &out.event.old_object), std::pair("newObj", &out.event.new_object)}) {
    auto read = ReadObject(world, line, key);
    if (!read) return Fail(read.error());
    *object = std::move(*read);
  }
  return out;
}

// --- Kinds of lines

Result<Sides> Registered(const config::Behaviour& behaviour, element line) {
  auto world = MakeWorld(behaviour, line);
  if (!world) return Fail(world.error());
  Sides sides;
  std::vector<std::string> theirs;
  for (const element event : List(line, "events")) {
    theirs.push_back(EventText(event) + " " + Text(event, "hint"));
  }
  sides.theirs = Lines(std::move(theirs), false);
  const std::string name = Text(line, "registered");
  if (name.empty()) {
    sides.ours = RegisteredTexts(behaviour, framework::DefaultEvents(behaviour));
  } else if (const auto at = (*world)->Find(name)) {
    const auto* plugin =
        dynamic_cast<const framework::EnqueueExtensions*>((*world)->Profile().Plugins()[*at].get());
    if (plugin != nullptr) {
      sides.ours = RegisteredTexts(behaviour, plugin->EventsToRegister(behaviour));
    }
  }
  return sides;
}

Result<Sides> Map(const config::Behaviour& behaviour, element line) {
  auto world = MakeWorld(behaviour, line);
  if (!world) return Fail(world.error());
  std::vector<std::string> ours, theirs;
  for (const auto& [plugin, registered] : (*world)->map->Registrations()) {
    const std::string_view hint = registered.hint.empty() ? "default" : registered.hint;
    ours.push_back(EventText(behaviour, registered.event) + " " +
                   std::string((*world)->Profile().At(plugin).Name()) + " " + std::string(hint));
  }
  for (const element entry : List(line, "entries")) {
    for (const element plugin : List(entry, "plugins")) {
      theirs.push_back(EventText(entry["event"]) + " " + Text(plugin, "plugin") + " " +
                       Text(plugin, "hint"));
    }
  }
  return Sides{Lines(std::move(ours), true), Lines(std::move(theirs), true)};
}

std::string TheirEvents(element line) {
  std::vector<std::string> theirs;
  for (const element event : List(line, "events")) theirs.push_back(EventText(event));
  return Lines(std::move(theirs), false);
}

Result<Sides> Incoming(const config::Behaviour& behaviour, element line) {
  return Sides{EventTexts(behaviour, framework::IncomingEvents(behaviour)), TheirEvents(line)};
}

Result<Sides> Match(const config::Behaviour& behaviour, element line) {
  auto registered = ReadEvent(behaviour, line["registered"]);
  if (!registered) return Fail(registered.error());
  std::vector<std::string> ours;
  for (const ClusterEvent& event : framework::IncomingEvents(behaviour)) {
    if (queue::Matches(*registered, event)) ours.push_back(event.Label());
  }
  return Sides{Lines(std::move(ours), false), Lines(Texts(line, "matches"), false)};
}

Result<Sides> PodChange(const config::Behaviour& behaviour, element line) {
  World world;
  auto before = ReadPod(world, line, "old");
  if (!before) return Fail(before.error());
  auto after = ReadPod(world, line, "new");
  if (!after) return Fail(after.error());
  return Sides{EventTexts(behaviour,
                          queue::PodChanges(**before, **after, framework::EventRulesOf(behaviour))),
               TheirEvents(line)};
}

Result<Sides> NodeChange(const config::Behaviour& behaviour, element line) {
  auto before = api::FromDom<api::Node>(line["old"], "old");
  if (!before) return Fail(before.error());
  auto after = api::FromDom<api::Node>(line["new"], "new");
  if (!after) return Fail(after.error());
  return Sides{EventTexts(behaviour,
                          queue::NodeChanges(*before, *after, framework::EventRulesOf(behaviour))),
               TheirEvents(line)};
}

Result<Sides> PluginHint(const config::Behaviour& behaviour, element line) {
  auto world = MakeWorld(behaviour, line);
  if (!world) return Fail(world.error());
  auto given = ReadCase(behaviour, **world, line);
  if (!given) return Fail(given.error());
  const std::string name = Text(line, "plugin");
  const auto plugin = (*world)->Find(name);
  if (!plugin) return Fail("unknown plugin " + name);
  const HintMap& map = *(*world)->map;
  std::vector<std::string> asked;
  for (const HintMap::Registration* registration : map.For(given->event.what)) {
    if (registration->plugin != *plugin) continue;
    const std::string_view hint = registration->registered.hint;
    asked.emplace_back(hint.empty() ? "default" : hint);
  }
  const auto hint = map.Ask(*plugin, (*world)->cluster, *given->pod, given->event);
  const std::string answer = !hint                              ? "Error " + hint.error().Message()
                             : *hint == framework::Hint::kQueue ? "Queue "
                                                                : "QueueSkip ";
  const auto say = [](const std::vector<std::string>& hints, const std::string& answered) {
    return "[" + Joined(hints, ", ") + "] " + answered;
  };
  return Sides{say(asked, answer),
               say(Texts(line, "hints"), Text(line, "expected") + " " + Text(line, "error"))};
}

// Bits of plugins by name. Those the profile does not have get numbers of their own, from above.
uint64_t BitsOf(const World& world, const std::vector<std::string>& names) {
  uint64_t bits = 0;
  size_t unknown = 0;
  for (const std::string& name : names) {
    const auto at = world.Find(name);
    bits |= uint64_t{1} << (at ? *at : HintMap::kMaxPlugins - 1 - unknown++);
  }
  return bits;
}

Result<Sides> RequeueDecision(const config::Behaviour& behaviour, element line) {
  auto world = MakeWorld(behaviour, line);
  if (!world) return Fail(world.error());
  auto given = ReadCase(behaviour, **world, line);
  if (!given) return Fail(given.error());
  const HintMap& map = *(*world)->map;
  const queue::Rejection rejection{BitsOf(**world, Texts(line, "unschedulablePlugins")),
                                   BitsOf(**world, Texts(line, "pendingPlugins"))};
  const queue::Requeue decision = queue::DecideRequeue(
      rejection, given->pod->uid, given->event, map.PluginsFor(given->event.what),
      [&](uint8_t plugin) {
        const auto hint = map.Ask(plugin, (*world)->cluster, *given->pod, given->event);
        return !hint || *hint == framework::Hint::kQueue;
      });
  constexpr std::string_view kNames[] = {"queueSkip", "queueAfterBackoff", "queueImmediately"};
  return Sides{std::string(kNames[static_cast<size_t>(decision)]), Text(line, "expected")};
}

using Check = Result<Sides> (*)(const config::Behaviour&, element);

const std::map<std::string, Check>& Checks() {
  static const std::map<std::string, Check> kChecks{
      {"registered", &Registered}, {"defaultRegistered", &Registered},
      {"hintMap", &Map},           {"incomingEvents", &Incoming},
      {"match", &Match},           {"podChange", &PodChange},
      {"nodeChange", &NodeChange}, {"requeue", &RequeueDecision},
  };
  return kChecks;
}

}  // namespace

std::string GroupOf(element line) {
  if (const std::string plugin = Text(line, "plugin"); !plugin.empty()) return plugin;
  if (const std::string kind = Text(line, "kind"); !kind.empty()) return kind;
  return Text(line, "registered").empty() ? "unknown" : "registered";
}

Result<Sides> CheckHintLine(const config::Behaviour& behaviour, element line) {
  if (!Text(line, "plugin").empty()) return PluginHint(behaviour, line);
  const auto check = Checks().find(GroupOf(line));
  if (check == Checks().end()) return Fail("a kind of line that is not known");
  return check->second(behaviour, line);
}

int RunHints(int minor, const std::string& file) {
  const config::Behaviour behaviour{config::FeatureGates(minor)};
  return CheckLines(file, [&](element line) -> Checked {
    const Result<Sides> sides = CheckHintLine(behaviour, line);
    if (!sides) return {GroupOf(line), "    error " + sides.error().Message()};
    if (sides->ours == sides->theirs) return {GroupOf(line), ""};
    return {GroupOf(line), "    ours   " + sides->ours + "\n    theirs " + sides->theirs};
  });
}

}  // namespace berth::conformance
