#include "cluster/objects/kind_table.h"

#include <algorithm>

namespace berth::cluster {
namespace {

std::string_view GroupOf(std::string_view api_version) {
  const size_t slash = api_version.find('/');
  return slash == std::string_view::npos ? std::string_view() : api_version.substr(0, slash);
}

}  // namespace

std::vector<KindInfo> WatchedKinds(const config::Behaviour& behaviour) {
  std::vector<KindInfo> kinds;
  ForEachKind([&](const auto& row) {
    if (row.watched(behaviour)) kinds.push_back(row.At(behaviour.release));
  });
  return kinds;
}

const KindInfo* FindKind(std::string_view kind) {
  static const std::vector<KindInfo> kinds = [] {
    std::vector<KindInfo> all;
    ForEachKind([&](const auto& row) { all.push_back(row.At(config::Release::k1_34)); });
    return all;
  }();
  const auto it = std::find_if(kinds.begin(), kinds.end(),
                               [&](const KindInfo& info) { return info.kind == kind; });
  return it == kinds.end() ? nullptr : &*it;
}

std::string ListNameOf(const CustomKind& kind) {
  return FindKind(kind.kind) == nullptr ? kind.kind : kind.kind + "." + kind.group;
}

bool IsOfList(std::string_view list_name, std::string_view api_version, std::string_view kind) {
  if (FindKind(kind) == nullptr) return list_name == kind;
  const std::string_view group = GroupOf(api_version);
  return list_name.size() == kind.size() + 1 + group.size() && list_name.starts_with(kind) &&
         list_name[kind.size()] == '.' && list_name.ends_with(group);
}

std::vector<KindRights> RightsOf(const config::Behaviour& behaviour,
                                 std::span<const CustomKind> custom) {
  std::vector<KindRights> rights;
  ForEachKind([&](const auto& row) {
    const bool watches = row.watched(behaviour);
    if (!watches && row.watched != &watched::Never) return;
    const std::string_view group = GroupOf(row.At(behaviour.release).api_version);
    if (watches) rights.push_back({group, row.plural, "", "get, list, watch"});
    for (const KindWrites& writes : row.writes) {
      if (writes.verbs.empty()) continue;
      rights.push_back({group, row.plural, writes.subresource, writes.verbs});
    }
  });
  for (const CustomKind& kind : custom) {
    rights.push_back({kind.group, kind.plural, "", "get, list, watch"});
  }
  return rights;
}

}  // namespace berth::cluster
