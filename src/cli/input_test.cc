#include "cli/input.h"

#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

namespace berth::cli {
namespace {

class InputTest : public ::testing::Test {
 protected:
  InputTest() {
    dir_ = std::filesystem::path(::testing::TempDir()) /
           ::testing::UnitTest::GetInstance()->current_test_info()->name();
    std::filesystem::remove_all(dir_);
    std::filesystem::create_directories(dir_);
  }
  ~InputTest() override { std::filesystem::remove_all(dir_); }

  std::string Write(const std::string& name, const std::string& content) {
    const auto path = dir_ / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << content;
    return path.string();
  }
  static std::string Node(const std::string& name) {
    return "apiVersion: v1\nkind: Node\nmetadata: {name: " + name + "}\n";
  }
  // "" when all is well.
  std::string Read(const std::vector<std::string>& paths) {
    auto read = ReadManifests(paths, &world_);
    if (read) read = world_.Finish();
    return read ? "" : read.error().Message();
  }
  std::string Nodes() const {
    std::string names;
    const auto& cluster = world_.GetCluster();
    cluster.Nodes().ForEach([&](cluster::NodeIndex n) { names += cluster.NodeName(n) + " "; });
    return names;
  }

  std::filesystem::path dir_;
  sim::World world_;
};

TEST_F(InputTest, ReadsFilesAndFoldersInOrderOfName) {
  Write("all/b.yml", Node("b"));
  Write("all/a.yaml", Node("a1") + "---\n" + Node("a2"));
  Write("all/deep/c.json", R"({"apiVersion":"v1","kind":"Node","metadata":{"name":"c"}})");
  Write("all/notes.txt", "not a manifest: [");
  const std::string file = Write("other", Node("z"));
  EXPECT_EQ(Read({file, (dir_ / "all").string()}), "");
  EXPECT_EQ(Nodes(), "z a1 a2 b c ");
}

TEST_F(InputTest, ErrorsNameTheFileTheDocumentAndThePath) {
  const std::string good = Write("good.yaml", Node("a"));
  const std::string bad = Write(
      "bad.yaml", Node("b") + "---\napiVersion: v1\nkind: Pod\nmetadata: {name: p}\n" +
                      "spec: {containers: [{name: c, resources: {requests: {cpu: lots}}}]}\n");
  const std::string error = Read({good, bad});
  EXPECT_TRUE(error.starts_with(bad + ": document 2: spec.containers[0].resources.requests"))
      << error;
  EXPECT_NE(error.find("lots"), std::string::npos) << error;
}

TEST_F(InputTest, ErrorsOfWhatIsNotThere) {
  const std::string none = (dir_ / "none.yaml").string();
  EXPECT_EQ(Read({none}), none + ": No such file or directory");
  std::filesystem::create_directories(dir_ / "empty");
  const std::string empty = (dir_ / "empty").string();
  EXPECT_EQ(Read({empty}), empty + ": no .yaml, .yml or .json files in this folder");
}

TEST_F(InputTest, ListsAreTakenApartAndErrorsNameTheItem) {
  const std::string list =
      Write("list.json", R"({"apiVersion":"v1","kind":"List","items":[)"
                         R"({"apiVersion":"v1","kind":"Node","metadata":{"name":"a"}},)"
                         R"({"apiVersion":"v1","kind":"Node","metadata":{"name":7}}]})");
  const std::string error = Read({list});
  EXPECT_TRUE(error.starts_with(list + ": ")) << error;
  EXPECT_NE(error.find("items[1]: metadata.name: "), std::string::npos) << error;
}

}  // namespace
}  // namespace berth::cli
