#include "api/codec/manifest.h"

#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/testing/objects.h"

namespace berth::api {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

struct Seen {
  std::vector<std::string> objects;  // KIND/NAME, with "?" for a kind that is not known
  std::string error;
};

Seen Read(std::string_view bytes, DecodeOptions options = {}) {
  Seen seen;
  auto ok = ForEachObject(
      bytes,
      [&](Object object) -> Result<void> {
        const bool unknown = std::holds_alternative<UnknownObject>(object);
        const ObjectMeta* meta = MetadataOf(object);
        seen.objects.push_back(
            fmt::format("{}{}/{}", KindOf(object), unknown ? "?" : "", meta ? meta->name : "-"));
        return {};
      },
      options);
  if (!ok) seen.error = ok.error().Message();
  return seen;
}

TEST(Manifest, AllFormsOfInput) {
  struct Case {
    std::string what;
    std::string bytes;
    std::vector<std::string> objects;
  };
  const std::string pod = R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"}})";
  const std::string node = R"({"apiVersion":"v1","kind":"Node","metadata":{"name":"n"}})";
  const std::vector<Case> cases = {
      {"nothing", "", {}},
      {"only blanks", " \n\n", {}},
      {"one JSON object", pod, {"Pod/a"}},
      {"a byte order mark", "\xEF\xBB\xBF" + pod, {"Pod/a"}},
      {"JSON lines", pod + "\n" + node + "\n", {"Pod/a", "Node/n"}},
      {"JSON without a break", pod + node, {"Pod/a", "Node/n"}},
      {"JSON with dashes", pod + "\n---\n" + node + "\n---\n", {"Pod/a", "Node/n"}},
      {"a List",
       R"({"items":[)" + pod + " , " + node + R"(],"kind":"List","apiVersion":"v1"})",
       {"Pod/a", "Node/n"}},
      {"a List without items", R"({"kind":"List","apiVersion":"v1"})", {}},
      {"a List of null", R"({"kind":"List","apiVersion":"v1","items":null})", {}},
      {"an empty List", R"({"kind":"List","apiVersion":"v1","items":[ ]})", {}},
      {"a List in a List",
       R"({"kind":"List","apiVersion":"v1","items":[{"kind":"List","apiVersion":"v1","items":[)" +
           pod + "]}," + node + "]}",
       {"Pod/a", "Node/n"}},
      {"a typed list", ReadTestData("podlist.json"), {"Pod/a", "Pod/b"}},
      {"the last of equal keys", R"({"kind":"Node","apiVersion":"v1","kind":"Pod"})", {"Pod/"}},
      {"a kind that does not matter",
       R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c"},"data":{"a":"b"}})",
       {"ConfigMap?/c"}},
      {"another version", R"({"apiVersion":"apps/v1beta9","kind":"Deployment"})", {"Deployment?/"}},
      {"YAML documents",
       "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\n---\n# nothing\n---\napiVersion: v1\n"
       "kind: List\nitems:\n- apiVersion: v1\n  kind: Node\n  metadata:\n    name: node-1\n",
       {"Pod/a", "Node/node-1"}},
  };
  for (const Case& test : cases) {
    const Seen seen = Read(test.bytes);
    EXPECT_EQ(seen.error, "") << test.what;
    EXPECT_EQ(seen.objects, test.objects) << test.what;
  }
}

TEST(Manifest, ErrorsNameDocumentItemAndPath) {
  struct Case {
    std::string what;
    std::string bytes;
    std::string error;
  };
  std::string nested = R"({"kind":"Pod","apiVersion":"v1"})";
  for (int i = 0; i < 10; ++i) {
    nested = R"({"kind":"List","apiVersion":"v1","items":[)" + nested + "]}";
  }
  const std::string list = R"({"kind":"List","apiVersion":"v1","items":)";
  const std::vector<Case> cases = {
      {"bad field in an item of the second document",
       R"({"kind":"Pod","apiVersion":"v1"})"
       "\n" +
           list +
           R"([{"kind":"Node","apiVersion":"v1"},{"kind":"Pod","apiVersion":"v1","spec":{"priority":"x"}}]})",
       "document 2: items[1]: spec.priority: expected an integer, got the string \"x\""},
      {"no kind", R"({"apiVersion":"v1"})", "document 1: kind is missing"},
      {"no version", R"({"kind":"Pod"})", "document 1: apiVersion is missing"},
      {"kind of the wrong type", R"({"kind":5,"apiVersion":"v1"})",
       "document 1: kind: expected a string, got the number 5"},
      {"an item without kind", list + "[{}]}", "document 1: items[0]: kind is missing"},
      {"an item that is no object", list + "[3]}", "document 1: items[0]: expected an object"},
      {"items that are no array", list + "{}}", "document 1: items: expected an array"},
      {"no comma", list + R"([{"kind":"Pod","apiVersion":"v1"} {}]})",
       "document 1: items[0]: no comma behind it"},
      {"a comma too many", list + R"([{"kind":"Pod","apiVersion":"v1"},]})",
       "document 1: items[1]"},
      {"cut short", R"({"kind":"Pod","apiVersion":"v1",)", "document 1: invalid JSON: line 1"},
      {"garbage behind", R"({"kind":"Pod","apiVersion":"v1"} xyz)", "document 2: invalid JSON"},
      {"nested too deep", nested, "lists are nested deeper than 8 levels"},
      {"YAML error", "a: b: c\n", "mapping values are not allowed"},
      {"YAML scalar", "hello\n", "document 1: expected an object"},
      {"YAML path", "kind: Pod\napiVersion: v1\nspec:\n  containers: 3\n",
       "document 1: spec.containers: expected an array, got the number 3"},
  };
  for (const Case& test : cases) {
    const Seen seen = Read(test.bytes);
    EXPECT_THAT(seen.error, HasSubstr(test.error)) << test.what;
  }
}

TEST(Manifest, StrictReachesTheItems) {
  const Seen seen =
      Read(R"({"kind":"PodList","apiVersion":"v1","items":[{"spce":{}}]})", {.strict = true});
  EXPECT_EQ(seen.error, "document 1: items[0]: unknown field \"spce\"");
}

TEST(Manifest, ConsumerStopsIt) {
  int calls = 0;
  const std::string pod = R"({"apiVersion":"v1","kind":"Pod"})";
  auto ok = ForEachObject(pod + pod, [&](Object) -> Result<void> {
    ++calls;
    return Fail("enough");
  });
  ASSERT_FALSE(ok);
  EXPECT_EQ(ok.error().Message(), "document 1: enough");
  EXPECT_EQ(calls, 1);
}

}  // namespace
}  // namespace berth::api
