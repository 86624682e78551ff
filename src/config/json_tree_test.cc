#include "config/json_tree.h"

#include <gtest/gtest.h>

namespace berth::config {
namespace {

// The minified JSON or the error.
std::string Parse(std::string_view text) {
  const auto tree = ParseJson(text);
  if (!tree) return tree.error().Message();
  std::string out;
  AppendJson(out, *tree);
  return out;
}

TEST(JsonTree, KeepsOrderRepetitionsAndNumbers) {
  EXPECT_EQ(Parse(R"( { "b" : 1.50 , "a":[true,null,"x\u00e9\ud83d\ude00"], "b":-0 } )"),
            "{\"b\":1.50,\"a\":[true,null,\"xé😀\"],\"b\":-0}");
  const std::string text = R"({"a": {"b" : 1}, "c": null})";
  const auto tree = ParseJson(text);
  ASSERT_TRUE(tree);
  EXPECT_EQ(tree->Find("a")->source, R"({"b" : 1})");
  EXPECT_EQ(tree->Find("c"), nullptr) << "null reads as absent";
}

TEST(JsonTree, ErrorsAreGos) {
  struct Case {
    const char* what;
    std::string text;
    std::string want;
  };
  const Case cases[] = {
      {"nothing", "", "unexpected end of JSON input"},
      {"an open object", "{\"a\":", "unexpected end of JSON input"},
      {"an open string", "\"a", "unexpected end of JSON input"},
      {"a key without quotes", "{a",
       "invalid character 'a' looking for beginning of object key string"},
      {"a comma too many", "[1,]", "invalid character ']' looking for beginning of value"},
      {"no colon", "{\"a\" 1}", "invalid character '1' after object key"},
      {"no comma", "{\"a\":1 \"b\"", "invalid character '\"' after object key:value pair"},
      {"no comma in a list", "[1 2]", "invalid character '2' after array element"},
      {"two values", "{} x", "invalid character 'x' after top-level value"},
      {"a leading zero", "01", "invalid character '1' after top-level value"},
      {"a point without digits", "1.x",
       "invalid character 'x' after decimal point in numeric literal"},
      {"half a word", "trux", "invalid character 'x' in literal true (expecting 'e')"},
      {"an unknown escape", "\"\\q\"", "invalid character 'q' in string escape code"},
      {"a line break in a string", "\"\n\"", "invalid character '\\n' in string literal"},
      {"too deep", std::string(5000, '['), "exceeded max depth"},
  };
  for (const Case& c : cases) EXPECT_EQ(Parse(c.text), c.want) << c.what;
}

}  // namespace
}  // namespace berth::config
