#include "cluster/objects/kind_table.h"

#include <algorithm>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "api/object.h"

namespace berth::cluster {
namespace {

config::Behaviour With(std::string_view gates) {
  config::FeatureGates set;
  EXPECT_TRUE(set.Set(gates));
  return config::Behaviour(set);
}

TEST(KindTable, EveryWatchedKindCanBeDecodedInEveryRelease) {
  using config::Release;
  for (const Release release : {Release::k1_34, Release::k1_35, Release::k1_36, Release::k1_37}) {
    config::Behaviour behaviour;
    behaviour.release = release;
    behaviour.dra.taint_rules = true;
    behaviour.pod_groups = true;
    std::set<std::string_view> names;
    for (const KindInfo& kind : WatchedKinds(behaviour)) {
      names.insert(kind.kind);
      EXPECT_NE(api::FindObjectKind(kind.api_version, kind.kind), nullptr)
          << kind.api_version << " " << kind.kind;
    }
    EXPECT_EQ(names.size(), 20u);
  }
}

TEST(KindTable, DevicesAreWatchedAsTheirGatesSay) {
  EXPECT_EQ(WatchedKinds(config::Behaviour()).size(), 18u);
  EXPECT_EQ(WatchedKinds(With("DynamicResourceAllocation=false,DRADeviceTaints=true")).size(), 15u);
  config::Behaviour behaviour;
  behaviour.dra.taint_rules = true;
  EXPECT_EQ(WatchedKinds(behaviour).back().api_version, "resource.k8s.io/v1alpha3");
  behaviour.release = config::Release::k1_36;
  EXPECT_EQ(WatchedKinds(behaviour).back().api_version, "resource.k8s.io/v1beta2");
  behaviour.release = config::Release::k1_37;
  EXPECT_EQ(WatchedKinds(behaviour).back().api_version, "resource.k8s.io/v1");
}

TEST(KindTable, PodGroupsAreWatchedByThoseWhoScheduleThem) {
  config::Behaviour behaviour;
  const size_t without = WatchedKinds(behaviour).size();
  behaviour.pod_groups = true;
  const auto kinds = WatchedKinds(behaviour);
  EXPECT_EQ(kinds.size(), without + 1);
  EXPECT_EQ(kinds.back().plural, "podgroups");
  EXPECT_EQ(kinds.back().api_version, "scheduling.k8s.io/v1beta1");
}

TEST(KindTable, EveryStoredKindIsInTheTableOnce) {
  std::set<std::string_view> kinds, plurals;
  size_t rows = 0;
  ForEachKind([&]<class T>(const KindRow<T>& row) {
    ++rows;
    kinds.insert(T::kKind);
    plurals.insert(row.plural);
    EXPECT_EQ(FindKind(T::kKind)->plural, row.plural);
  });
  EXPECT_EQ(kinds.size(), rows);
  EXPECT_EQ(plurals.size(), rows);
  EXPECT_TRUE(StoredKind<api::DeviceTaintRule>);
  EXPECT_FALSE(StoredKind<api::Pod>) << "it is in the table of the cluster";
  EXPECT_FALSE(StoredKind<api::Lease>) << "it is only written";
  EXPECT_FALSE(StoredKind<api::Deployment>) << "it has no row";
  EXPECT_EQ(FindKind("ConfigMap"), nullptr);
  EXPECT_EQ(FindKind(""), nullptr);
}

TEST(KindTable, RightsFollowTheBehaviour) {
  const auto has = [](const std::vector<KindRights>& rights, std::string_view what) {
    return std::any_of(rights.begin(), rights.end(), [&](const KindRights& r) {
      std::string text(r.group);
      text.append("/").append(r.plural);
      if (!r.subresource.empty()) text.append("/").append(r.subresource);
      return text.append(": ").append(r.verbs) == what;
    });
  };
  const auto rights = RightsOf(config::Behaviour());
  EXPECT_TRUE(has(rights, "/pods: get, list, watch"));
  EXPECT_TRUE(has(rights, "/pods/binding: create"));
  EXPECT_TRUE(has(rights, "resource.k8s.io/resourceclaims/status: update"));
  EXPECT_TRUE(has(rights, "events.k8s.io/events: create, patch, update"));
  EXPECT_FALSE(has(rights, "events.k8s.io/events: get, list, watch"));
  EXPECT_FALSE(has(rights, "resource.k8s.io/devicetaintrules: get, list, watch"));
  const CustomKind floors{"example.com", "v1", "Floor", "floors", false};
  EXPECT_TRUE(has(RightsOf(config::Behaviour(), std::span(&floors, 1)),
                  "example.com/floors: get, list, watch"));
  const auto without = RightsOf(With("DynamicResourceAllocation=false"));
  EXPECT_FALSE(has(without, "resource.k8s.io/resourceclaims/status: update"));
}

}  // namespace
}  // namespace berth::cluster
