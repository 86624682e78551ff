#include "server/explain/explain_api.h"

#include <future>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cluster/testing/builders.h"

namespace berth::server {
namespace {

using cluster::MakeNode;
using cluster::MakePod;
using testing::HasSubstr;
using testing::StartsWith;

// The API before an engine that is asked at once, on whatever thread asks.
class ExplainApiTest : public testing::Test {
 protected:
  ExplainApiTest() {
    auto engine = scheduler::Engine::Make(config::Default(), {}, api::Time::FromUnixNano(1));
    engine_ = std::move(*engine);
    Put(MakeNode("a").Cpu("2"));
    Put(MakePod("small").Requests("cpu", "1"));
    Put(MakePod("huge").Requests("cpu", "8"));
    while (engine_->Step()) {
    }
    api_.Attach({.on_engine = [this](auto task) { task(*engine_); },
                 .config = [] { return config::Default(); },
                 .what_if = [](const auto& copy, const auto&,
                               const auto& request) -> Result<explain::WhatIfResult> {
                   if (request.manifests == "bad") return Fail("bad manifests");
                   explain::WhatIfResult result;
                   result.before.nodes = static_cast<int64_t>(copy.nodes.size());
                   return result;
                 },
                 .plan = [](const auto&, const std::string& body) -> Result<std::string> {
                   if (body == "{}") return Fail("question: what is asked?");
                   return R"({"plan":{},"nodes":[]})";
                 }});
  }

  template <class T>
  void Put(const T& builder) {
    if constexpr (std::is_convertible_v<T, const api::Node&>) {
      api::Node node = builder;
      node.metadata.resource_version = std::to_string(++version_);
      engine_->Upsert(std::move(node));
    } else {
      api::Pod pod = builder;
      pod.metadata.resource_version = std::to_string(++version_);
      engine_->Upsert(std::move(pod));
    }
  }
  Response Ask(const std::string& target, const std::string& method = "GET",
               const std::string& body = "") {
    Request request;
    request.method = method;
    request.target = std::string(kExplainPrefix) + target;
    EXPECT_TRUE(ParseTarget(request.target, &request.path, &request.query));
    request.body = body;
    auto answer = std::make_shared<std::promise<Response>>();
    api_.Handle(
        request, [answer](Response response) { answer->set_value(std::move(response)); },
        [](const std::function<void()>& task) { task(); });
    auto future = answer->get_future();
    if (future.wait_for(std::chrono::seconds(20)) != std::future_status::ready) {
      ADD_FAILURE() << "no answer to " << target;
      return {};
    }
    return future.get();
  }

  int64_t version_ = 0;
  std::unique_ptr<scheduler::Engine> engine_;
  ExplainApi api_;
};

TEST_F(ExplainApiTest, PlansArePosted) {
  EXPECT_EQ(Ask("/plan", "GET").status, 405);
  const Response made = Ask("/plan", "POST", R"({"question":"drain","pool":"spot"})");
  EXPECT_EQ(made.status, 200);
  EXPECT_EQ(made.body, R"({"plan":{},"nodes":[]})");
  const Response refused = Ask("/plan", "POST", "{}");
  EXPECT_EQ(refused.status, 400);
  EXPECT_THAT(refused.body, HasSubstr("what is asked?"));
  EXPECT_EQ(Ask("/plan", "POST", std::string((1u << 20) + 1, ' ')).status, 413);
}

TEST_F(ExplainApiTest, AnswersEveryPath) {
  struct Row {
    const char* target;
    const char* part;
  };
  for (const Row& row : {
           Row{"", R"("version":"v1")"},
           Row{"/", R"("profiles":["default-scheduler"])"},
           Row{"/decisions", R"("total":2)"},
           Row{"/decisions?outcome=Scheduled", R"("name":"small")"},
           Row{"/decisions/ns/small", R"("podNode":"a")"},
           Row{"/decisions/ns/huge?node=a&nodes=1", R"("fits":false)"},
           Row{"/pods/ns/huge/suggestions", R"(cpu request ≤ 1)"},
           Row{"/pending?namespace=ns", R"("total":1)"},
           Row{"/nodes", R"("cpu":[1000])"},
           Row{"/nodes/a", R"("pods":[{"namespace":"ns","name":"small")"},
           Row{"/podgroups", R"({"followed":false,"total":0,"items":[]})"},
           Row{"/queue", R"("unschedulable":1)"},
           Row{"/config", R"("schedulerName":"default-scheduler")"},
       }) {
    const Response response = Ask(row.target);
    EXPECT_EQ(response.status, 200) << row.target;
    EXPECT_EQ(response.Get("Content-Type"), "application/json") << row.target;
    EXPECT_THAT(response.body, HasSubstr(row.part)) << row.target;
  }
}

TEST_F(ExplainApiTest, MistakesHaveACodeAndAMessage) {
  struct Row {
    const char* what;
    const char* target;
    const char* method;
    const char* body;
    int status;
    const char* message;
  };
  for (const Row& row : {
           Row{"an unknown path", "/nothing", "GET", "", 404, "no path"},
           Row{"an unknown pod", "/decisions/ns/nobody", "GET", "", 404, "no pod ns/nobody"},
           Row{"an unknown node", "/nodes/x", "GET", "", 404, "no node x"},
           Row{"a node of a pod", "/decisions/ns/huge?node=x", "GET", "", 404, "no node x"},
           Row{"a limit of zero", "/decisions?limit=0", "GET", "", 400, "limit is a number"},
           Row{"too many nodes", "/decisions/ns/huge?nodes=101", "GET", "", 400, "from 1 to 100"},
           Row{"an outcome", "/decisions?outcome=Lost", "GET", "", 400, "outcome is Scheduled"},
           Row{"a write", "/nodes", "DELETE", "", 405, "only GET"},
           Row{"a what-if read", "/whatif", "GET", "", 405, "POST"},
           Row{"a pod group", "/podgroups/ns/nobody", "GET", "", 404, "no pod group ns/nobody"},
           Row{"a what-if about groups, read", "/whatif/podgroups", "GET", "", 405, "POST"},
           Row{"a what-if about groups that nobody answers", "/whatif/podgroups", "POST", "{}", 404,
               "no what-ifs"},
           Row{"a what-if that is no JSON", "/whatif", "POST", "{", 400, ""},
           Row{"a what-if that fails", "/whatif", "POST", R"({"manifests":"bad"})", 400,
               "bad manifests"},
       }) {
    const Response response = Ask(row.target, row.method, row.body);
    EXPECT_EQ(response.status, row.status) << row.what;
    EXPECT_THAT(response.body, StartsWith(R"({"kind":"Status")")) << row.what;
    EXPECT_THAT(response.body, HasSubstr(row.message)) << row.what;
    EXPECT_TRUE(api::FromJson<api::RawJson>(response.body)) << row.what << ": " << response.body;
  }
}

TEST_F(ExplainApiTest, AWhatIfGetsACopyOfTheCluster) {
  const Response response = Ask("/whatif", "POST", "{}");
  EXPECT_EQ(response.status, 200);
  EXPECT_THAT(response.body, HasSubstr(R"("before":{"nodes":1)"));
}

TEST_F(ExplainApiTest, NobodyIsAskedBeforeThereIsAnEngine) {
  api_.Attach({});
  EXPECT_EQ(Ask("/nodes").status, 503);
}

TEST_F(ExplainApiTest, AStreamBeginsWithTheQueueAndTellsOfDecisions) {
  const Response response = Ask("/stream");
  ASSERT_NE(response.stream, nullptr);
  EXPECT_EQ(response.Get("Content-Type"), "text/event-stream");
  EXPECT_THAT(response.stream->Take(), HasSubstr("event: queue\ndata: {"));
  api_.Stop();
  EXPECT_TRUE(response.stream->Ended());
}

}  // namespace
}  // namespace berth::server
