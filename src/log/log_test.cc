// Lines as klog prints them, read back from where they were written.
#include "log/log.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "log/line.h"
#include "log/vmodule.h"

namespace berth::log {
namespace {

using ::testing::ContainsRegex;
using ::testing::EndsWith;
using ::testing::IsEmpty;
using ::testing::MatchesRegex;
using ::testing::StartsWith;

class LogTest : public ::testing::Test {
 protected:
  void SetUp() override {
    fd_ = memfd_create("log", 0);
    fcntl(fd_, F_SETFL, O_APPEND);  // as a pipe does, writes find their place by themselves
    info_fd_ = memfd_create("info", 0);
    Use({});
  }
  void TearDown() override {
    EXPECT_TRUE(Configure({}));
    close(fd_);
    close(info_fd_);
  }

  void Use(Options options) {
    options.fd = fd_;
    ASSERT_TRUE(Configure(options));
  }
  static std::string Read(int fd) {
    std::string text(static_cast<size_t>(lseek(fd, 0, SEEK_END)), '\0');
    EXPECT_EQ(pread(fd, text.data(), text.size(), 0), static_cast<ssize_t>(text.size()));
    return text;
  }
  std::string Written() const { return Read(fd_); }
  // What follows the head of a text line, without the newline.
  std::string Body() const {
    const std::string text = Written();
    return text.empty() ? "" : text.substr(text.find("] ") + 2, text.size() - text.find("] ") - 3);
  }

  int fd_ = -1;
  int info_fd_ = -1;
};

TEST_F(LogTest, TheHeadIsKlogs) {
  const std::string line = std::to_string(__LINE__ + 1);
  Info(0, "m");
  std::string pid = std::to_string(getpid());
  pid.insert(0, pid.size() < 7 ? 7 - pid.size() : 0, ' ');
  EXPECT_THAT(Written(), MatchesRegex("I[01][0-9][0-3][0-9] [0-2][0-9]:[0-5][0-9]:[0-6][0-9]\\."
                                      "[0-9][0-9][0-9][0-9][0-9][0-9] " +
                                      pid + " log_test.cc:" + line + "] \"m\"\n"));
}

TEST_F(LogTest, TheTimeIsLocal) {
  setenv("TZ", "UTC-2", 1);
  tzset();
  std::string buffer;
  Line line(buffer);
  line.TextHead({.severity = 'W',
                 .time = {1794773455, 123'456'789},
                 .pid = 4711,
                 .file = "/a/b/watch.cc",
                 .line = 88});
  EXPECT_EQ(buffer, "W1115 22:10:55.123456    4711 watch.cc:88] ");
  unsetenv("TZ");
  tzset();
}

TEST_F(LogTest, FieldsInText) {
  struct Row {
    const char* what;
    Field field;
    std::string printed;
  };
  const Row rows[] = {
      {"text is quoted", {"k", "v"}, R"(k="v")"},
      {"nothing is quoted too", {"k", ""}, R"(k="")"},
      {"quotes and backslashes are escaped", {"k", R"(a"b\c)"}, R"(k="a\"b\\c")"},
      {"control characters have names or numbers", {"k", "\a\t\x01\x7f"}, R"(k="\a\t\x01\x7f")"},
      {"letters of any script stay", {"k", "Straße 東"}, "k=\"Straße 東\""},
      {"what cannot be seen is escaped", {"k", "a\u00a0b\u200b"}, R"(k="a\u00a0b\u200b")"},
      {"planes beyond", {"k", "\U000f0000"}, R"(k="\U000f0000")"},
      {"bytes that are no UTF-8", {"k", std::string_view("\xff\xc0\xaf")}, R"(k="\xff\xc0\xaf")"},
      {"a surrogate is no UTF-8", {"k", "\xed\xa0\x80"}, R"(k="\xed\xa0\x80")"},
      {"a cut character", {"k", "\xe6\x9d"}, R"(k="\xe6\x9d")"},
      {"numbers are plain", {"k", -7}, "k=-7"},
      {"the largest", {"k", INT64_MIN}, "k=-9223372036854775808"},
      {"truth is plain", {"k", true}, "k=true"},
      {"a whole real", {"k", 2.0}, "k=2"},
      {"a real", {"k", 0.1}, "k=0.1"},
      {"a tiny real", {"k", 1e-9}, "k=1e-9"},
      {"a huge real", {"k", 1e21}, "k=1e+21"},
      {"no number", {"k", std::nan("")}, "k=\"NaN\""},
      {"an object", {"pod", ObjectName{"default", "good"}}, R"(pod="default/good")"},
      {"an object without a namespace", {"node", ObjectName{"", "n1"}}, R"(node="n1")"},
      {"JSON stays as it is", {"k", Raw{R"({"a":{}})"}}, R"(k={"a":{}})"},
      {"lines become a block", {"k", "a\n  b"}, "k=<\n\ta\n\t  b\n >"},
      {"a last line break adds no line", {"k", "a\n"}, "k=<\n\ta\n >"},
      {"an empty line", {"k", "\n\nb"}, "k=<\n\t\n\t\n\tb\n >"},
  };
  for (const Row& row : rows) {
    std::string buffer;
    Line(buffer).TextField(row.field);
    EXPECT_EQ(buffer, " " + row.printed) << row.what;
  }
}

TEST_F(LogTest, FieldsInJson) {
  struct Row {
    const char* what;
    Field field;
    std::string printed;
  };
  const Row rows[] = {
      {"text", {"k", "a\"\\\n\t\x01<&"}, R"("k":"a\"\\\n\t\u0001<&")"},
      {"no UTF-8", {"k", "\xff"}, R"("k":"\ufffd")"},
      {"numbers", {"k", 12}, R"("k":12)"},
      {"truth", {"k", false}, R"("k":false)"},
      {"reals", {"k", 0.5}, R"("k":0.5)"},
      {"infinite", {"k", HUGE_VAL}, R"("k":"+Inf")"},
      {"an object", {"pod", ObjectName{"ns", "p"}}, R"("pod":{"name":"p","namespace":"ns"})"},
      {"an object alone", {"node", ObjectName{"", "n"}}, R"("node":{"name":"n"})"},
      {"JSON, in one line", {"k", Raw{"[1,\n2]"}}, R"("k":[1, 2])"},
      {"no JSON at all", {"k", Raw{""}}, R"("k":null)"},
  };
  for (const Row& row : rows) {
    std::string buffer;
    Line(buffer).JsonField(row.field);
    EXPECT_EQ(buffer, "," + row.printed) << row.what;
  }
}

TEST_F(LogTest, MessagesAndErrors) {
  Error("no \"way\"", "command failed", {{"code", 1}});
  EXPECT_THAT(Written(), StartsWith("E"));
  EXPECT_EQ(Body(), R"("command failed" err="no \"way\"" code=1)");
}

TEST_F(LogTest, AnErrorWithoutAReason) {
  Error("", "Leaderelection lost");
  EXPECT_EQ(Body(), R"("Leaderelection lost")");
}

TEST_F(LogTest, BareLinesAreNotQuoted) {
  WarningLine("Setting GA feature gate A=\"x\"");
  EXPECT_THAT(Written(), StartsWith("W"));
  EXPECT_EQ(Body(), "Setting GA feature gate A=\"x\"");
}

TEST_F(LogTest, JsonLines) {
  Use({.json = true});
  Info(0, "Starting", {{"version", "v1"}});
  Error("because", "failed", {{"n", 1}});
  InfoLine(0, "Serving");
  WarningLine("Careful");
  const std::string head = R"(\{"ts":[0-9]+(\.[0-9]+)?,"caller":"log/log_test\.cc:[0-9]+","msg":)";
  EXPECT_THAT(Written(), MatchesRegex(head +
                                      R"("Starting","v":0,"version":"v1"})"
                                      "\n" +
                                      head +
                                      R"("failed","n":1,"err":"because"})"
                                      "\n" +
                                      head +
                                      R"("Serving","v":0})"
                                      "\n" +
                                      head +
                                      R"("Careful","v":0})"
                                      "\n"));
}

TEST_F(LogTest, JsonTimesAreMilliseconds) {
  std::string buffer;
  Line line(buffer);
  line.JsonHead({.time = {1794772828, 603'449'000}, .file = "a/b/c.cc", .line = 9}, "m");
  EXPECT_EQ(buffer, R"({"ts":1794772828603.449,"caller":"b/c.cc:9","msg":"m")");
}

TEST_F(LogTest, VerbosityDecides) {
  Use({.verbosity = 2});
  EXPECT_TRUE(V(2));
  EXPECT_FALSE(V(3));
  Info(3, "no");
  InfoLine(3, "no");
  EXPECT_THAT(Written(), IsEmpty());
  SetVerbosity(3);
  EXPECT_EQ(Verbosity(), 3);
  Info(3, "yes");
  EXPECT_EQ(Body(), "\"yes\"");
}

TEST_F(LogTest, AFileCanHaveItsOwnVerbosity) {
  Use({.verbosity = 1, .vmodule = "other=9,log_*=4"});
  EXPECT_TRUE(V(4));
  EXPECT_FALSE(V(5));
  Use({.verbosity = 1, .vmodule = "log=4"});
  EXPECT_FALSE(V(2));
}

TEST_F(LogTest, AMalformedVmoduleIsRefused) { EXPECT_FALSE(Configure({.vmodule = "x"})); }

TEST_F(LogTest, InfoMayGoElsewhere) {
  Use({.info_fd = info_fd_});
  Info(0, "told");
  Error("bad", "failed");
  EXPECT_THAT(Written(), ContainsRegex("\"failed\" err=\"bad\""));
  EXPECT_THAT(Read(info_fd_), EndsWith("\"told\"\n"));
}

TEST_F(LogTest, LinesOfThreadsStayWhole) {
  constexpr int kThreads = 4;
  constexpr int kLines = 200;
  const std::string value(500, 'x');
  std::vector<std::thread> threads;
  threads.reserve(kThreads);
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      for (int n = 0; n < kLines; ++n) Info(0, "line", {{"value", value}});
    });
  }
  for (std::thread& thread : threads) thread.join();
  const std::string text = Written();
  int count = 0;
  for (size_t at = 0; at < text.size(); ++count) {
    const size_t end = text.find('\n', at);
    ASSERT_NE(end, std::string::npos);
    const std::string line = text.substr(at, end - at);
    ASSERT_THAT(line, EndsWith("] \"line\" value=\"" + value + "\""));
    ASSERT_EQ(line[0], 'I');
    at = end + 1;
  }
  EXPECT_EQ(count, kThreads * kLines);
}

TEST(VmoduleTest, Texts) {
  struct Row {
    const char* text;
    std::string error;  // empty: fine
    size_t size;
  };
  const std::string syntax = "syntax error: expect comma-separated list of filename=N";
  const Row rows[] = {
      {"", "", 0},
      {"a=1", "", 1},
      {"a=1,,b*=2,", "", 2},
      {"a=0", "", 0},
      {"a", syntax, 0},
      {"=1", syntax, 0},
      {"a=", syntax, 0},
      {"a=x", syntax, 0},
      {"a=1=2", syntax, 0},
      {"a= 1", syntax, 0},
      {"a=99999999999", syntax, 0},
      {"a=-1", "negative value for vmodule level", 0},
  };
  for (const Row& row : rows) {
    const auto modules = ParseVmodule(row.text);
    ASSERT_EQ(modules.has_value(), row.error.empty()) << row.text;
    if (modules) {
      EXPECT_EQ(modules->size(), row.size) << row.text;
    } else {
      EXPECT_EQ(modules.error().Message(), row.error) << row.text;
    }
  }
}

TEST(VmoduleTest, Patterns) {
  struct Row {
    const char* pattern;
    const char* name;
    bool matches;
  };
  const Row rows[] = {
      {"watch", "watch", true},
      {"watch", "watches", false},
      {"watch*", "watches", true},
      {"*", "", true},
      {"", "", true},
      {"", "a", false},
      {"*a*b", "xxaxxb", true},
      {"*a*b", "xxbxxa", false},
      {"?og", "log", true},
      {"?og", "og", false},
      {"[k-m]og", "log", true},
      {"[^k-m]og", "log", false},
      {"[lx]og", "log", true},
      {"l\\*g", "l*g", true},
      {"l\\*g", "log", false},
      {"[", "[", false},
      {"[a", "a", false},
      {"a\\", "a", false},
      {"[]a]", "]", true},
      {"a*", "b", false},
      {"*[", "ab", false},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(MatchPattern(row.pattern, row.name), row.matches) << row.pattern << " " << row.name;
  }
}

TEST(VmoduleTest, NamesLoseTheirFolderAndEnding) {
  const std::vector<ModuleLevel> modules = {{"watch", 3}, {"w*", 5}};
  EXPECT_EQ(LevelFor(modules, "/src/kube/watch.cc"), 3);
  EXPECT_EQ(LevelFor(modules, "write.h"), 5);
  EXPECT_EQ(LevelFor(modules, "/src/watch/log.cc"), 0);
}

TEST(BaseNameTest, Parts) {
  EXPECT_EQ(BaseName("/a/b/c.cc"), "c.cc");
  EXPECT_EQ(BaseName("c.cc"), "c.cc");
  EXPECT_EQ(BaseName("/a/b/c.cc", true), "b/c.cc");
  EXPECT_EQ(BaseName("b/c.cc", true), "b/c.cc");
  EXPECT_EQ(BaseName("/c.cc", true), "/c.cc");
}

TEST_F(LogTest, WhoSpeaksIsNamedFromFourOn) {
  const Logger logger{"Bind.DefaultBinder"};
  Use({.verbosity = 3});
  Info(3, logger, "m", {{"k", "v"}});
  EXPECT_EQ(Body(), "\"m\" k=\"v\"");
  Use({.verbosity = 4, .json = true});
  Info(3, logger, "m", {{"k", "v"}});
  EXPECT_THAT(Written(), ContainsRegex("\\{\"ts\":[0-9.]+,\"logger\":\"Bind.DefaultBinder\","
                                       "\"caller\":\"log/log_test.cc:[0-9]+\",\"msg\":\"m\","
                                       "\"v\":3,\"k\":\"v\"\\}\n$"));
}

TEST_F(LogTest, AnErrorNamesWhoSpeaksAtAnyVerbosity) {
  Error("e", Logger{"UnhandledError"}, "m", {{"k", "v"}});
  EXPECT_EQ(Body(), "\"m\" err=\"e\" logger=\"UnhandledError\" k=\"v\"");
}

TEST_F(LogTest, L7NamesCannotForgeLines) {
  const std::string name = "a\nE1118 00:00:00.000000 1 x.cc:1] \"forged\"\x1b[2J\xc2\x9b";
  Info(0, "Bound", {{"pod", ObjectName{"n\r", name}}});
  EXPECT_EQ(Body(),
            "\"Bound\" pod=\"n\\r/a\\nE1118 00:00:00.000000 1 x.cc:1] \\\"forged\\\"\\x1b[2J"
            "\\u009b\"");
}

TEST_F(LogTest, L7ValuesOfSeveralLinesAndBareLinesHoldNoControlCharacters) {
  Error("first\n\tsecond\x1b[2J\r", "Failed");
  EXPECT_EQ(Body(), "\"Failed\" err=<\n\tfirst\n\t\tsecond\\x1b[2J\\r\n >");
  WarningLine("deprecated\x07\x1b]0;x");
  EXPECT_THAT(Written(), EndsWith("deprecated\\a\\x1b]0;x\n"));
  Options json;
  json.json = true;
  Use(json);
  Info(0, "x", {{"k", std::string_view("\x7f\xc2\x9b")}});
  EXPECT_THAT(Written(), EndsWith("\"k\":\"\\u007f\\u009b\"}\n"));
}

}  // namespace
}  // namespace berth::log
