// Bodies as recorded between kube-scheduler v1.34 and an extender, and answers good and bad.
#include "kube/extender/extender_wire.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace berth::kube {
namespace {

using scheduler::CallExtender;
using scheduler::ExtenderAnswer;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;
using Verb = CallExtender::Verb;

ExtenderObjects Objects() {
  return {[](const scheduler::PodRef& pod) -> std::string {
            if (pod.name == "x") return R"({"spec":{"a":1},"status":{}})";
            if (pod.name == "placed") return R"({"spec":{"nodeName":"n3"}})";
            return R"({"metadata":{"name":")" + pod.name + R"("}})";
          },
          [](const std::string& name) { return R"({"metadata":{"name":")" + name + R"("}})"; }};
}

CallExtender Call(Verb verb) {
  CallExtender call;
  call.verb = verb;
  call.pod = {"default", "foo", "UID-2"};
  call.nodes = {"n2", "n3"};
  return call;
}

TEST(ExtenderWireTest, Requests) {
  CallExtender preempt = Call(Verb::kPreempt);
  preempt.victims["n3"].pods = {{"default", "placed", "UID-8"}};
  preempt.victims["n2"].pods = {{"default", "low-n2", "UID-7"}, {"default", "x", "UID-6"}};
  preempt.victims["n2"].pdb_violations = 1;
  CallExtender bind = Call(Verb::kBind);
  bind.nodes = {"n2"};
  struct Row {
    std::string name;
    CallExtender call;
    bool node_cache_capable;
    std::string body;
  };
  const Row rows[] = {
      {"nodes whole", Call(Verb::kFilter), false,
       R"({"Pod":{"metadata":{"name":"foo"}},"Nodes":{"metadata":{},"items":[)"
       R"({"metadata":{"name":"n2"}},{"metadata":{"name":"n3"}}]},"NodeNames":null})"},
      {"nodes by name", Call(Verb::kPrioritize), true,
       R"({"Pod":{"metadata":{"name":"foo"}},"Nodes":null,"NodeNames":["n2","n3"]})"},
      {"victims whole", preempt, false,
       R"({"Pod":{"metadata":{"name":"foo"}},"NodeNameToVictims":{)"
       R"("n2":{"Pods":[{"metadata":{"name":"low-n2"}},{"spec":{"nodeName":"n2","a":1},"status":{}}],)"
       R"("NumPDBViolations":1},)"
       R"("n3":{"Pods":[{"spec":{"nodeName":"n3"}}],"NumPDBViolations":0}},)"
       R"("NodeNameToMetaVictims":null})"},
      {"victims by uid", preempt, true,
       R"({"Pod":{"metadata":{"name":"foo"}},"NodeNameToVictims":null,"NodeNameToMetaVictims":{)"
       R"("n2":{"Pods":[{"UID":"UID-7"},{"UID":"UID-6"}],"NumPDBViolations":1},)"
       R"("n3":{"Pods":[{"UID":"UID-8"}],"NumPDBViolations":0}}})"},
      {"a binding", bind, false,
       R"({"PodName":"foo","PodNamespace":"default","PodUID":"UID-2","Node":"n2"})"},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(ExtenderRequestBody(row.call, row.node_cache_capable, Objects()), row.body)
        << row.name;
  }
}

TEST(ExtenderWireTest, FilterAnswers) {
  auto answer = ReadExtenderAnswer(
      Verb::kFilter, true,
      R"( {"NodeNames":["a","b\u0021"],"Nodes":null,"FailedNodes":{"c":"no \"room\""},
           "FailedAndUnresolvableNodes":{"d":"never"},"Error":"","More":[1,{}]} trailing)");
  ASSERT_TRUE(answer) << answer.error().Message();
  EXPECT_THAT(answer->nodes, ElementsAre("a", "b!"));
  EXPECT_THAT(answer->failed, ElementsAre(Pair("c", "no \"room\"")));
  EXPECT_THAT(answer->failed_and_unresolvable, ElementsAre(Pair("d", "never")));

  // Names in any case, as Go reads them; whole nodes.
  answer = ReadExtenderAnswer(Verb::kFilter, false,
                              R"({"nodes":{"items":[{"spec":{},"metadata":{"name":"a"}}]},)"
                              R"("nodeNames":["b"],"failednodes":null})");
  ASSERT_TRUE(answer) << answer.error().Message();
  EXPECT_THAT(answer->nodes, ElementsAre("a"));

  answer = ReadExtenderAnswer(Verb::kFilter, true, "{}");
  ASSERT_TRUE(answer);
  EXPECT_THAT(answer->nodes, IsEmpty());
  EXPECT_TRUE(ReadExtenderAnswer(Verb::kFilter, true, "null"));
}

TEST(ExtenderWireTest, OtherAnswers) {
  auto scores = ReadExtenderAnswer(Verb::kPrioritize, true,
                                   R"([{"Host":"a","Score":3},{"host":"b","score":-1},{}])");
  ASSERT_TRUE(scores) << scores.error().Message();
  EXPECT_THAT(scores->scores, ElementsAre(Pair("a", 3), Pair("b", -1), Pair("", 0)));

  auto victims = ReadExtenderAnswer(
      Verb::kPreempt, true,
      R"({"NodeNameToMetaVictims":{"n3":{"Pods":[{"UID":"u"}],"NumPDBViolations":2},"n4":null}})");
  ASSERT_TRUE(victims) << victims.error().Message();
  EXPECT_THAT(victims->victims.at("n3").uids, ElementsAre("u"));
  EXPECT_EQ(victims->victims.at("n3").pdb_violations, 2);
  EXPECT_THAT(victims->victims.at("n4").uids, IsEmpty());

  EXPECT_TRUE(ReadExtenderAnswer(Verb::kBind, true, R"({"Error":""})"));
}

TEST(ExtenderWireTest, BadAnswers) {
  struct Row {
    Verb verb;
    std::string body;
    std::string error;
  };
  const Row rows[] = {
      {Verb::kFilter, "", "EOF"},
      {Verb::kFilter, " \n", "EOF"},
      {Verb::kFilter, "<html>", "invalid character '<' looking for beginning of value"},
      {Verb::kFilter, R"({"NodeNames":["a")", "unexpected EOF"},
      {Verb::kFilter, R"({"NodeNames":["a",]})",
       "invalid character ']' looking for beginning of value"},
      {Verb::kFilter, R"({"Error":"exploded"})", "exploded"},
      {Verb::kFilter, "[]",
       "json: cannot unmarshal array into Go value of type v1.ExtenderFilterResult"},
      {Verb::kFilter, R"({"NodeNames":"a"})",
       "json: cannot unmarshal string into Go struct field ExtenderFilterResult.NodeNames of type "
       "[]string"},
      {Verb::kPrioritize, "{}",
       "json: cannot unmarshal object into Go value of type v1.HostPriorityList"},
      {Verb::kPrioritize, R"([{"Host":"a","Score":1.5}])",
       "json: cannot unmarshal number 1.5 into Go struct field HostPriority.Score of type int64"},
      {Verb::kPrioritize, R"([{"Host":"a","Score":"1"}])",
       "json: cannot unmarshal string into Go struct field HostPriority.Score of type int64"},
      {Verb::kBind, R"({"Error":"out of ink"})", "out of ink"},
  };
  for (const Row& row : rows) {
    const auto answer = ReadExtenderAnswer(row.verb, true, row.body);
    ASSERT_FALSE(answer) << row.body;
    EXPECT_EQ(answer.error().Message(), row.error) << row.body;
  }
  const std::string deep = std::string(100'000, '[');
  EXPECT_FALSE(ReadExtenderAnswer(Verb::kPrioritize, true, deep));
}

TEST(ExtenderWireTest, ObjectsLoseKindAndVersion) {
  EXPECT_EQ(
      ForExtenders(R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":"p","managedFields":)"
                   R"([{"apiVersion":"v1"}]},"spec":{"kind":"x"},"status":{}})"),
      R"({"metadata":{"name":"p","managedFields":[{"apiVersion":"v1"}]},)"
      R"("spec":{"kind":"x"},"status":{}})");
  EXPECT_EQ(ForExtenders("{}"), "{}");
  EXPECT_EQ(ForExtenders(R"({"kind":"Pod","metadata":{"name":"p","managedFields":[{"a":1}],)"
                         R"("uid":"u"},"spec":{"managedFields":1}})",
                         true),
            R"({"metadata":{"name":"p","uid":"u"},"spec":{"managedFields":1}})");
  EXPECT_EQ(ForExtenders(R"({"metadata":null})", true), R"({"metadata":null})");
  EXPECT_EQ(ForExtenders("nonsense"), "nonsense");
}

}  // namespace
}  // namespace berth::kube
