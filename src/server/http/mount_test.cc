#include "server/http/mount.h"

#include <gtest/gtest.h>

namespace berth::server {
namespace {

TEST(Mount, AnswersForItsPathAndAllBelowIt) {
  const std::vector<Mount> mounts = {{"/apis/explain/v1", nullptr, false},
                                     {"/dashboard/", nullptr, true}};
  struct Row {
    const char* what;
    const char* path;
    const char* prefix;  // null: none
  };
  for (const Row& row : {
           Row{"the path itself", "/apis/explain/v1", "/apis/explain/v1"},
           Row{"a path below it", "/apis/explain/v1/nodes", "/apis/explain/v1"},
           Row{"a path that only begins like it", "/apis/explain/v12", nullptr},
           Row{"a path above it", "/apis/explain", nullptr},
           Row{"a folder", "/dashboard/", "/dashboard/"},
           Row{"a file in the folder", "/dashboard/app.js", "/dashboard/"},
           Row{"the folder without its slash", "/dashboard", nullptr},
       }) {
    const Mount* mount = FindMount(mounts, row.path);
    EXPECT_STREQ(mount == nullptr ? nullptr : mount->prefix.c_str(), row.prefix) << row.what;
  }
}

}  // namespace
}  // namespace berth::server
