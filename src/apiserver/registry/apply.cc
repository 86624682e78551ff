#include "apiserver/registry/apply.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "apiserver/json/list_types.h"

namespace berth::apiserver {
namespace {

// The key of a list element in FieldsV1: k:{"name":"a"}. Keys that are absent have their default.
std::string ElementName(const Json& element, const ListType& type) {
  Json key = Json::MakeObject({{type.key, element[type.key]}});
  if (!type.second_key.empty()) {
    Json second = element[type.second_key];
    if (second.IsNull() && type.second_key == "protocol") second = "TCP";
    key.Set(type.second_key, std::move(second));
  }
  return "k:" + key.Dump();
}

bool IsMapList(const Json& list, const ListType& type) {
  return type.kind == ListType::Kind::kMap &&
         std::all_of(list.Items().begin(), list.Items().end(),
                     [&](const Json& item) { return item.Has(type.key); });
}

std::string Below(std::string_view path, std::string_view name) {
  return path.empty() ? std::string(name) : fmt::format("{}.{}", path, name);
}

// Fields nobody owns: they say which object this is, or are the server's.
bool Unowned(std::string_view path) {
  constexpr std::string_view kPaths[] = {"apiVersion",
                                         "kind",
                                         "metadata",
                                         "metadata.name",
                                         "metadata.namespace",
                                         "metadata.uid",
                                         "metadata.resourceVersion",
                                         "metadata.generation",
                                         "metadata.creationTimestamp",
                                         "metadata.managedFields",
                                         "metadata.selfLink",
                                         "metadata.generateName"};
  return std::find(std::begin(kPaths), std::end(kPaths), path) != std::end(kPaths);
}

Json Fields(const Json& value, const std::string& path) {
  Json fields = Json::MakeObject();
  if (value.IsObject() && !value.Empty() && !AtomicForApply(path)) {
    for (const auto& [name, member] : value.Members()) {
      const std::string below = Below(path, name);
      if (Unowned(below) && below != "metadata") continue;
      Json inner = Fields(member, below);
      if (below == "metadata" && inner.Empty()) continue;
      fields.Set("f:" + name, std::move(inner));
    }
  } else if (value.IsArray()) {
    const ListType type = ListTypeOf(path);
    if (IsMapList(value, type)) {
      for (const Json& item : value.Items()) {
        Json inner = Fields(item, path);
        inner.Set(".", Json::MakeObject());
        fields.Set(ElementName(item, type), std::move(inner));
      }
    } else if (type.kind == ListType::Kind::kSet) {
      for (const Json& item : value.Items()) fields.Set("v:" + item.Dump(), Json::MakeObject());
    }
  }
  return fields;
}

// The part of `value` a step of FieldsV1 leads to; null: absent.
const Json* StepInto(const Json& value, const std::string& step) {
  if (step.starts_with("f:")) return value.Find(step.substr(2));
  if (step.starts_with("k:")) {
    const auto key = Json::Parse(std::string_view(step).substr(2));
    if (!key) return nullptr;
    for (const Json& item : value.Items()) {
      const bool same = std::all_of(
          key->Members().begin(), key->Members().end(), [&](const Json::Member& member) {
            return item[member.name] == member.value ||
                   (member.name == "protocol" && item[member.name].IsNull());
          });
      if (same) return &item;
    }
    return nullptr;
  }
  if (step.starts_with("v:")) {
    for (const Json& item : value.Items()) {
      if (item.Dump() == std::string_view(step).substr(2)) return &item;
    }
  }
  return nullptr;
}

bool Same(const Json* a, const Json* b) {
  return a && b ? *a == *b : (!a || a->IsNull()) && (!b || b->IsNull());
}

std::string ShowStep(const std::string& step) {
  if (step.starts_with("f:")) return "." + step.substr(2);
  if (step.starts_with("v:")) return "[=" + step.substr(2) + "]";
  const auto key = Json::Parse(std::string_view(step).substr(2));
  std::string out;
  for (const auto& [name, value] : key ? key->Members() : Json::Object()) {
    out += out.empty() ? "[" : ",";
    out += name + "=" + value.Dump();
  }
  return out + "]";
}

bool IsLeaf(const Json& fields) {
  return fields.Empty() || (fields.Members().size() == 1 && fields.Has("."));
}

// Leaves of both sets whose live value is not the wished one.
void FindConflicts(const Json& wished, const Json& owned, const Json* live, const Json* wish,
                   const std::string& path, std::vector<std::string>& conflicts) {
  for (const auto& [step, inner] : wished.Members()) {
    if (step == ".") continue;
    const Json* other = owned.Find(step);
    if (!other) continue;
    const Json* live_value = live ? StepInto(*live, step) : nullptr;
    const Json* wish_value = wish ? StepInto(*wish, step) : nullptr;
    const std::string below = path + ShowStep(step);
    if (IsLeaf(inner) && IsLeaf(*other)) {
      if (!step.starts_with("v:") && !Same(live_value, wish_value)) conflicts.push_back(below);
    } else {
      FindConflicts(inner, *other, live_value, wish_value, below, conflicts);
    }
  }
}

// Removes from `owned` the leaves that `taken` has with another live value.
void TakeAway(Json& owned, const Json& taken, const Json* live, const Json* wish) {
  auto& members = owned.MutableMembers();
  for (auto& [step, inner] : members) {
    const Json* other = taken.Find(step);
    if (step == "." || !other || (IsLeaf(inner) && IsLeaf(*other))) continue;
    TakeAway(inner, *other, live ? StepInto(*live, step) : nullptr,
             wish ? StepInto(*wish, step) : nullptr);
  }
  std::erase_if(members, [&](const Json::Member& member) {
    const Json* other = taken.Find(member.name);
    if (member.name == "." || !other || !IsLeaf(member.value) || !IsLeaf(*other)) return false;
    return !Same(live ? StepInto(*live, member.name) : nullptr,
                 wish ? StepInto(*wish, member.name) : nullptr);
  });
}

bool OwnedBySomebody(const std::vector<const Json*>& others, const std::string& step) {
  return std::any_of(others.begin(), others.end(), [&](const Json* set) { return set->Has(step); });
}

std::vector<const Json*> Into(const std::vector<const Json*>& sets, const std::string& step) {
  std::vector<const Json*> inner;
  for (const Json* set : sets) {
    if (const Json* found = set->Find(step)) inner.push_back(found);
  }
  return inner;
}

// Removes from `live` what the manager named before, does not name now, and nobody else owns.
void RemoveAbandoned(Json& live, const Json& before, const Json& now,
                     const std::vector<const Json*>& others) {
  for (const auto& [step, inner] : before.Members()) {
    if (step == ".") continue;
    Json* at = const_cast<Json*>(StepInto(live, step));
    if (!at) continue;
    const Json* kept = now.Find(step);
    if (kept && !IsLeaf(inner)) {
      RemoveAbandoned(*at, inner, *kept, Into(others, step));
      continue;
    }
    if (kept) continue;
    if (!IsLeaf(inner) && OwnedBySomebody(others, step)) {
      RemoveAbandoned(*at, inner, Json::MakeObject(), Into(others, step));
      continue;
    }
    if (OwnedBySomebody(others, step)) continue;
    if (step.starts_with("f:")) {
      live.Erase(step.substr(2));
    } else {
      auto& items = live.MutableItems();
      items.erase(items.begin() + (at - items.data()));
    }
  }
}

void Merge(Json& live, const Json& wish, const std::string& path) {
  if (wish.IsObject() && live.IsObject() && !AtomicForApply(path)) {
    for (const auto& [name, value] : wish.Members()) Merge(live.At(name), value, Below(path, name));
    return;
  }
  const ListType type = ListTypeOf(path);
  if (wish.IsArray() && live.IsArray() && IsMapList(wish, type)) {
    for (const Json& item : wish.Items()) {
      Json* known = const_cast<Json*>(StepInto(live, ElementName(item, type)));
      known ? Merge(*known, item, path) : static_cast<void>(live.Append(item));
    }
    return;
  }
  if (wish.IsArray() && live.IsArray() && type.kind == ListType::Kind::kSet) {
    for (const Json& item : wish.Items()) {
      const auto& items = live.Items();
      if (std::find(items.begin(), items.end(), item) == items.end()) live.Append(item);
    }
    return;
  }
  live = wish;
}

Json Entry(std::string_view manager, std::string_view operation, std::string_view api_version,
           std::string_view subresource, Json fields, const std::string& now) {
  Json entry = Json::MakeObject({{"manager", manager},
                                 {"operation", operation},
                                 {"apiVersion", api_version},
                                 {"time", now},
                                 {"fieldsType", "FieldsV1"},
                                 {"fieldsV1", std::move(fields)}});
  if (!subresource.empty()) entry.Set("subresource", subresource);
  return entry;
}

bool IsEntry(const Json& entry, std::string_view manager, std::string_view operation,
             std::string_view subresource) {
  return entry["manager"].Str() == manager && entry["operation"].Str() == operation &&
         entry["subresource"].Str() == subresource;
}

Answer<void> CheckConflicts(const Resource& resource, const Json& live, const Json& wish,
                            const Json& wished, const ApplyOptions& options,
                            std::string_view subresource) {
  std::vector<std::string> texts;
  Json causes = Json::MakeArray();
  for (const Json& entry : live["metadata"]["managedFields"].Items()) {
    if (IsEntry(entry, options.manager, "Apply", subresource)) continue;
    std::vector<std::string> conflicts;
    FindConflicts(wished, entry["fieldsV1"], &live, &wish, "", conflicts);
    const std::string who = fmt::format("conflict with \"{}\" using {}", entry["manager"].Str(),
                                        entry["apiVersion"].Str());
    for (const std::string& field : conflicts) {
      texts.push_back(fmt::format("{}: {}", who, field));
      causes.Append(Json::MakeObject(
          {{"reason", "FieldManagerConflict"}, {"message", who}, {"field", field}}));
    }
  }
  if (texts.empty()) return {};
  StatusError error = Conflict(resource, live["metadata"]["name"].Str(), "");
  error.message = texts.size() == 1 ? fmt::format("Apply failed with 1 conflict: {}", texts[0])
                                    : fmt::format("Apply failed with {} conflicts: {}",
                                                  texts.size(), fmt::join(texts, "\n"));
  error.details = Json::MakeObject({{"causes", std::move(causes)}});
  return Refuse(std::move(error));
}

}  // namespace

Json FieldsOf(const Json& value) { return Fields(value, ""); }

Answer<ObjectPtr> Apply(Registry& registry, const Resource& resource, std::string_view namespace_,
                        std::string_view name, Json wish, std::string_view subresource,
                        const ApplyOptions& options, bool* created) {
  if (!wish.IsObject()) return Refuse(BadRequest("an applied configuration is an object"));
  wish.At("metadata").Set("name", name);
  if (!wish["metadata"]["managedFields"].Empty()) {
    return Refuse(BadRequest("metadata.managedFields must be nil"));
  }
  wish.At("metadata").Erase("managedFields");
  const Json wished = FieldsOf(wish);
  const std::string now = registry.Now().Format();
  const auto entry = [&] {
    return Entry(options.manager, "Apply", resource.ApiVersion(), subresource, wished, now);
  };
  if (!registry.Objects().Get(resource.storage_id, namespace_, name)) {
    if (!subresource.empty()) return Refuse(NotFound(resource, name));
    wish.At("metadata").Set("managedFields", Json::MakeArray({entry()}));
    *created = true;
    return registry.Create(resource, namespace_, std::move(wish), options.write);
  }
  return registry.Modify(
      resource, namespace_, name,
      [&](Json& live) -> Answer<void> {
        if (!options.force) {
          if (auto ok = CheckConflicts(resource, live, wish, wished, options, subresource); !ok) {
            return ok;
          }
        }
        Json managers = live["metadata"]["managedFields"];
        Json before = Json::MakeObject();
        Json kept = Json::MakeArray();
        for (Json& manager : managers.MutableItems()) {
          if (IsEntry(manager, options.manager, "Apply", subresource)) {
            before = manager["fieldsV1"];
            continue;
          }
          if (options.force) TakeAway(manager.At("fieldsV1"), wished, &live, &wish);
          if (!manager["fieldsV1"].Empty()) kept.Append(std::move(manager));
        }
        std::vector<const Json*> others;
        for (const Json& manager : kept.Items()) others.push_back(&manager["fieldsV1"]);
        RemoveAbandoned(live, before, wished, others);
        const std::string version(wish["metadata"]["resourceVersion"].Str());
        Merge(live, wish, "");
        const bool same = before == wished;
        Json own = entry();
        if (same) {
          for (const Json& manager : managers.Items()) {
            if (IsEntry(manager, options.manager, "Apply", subresource))
              own.Set("time", manager["time"]);
          }
        }
        kept.Append(std::move(own));
        live.At("metadata").Set("managedFields", std::move(kept));
        return {};
      },
      subresource, {options.write.dry_run, options.write.field_manager, true});
}

namespace {

// Moves leaves whose value changed from `owned` to `taken`.
void PassChanged(Json& owned, Json& taken, const Json* before, const Json* after) {
  auto& members = owned.MutableMembers();
  for (auto& [step, inner] : members) {
    if (step == "." || IsLeaf(inner)) continue;
    Json passed = Json::MakeObject();
    PassChanged(inner, passed, before ? StepInto(*before, step) : nullptr,
                after ? StepInto(*after, step) : nullptr);
    if (!passed.Empty()) taken.Set(step, std::move(passed));
  }
  std::erase_if(members, [&](const Json::Member& member) {
    if (member.name == "." || !IsLeaf(member.value))
      return member.name != "." && member.value.Empty();
    const Json* was = before ? StepInto(*before, member.name) : nullptr;
    const Json* is = after ? StepInto(*after, member.name) : nullptr;
    if (Same(was, is)) return false;
    if (is) taken.Set(member.name, Json::MakeObject());
    return true;
  });
}

}  // namespace

void PassOwnership(const Json& before, Json& after, std::string_view manager,
                   std::string_view api_version, const std::string& now) {
  Json* entries = after.At("metadata").Find("managedFields");
  if (!entries || entries->Empty()) return;
  Json passed = Json::MakeObject();
  Json kept = Json::MakeArray();
  const Json after_object = after;
  for (Json& entry : entries->MutableItems()) {
    if (entry["operation"].Str() == "Apply") {
      PassChanged(entry.At("fieldsV1"), passed, &before, &after_object);
    }
    if (!entry["fieldsV1"].Empty()) kept.Append(std::move(entry));
  }
  if (!passed.Empty()) {
    bool merged = false;
    for (Json& entry : kept.MutableItems()) {
      if (!IsEntry(entry, manager, "Update", "")) continue;
      Merge(entry.At("fieldsV1"), passed, "");
      entry.Set("time", now);
      merged = true;
    }
    if (!merged) kept.Append(Entry(manager, "Update", api_version, "", std::move(passed), now));
  }
  *entries = std::move(kept);
}

}  // namespace berth::apiserver
