#include "api/codec/yaml.h"

#include <gtest/gtest.h>

#include "api/codec/yaml_writer.h"

namespace berth::api {
namespace {

// The JSON or the error.
std::string Convert(std::string_view text, bool strict = false) {
  auto json = YamlToJson(text, {.strict = strict});
  return json ? *json : json.error().Message();
}

struct Case {
  const char* what;
  std::string in;
  const char* want;
};

void Check(std::initializer_list<Case> cases, bool strict = false) {
  for (const Case& c : cases) EXPECT_EQ(Convert(c.in, strict), c.want) << c.what;
}

TEST(Yaml, PlainScalarsAreYaml11) {
  Check({
      {"booleans", "[yes, No, on, OFF, true, y, nO]", R"([true,false,true,false,true,true,"nO"])"},
      {"nulls", "[~, null, Null, ]", "[null,null,null]"},
      {"octal in both forms", "[0644, 0o17, 010]", "[420,15,8]"},
      {"hexadecimal and binary", "[0x1F, -0x10, 0b101, 0b-11]", "[31,-16,5,-3]"},
      {"underscores", "[1_000, 0x_ff]", "[1000,255]"},
      {"floats", "[1e3, 1.5, .5, -.5e1, 08, 1.]", "[1000,1.5,0.5,-5,8,1]"},
      {"integers up to 64 bits",
       "[9223372036854775807, 18446744073709551615, -9223372036854775808]",
       "[9223372036854775807,18446744073709551615,-9223372036854775808]"},
      {"larger ones are floats", "[18446744073709551616]", "[18446744073709552000]"},
      {"overflow is a string, underflow is zero", "[1e400, 1e-400]", R"(["1e400",0])"},
      {"timestamps stay strings", "[2001-01-01, 2001-12-14t21:59:43.10-05:00]",
       R"(["2001-01-01","2001-12-14t21:59:43.10-05:00"])"},
      {"quoted ones are strings", R"(["yes", '1', "0x1"])", R"(["yes","1","0x1"])"},
      {"infinity has no JSON", "a: .inf", "json: unsupported value: +Inf"},
  });
}

TEST(Yaml, TagsChooseTheType) {
  Check({
      {"a number as string", "!!str 3", R"("3")"},
      {"a quoted number", "!!int \"3\"", "3"},
      {"an integer as float", "!!float 3", "3"},
      {"base64", "!!binary aGk=", R"("hi")"},
      {"no base64", "!!binary '*'", "yaml: !!binary value contains invalid base64 data"},
      {"an unknown tag is a string", "!foo 3", R"("3")"},
      {"the wrong type", "!!int yes", "yaml: cannot decode !!bool `yes` as a !!int"},
      {"no timestamp", "!!timestamp 2001-13-01",
       "yaml: cannot decode !!str `2001-13-01` as a !!timestamp"},
  });
}

TEST(Yaml, KeysBecomeSortedStrings) {
  Check({
      {"sorted, the last of equal ones", "b: 1\na: 2\nb: 3\n", R"({"a":2,"b":3})"},
      {"nested mappings are sorted too", "b: {d: 1, c: 2}\na: [{z: 1, x: 2}]\n",
       R"({"a":[{"x":2,"z":1}],"b":{"c":2,"d":1}})"},
      {"numbers and booleans", "1: a\ntrue: b\n0x10: c\n1.5: d\n",
       R"({"1":"a","1.5":"d","16":"c","true":"b"})"},
      {"null is no key", "~: a",
       R"(unsupported map key of type: %!s(<nil>), key: <nil>, value: "a")"},
      {"a list is no key", "? [a, 1]\n: b", R"(yaml: invalid map key: []interface {}{"a", 1})"},
  });
}

TEST(Yaml, StrictRefusesEqualKeys) {
  Check({{"a repeated key, with the line of its value", "a: 1\nb: 2\na: 3\n",
          "yaml: unmarshal errors:\n  line 3: key \"a\" already set in map"},
         {"in the order of the document", "a:\n  x: 1\n  x: 2\nb: 1\na: 3\nc: {z: 1, z: 2}\n",
          "yaml: unmarshal errors:\n  line 3: key \"x\" already set in map\n"
          "  line 5: key \"a\" already set in map\n  line 6: key \"z\" already set in map"},
         {"a number and its text are different keys", "1: a\n\"1\": b\n", R"({"1":"b"})"},
         {"a key that overrides a merged one", "x: &x {a: 1}\ny:\n  <<: *x\n  a: 2\n",
          "yaml: unmarshal errors:\n  line 4: key \"a\" already set in map"}},
        true);
}

TEST(Yaml, AnchorsAndMergeKeys) {
  Check({
      {"an alias is a copy", "a: &x {p: 1}\nb: *x\n", R"({"a":{"p":1},"b":{"p":1}})"},
      {"merge", "a: &x {p: 1, q: 2}\nb: {<<: *x, q: 3}\n",
       R"({"a":{"p":1,"q":2},"b":{"p":1,"q":3}})"},
      {"the first of several merged mappings wins", "b: {<<: [{p: 1}, {p: 2, q: 2}]}\n",
       R"({"b":{"p":1,"q":2}})"},
      {"a quoted << is a key", "'<<': 1", R"({"\u003c\u003c":1})"},
      {"an unknown alias", "a: *x", "yaml: unknown anchor 'x' referenced"},
      {"an alias of what contains it", "a: &x [*x]", "yaml: anchor 'x' value contains itself"},
      {"merging a scalar", "a: {<<: 1}",
       "yaml: map merge requires map or sequence of maps as the value"},
  });
}

TEST(Yaml, SyntaxErrorsHaveGoYamlsWordsAndLines) {
  Check({
      {"a tab", "a:\n\tb: 1\n", "yaml: line 2: found character that cannot start any token"},
      {"an unfinished list", "a: 1\nb: [1, 2\nc: 3\n",
       "yaml: line 2: did not find expected ',' or ']'"},
      {"a colon too many", "a: 1\nb: c: d\n",
       "yaml: line 2: mapping values are not allowed in this context"},
      {"an unfinished quote", "a: 1\nb: 'x\n", "yaml: line 3: found unexpected end of stream"},
      {"control characters", std::string("a: \x01"), "yaml: control characters are not allowed"},
      {"another version", "%YAML 1.2\n---\na: 1\n", "yaml: found incompatible YAML document"},
  });
}

TEST(Yaml, EncodingsAndLineEnds) {
  Check({
      {"a byte order mark",
       "\xef\xbb\xbf"
       "a: 1",
       R"({"a":1})"},
      {"UTF-16, little end first",
       std::string("\xff\xfe"
                   "a\0:\0 \0001\0",
                   10),
       R"({"a":1})"},
      {"CRLF", "a: 1\r\nb: |\r\n  x\r\n  y\r\n", R"({"a":1,"b":"x\ny\n"})"},
      {"nothing", "", "null"},
      {"only a comment", "# x\n", "null"},
      {"only the first document", "a: 1\n---\n{ broken", R"({"a":1})"},
  });
}

TEST(Yaml, DocumentsOfAStream) {
  std::vector<std::string> seen;
  const auto collect = [&](size_t index, std::string json) -> Result<void> {
    seen.push_back(std::to_string(index) + json);
    return {};
  };
  // The second document needs the tree: what came before is not handed out again.
  ASSERT_TRUE(ForEachYamlDocument("a: 1\n---\nb: &x 2\nc: *x\n---\n---\n# none\n...\n---\nd: 4\n",
                                  collect));
  EXPECT_EQ(seen, (std::vector<std::string>{R"(0{"a":1})", R"(1{"b":2,"c":2})", R"(4{"d":4})"}));
  const auto refuse = [](size_t, std::string) -> Result<void> { return Fail("enough"); };
  const auto stopped = ForEachYamlDocument("a: 1\n---\n{", refuse);
  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.error().Message(), "enough");
}

TEST(Yaml, HostileTextsEndInAnError) {
  std::string laughs = "a: &a [x,x,x,x,x,x,x,x,x]\n";
  for (char c = 'b'; c <= 'i'; ++c) {
    laughs += std::string(1, c) + ": &" + c + " [";
    for (int i = 0; i < 9; ++i) laughs += std::string(i == 0 ? "*" : ",*") + char(c - 1);
    laughs += "]\n";
  }
  EXPECT_EQ(Convert(laughs), "yaml: document contains excessive aliasing");
  EXPECT_EQ(Convert(std::string(100000, '[')), "yaml: line 1: exceeded max depth of 128");
  std::string dashes;
  for (int i = 0; i < 100000; ++i) dashes += "- ";
  EXPECT_EQ(Convert(dashes), "yaml: line 1: exceeded max depth of 1000");
  // Few aliases of a large text: bounded by what they write.
  std::string large = "a: &a \"" + std::string(1000000, 'x') + "\"\nb: [";
  for (int i = 0; i < 200; ++i) large += "*a,";
  EXPECT_EQ(Convert(large + "]"), "yaml: document contains excessive aliasing");
}

TEST(Yaml, JsonIsRecognisedByItsFirstCharacter) {
  EXPECT_TRUE(LooksLikeJson(" \n\t\u00a0{"));
  EXPECT_FALSE(LooksLikeJson("[{}]"));
  EXPECT_FALSE(LooksLikeJson("\ufeff{}"));
  EXPECT_FALSE(LooksLikeJson(""));
}

TEST(YamlWriter, WritesAsKubernetesDoes) {
  struct Row {
    const char* what;
    const char* json;
    const char* want;
  };
  const Row rows[] = {
      {"lists are not indented", R"({"b":[1,{"y":2,"x":[]}],"a":{}})",
       "a: {}\nb:\n- 1\n- x: []\n  \"y\": 2\n"},
      {"keys in natural order", R"({"a10":1,"a9":2,"B":3,"_c":4})", "_c: 4\nB: 3\na9: 2\na10: 1\n"},
      {"texts that would read as something else are quoted",
       R"(["yes","1","","~","2001-01-01","1:30","a b","a: b","- a","#x"])",
       "- \"yes\"\n- \"1\"\n- \"\"\n- \"~\"\n- \"2001-01-01\"\n- \"1:30\"\n- a b\n- 'a: b'\n"
       "- '- a'\n- '#x'\n"},
      {"several lines", R"({"a":"x\ny\n"})", "a: |\n  x\n  y\n"},
      {"numbers", "[1,1.5,1e21,18446744073709551615,null,true]",
       "- 1\n- 1.5\n- 1e+21\n- 18446744073709551615\n- null\n- true\n"},
      {"a scalar alone", "\"x\"", "x\n"},
      {"control characters", "{\"a\x7f\": \"b\xc2\x80\"}", "\"a\\x7F\": \"b\\x80\"\n"},
  };
  for (const Row& row : rows) {
    const auto yaml = JsonToYaml(row.json);
    ASSERT_TRUE(yaml) << row.what;
    EXPECT_EQ(*yaml, row.want) << row.what;
  }
  EXPECT_FALSE(JsonToYaml("{"));
}

}  // namespace
}  // namespace berth::api
