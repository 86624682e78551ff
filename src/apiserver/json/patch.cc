#include "apiserver/json/patch.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "apiserver/json/list_types.h"

namespace berth::apiserver {
namespace {

std::vector<std::string> SplitPointer(std::string_view pointer) {
  std::vector<std::string> tokens;
  size_t pos = 1;
  while (pos <= pointer.size()) {
    size_t end = pointer.find('/', pos);
    if (end == std::string_view::npos) end = pointer.size();
    std::string token;
    for (size_t i = pos; i < end; ++i) {
      if (pointer[i] == '~' && i + 1 < end && (pointer[i + 1] == '0' || pointer[i + 1] == '1')) {
        token += pointer[++i] == '0' ? '~' : '/';
      } else {
        token += pointer[i];
      }
    }
    tokens.push_back(std::move(token));
    pos = end + 1;
  }
  return tokens;
}

std::optional<size_t> Index(std::string_view token, size_t size) {
  size_t index = 0;
  const auto [end, error] = std::from_chars(token.data(), token.data() + token.size(), index);
  if (error != std::errc() || end != token.data() + token.size() || index >= size) {
    return std::nullopt;
  }
  return index;
}

Json* Child(Json& parent, const std::string& token) {
  if (parent.IsObject()) return parent.Find(token);
  if (!parent.IsArray()) return nullptr;
  const auto index = Index(token, parent.Items().size());
  return index ? &parent.MutableItems()[*index] : nullptr;
}

// What the operations of a JSON patch have cost so far.
class PatchBudget {
 public:
  explicit PatchBudget(const JsonPatchLimits& limits) : limits_(limits) {}

  Result<void> Copy(size_t bytes) {
    copied_ += bytes;
    if (copied_ <= limits_.copied_bytes) return {};
    exceeded_ = true;
    return Fail(
        fmt::format("Unable to complete the copy, the accumulated size increase of copy is {}, "
                    "exceeding the limit {}",
                    copied_, limits_.copied_bytes));
  }
  Result<void> Work(size_t values) {
    work_ += values;
    if (work_ <= limits_.work) return {};
    exceeded_ = true;
    return Fail("the JSON patch takes too much work");
  }
  // A value of that depth is put at the end of `tokens` names.
  Result<void> Nest(size_t tokens, size_t depth) const {
    if (tokens + depth <= limits_.depth) return {};
    return Fail(fmt::format("nested deeper than {} levels", limits_.depth));
  }
  bool Exceeded() const { return exceeded_; }

 private:
  const JsonPatchLimits& limits_;
  size_t copied_ = 0;
  size_t work_ = 0;
  bool exceeded_ = false;
};

// One operation of a JSON patch.
class Operation {
 public:
  Operation(Json& target, const Json& operation, PatchBudget& budget)
      : target_(target), operation_(operation), budget_(budget) {}

  Result<void> Run() {
    const std::string_view op = operation_["op"].Str();
    const std::string path(operation_["path"].Str());
    if (!operation_["path"].IsString() || (!path.empty() && path[0] != '/')) {
      return Fail(
          fmt::format("{} operation does not apply: doc is missing path: \"{}\": missing "
                      "value",
                      op, path));
    }
    if (op == "add") return Add(path, operation_["value"]);
    if (op == "remove") return Remove(path, "remove");
    if (op == "replace") return Replace(path);
    if (op == "test") return Test(path);
    if (op == "move" || op == "copy") return Move(path, op);
    return Fail(fmt::format("Unexpected kind: {}", op.empty() ? "unknown" : op));
  }

 private:
  tl::unexpected<Error> Missing(std::string_view op, std::string_view path) {
    return Fail(fmt::format("{} operation does not apply: doc is missing key: {}: missing value",
                            op, path));
  }

  // Counts a value that is put at `path`.
  Result<void> Charge(std::string_view path, const Json& value) {
    const JsonExtent extent = Measure(value);
    if (auto ok = budget_.Work(extent.values); !ok) return ok;
    const auto tokens = static_cast<size_t>(std::count(path.begin(), path.end(), '/'));
    return budget_.Nest(tokens, extent.depth);
  }

  // Counts the members or items that move when one is put in or taken out.
  Result<void> ChargeShift(const Json& parent, const std::string& token) {
    if (parent.IsObject()) {
      const auto& members = parent.Members();
      const auto at = std::lower_bound(
          members.begin(), members.end(), token,
          [](const Json::Member& member, const std::string& name) { return member.name < name; });
      return budget_.Work(static_cast<size_t>(members.end() - at));
    }
    const size_t size = parent.Items().size();
    return budget_.Work(size - Index(token, size).value_or(size));
  }

  // The parent of the place `path` names, and the last token.
  std::pair<Json*, std::string> Parent(const std::string& path) {
    std::vector<std::string> tokens = SplitPointer(path);
    Json* at = &target_;
    for (size_t i = 0; i + 1 < tokens.size(); ++i) {
      at = Child(*at, tokens[i]);
      if (!at) return {nullptr, ""};
    }
    return {at, tokens.empty() ? "" : std::move(tokens.back())};
  }

  Json* Lookup(const std::string& path) {
    if (path.empty()) return &target_;
    auto [parent, token] = Parent(path);
    return parent ? Child(*parent, token) : nullptr;
  }

  Result<void> Add(const std::string& path, Json value) {
    if (auto ok = Charge(path, value); !ok) return ok;
    if (path.empty()) {
      target_ = std::move(value);
      return {};
    }
    auto [parent, token] = Parent(path);
    if (!parent)
      return Fail(fmt::format(
          "add operation does not apply: doc is missing path: \"{}\": missing value", path));
    if (auto ok = ChargeShift(*parent, token); !ok) return ok;
    if (parent->IsObject()) {
      parent->Set(token, std::move(value));
      return {};
    }
    if (!parent->IsArray()) return Missing("add", path);
    auto& items = parent->MutableItems();
    if (token == "-") {
      items.push_back(std::move(value));
      return {};
    }
    const auto index = Index(token, items.size() + 1);
    if (!index) {
      return Fail(
          fmt::format("add operation does not apply: doc is missing path: \"{}\": Unable "
                      "to access invalid index: {}: invalid index referenced",
                      path, token));
    }
    items.insert(items.begin() + static_cast<std::ptrdiff_t>(*index), std::move(value));
    return {};
  }

  Result<void> Remove(const std::string& path, std::string_view op) {
    auto [parent, token] = Parent(path);
    if (!parent || path.empty() || !Child(*parent, token)) {
      return Fail(
          fmt::format("{} operation does not apply: doc is missing path: \"{}\": missing "
                      "value",
                      op, path));
    }
    if (auto ok = ChargeShift(*parent, token); !ok) return ok;
    if (parent->IsObject()) {
      parent->Erase(token);
    } else {
      auto& items = parent->MutableItems();
      items.erase(items.begin() + static_cast<std::ptrdiff_t>(*Index(token, items.size())));
    }
    return {};
  }

  Result<void> Replace(const std::string& path) {
    Json* at = Lookup(path);
    if (!at) return Missing("replace", path);
    if (auto ok = Charge(path, operation_["value"]); !ok) return ok;
    *at = operation_["value"];
    return {};
  }

  Result<void> Test(const std::string& path) {
    const Json* at = Lookup(path);
    const Json& wanted = operation_["value"];
    if (at ? *at == wanted : wanted.IsNull()) return {};
    return Fail(fmt::format("testing value {} failed: test failed", path));
  }

  Result<void> Move(const std::string& path, std::string_view op) {
    const std::string from(operation_["from"].Str());
    Json* at = Lookup(from);
    if (!at) return Missing(op, from);
    if (op == "copy") {
      const JsonExtent extent = Measure(*at);
      if (auto ok = budget_.Work(extent.values); !ok) return ok;
      if (auto ok = budget_.Copy(extent.bytes); !ok) return ok;
      return Add(path, *at);
    }
    Json value = std::move(*at);
    if (auto ok = Remove(from, op); !ok) return ok;
    return Add(path, std::move(value));
  }

  Json& target_;
  const Json& operation_;
  PatchBudget& budget_;
};

bool IsDirective(std::string_view name) { return name.starts_with("$"); }

std::string ElementKey(const Json& element, std::string_view key) {
  const Json& value = element[key];
  return value.IsString() ? std::string(value.Str()) : value.Dump();
}

class StrategicMerge {
 public:
  Result<void> Object(Json& target, const Json& patch, std::string& path);

 private:
  Result<void> Member(Json& target, const std::string& name, const Json& patch, std::string& path);
  Result<void> MapList(Json& target, const Json& patch, std::string_view key, std::string& path);
  static void SetList(Json& target, const Json& patch);
  static void Order(Json& list, const Json& order, std::string_view key);
  static void WithoutDirectives(Json& value);
};

void StrategicMerge::WithoutDirectives(Json& value) {
  if (value.IsObject()) {
    auto& members = value.MutableMembers();
    std::erase_if(members,
                  [](const Json::Member& m) { return IsDirective(m.name) || m.value.IsNull(); });
    for (auto& member : members) WithoutDirectives(member.value);
  } else if (value.IsArray()) {
    auto& items = value.MutableItems();
    std::erase_if(items, [](const Json& item) { return item["$patch"].Str() == "delete"; });
    for (Json& item : items) WithoutDirectives(item);
  }
}

Result<void> StrategicMerge::Object(Json& target, const Json& patch, std::string& path) {
  const std::string_view directive = patch["$patch"].Str();
  if (directive == "replace" || !target.IsObject()) {
    target = patch;
    WithoutDirectives(target);
    if (!target.IsObject()) target = Json::MakeObject();
    return {};
  }
  if (directive == "delete") {
    target = Json::MakeObject();
    return {};
  }
  if (!directive.empty() && directive != "merge") {
    return Fail(fmt::format("unknown patch type: {}", directive));
  }
  if (const Json* retain = patch.Find("$retainKeys")) {
    std::unordered_set<std::string_view> kept;
    for (const Json& name : retain->Items()) kept.insert(name.Str());
    std::erase_if(target.MutableMembers(),
                  [&](const Json::Member& member) { return !kept.contains(member.name); });
  }
  for (const auto& [name, value] : patch.Members()) {
    if (IsDirective(name)) continue;
    if (auto ok = Member(target, name, value, path); !ok) return ok;
  }
  // Order comes last: it speaks of the merged lists. Deletions from sets likewise.
  constexpr std::string_view kDelete = "$deleteFromPrimitiveList/";
  constexpr std::string_view kOrder = "$setElementOrder/";
  for (const auto& [name, value] : patch.Members()) {
    const std::string_view directive_name = name;
    if (directive_name.starts_with(kDelete)) {
      Json* list = target.Find(directive_name.substr(kDelete.size()));
      if (!list || !list->IsArray()) continue;
      std::unordered_set<std::string> gone;
      for (const Json& item : value.Items()) gone.insert(item.Dump());
      std::erase_if(list->MutableItems(),
                    [&](const Json& item) { return gone.contains(item.Dump()); });
    } else if (directive_name.starts_with(kOrder)) {
      const std::string field(directive_name.substr(kOrder.size()));
      Json* list = target.Find(field);
      if (!list || !list->IsArray()) continue;
      Order(*list, value, ListTypeOf(path.empty() ? field : path + "." + field).key);
    }
  }
  return {};
}

Result<void> StrategicMerge::Member(Json& target, const std::string& name, const Json& patch,
                                    std::string& path) {
  if (patch.IsNull()) {
    target.Erase(name);
    return {};
  }
  const size_t depth = path.size();
  if (depth > 0) path += '.';
  path += name;
  Json& member = target.At(name);
  Result<void> result = {};
  if (patch.IsObject()) {
    if (patch["$patch"].Str() == "delete") {
      target.Erase(name);
    } else {
      result = Object(member, patch, path);
    }
  } else if (patch.IsArray()) {
    const ListType type = ListTypeOf(path);
    if (type.kind == ListType::Kind::kMap) {
      result = MapList(member, patch, type.key, path);
    } else if (type.kind == ListType::Kind::kSet && member.IsArray()) {
      SetList(member, patch);
    } else {
      member = patch;
      WithoutDirectives(member);
    }
  } else {
    member = patch;
  }
  path.resize(depth);
  return result;
}

void StrategicMerge::SetList(Json& target, const Json& patch) {
  std::unordered_set<std::string> known;
  for (const Json& item : target.Items()) known.insert(item.Dump());
  for (const Json& item : patch.Items()) {
    if (known.insert(item.Dump()).second) target.Append(item);
  }
}

Result<void> StrategicMerge::MapList(Json& target, const Json& patch, std::string_view key,
                                     std::string& path) {
  auto& items = target.MutableItems();
  for (const Json& element : patch.Items()) {
    if (element["$patch"].Str() == "replace") {
      items.clear();
      break;
    }
  }
  std::unordered_map<std::string, size_t> places;
  for (size_t i = 0; i < items.size(); ++i) places.emplace(ElementKey(items[i], key), i);
  std::vector<bool> gone(items.size(), false);
  for (const Json& element : patch.Items()) {
    if (!element.IsObject()) {
      return Fail(fmt::format("{}: an element of a merged list is no object", path));
    }
    const std::string_view directive = element["$patch"].Str();
    if (directive == "replace" && !element.Has(key)) continue;
    if (!element.Has(key)) {
      return Fail(
          fmt::format("map: {} does not contain declared merge key: {}", element.Dump(), key));
    }
    const auto [place, added] = places.emplace(ElementKey(element, key), items.size());
    if (directive == "delete") {
      if (!added) gone[place->second] = true;
      if (added) places.erase(place);
      continue;
    }
    if (added) {
      items.push_back(element);
      gone.push_back(false);
      WithoutDirectives(items.back());
    } else {
      gone[place->second] = false;
      if (auto ok = Object(items[place->second], element, path); !ok) return ok;
    }
  }
  size_t kept = 0;
  for (size_t i = 0; i < items.size(); ++i) {
    if (gone[i]) continue;
    if (kept != i) items[kept] = std::move(items[i]);
    ++kept;
  }
  items.resize(kept);
  return {};
}

// Elements of the order first come in that order; those it does not name keep their place after the
// one they followed.
void StrategicMerge::Order(Json& list, const Json& order, std::string_view key) {
  const auto key_of = [key](const Json& item) {
    return key.empty() || !item.IsObject() ? item.Dump() : ElementKey(item, key);
  };
  std::unordered_map<std::string, size_t> rank;
  for (const Json& item : order.Items()) rank.emplace(key_of(item), rank.size());
  std::vector<std::pair<size_t, size_t>> places;  // rank, original place
  size_t last = 0;
  auto& items = list.MutableItems();
  for (size_t i = 0; i < items.size(); ++i) {
    const auto it = rank.find(key_of(items[i]));
    if (it != rank.end()) last = it->second;
    places.emplace_back(last, i);
  }
  std::stable_sort(places.begin(), places.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  Json::Array sorted;
  sorted.reserve(items.size());
  for (const auto& place : places) sorted.push_back(std::move(items[place.second]));
  items = std::move(sorted);
}

}  // namespace

Result<void> ApplyJsonPatch(Json& target, const Json& operations, const JsonPatchLimits& limits,
                            bool* too_large) {
  const auto& items = operations.Items();
  if (items.size() > limits.operations) {
    if (too_large) *too_large = true;
    return Fail(fmt::format("The allowed maximum operations in a JSON patch is {}, got {}",
                            limits.operations, items.size()));
  }
  PatchBudget budget(limits);
  for (const Json& operation : items) {
    auto ok = Operation(target, operation, budget).Run();
    if (ok) continue;
    if (too_large) *too_large = budget.Exceeded();
    return ok;
  }
  return {};
}

void ApplyMergePatch(Json& target, const Json& patch) {
  if (!patch.IsObject()) {
    target = patch;
    return;
  }
  Json::Object merged;
  Json::Object& old = target.MutableMembers();
  const Json::Object& news = patch.Members();
  merged.reserve(old.size() + news.size());
  auto at = old.begin();
  for (const auto& [name, value] : news) {
    while (at != old.end() && at->name < name) merged.push_back(std::move(*at++));
    Json before;
    if (at != old.end() && at->name == name) before = std::move((at++)->value);
    if (value.IsNull()) continue;
    ApplyMergePatch(before, value);
    merged.push_back({name, std::move(before)});
  }
  while (at != old.end()) merged.push_back(std::move(*at++));
  old = std::move(merged);
}

Json MakeMergePatch(const Json& from, const Json& to) {
  if (!from.IsObject() || !to.IsObject()) return to;
  Json patch = Json::MakeObject();
  auto& members = patch.MutableMembers();
  for (const auto& [name, value] : from.Members()) {
    if (!to.Has(name)) members.push_back({name, Json()});
  }
  for (const auto& [name, value] : to.Members()) {
    const Json* before = from.Find(name);
    if (!before) {
      members.push_back({name, value});
    } else if (!(*before == value)) {
      members.push_back({name, MakeMergePatch(*before, value)});
    }
  }
  SortMembers(members);
  return patch;
}

Result<void> ApplyStrategicMergePatch(Json& target, const Json& patch) {
  std::string path;
  return StrategicMerge().Object(target, patch, path);
}

}  // namespace berth::apiserver
