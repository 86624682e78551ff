#include "plugins/volume_binding/assume_cache.h"

#include <gtest/gtest.h>

#include "api/core/persistent_volume.h"
#include "cluster/objects/store.h"

namespace berth::plugins::volume_binding {
namespace {

using Volume = api::PersistentVolume;

Volume Make(const std::string& version, const std::string& storage_class = "") {
  Volume volume;
  volume.metadata.name = "pv";
  volume.metadata.resource_version = version;
  volume.spec.storage_class_name = storage_class;
  return volume;
}

class AssumeCacheTest : public testing::Test {
 protected:
  void Store(const std::string& version) {
    store_.Set(Make(version, "stored"));
    cache_.Forget(store_, "/pv");
  }
  std::string Assume(const std::string& version) {
    const auto done =
        cache_.Assume(store_, std::make_shared<const Volume>(Make(version, "assumed")));
    return done ? "" : done.error().Message();
  }
  std::string Latest() {
    const Volume* volume = cache_.Latest(store_, "/pv");
    return volume == nullptr ? "" : volume->spec.storage_class_name;
  }

  cluster::Store<Volume> store_;
  AssumeCache<Volume> cache_{"v1.PersistentVolume", "persistentvolumes"};
};

TEST_F(AssumeCacheTest, WhatIsNewerReplacesWhatWasAssumed) {
  EXPECT_EQ(Assume("5"), "could not find v1.PersistentVolume \"pv\"");
  Store("5");
  EXPECT_EQ(Assume("4"), "v1.PersistentVolume \"pv\" is out of sync (stored: 5, assume: 4)");
  EXPECT_EQ(Assume("5"), "");
  EXPECT_EQ(Latest(), "assumed");
  Store("5");
  EXPECT_EQ(Latest(), "assumed");
  Store("4");
  EXPECT_EQ(Latest(), "assumed") << "not newer";
  Store("6");
  EXPECT_EQ(Latest(), "stored");
}

TEST_F(AssumeCacheTest, From135AnotherVersionReplacesWhatWasAssumed) {
  cache_.AssumeOverSameVersion(true);
  EXPECT_EQ(Assume("5"), "persistentvolumes \"pv\" not found");
  Store("a");
  EXPECT_EQ(Assume("b"), "\"pv\" is out of sync (stored: a, assume: b)");
  EXPECT_EQ(Assume("a"), "");
  EXPECT_EQ(Latest(), "assumed");
  Store("a");
  EXPECT_EQ(Latest(), "assumed");
  Store("A");
  EXPECT_EQ(Latest(), "stored");
  EXPECT_EQ(cache_.Size(), 0u);
}

}  // namespace
}  // namespace berth::plugins::volume_binding
