#include "framework/runtime/profile.h"

#include <memory>
#include <string>

#include <gtest/gtest.h>

namespace berth::framework {
namespace {

class Bare final : public FilterPlugin {
 public:
  std::string_view Name() const override { return "Bare"; }
  void Filter(const CycleContext&, const PluginState*, FilterBatch&) const override {}
};

Result<std::unique_ptr<Plugin>> MakeBare(const config::PluginArgs&, const PluginHandle&) {
  return std::make_unique<Bare>();
}
Result<std::unique_ptr<Plugin>> MakeBroken(const config::PluginArgs&, const PluginHandle&) {
  return Fail("bad arguments");
}

TEST(Profile, AsksEveryPluginForThePointItIsEnabledAt) {
  const RegistryRow registry[] = {{"Bare", &MakeBare}, {"Broken", &MakeBroken}};
  struct Case {
    const char* what;
    config::ExtensionPoint point;
    const char* plugin;
    std::string error;
  };
  const Case cases[] = {
      {"served", config::ExtensionPoint::kFilter, "Bare", ""},
      {"not served", config::ExtensionPoint::kReserve, "Bare",
       "plugin \"Bare\" does not extend ReservePlugin plugin"},
      {"unknown", config::ExtensionPoint::kFilter, "Other", "plugin \"Other\" is not available"},
      {"fails to start", config::ExtensionPoint::kFilter, "Broken",
       "initializing plugin \"Broken\": bad arguments"},
  };
  cluster::Cluster cluster;
  for (const Case& c : cases) {
    config::ResolvedProfile resolved;
    resolved.scheduler_name = "mine";
    resolved.points[config::Index(c.point)].push_back({c.plugin, 0});
    const auto profile = Profile::Make(resolved, registry, {cluster});
    EXPECT_EQ(profile.has_value(), c.error.empty()) << c.what;
    if (profile) {
      EXPECT_EQ((*profile)->Name(), "mine");
      EXPECT_EQ((*profile)->filter.size(), 1u);
      EXPECT_EQ((*profile)->At((*profile)->filter[0].index).Name(), "Bare");
    } else {
      EXPECT_EQ(profile.error().Message(), c.error) << c.what;
    }
  }
}

TEST(Profile, APluginServesManyPointsAsOneObject) {
  const RegistryRow registry[] = {{"Bare", &MakeBare}};
  cluster::Cluster cluster;
  config::ResolvedProfile resolved;
  auto& filter = resolved.points[config::Index(config::ExtensionPoint::kFilter)];
  filter = {{"Bare", 0}, {"Bare", 0}};
  const auto profile = Profile::Make(resolved, registry, {cluster});
  ASSERT_TRUE(profile.has_value());
  EXPECT_EQ((*profile)->Plugins().size(), 1u);
}

}  // namespace
}  // namespace berth::framework
