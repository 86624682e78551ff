#include "apiserver/json/edit.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace berth::apiserver {
namespace {

constexpr std::string_view kPod =
    R"({"apiVersion":"v1","kind":"Pod","metadata":{"annotations":{"a,b":"x}\"],{","c":"\\"},)"
    R"("generation":1,"name":"web"},"spec":{"containers":[{"name":"c"},[1,[]]],"replicas":-3},)"
    R"("status":{"ready":true}})";

TEST(EditTest, FindsTheTextOfAValue) {
  struct Row {
    const char* path;
    std::string_view text;
  };
  for (const Row& row : {
           Row{"kind", "\"Pod\""},
           Row{"metadata.name", "\"web\""},
           Row{"metadata.generation", "1"},
           Row{"spec.replicas", "-3"},
           Row{"spec.containers", R"([{"name":"c"},[1,[]]])"},
           Row{"status.ready", "true"},
           Row{"status", R"({"ready":true})"},
           Row{"status.phase", ""},
           Row{"kind.name", ""},
           Row{"absent.name", ""},
       }) {
    EXPECT_EQ(FindText(kPod, row.path), row.text) << row.path;
  }
  EXPECT_EQ(FindText("{}", "kind"), "");
  EXPECT_EQ(FindValue(kPod, "spec.containers").Items().size(), 2u);
  EXPECT_TRUE(FindValue(kPod, "spec.nothing").IsNull());
}

TEST(EditTest, VisitsTheMembersInOrder) {
  std::string names;
  ForEachMember(kPod, [&](std::string_view name, std::string_view value) {
    names += std::string(name) + "=" + std::to_string(value.size()) + " ";
  });
  EXPECT_EQ(names, "apiVersion=4 kind=5 metadata=70 spec=50 status=14 ");
}

// Whatever is edited, the text is that of the edited value.
TEST(EditTest, TheTextIsThatOfTheEditedValue) {
  struct Row {
    const char* what;
    std::vector<Edit> edits;
  };
  const Row rows[] = {
      {"nothing", {}},
      {"one member is replaced", {{"kind", "Node"}}},
      {"one in an object is replaced", {{"metadata.name", "other"}}},
      {"several, on all levels",
       {{"metadata.generation", 2},
        {"metadata.uid", "u"},
        {"spec.nodeName", "n-1"},
        {"status", Json::MakeObject({{"phase", "Running"}})}}},
      {"one comes first", {{"aaa", Json::MakeArray({1, "two"})}}},
      {"one comes last", {{"zzz", 1.5}}},
      {"one comes into an object that is not there", {{"other.place", "x"}}},
      {"two do", {{"other.a", "x"}, {"other.b.c", "y"}}},
      {"one goes", {{"metadata.annotations", Json()}}},
      {"all of an object go", {{"status.ready", Json()}}},
      {"one that is not there goes", {{"absent.place", Json()}, {"status.phase", Json()}}},
      {"a value that is no object becomes one", {{"kind.name", "x"}}},
      {"a value given as text", {{"status.list", {}, R"([{"a":1},"b"])"}, {"status.n", {}, "5"}}},
      {"nothing goes from a value that is no object", {{"kind.name", Json()}}},
      {"text that needs escapes", {{"status.message", "a\"b\\c\n"}}},
  };
  for (const Row& row : rows) {
    Json value = *Json::Parse(kPod);
    EditValue(value, row.edits);
    EXPECT_EQ(EditText(kPod, row.edits), value.Dump()) << row.what;
  }
}

TEST(EditTest, AnEmptyObjectTakesMembers) {
  const std::vector<Edit> edits = {{"a.b", 1}, {"c", "d"}};
  EXPECT_EQ(EditText("{}", edits), R"({"a":{"b":1},"c":"d"})");
}

}  // namespace
}  // namespace berth::apiserver
