#include "cel/program.h"

#include <cctype>
#include <span>
#include <string>

#include <gtest/gtest.h>

#include "api/codec/json.h"

namespace berth::cel {
namespace {

constexpr std::string_view kDriver = "gpu.example.com";

api::Device TestDevice() {
  const auto device = api::FromJson<api::Device>(R"({
    "name": "d",
    "attributes": {"model": {"string": "a100"}, "mem": {"int": 40}, "mig": {"bool": true},
                   "ver": {"version": "2.1.0-rc.1"}, "other.example.com/x": {"int": 7}},
    "capacity": {"memory": {"value": "40Gi"}}})");
  return device.value();
}

// "true", "false", "error: …" or "compile: …".
std::string Evaluate(std::string_view expression) {
  Result<std::unique_ptr<Program>> program = Program::Compile(expression);
  if (!program) return "compile: " + program.error().Message();
  const api::Device device = TestDevice();
  const Result<bool> matches = (*program)->Matches(MakeDevice(kDriver, device).value());
  if (!matches) return "error: " + matches.error().Message();
  return *matches ? "true" : "false";
}

struct Row {
  const char* what;
  const char* expression;  // G stands for device.attributes["gpu.example.com"], C for its capacity
  const char* want;
};

std::string Expand(std::string_view expression) {
  const auto in_word = [&](size_t i) {
    return i < expression.size() &&
           (std::isalnum(static_cast<unsigned char>(expression[i])) != 0 || expression[i] == '"');
  };
  std::string out;
  for (size_t i = 0; i < expression.size(); ++i) {
    const bool alone = !in_word(i + 1) && (i == 0 || !in_word(i - 1));
    if (expression[i] == 'G' && alone) {
      out += R"(device.attributes["gpu.example.com"])";
    } else if (expression[i] == 'C' && alone) {
      out += R"(device.capacity["gpu.example.com"])";
    } else {
      out += expression[i];
    }
  }
  return out;
}

void Check(std::span<const Row> rows) {
  for (const Row& row : rows) {
    EXPECT_EQ(Evaluate(Expand(row.expression)), row.want) << row.what << ": " << row.expression;
  }
}

TEST(Program, ReadsDevices) {
  static constexpr Row kRows[] = {
      {"a string attribute", R"(G.model == "a100")", "true"},
      {"an int attribute", "G.mem >= 40", "true"},
      {"a bool attribute is a condition", "G.mig", "true"},
      {"a version attribute", R"(G.ver.isGreaterThan(semver("1.9.0")))", "true"},
      {"a capacity", R"(C.memory.compareTo(quantity("40Gi")) == 0)", "true"},
      {"the driver", R"(device.driver == "gpu.example.com")", "true"},
      {"an attribute with a domain of its own", R"(device.attributes["other.example.com"].x == 7)",
       "true"},
      {"an attribute that is missing", "G.nokey", "error: no such key: nokey"},
      {"a domain that is missing reads as empty", R"(device.attributes["nope"].model == "x")",
       "error: no such key: model"},
      {"a missing domain is not a member", R"("nope" in device.attributes)", "false"},
      {"but has() finds every domain", "has(device.attributes.foo)", "true"},
      {"has() of a missing attribute", "has(G.nokey)", "false"},
      {"has() of a field of a number", "has(G.mem.foo)", "false"},
      {"membership of an attribute", R"("model" in G)", "true"},
      {"a string is no condition", "G.model",
       "error: CEL result of type string could not be converted to bool: unsupported native "
       "conversion from string to 'bool'"},
      {"a number is no condition", "G.mem",
       "error: CEL result of type int could not be converted to bool: unsupported type conversion "
       "from 'int' to bool"},
      {"a version is no condition", "G.ver",
       "error: CEL result of type kubernetes.Semver could not be converted to bool: type "
       "conversion error from 'Semver' to 'bool'"},
      {"iterating attributes", R"(G.exists(k, k == "mem"))", "true"},
      {"iterating names and values", R"(G.all(k, v, type(v) != string || v.startsWith("a")))",
       "true"},
      {"iterating domains",
       R"(device.attributes.exists(d, device.attributes[d].exists(k, k == "x")))", "true"},
  };
  Check(kRows);
}

TEST(Program, AbsorbsErrorsInLogicalOperators) {
  static constexpr Row kRows[] = {
      {"an error on the left of a deciding value", "G.nokey || true", "true"},
      {"an error on the right of a deciding value", "false && G.nokey", "false"},
      {"an error that matters", "G.nokey && true", "error: no such key: nokey"},
      {"the first of two errors", "G.nokey && G.mem", "error: no such key: nokey"},
      {"a number is no bool", "true && G.mem", "error: no such overload"},
      {"a condition that is no bool", "G.model ? true : false", "error: no such overload"},
      {"the branch not taken is not looked at", "G.mig || G.nokey ? true : G.nokey", "true"},
      {"all() goes on after an error", "[1,2,3].all(x, x > 1 && x / 0 == 1)", "false"},
      {"all() reports an error that decides", "[1,2,3].all(x, G.nokey)",
       "error: no such key: nokey"},
      {"exists() finds what comes after an error", "[1,2,3].exists(x, x / 0 == 1 || x == 2)",
       "true"},
      {"exists_one() does not", "[1,2,3].exists_one(x, G.nokey)", "error: no such key: nokey"},
      {"negation of a string", "!G.model", "error: no such overload"},
  };
  Check(kRows);
}

TEST(Program, ComparesAndCalculates) {
  static constexpr Row kRows[] = {
      {"numbers compare across types", "G.mem == 40.0 && 1 < 2u", "true"},
      {"text never equals a number", R"(G.mem == "x")", "false"},
      {"but has no order with one", R"(G.mem > "a")", "error: no such overload"},
      {"a version equals no text", R"(G.ver == "2.1.0-rc.1")", "error: no such overload"},
      {"integer overflow", "9223372036854775807 + 1 == 0", "error: integer overflow"},
      {"unsigned underflow", "5u - 6u == 0u", "error: unsigned integer overflow"},
      {"division by zero", "1 / 0 == 1", "error: division by zero"},
      {"modulus by zero", "1 % 0 == 1", "error: modulus by zero"},
      {"division truncates", "7 / 2 == 3 && -7 / 2 == -3 && -7 % 3 == -1", "true"},
      {"a double divided by zero", "1.0 / 0.0 > 1.0", "true"},
      {"not a number", "0.0 / 0.0 == 0.0 / 0.0", "false"},
      {"precedence", "1 + 2 * 3 == 7 && !false || false", "true"},
      {"signs cancel out", "--1 == 1 && !!true", "true"},
      {"the least integer", "-9223372036854775808 < 0", "true"},
      {"hexadecimal and exponents", "0x1F == 31 && 1e3 == 1000.0 && .5 == 0.5", "true"},
      {"lists compare by element", "dyn([1, 2]) == dyn([1.0, 2.0])", "true"},
      {"maps compare by key", R"({"a": 1, "b": 2} == {"b": 2, "a": 1})", "true"},
      {"concatenation", R"("a" + "b" == "ab" && [1] + [2] == [1, 2])", "true"},
      {"nothing equals null but null", "G.mem == null", "false"},
      {"types are values", "type(1) == int && type(device) == map", "true"},
      {"index out of bounds", "[1][5] == 1", "error: index out of bounds: 5"},
      {"index of the wrong type", "[1, 2][G.model] == 1",
       "error: unsupported index type 'string' in list"},
      {"key of another type", R"({"a": 1}[G.mem] == 1)", "error: no such key: 40"},
      {"of equal keys the last counts", R"({"a": 1, "a": 2}.a == 2)", "true"},
  };
  Check(kRows);
}

TEST(Program, HasStringFunctions) {
  static constexpr Row kRows[] = {
      {"prefix, suffix, part",
       R"(G.model.startsWith("a") && G.model.endsWith("0") && G.model.contains("10"))", "true"},
      {"of a number", R"(G.mem.startsWith("a"))", "error: no such overload"},
      {"a regular expression", R"(G.model.matches("^a[0-9]+$"))", "true"},
      {"one that is made up at run time", R"(G.model.matches(device.driver + "("))",
       "error: error parsing regexp: missing closing ): `gpu.example.com(`"},
      {"sizes count code points", R"("\u00e9x".size() == 2 && size("abc") == 3)", "true"},
      {"size of a number", "size(G.mem) == 1", "error: no such overload: size"},
      {"case", R"("aBc".lowerAscii() == "abc" && "aBc".upperAscii() == "ABC")", "true"},
      {"split and join", R"(device.driver.split(".").join("-") == "gpu-example-com")", "true"},
      {"split with a limit", R"("a.b.c".split(".", 2) == ["a", "b.c"] && "a".split(".", 0) == [])",
       "true"},
      {"split into characters", R"("abc".split("") == ["a", "b", "c"])", "true"},
      {"substring", R"("abc".substring(1) == "bc" && "abc".substring(1, 2) == "b")", "true"},
      {"substring beyond the end", R"("abc".substring(1, 9) == "bc")",
       "error: index out of range: 9"},
      {"substring the wrong way round", R"("abc".substring(2, 1) == "")",
       "error: invalid substring range. start: 2, end: 1"},
      {"replace", R"("abcabc".replace("b", "x", 1) == "axcabc" && "aa".replace("a", "b") == "bb")",
       "true"},
      {"replace nothing", R"("abc".replace("", "-") == "-a-b-c-")", "true"},
      {"positions", R"("abca".indexOf("a", 1) == 3 && "abca".lastIndexOf("a") == 3)", "true"},
      {"characters", R"("abc".charAt(2) == "c" && "abc".charAt(3) == "")", "true"},
      {"character beyond the end", R"("abc".charAt(4) == "")", "error: index out of range: 4"},
      {"trim", R"(" a ".trim() == "a")", "true"},
      {"format", R"("%s %d %.2f %x%%".format(["a", 1, 1.5, 255]) == "a 1 1.50 ff%")", "true"},
      {"format lists", R"("%s".format([[1, 2]]) == "[1, 2]")", "true"},
      {"quote", R"(strings.quote("a") == "\"a\"")", "true"},
      {"find", R"("a1b2".findAll("[0-9]") == ["1", "2"] && "a1".find("[0-9]") == "1")", "true"},
      {"of a number, with its signature", R"(G.mem.lowerAscii() == "")",
       "error: no such overload: lowerAscii(int)"},
      {"escapes and raw strings", R"("\x41\n" == "A\n" && r"\d" == "\\d")", "true"},
      {"triple quotes", R"('''a'b''' == "a'b")", "true"},
  };
  Check(kRows);
}

TEST(Program, HasQuantitiesAndVersions) {
  static constexpr Row kRows[] = {
      {"comparison",
       R"(C.memory.isGreaterThan(quantity("39Gi")) && C.memory.isLessThan(quantity("41Gi")))",
       "true"},
      {"arithmetic", R"(C.memory.add(quantity("1Gi")).sub(1).isLessThan(quantity("41Gi")))",
       "true"},
      {"as an integer", "C.memory.asInteger() == 42949672960 && C.memory.isInteger()", "true"},
      {"thousandths are no integer", R"(quantity("1000m").asInteger() == 1)",
       "error: cannot convert value to integer"},
      {"as a float", R"(quantity("1.5").asApproximateFloat() == 1.5)", "true"},
      {"sign is a function", R"(sign(quantity("-1")) == -1)", "true"},
      {"equality", R"(C.memory == quantity("40Gi"))", "true"},
      {"what is no quantity", R"(quantity("abc").isInteger())",
       "error: quantities must match the regular expression "
       "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"},
      {"asking first", R"(isQuantity("1Gi") && !isQuantity("x"))", "true"},
      {"a capacity that is missing", R"(C.nope.compareTo(quantity("1")) >= 0)",
       "error: no such key: nope"},
      {"parts of a version", "G.ver.major() == 2 && G.ver.minor() == 1 && G.ver.patch() == 0",
       "true"},
      {"a release candidate comes before the release", R"(G.ver.isLessThan(semver("2.1.0")))",
       "true"},
      {"a version and a quantity", R"(G.ver.isGreaterThan(quantity("1")))",
       "error: no such overload: isGreaterThan(kubernetes.Semver, kubernetes.Quantity)"},
      {"what is no version", R"(semver("1.2").major() == 1)",
       "error: No Major.Minor.Patch elements found"},
      {"tolerant versions", R"(semver("v1.02", true) == semver("1.2.0") && isSemver("v1", true))",
       "true"},
  };
  Check(kRows);
}

TEST(Program, HasDurationsAndTimes) {
  static constexpr Row kRows[] = {
      {"lengths of time", "duration('90m') == duration('1h30m')", "true"},
      {"their order", "duration('1ms') < duration('1s')", "true"},
      {"their sum", "[duration('1h'), duration('-30m')].sum() == duration('30m')", "true"},
      {"the sum of none", "duration('0s') == [duration('1h')].filter(d, false).sum()", "true"},
      {"as text", "string(duration('90m')) == '5400s'", "true"},
      {"as nanoseconds", "int(duration('1s')) == 1000000000", "true"},
      {"their parts",
       "duration('3723.5s').getHours() == 1 && duration('3723.5s').getMinutes() == "
       "62 && duration('3723.5s').getMilliseconds() == 3723500",
       "true"},
      {"too long", "duration('2562047h') + duration('2562047h') == duration('1s')",
       "error: integer overflow"},
      {"no negation", "-duration('1s') == duration('-1s')",
       "compile: compilation failed: ERROR: <input>:1:1: found no matching overload for '-_' "
       "applied to '(duration)'\n | -duration('1s') == duration('-1s')\n | ^"},
      {"a literal that is none", "duration('1d') == duration('24h')",
       "compile: compilation failed: ERROR: <input>:1:10: invalid duration argument\n | "
       "duration('1d') == duration('24h')\n | .........^"},
      {"an attribute that is none", "duration(G.model) == duration('1s')",
       "error: type conversion error from 'string' to 'google.protobuf.Duration'"},
      {"times in zones",
       "timestamp('2024-01-01T01:00:00+01:00') == timestamp('2024-01-01T00:00:00Z')", "true"},
      {"a zone is kept as text",
       "string(timestamp('2024-01-01T01:00:00.50+01:00')) == '2024-01-01T01:00:00.5+01:00'",
       "true"},
      {"time and duration",
       "timestamp('2024-02-28T23:00:00Z') + duration('2h') == timestamp('2024-02-29T01:00:00Z')",
       "true"},
      {"the time between", "timestamp(90) - timestamp(0.0 < 1.0 ? 30 : 0) == duration('1m')",
       "true"},
      {"beyond the last year", "timestamp('9999-12-31T23:59:59Z') + duration('1s') == timestamp(0)",
       "error: timestamp overflow"},
      {"a date",
       "timestamp('2024-02-29T23:30:00.25Z').getDate() == 29 && "
       "timestamp('2024-02-29T23:30:00.25Z').getDayOfWeek() == 4 && "
       "timestamp('2024-02-29T23:30:00.25Z').getDayOfYear() == 59 && "
       "timestamp('2024-02-29T23:30:00.25Z').getMilliseconds() == 250",
       "true"},
      {"a date elsewhere",
       "timestamp('2024-02-29T23:30:00Z').getMonth('+01:00') == 2 && "
       "timestamp('2024-02-29T23:30:00Z').getHours('-00:30') == 23",
       "true"},
      {"a zone that is none", "timestamp(0).getHours('a:b') == 0",
       "error: strconv.Atoi: parsing \"a\": invalid syntax"},
      {"before 1970", "timestamp(-1).getSeconds() == 59 && timestamp(-1).getFullYear() == 1969",
       "true"},
      {"names of the types",
       "type(timestamp(0)) == google.protobuf.Timestamp && "
       "type(duration('1s')) != google.protobuf.Timestamp",
       "true"},
      {"in formatted text",
       "'%s %s'.format([duration('1s'), [timestamp(0)]]) == '1s "
       "[timestamp(\"1970-01-01T00:00:00Z\")]'",
       "true"},
  };
  Check(kRows);
}

TEST(Program, HasAddresses) {
  static constexpr Row kRows[] = {
      {"an address", "ip('10.0.0.1').family() == 4 && ip('::1').isLoopback()", "true"},
      {"two spellings of one", "ip('2001:DB8::0:1') == ip('2001:db8::1')", "true"},
      {"one spelling is canonical", "ip.isCanonical('2001:DB8::1')", "false"},
      {"is it one?", "isIP('10.0.0.1') && !isIP('10.0.0.0/8') && !isIP(G.model)", "true"},
      {"as text", "string(ip('0:0::1')) == '::1' && string(cidr('10.0.0.1/8')) == '10.0.0.1/8'",
       "true"},
      {"an attribute that is none", "ip(G.model).family() == 4",
       "error: IP Address \"a100\" parse error during conversion from string: "
       "ParseAddr(\"a100\"): unable to parse IP"},
      {"a network holds an address", "cidr('10.0.0.0/8').containsIP('10.1.2.3')", "true"},
      {"given as one", "cidr('10.0.0.0/8').containsIP(ip('11.1.2.3'))", "false"},
      {"a text that is none", "cidr('10.0.0.0/8').containsIP('x')", "error: no such overload"},
      {"a network holds another",
       "cidr('10.0.0.0/8').containsCIDR('10.1.0.0/16') && "
       "!cidr('10.1.0.0/16').containsCIDR(cidr('10.0.0.0/8'))",
       "true"},
      {"its parts",
       "cidr('10.1.2.3/16').prefixLength() == 16 && cidr('10.1.2.3/16').masked().ip() "
       "== ip('10.1.0.0')",
       "true"},
      {"is it a network?", "isCIDR('10.0.0.0/8') && !isCIDR('10.0.0.0/33')", "true"},
      {"a stranger", "dyn(ip('10.0.0.1')) == dyn('10.0.0.1')", "error: no such overload"},
      {"the name of the type", "type(ip('::')) == net.IP && type(cidr('::/0')) == net.CIDR",
       "true"},
      {"no order", "ip('10.0.0.1') < ip('10.0.0.2')",
       "compile: compilation failed: ERROR: <input>:1:16: found no matching overload for '_<_' "
       "applied to '(net.IP, net.IP)'\n | ip('10.0.0.1') < ip('10.0.0.2')\n | "
       "...............^"},
  };
  Check(kRows);
}

TEST(Program, HasMacrosOptionalsAndLists) {
  static constexpr Row kRows[] = {
      {"map, filter and friends",
       "[1,2,3].map(x, x > 1, x * 2) == [4, 6] && [1,2,3].filter(x, x > 1).size() == 2", "true"},
      {"inner variables hide outer ones", "[1].map(x, [2].map(x, x))[0][0] == 2", "true"},
      {"bind", "cel.bind(d, G, d.mem > 3 && cel.bind(v, d.ver, v.major() == 2))", "true"},
      {"two variables", R"({"a": 1}.transformMap(k, v, v + 1) == {"a": 2})", "true"},
      {"index and value", "[10,20].transformList(i, v, i * v) == [0, 20]", "true"},
      {"optional field", "G.?nokey.orValue(1) == 1 && G.?mem.orValue(1) == 40", "true"},
      {"optional index", R"(G[?"model"].orValue("x") == "a100")", "true"},
      {"a chain of optionals", "G.?zz.x.y.hasValue()", "false"},
      {"value of none", "optional.none().value() == 1", "error: optional.none() dereference"},
      {"optMap", "G.?mem.optMap(x, x + 1).orValue(0) == 41", "true"},
      {"optional elements", R"([1, ?optional.of(2), ?optional.none()] == [1, 2] )", "true"},
      {"optional entries", R"({?"a": optional.none(), "b": 1} == {"b": 1})", "true"},
      {"sums and extremes", "[1,2,3].sum() == 6 && [3,1].min() == 1 && [3,1].max() == 3", "true"},
      {"the extreme of nothing", "[].max() == 1", "error: max called on empty list"},
      {"sort", R"([3,1,2].sort() == [1,2,3] && ["b","a"].sortBy(x, x) == ["a","b"])", "true"},
      {"slices", "[1,2,3].slice(0, 2) == [1,2] && [[1],[2]].flatten() == [1,2]", "true"},
      {"sets", "sets.contains([1,2],[1]) && sets.equivalent([1,2],[2,1,1])", "true"},
      {"conversions", R"(int("12") == 12 && double("1.5") == 1.5 && string(1.5) == "1.5")", "true"},
      {"a conversion that fails", "int(G.model) == 1",
       "error: type conversion error from 'string' to 'int'"},
  };
  Check(kRows);
}

TEST(Program, RefusesWhatCannotBeRight) {
  static constexpr Row kRows[] = {
      {"types that never compare", "device.driver == 1",
       "compile: compilation failed: ERROR: <input>:1:15: found no matching overload for '_==_' "
       "applied to '(string, int)'\n | device.driver == 1\n | ..............^"},
      {"a field no device has", "device.foo",
       "compile: compilation failed: ERROR: <input>:1:7: undefined field 'foo'\n | device.foo\n | "
       "......^"},
      {"a name nobody declared", "true || foo",
       "compile: compilation failed: ERROR: <input>:1:9: undeclared reference to 'foo' (in "
       "container '')\n | true || foo\n | ........^"},
      {"two issues, by position", "[1].foo(x)",
       "compile: compilation failed: ERROR: <input>:1:8: undeclared reference to 'foo' (in "
       "container '')\n | [1].foo(x)\n | .......^\nERROR: <input>:1:9: undeclared reference to "
       "'x' (in container '')\n | [1].foo(x)\n | ........^"},
      {"a method called as a function", R"(startsWith("a", "b"))",
       "compile: compilation failed: ERROR: <input>:1:11: found no matching overload for "
       "'startsWith' applied to '(string, string)'\n | startsWith(\"a\", \"b\")\n | ..........^"},
      {"an expression that is no condition", "1 + 1",
       "compile: must evaluate to bool or the unknown type, not int"},
      {"a condition of a wrong type", R"("a" && true)",
       "compile: compilation failed: ERROR: <input>:1:1: expected type 'bool' but found "
       "'string'\n | \"a\" && true\n | ^"},
      {"a list of several types", R"([1, "a"].size() == 2)",
       "compile: compilation failed: ERROR: <input>:1:5: expected type 'int' but found "
       "'string'\n | [1, \"a\"].size() == 2\n | ....^"},
      {"iterating an attribute", "device.driver.all(x, true)",
       "compile: compilation failed: ERROR: <input>:1:7: expression of type 'string' cannot be "
       "range of a comprehension (must be list, map, or dynamic)\n | device.driver.all(x, true)\n "
       "| ......^"},
      {"a pattern that is no regular expression", R"(device.driver.matches("("))",
       "compile: compilation failed: ERROR: <input>:1:23: invalid matches argument\n | "
       "device.driver.matches(\"(\")\n | ......................^"},
      {"a constant that cannot be converted", R"(int("abc") == 1)",
       "compile: program instantiation failed: type conversion error from 'string' to 'int'"},
      {"a number too large", "9223372036854775808 == 0",
       "compile: compilation failed: ERROR: <input>:1:1: invalid int literal\n | "
       "9223372036854775808 == 0\n | ^"},
      {"a reserved word", "as == 1",
       "compile: compilation failed: ERROR: <input>:1:1: reserved identifier: as\n | as == 1\n | "
       "^"},
      {"the second line", "true &&\n  foo",
       "compile: compilation failed: ERROR: <input>:2:3: undeclared reference to 'foo' (in "
       "container '')\n |   foo\n | ..^"},
      {"has() of a name", "has(device)",
       "compile: compilation failed: ERROR: <input>:1:5: invalid argument to has() macro\n | "
       "has(device)\n | ....^"},
  };
  Check(kRows);
}

TEST(Program, RefusesBrokenText) {
  for (const char* expression : {"",
                                 "(",
                                 "1 +",
                                 "a b",
                                 "[1, 2",
                                 "{\"a\" 1}",
                                 "device.",
                                 "device..driver",
                                 "@",
                                 "\"open",
                                 "'a\nb'",
                                 "\"\\q\"",
                                 "\"\\u12\"",
                                 "1 = 1",
                                 "`a`",
                                 "|| true",
                                 "true &&",
                                 "?",
                                 "cel.bind(1, 2, true)",
                                 "[1].map(1, true)",
                                 "0x",
                                 "1.",
                                 "\xff",
                                 "device[",
                                 "x ? y",
                                 "{",
                                 "}",
                                 "\"\\ud800\" == \"\""}) {
    EXPECT_EQ(Evaluate(expression).rfind("compile: ", 0), 0u) << expression;
  }
}

TEST(Program, BoundsWhatItDoes) {
  const auto repeat = [](std::string_view text, size_t n) {
    std::string out;
    for (size_t i = 0; i < n; ++i) out += text;
    return out;
  };
  // Nesting and chains end in an error, not in a full stack.
  EXPECT_NE(Evaluate(repeat("(", 100000) + "true").find("compile: "), std::string::npos);
  EXPECT_NE(Evaluate(repeat("(", 5000) + "true" + repeat(")", 5000)).find("recursion limit"),
            std::string::npos);
  EXPECT_NE(Evaluate("0" + repeat("+1", 5000) + " > 0").find("too complex"), std::string::npos);
  EXPECT_NE(Evaluate("device" + repeat(".a", 20000) + " == 1").find("compile: "),
            std::string::npos);
  EXPECT_EQ(Evaluate("true" + repeat(" && true", 5000)), "true");
  EXPECT_EQ(Evaluate(repeat("!", 5000) + "true"), "true");
  EXPECT_NE(Evaluate(repeat("a", 70000)).find("longer than"), std::string::npos);

  // Values that grow or loop end in an error when the budget is used up.
  std::string doubling = "\"0123456789\"";
  std::string lists = "[1]";
  for (int i = 0; i < 60; ++i) {
    doubling = "cel.bind(x, " + doubling + ", x + x)";
    lists = "cel.bind(x, " + lists + ", [x, x])";
  }
  const std::string exceeded = "error: operation cancelled: actual cost limit exceeded";
  EXPECT_EQ(Evaluate(doubling + ".size() > 0"), exceeded);
  EXPECT_EQ(Evaluate(lists + " == " + lists), exceeded);
  EXPECT_EQ(
      Evaluate("\"%s\".format([" + lists + "]).size() > 0"),
      "error: error during formatting: string clause can only be used on strings, bools, "
      "bytes, ints, doubles, maps, lists, types, durations, and timestamps, was given a value "
      "nested too deeply");
  EXPECT_EQ(Evaluate("lists.range(1000000000).size() > 0"), exceeded);
  EXPECT_EQ(Evaluate("lists.range(2000).all(x, lists.range(2000).all(y, x + y >= 0))"), exceeded);
  // The error of a used up budget is not absorbed.
  EXPECT_EQ(Evaluate("lists.range(1000000000).size() > 0 || true"), exceeded);
}

TEST(Program, L7ChargesSearchesByTheirWork) {
  const std::string exceeded = "error: operation cancelled: actual cost limit exceeded";
  const auto in_map = [](const std::string& ask) {
    return "cel.bind(m, lists.range(1000).transformMap(i, v, v), lists.range(100000).all(a, " +
           ask + "))";
  };
  EXPECT_EQ(Evaluate(in_map("m[999] == 999")), exceeded);
  EXPECT_EQ(Evaluate(in_map("999 in m")), exceeded);
  EXPECT_EQ(Evaluate(in_map("m[?999].hasValue()")), exceeded);
  const auto in_names = [](const std::string& ask) {
    std::string names;
    for (int i = 0; i < 1000; ++i) names += (i > 0 ? ", 'n" : "'n") + std::to_string(i) + "': 1";
    return "cel.bind(m, {" + names + "}, lists.range(10000).all(a, " + ask + "))";
  };
  EXPECT_EQ(Evaluate(in_names("has(m.n999)")), exceeded);
  EXPECT_EQ(Evaluate(in_names("m.n999 == 1")), exceeded);
  const std::string text(1000, 'a');
  const std::string wanted = std::string(499, 'a') + "b";
  for (const char* search : {"contains", "indexOf", "lastIndexOf", "split"}) {
    const std::string call = std::string(search) + "('" + wanted + "')";
    EXPECT_EQ(
        Evaluate("lists.range(10000).all(a, type('" + text + "'." + call + ") != type(null))"),
        exceeded)
        << search;
  }
  EXPECT_EQ(Evaluate("lists.range(100000).all(a, "
                     "quantity(string(a)).add(quantity('2')).compareTo(quantity('1')) > 0)"),
            exceeded);
}

TEST(Program, FindsEveryKeyOfALargeMap) {
  EXPECT_EQ(Evaluate("cel.bind(m, lists.range(1300).transformMap(i, v, v), m[1299] == 1299)"),
            "true");
  EXPECT_EQ(Evaluate("cel.bind(m, lists.range(1300).transformMap(i, v, v), 1299 in m)"), "true");
}

TEST(MakeDevice, NamesTheAttributeItCannotUse) {
  const auto device =
      api::FromJson<api::Device>(R"({"name": "d", "attributes": {"v": {"version": "1.x"}}})");
  const auto value = MakeDevice(kDriver, device.value());
  ASSERT_FALSE(value);
  EXPECT_EQ(value.error().Message(),
            "attribute v: parse semantic version: No Major.Minor.Patch elements found");
  const auto empty = api::FromJson<api::Device>(R"({"name": "d", "attributes": {"v": {}}})");
  EXPECT_EQ(MakeDevice(kDriver, empty.value()).error().Message(),
            "attribute v: unsupported attribute value");
}

}  // namespace
}  // namespace berth::cel
