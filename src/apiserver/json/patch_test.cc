#include "apiserver/json/patch.h"

#include <functional>
#include <string>

#include <gtest/gtest.h>

namespace berth::apiserver {
namespace {

Json Read(std::string_view text) {
  auto value = Json::Parse(text);
  EXPECT_TRUE(value) << text;
  return value.value_or(Json());
}

struct Case {
  const char* what;
  const char* target;
  const char* patch;
  const char* result;  // or the error
};

TEST(JsonPatch, Operations) {
  const Case cases[] = {
      {"a member is added", R"({"a":1})", R"([{"op":"add","path":"/b","value":2}])",
       R"({"a":1,"b":2})"},
      {"an item is inserted", R"({"a":[1,3]})", R"([{"op":"add","path":"/a/1","value":2}])",
       R"({"a":[1,2,3]})"},
      {"an item is appended", R"({"a":[1]})", R"([{"op":"add","path":"/a/-","value":2}])",
       R"({"a":[1,2]})"},
      {"names are unescaped", R"({"m":{"x/y":1,"p~q":2}})",
       R"([{"op":"remove","path":"/m/x~1y"},{"op":"remove","path":"/m/p~0q"}])", R"({"m":{}})"},
      {"replace needs something to replace", R"({})", R"([{"op":"replace","path":"/a","value":1}])",
       "replace operation does not apply: doc is missing key: /a: missing value"},
      {"test compares", R"({"a":1})", R"([{"op":"test","path":"/a","value":2}])",
       "testing value /a failed: test failed"},
      {"move takes from one place to the other", R"({"a":1})",
       R"([{"op":"move","from":"/a","path":"/b"}])", R"({"b":1})"},
      {"copy leaves the source", R"({"a":{"x":1}})", R"([{"op":"copy","from":"/a","path":"/b"}])",
       R"({"a":{"x":1},"b":{"x":1}})"},
      {"an index out of range", R"({"a":[1]})", R"([{"op":"remove","path":"/a/1"}])",
       "remove operation does not apply: doc is missing path: \"/a/1\": missing value"},
      {"an unknown operation", R"({})", R"([{"op":"turn","path":"/a"}])", "Unexpected kind: turn"},
  };
  for (const Case& c : cases) {
    Json target = Read(c.target);
    const auto ok = ApplyJsonPatch(target, Read(c.patch));
    EXPECT_EQ(ok ? target.Dump() : ok.error().Message(), c.result) << c.what;
  }
}

// Operations that make much of little.
std::string Copies(int count, const std::function<std::string(int)>& from,
                   const std::function<std::string(int)>& to) {
  std::string patch = "[";
  for (int i = 0; i < count; ++i) {
    if (i > 0) patch += ',';
    patch += R"({"op":"copy","from":")" + from(i) + R"(","path":")" + to(i) + R"("})";
  }
  return patch + "]";
}

TEST(JsonPatch, H2CopiesThatDoubleAreStopped) {
  Json target = Read(R"({"data":{"x":")" + std::string(1000, 'x') + R"("}})");
  bool too_large = false;
  const auto ok = ApplyJsonPatch(
      target,
      Read(Copies(
          40, [](int) { return "/data"; }, [](int i) { return "/data/k" + std::to_string(i); })),
      {}, &too_large);
  ASSERT_FALSE(ok);
  EXPECT_TRUE(too_large);
  EXPECT_NE(ok.error().Message().find("exceeding the limit 3145728"), std::string::npos)
      << ok.error().Message();
  EXPECT_LT(Measure(target).bytes, 4u << 20) << "stopped before it was made";
}

TEST(JsonPatch, H2OperationsAreCounted) {
  Json target = Read(R"({"a":1})");
  const auto test = [](int count) {
    std::string text = "[";
    for (int i = 0; i < count; ++i) {
      text += (i > 0 ? "," : "") + std::string(R"({"op":"test","path":"/a","value":1})");
    }
    return text + "]";
  };
  EXPECT_TRUE(ApplyJsonPatch(target, Read(test(10'000))));
  bool too_large = false;
  const auto ok = ApplyJsonPatch(target, Read(test(10'001)), {}, &too_large);
  ASSERT_FALSE(ok);
  EXPECT_TRUE(too_large);
  EXPECT_EQ(ok.error().Message(),
            "The allowed maximum operations in a JSON patch is 10000, got 10001");
}

TEST(JsonPatch, H2WorkIsBounded) {
  // Every operation moves all items of a long list.
  Json target = Json::MakeObject({{"a", Json(Json::Array(200'000, Json(1)))}});
  std::string patch = "[";
  for (int i = 0; i < 5'000; ++i) {
    patch += (i > 0 ? "," : "") + std::string(R"({"op":"add","path":"/a/0","value":1})");
  }
  bool too_large = false;
  EXPECT_FALSE(ApplyJsonPatch(target, Read(patch + "]"), {}, &too_large));
  EXPECT_TRUE(too_large);
  // A value that is moved is not copied.
  Json moved = Read(R"({"a":{"b":"x"}})");
  EXPECT_TRUE(ApplyJsonPatch(moved, Read(R"([{"op":"move","from":"/a/b","path":"/c"}])")));
  EXPECT_EQ(moved.Dump(), R"({"a":{},"c":"x"})");
}

TEST(JsonPatch, M1NestingIsBounded) {
  // The depth doubles with every copy.
  Json nested = Read(R"({"x":{}})");
  std::string path = "/a";
  Result<void> ok = {};
  for (int i = 0; ok && i < 14; ++i) {
    ok = ApplyJsonPatch(nested, Read(R"([{"op":"copy","from":"","path":")" + path + R"("}])"));
    path += path;
  }
  ASSERT_FALSE(ok);
  EXPECT_EQ(ok.error().Message(), "nested deeper than 1000 levels");
  EXPECT_LE(Measure(nested).depth, 1000u) << "refused before it was made";
  // One level below a value of the greatest depth.
  std::string deep;
  for (int i = 0; i < 999; ++i) deep += '[';
  deep += std::string(999, ']');
  Json target = Read(R"({"a":)" + deep + R"(,"b":{}})");
  EXPECT_FALSE(ApplyJsonPatch(target, Read(R"([{"op":"move","from":"/a","path":"/b/a"}])")));
  target = Read(R"({"b":{"a":1}})");
  EXPECT_FALSE(
      ApplyJsonPatch(target, Read(R"([{"op":"add","path":"/b/a","value":)" + deep + "}]")));
  EXPECT_TRUE(ApplyJsonPatch(target, Read(R"([{"op":"add","path":"/c","value":)" + deep + "}]")));
  EXPECT_FALSE(
      ApplyJsonPatch(target, Read(R"([{"op":"replace","path":"/b/a","value":)" + deep + "}]")));
}

TEST(Json, ExtentsAreThoseOfTheText) {
  for (const char* text : {R"({"a":[1,{"b":"xyz"}],"c":{}})", "[]", R"("abc")", "[[[[1]]]]"}) {
    const JsonExtent extent = Measure(Read(text));
    EXPECT_NEAR(static_cast<double>(extent.bytes), static_cast<double>(std::string(text).size()), 3)
        << text;
  }
  EXPECT_EQ(Measure(Read(R"({"a":[1,{"b":"xyz"}],"c":{}})")).depth, 3u);
  EXPECT_EQ(Measure(Read("7")).depth, 0u);
  EXPECT_EQ(Measure(Read("[1,[2,3]]")).values, 5u);
}

TEST(MergePatch, MembersAreMergedListsReplacedNullsRemove) {
  const Case cases[] = {
      {"nested members", R"({"a":{"b":1,"c":2}})", R"({"a":{"c":null,"d":3}})",
       R"({"a":{"b":1,"d":3}})"},
      {"a list is replaced", R"({"a":[1,2]})", R"({"a":[3]})", R"({"a":[3]})"},
      {"nulls of a new member are dropped", R"({})", R"({"a":{"b":null,"c":1}})",
       R"({"a":{"c":1}})"},
      {"an object replaces a number", R"({"a":1})", R"({"a":{"b":1}})", R"({"a":{"b":1}})"},
  };
  for (const Case& c : cases) {
    Json target = Read(c.target);
    ApplyMergePatch(target, Read(c.patch));
    EXPECT_EQ(target.Dump(), c.result) << c.what;
  }
}

TEST(MergePatch, MadePatchTurnsOneIntoTheOther) {
  const Json from = Read(R"({"a":{"b":1,"c":[1]},"gone":1,"same":{"x":1}})");
  const Json to = Read(R"({"a":{"b":2,"c":[1,2]},"new":{"y":1},"same":{"x":1}})");
  const Json patch = MakeMergePatch(from, to);
  EXPECT_EQ(patch.Dump(), R"({"a":{"b":2,"c":[1,2]},"gone":null,"new":{"y":1}})");
  Json target = from;
  ApplyMergePatch(target, patch);
  EXPECT_EQ(target, to);
}

TEST(StrategicMergePatch, ListsFollowTheirKeys) {
  const Case cases[] = {
      {"a container is changed by its name",
       R"({"spec":{"containers":[{"name":"a","image":"1"},{"name":"b","image":"1"}]}})",
       R"({"spec":{"containers":[{"name":"b","image":"2"}]}})",
       R"({"spec":{"containers":[{"image":"1","name":"a"},{"image":"2","name":"b"}]}})"},
      {"a container is added", R"({"spec":{"containers":[{"name":"a"}]}})",
       R"({"spec":{"containers":[{"name":"b"}]}})",
       R"({"spec":{"containers":[{"name":"a"},{"name":"b"}]}})"},
      {"a container is deleted", R"({"spec":{"containers":[{"name":"a"},{"name":"b"}]}})",
       R"({"spec":{"containers":[{"$patch":"delete","name":"a"}]}})",
       R"({"spec":{"containers":[{"name":"b"}]}})"},
      {"ports of a template's container",
       R"({"spec":{"template":{"spec":{"containers":[{"name":"a","ports":[{"containerPort":80}]}]}}}})",
       R"({"spec":{"template":{"spec":{"containers":[{"name":"a","ports":[{"containerPort":81}]}]}}}})",
       R"({"spec":{"template":{"spec":{"containers":[{"name":"a","ports":[{"containerPort":80},{"containerPort":81}]}]}}}})"},
      {"conditions by type",
       R"({"status":{"conditions":[{"type":"Ready","status":"False"},{"type":"X","status":"True"}]}})",
       R"({"status":{"conditions":[{"type":"Ready","status":"True"}]}})",
       R"({"status":{"conditions":[{"status":"True","type":"Ready"},{"status":"True","type":"X"}]}})"},
      {"the order is set", R"({"status":{"conditions":[{"type":"A"},{"type":"B"}]}})",
       R"({"status":{"$setElementOrder/conditions":[{"type":"C"},{"type":"A"},{"type":"B"}],"conditions":[{"type":"C"}]}})",
       R"({"status":{"conditions":[{"type":"C"},{"type":"A"},{"type":"B"}]}})"},
      {"tolerations and taints are replaced", R"({"spec":{"taints":[{"key":"a"}]}})",
       R"({"spec":{"taints":[{"key":"b"}]}})", R"({"spec":{"taints":[{"key":"b"}]}})"},
      {"finalizers are a set", R"({"metadata":{"finalizers":["a"]}})",
       R"({"metadata":{"finalizers":["b","a"]}})", R"({"metadata":{"finalizers":["a","b"]}})"},
      {"a finalizer leaves the set", R"({"metadata":{"finalizers":["a","b"]}})",
       R"({"metadata":{"$deleteFromPrimitiveList/finalizers":["a"]}})",
       R"({"metadata":{"finalizers":["b"]}})"},
      {"null removes", R"({"metadata":{"labels":{"a":"1","b":"2"}}})",
       R"({"metadata":{"labels":{"a":null}}})", R"({"metadata":{"labels":{"b":"2"}}})"},
      {"keys not retained go",
       R"({"spec":{"strategy":{"type":"RollingUpdate","rollingUpdate":{}}}})",
       R"({"spec":{"strategy":{"$retainKeys":["type"],"type":"Recreate"}}})",
       R"({"spec":{"strategy":{"type":"Recreate"}}})"},
      {"replace instead of merge", R"({"metadata":{"labels":{"a":"1"}}})",
       R"({"metadata":{"labels":{"$patch":"replace","b":"2"}}})",
       R"({"metadata":{"labels":{"b":"2"}}})"},
      {"an element without its key", R"({"spec":{"containers":[]}})",
       R"({"spec":{"containers":[{"image":"x"}]}})",
       R"(map: {"image":"x"} does not contain declared merge key: name)"},
  };
  for (const Case& c : cases) {
    Json target = Read(c.target);
    const auto ok = ApplyStrategicMergePatch(target, Read(c.patch));
    EXPECT_EQ(ok ? target.Dump() : ok.error().Message(), c.result) << c.what;
  }
}

TEST(Json, KeepsEveryValue) {
  const char* texts[] = {
      "null", "true", "-7", "1.5", R"("a\"b")", R"([1,[2,{}]])", R"({"a":{"b":[]},"c":null})"};
  for (const char* text : texts) EXPECT_EQ(Read(text).Dump(), text);
  EXPECT_EQ(Read(R"({"b":1,"a":2,"b":3})").Dump(), R"({"a":2,"b":3})") << "the last of equal names";
  EXPECT_FALSE(Json::Parse("{\"a\":}"));
  EXPECT_FALSE(Json::Parse(std::string(5000, '[')));
  EXPECT_FALSE(Json::Parse(""));
}

}  // namespace
}  // namespace berth::apiserver
