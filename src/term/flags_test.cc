#include "term/flags.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace berth::term {
namespace {

struct Parsed {
  std::vector<std::string> files;
  std::string text = "unset";
  std::string choice = "table";
  int64_t number = 0;
  bool on = false;
  std::vector<std::string> rest;
  std::string error;
};

Parsed Parse(const std::vector<std::string>& args) {
  Parsed p;
  Flags flags;
  flags.AddList("f,filename", "FILE", "files", &p.files);
  flags.AddText("text", "TEXT", "a text", &p.text);
  flags.AddChoice("o,output", {"table", "json"}, "format", &p.choice);
  flags.AddNumber("n,number", "N", "a number", -5, 100, &p.number);
  flags.AddSwitch("s,switch", "a switch", &p.on);
  const auto ok = flags.Parse(args, &p.rest);
  if (!ok) p.error = ok.error().Message();
  return p;
}

TEST(Flags, EveryFormOfAValue) {
  for (const std::vector<std::string>& args : std::vector<std::vector<std::string>>{
           {"--filename", "x"}, {"--filename=x"}, {"-f", "x"}, {"-f=x"}, {"-fx"}}) {
    const Parsed p = Parse(args);
    EXPECT_EQ(p.error, "") << args[0];
    EXPECT_EQ(p.files, std::vector<std::string>{"x"}) << args[0];
  }
  EXPECT_EQ(Parse({"-f", "a", "--filename=b", "-f", "-"}).files,
            (std::vector<std::string>{"a", "b", "-"}));
  EXPECT_EQ(Parse({"--text=a=b"}).text, "a=b") << "only the first = counts";
  EXPECT_EQ(Parse({"--text="}).text, "");
  EXPECT_EQ(Parse({"--text", "--switch"}).text, "--switch") << "a value may look like a flag";
  EXPECT_EQ(Parse({"-n", "-5"}).number, -5);
  EXPECT_EQ(Parse({"-n100"}).number, 100);
  EXPECT_TRUE(Parse({"--switch"}).on);
  EXPECT_TRUE(Parse({"-s"}).on);
  EXPECT_FALSE(Parse({"-s", "--switch=false"}).on) << "the last one counts";
  EXPECT_EQ(Parse({"-o", "json"}).choice, "json");
}

TEST(Flags, WhatIsNoFlagIsLeftOver) {
  const Parsed p = Parse({"a", "-s", "b", "-", "--", "--text", "c"});
  EXPECT_EQ(p.error, "");
  EXPECT_EQ(p.rest, (std::vector<std::string>{"a", "b", "-", "--text", "c"}));
  EXPECT_EQ(p.text, "unset");
}

TEST(Flags, ErrorsSayWhatToDo) {
  struct Case {
    std::vector<std::string> args;
    std::string error;
  };
  const Case cases[] = {
      {{"--unknown"}, "unknown flag: --unknown"},
      {{"--unknown=1"}, "unknown flag: --unknown"},
      {{"-x"}, "unknown flag: -x"},
      {{"--txet=1"}, "unknown flag: --txet; did you mean --text?"},
      {{"--numbers", "1"}, "unknown flag: --numbers; did you mean --number?"},
      {{"--f", "x"}, "unknown flag: --f"},
      {{"--=x"}, "unknown flag: --"},
      {{"--text"}, "flag --text needs a value: TEXT"},
      {{"-o"}, "flag -o needs a value: table|json"},
      {{"-o", "xml"}, "-o: \"xml\" is none of table|json"},
      {{"--number", "101"}, "--number: \"101\" is not a whole number from -5 to 100"},
      {{"--number=1x"}, "--number: \"1x\" is not a whole number from -5 to 100"},
      {{"--number="}, "--number: \"\" is not a whole number from -5 to 100"},
      {{"--number", "99999999999999999999"},
       "--number: \"99999999999999999999\" is not a whole number from -5 to 100"},
      {{"--switch=maybe"}, "--switch: \"maybe\" is not true or false"},
  };
  for (const Case& c : cases) EXPECT_EQ(Parse(c.args).error, c.error) << c.args[0];
}

TEST(Flags, HelpHasALinePerFlagInColumns) {
  Flags flags;
  std::string text;
  bool on = false;
  flags.AddText("o,out", "FILE", "where it goes", &text);
  flags.AddSwitch("quiet", "say nothing", &on);
  EXPECT_EQ(flags.Help(),
            "  -o, --out FILE  where it goes\n"
            "      --quiet     say nothing\n");
}

}  // namespace
}  // namespace berth::term
