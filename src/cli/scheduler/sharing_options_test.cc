#include "cli/scheduler/sharing_options.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/config.h"

namespace berth::cli::scheduler {
namespace {

using ::testing::HasSubstr;

SchedulerOptions Options() {
  SchedulerOptions options;
  options.config = config::Default(config::Behaviour());
  options.config.leader_election.leader_elect = true;
  options.shares_work = true;
  options.serving.bind_address = "10.0.0.7";
  return options;
}

TEST(SharingOptions, TheAddressIsCompleted) {
  struct Row {
    const char* bind;
    const char* given;
    const char* address;
  };
  const Row rows[] = {
      {"10.0.0.7", "", "10.0.0.7:10259"},
      {"fd00::7", "", "[fd00::7]:10259"},
      {"0.0.0.0", "host.example", "host.example:10259"},
      {"0.0.0.0", "host:443", "host:443"},
      {"0.0.0.0", "fd00::7", "[fd00::7]:10259"},
      {"0.0.0.0", "[fd00::7]:443", "[fd00::7]:443"},
      {"10.0.0.7", "10.0.0.8", "10.0.0.8:10259"},
  };
  for (const Row& row : rows) {
    SchedulerOptions options = Options();
    options.serving.bind_address = row.bind;
    options.replica_address = row.given;
    ASSERT_TRUE(CheckSharing(options)) << row.address;
    EXPECT_EQ(options.replica_address, row.address);
    ASSERT_TRUE(CheckSharing(options)) << "as in another minor";
    EXPECT_EQ(options.replica_address, row.address);
  }
}

TEST(SharingOptions, WhatCannotWorkIsRefused) {
  struct Row {
    const char* name;
    void (*change)(SchedulerOptions& options);
    const char* error;
  };
  const Row rows[] = {
      {"not shared", [](auto& o) { o.shares_work = false, o.replica_address = "a"; },
       "--replica-address requires --replicas-share-work"},
      {"no election", [](auto& o) { o.config.leader_election.leader_elect = false; },
       "requires leader election"},
      {"no port", [](auto& o) { o.serving.port = 0; }, "--secure-port is 0"},
      {"no cache", [](auto& o) { o.config.delay_cache_until_active = true; },
       "requires delayCacheUntilActive: false"},
      {"any address", [](auto& o) { o.serving.bind_address = "0.0.0.0"; },
       "requires --replica-address when --bind-address is 0.0.0.0"},
      {"unspecified", [](auto& o) { o.replica_address = "0.0.0.0"; }, "0.0.0.0 is neither HOST"},
      {"a URL", [](auto& o) { o.replica_address = "https://a"; }, "https://a is neither HOST"},
      {"a bad port", [](auto& o) { o.replica_address = "a:99999"; }, "a:99999 is neither HOST"},
      {"open bracket", [](auto& o) { o.replica_address = "[::1"; }, "[::1 is neither HOST"},
      {"a long name",
       [](auto& o) { o.config.leader_election.resource_name = std::string(64, 'x'); },
       "at most 63 characters"},
  };
  for (const Row& row : rows) {
    SchedulerOptions options = Options();
    row.change(options);
    const auto checked = CheckSharing(options);
    ASSERT_FALSE(checked) << row.name;
    EXPECT_THAT(checked.error().Message(), HasSubstr(row.error)) << row.name;
  }
}

TEST(SharingOptions, NothingIsAskedForWhenWorkIsNotShared) {
  SchedulerOptions options;
  EXPECT_TRUE(CheckSharing(options));
  EXPECT_EQ(options.replica_address, "");
}

}  // namespace
}  // namespace berth::cli::scheduler
