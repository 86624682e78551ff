#include "apiserver/http/api_server.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "api/codec/proto.h"
#include "api/core/pod.h"
#include "api/core/reference.h"
#include "net/testing/fake_loop.h"

namespace berth::apiserver {
namespace {

constexpr std::string_view kPod =
    R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"web","labels":{"app":"web"}},)"
    R"("spec":{"containers":[{"name":"c","image":"nginx"}],"hostAliases":[{"ip":"1.2.3.4"}],)"
    R"("nonsense":{"x":[1]}}})";

class ApiServerTest : public testing::Test {
 protected:
  ApiServerTest() {
    for (const char* name : {"default", "other"}) {
      Json object = Json::MakeObject();
      object.At("metadata").Set("name", name);
      EXPECT_TRUE(registry_.Create(catalog_.Core("namespaces"), "", std::move(object)));
    }
  }

  struct Reply {
    int code = 0;
    std::string type;
    std::string body;
    std::shared_ptr<server::BodyStream> stream;
    Json json() const { return Json::Parse(body).value_or(Json()); }
    std::string message() const { return std::string(json()["message"].Str()); }
  };

  Reply Send(std::string method, std::string target, std::string body = "",
             std::string content_type = "application/json", std::string accept = "") {
    server::Request request;
    request.method = std::move(method);
    request.target = target;
    EXPECT_TRUE(server::ParseTarget(target, &request.path, &request.query));
    if (!content_type.empty()) request.headers.emplace_back("content-type", content_type);
    if (!accept.empty()) request.headers.emplace_back("accept", accept);
    request.body = std::move(body);
    Reply reply;
    server_.Handle(std::move(request), [&](server::Response response) {
      reply = {response.status, std::string(response.Get("Content-Type")), response.body,
               response.stream};
    });
    return reply;
  }

  // The lines of a watch so far: "ADDED web".
  static std::vector<std::string> Events(const Reply& watch) {
    std::vector<std::string> events;
    const std::string text = watch.stream->Take();
    for (size_t pos = 0; pos < text.size();) {
      const size_t end = text.find('\n', pos);
      const Json event = Json::Parse(text.substr(pos, end - pos)).value_or(Json());
      events.push_back(std::string(event["type"].Str()) + " " +
                       std::string(event["object"]["metadata"]["name"].Str()));
      pos = end + 1;
    }
    return events;
  }

  net::FakeLoop loop_;
  Catalog catalog_;
  Store store_{catalog_};
  Registry registry_{catalog_, store_, {.now = [] { return api::Time::FromUnixNano(0); }}};
  ApiServer server_{registry_, loop_};
};

constexpr const char* kPods = "/api/v1/namespaces/default/pods";
constexpr const char* kWeb = "/api/v1/namespaces/default/pods/web";

TEST_F(ApiServerTest, CreatesWithDefaultsAndKeepsTheFieldsThereAre) {
  const Reply made = Send("POST", kPods, std::string(kPod));
  ASSERT_EQ(made.code, 201) << made.body;
  const Json pod = Send("GET", kWeb).json();
  EXPECT_EQ(pod["spec"]["hostAliases"].Dump(), R"([{"ip":"1.2.3.4"}])");
  EXPECT_FALSE(pod["spec"].Has("nonsense"));
  EXPECT_EQ(pod["spec"]["schedulerName"].Str(), "default-scheduler");
  EXPECT_EQ(pod["spec"]["priority"].Dump(), "0");
  EXPECT_EQ(pod["spec"]["tolerations"].Items().size(), 2u);
  EXPECT_EQ(pod["spec"]["containers"].Items()[0]["imagePullPolicy"].Str(), "Always");
  EXPECT_EQ(pod["status"]["phase"].Str(), "Pending");
  EXPECT_EQ(pod["status"]["qosClass"].Str(), "BestEffort");
  EXPECT_EQ(pod["metadata"]["uid"].Str().size(), 36u);
}

TEST_F(ApiServerTest, RefusesInTheApiServersWords) {
  Send("POST", kPods, std::string(kPod));
  struct Row {
    const char* method;
    std::string target;
    std::string body;
    int code;
    const char* message;
  };
  const Row rows[] = {
      {"POST", kPods, std::string(kPod), 409, "pods \"web\" already exists"},
      {"GET", "/api/v1/namespaces/default/pods/none", "", 404, "pods \"none\" not found"},
      {"GET", "/apis/apps/v1/namespaces/default/deployments/none", "", 404,
       "deployments.apps \"none\" not found"},
      {"GET", "/apis/apps/v1/things", "", 404, "the server could not find the requested resource"},
      {"POST", "/api/v1/namespaces/nowhere/pods", std::string(kPod), 404,
       "namespaces \"nowhere\" not found"},
      {"POST", "/api/v1/namespaces/other/pods",
       R"({"metadata":{"name":"a","namespace":"default"}})", 400,
       "the namespace of the provided object does not match the namespace sent on the request"},
      {"POST", kPods, R"({"metadata":{"name":"empty"}})", 422,
       "Pod \"empty\" is invalid: spec.containers: Required value"},
      {"POST", kPods, R"({"kind":"Node","metadata":{"name":"a"}})", 400,
       "the kind in the data (Node) does not match the expected kind (Pod)"},
      {"PUT", kWeb, R"({"metadata":{"name":"web","resourceVersion":"1"}})", 409,
       "Operation cannot be fulfilled on pods \"web\": the object has been modified; please apply "
       "your changes to the latest version and try again"},
      {"PATCH", kWeb, R"({"spec":{"priorityClassName":"gold"}})", 415, nullptr},
      {"POST", std::string(kPods) + "?fieldValidation=Strict",
       R"({"metadata":{"name":"b"},"spec":{"containrs":[]}})", 400,
       "Pod in version \"v1\" cannot be handled as a Pod: strict decoding error: unknown field "
       "\"spec.containrs\""},
      {"POST", kPods,
       R"({"metadata":{"name":"c"},"spec":{"priorityClassName":"gold",)"
       R"("containers":[{"name":"c","image":"x"}]}})",
       403, "pods \"c\" is forbidden: no PriorityClass with name gold was found"},
      {"GET", "/api/v1/pods?fieldSelector=spec.color%3Dred", "", 400,
       "field label not supported: spec.color"},
      {"DELETE", "/api/v1/pods", "", 405,
       "the server does not allow this method on the requested resource"},
  };
  for (const Row& row : rows) {
    const Reply reply = Send(row.method, row.target, row.body);
    EXPECT_EQ(reply.code, row.code) << row.target << " " << reply.body;
    if (row.message) {
      EXPECT_EQ(reply.message(), row.message) << row.target;
    }
    EXPECT_EQ(reply.json()["kind"].Str(), "Status");
  }
}

TEST_F(ApiServerTest, PatchesOfThreeKinds) {
  Send("POST", kPods, std::string(kPod));
  EXPECT_EQ(
      Send("PATCH", kWeb, R"({"metadata":{"labels":{"tier":"1"}}})", "application/merge-patch+json")
          .code,
      200);
  EXPECT_EQ(Send("PATCH", kWeb, R"([{"op":"remove","path":"/metadata/labels/app"}])",
                 "application/json-patch+json")
                .code,
            200);
  const Reply reply =
      Send("PATCH", std::string(kWeb) + "/status",
           R"({"status":{"conditions":[{"type":"PodScheduled","status":"False"}]}})",
           "application/strategic-merge-patch+json");
  EXPECT_EQ(reply.code, 200) << reply.body;
  const Json pod = reply.json();
  EXPECT_EQ(pod["metadata"]["labels"].Dump(), R"({"tier":"1"})");
  EXPECT_EQ(pod["status"]["conditions"].Items().size(), 1u);
  EXPECT_EQ(pod["status"]["phase"].Str(), "Pending");
}

TEST_F(ApiServerTest, APodIsBoundOnce) {
  Send("POST", kPods, std::string(kPod));
  const std::string binding = R"({"metadata":{"name":"web"},"target":{"kind":"Node","name":"n1"}})";
  EXPECT_EQ(Send("POST", std::string(kWeb) + "/binding", binding).code, 201);
  const Json pod = Send("GET", kWeb).json();
  EXPECT_EQ(pod["spec"]["nodeName"].Str(), "n1");
  EXPECT_EQ(pod["status"]["conditions"].Items()[0]["type"].Str(), "PodScheduled");
  const Reply again = Send("POST", std::string(kWeb) + "/binding", binding);
  EXPECT_EQ(again.code, 409);
  EXPECT_EQ(again.message(),
            "Operation cannot be fulfilled on pods/binding \"web\": pod web is already assigned to "
            "node \"n1\"");
}

TEST_F(ApiServerTest, ProtobufForTheSchedulerAndBack) {
  Send("POST", kPods, std::string(kPod));
  const std::string proto = "application/vnd.kubernetes.protobuf";
  const Reply got = Send("GET", kWeb, "", "", proto);
  EXPECT_EQ(got.type, proto);
  const auto envelope = api::UnwrapEnvelope(got.body);
  ASSERT_TRUE(envelope);
  const auto pod = api::FromProto<api::Pod>(envelope->raw);
  ASSERT_TRUE(pod);
  EXPECT_EQ(pod->metadata.name, "web");
  EXPECT_EQ(pod->spec.scheduler_name, "default-scheduler");
  const Reply list = Send("GET", "/api/v1/pods", "", "", proto);
  const auto list_envelope = api::UnwrapEnvelope(list.body);
  ASSERT_TRUE(list_envelope);
  EXPECT_EQ(list_envelope->kind, "PodList");
  size_t items = 0;
  EXPECT_TRUE(api::ForEachListItem(list_envelope->raw, [&](std::string_view) -> Result<void> {
    ++items;
    return {};
  }));
  EXPECT_EQ(items, 1u);
  api::Binding binding;
  binding.metadata.name = "web";
  binding.target.kind = "Node";
  binding.target.name = "n2";
  EXPECT_EQ(
      Send("POST", std::string(kWeb) + "/binding", api::ToEnvelope(binding), proto, proto).code,
      201);
  EXPECT_EQ(Send("GET", kWeb).json()["spec"]["nodeName"].Str(), "n2");
  EXPECT_EQ(Send("GET", kWeb).json()["spec"]["hostAliases"].Dump(), R"([{"ip":"1.2.3.4"}])");
}

TEST_F(ApiServerTest, WatchesFollowSelectors) {
  Send("POST", kPods, std::string(kPod));
  const Reply all = Send("GET", "/api/v1/pods?watch=true");
  const Reply unbound = Send("GET", "/api/v1/pods?watch=1&fieldSelector=spec.nodeName%3D");
  const Reply late =
      Send("GET", "/api/v1/pods?watch=1&resourceVersion=" + std::to_string(store_.Version()));
  EXPECT_EQ(Events(all), (std::vector<std::string>{"ADDED web"}));
  EXPECT_EQ(Events(unbound), (std::vector<std::string>{"ADDED web"}));
  Send("POST", std::string(kWeb) + "/binding", R"({"target":{"name":"n1"}})");
  EXPECT_EQ(Events(all), (std::vector<std::string>{"MODIFIED web"}));
  EXPECT_EQ(Events(unbound), (std::vector<std::string>{"DELETED web"}));
  EXPECT_EQ(Events(late), (std::vector<std::string>{"MODIFIED web"}));
  all.stream->Close();
  Send("DELETE", std::string(kWeb) + "?gracePeriodSeconds=0");
  EXPECT_TRUE(Events(all).empty());
  EXPECT_EQ(Events(late), (std::vector<std::string>{"DELETED web"}));
}

TEST_F(ApiServerTest, ListsComeInPagesOfOneMoment) {
  for (const char* name : {"a", "b", "c"}) {
    std::string pod(kPod);
    pod.replace(pod.find("web"), 3, name);
    ASSERT_EQ(Send("POST", kPods, pod).code, 201);
  }
  Json page = Send("GET", std::string(kPods) + "?limit=2").json();
  EXPECT_EQ(page["items"].Items().size(), 2u);
  EXPECT_EQ(page["metadata"]["remainingItemCount"].Int(), 1);
  Send("DELETE", std::string(kPods) + "/c?gracePeriodSeconds=0");
  const std::string token(page["metadata"]["continue"].Str());
  page = Send("GET", std::string(kPods) + "?limit=2&continue=" + token).json();
  ASSERT_EQ(page["items"].Items().size(), 1u);
  EXPECT_EQ(page["items"].Items()[0]["metadata"]["name"].Str(), "c");
  EXPECT_TRUE(page["metadata"]["continue"].IsNull());
  EXPECT_EQ(Send("GET", std::string(kPods) + "?limit=2&continue=list-99.1").code, 410);
}

TEST_F(ApiServerTest, DeletionWaitsForGraceAndFinalizers) {
  std::string pod(kPod);
  pod.replace(pod.find(R"("labels")"), 0, R"("finalizers":["example.com/wait"],)");
  ASSERT_EQ(Send("POST", kPods, pod).code, 201);
  Send("POST", std::string(kWeb) + "/binding", R"({"target":{"name":"n1"}})");
  const Json deleted = Send("DELETE", kWeb).json();
  EXPECT_EQ(deleted["metadata"]["deletionGracePeriodSeconds"].Int(), 30);
  EXPECT_EQ(deleted["metadata"]["deletionTimestamp"].Str(), "1970-01-01T00:00:30Z");
  Send("DELETE", kWeb, R"({"gracePeriodSeconds":0})");
  EXPECT_EQ(Send("GET", kWeb).code, 200) << "the finalizer holds it";
  Send("PATCH", kWeb, R"({"metadata":{"finalizers":null}})", "application/merge-patch+json");
  EXPECT_EQ(Send("GET", kWeb).code, 404);
}

TEST_F(ApiServerTest, ServerSideApplyKnowsOwners) {
  const std::string target = "/api/v1/namespaces/default/configmaps/c";
  const std::string apply = "application/apply-patch+yaml";
  const auto send = [&](const char* manager, const char* body, const char* more = "") {
    return Send("PATCH", target + "?fieldManager=" + manager + more, body, apply);
  };
  EXPECT_EQ(send("a", "apiVersion: v1\nkind: ConfigMap\ndata: {x: '1', 'y': '1'}").code, 201);
  EXPECT_EQ(send("b", R"({"apiVersion":"v1","kind":"ConfigMap","data":{"y":"1","z":"1"}})").code,
            200);
  const Reply conflict = send("b", R"({"apiVersion":"v1","kind":"ConfigMap","data":{"x":"2"}})");
  EXPECT_EQ(conflict.code, 409);
  EXPECT_EQ(conflict.message(),
            "Apply failed with 1 conflict: conflict with \"a\" using v1: .data.x");
  // y is b's as well; x is a's alone.
  EXPECT_EQ(send("a", R"({"apiVersion":"v1","kind":"ConfigMap","data":{}})").code, 200);
  EXPECT_EQ(Send("GET", target).json()["data"].Dump(), R"({"y":"1","z":"1"})");
  EXPECT_EQ(
      send("c", R"({"apiVersion":"v1","kind":"ConfigMap","data":{"z":"9"}})", "&force=true").code,
      200);
  EXPECT_EQ(Send("GET", target).json()["data"]["z"].Str(), "9");
}

TEST_F(ApiServerTest, EventsAreOneKindInTwoGroups) {
  const Reply made = Send("POST", "/apis/events.k8s.io/v1/namespaces/default/events",
                          R"({"metadata":{"name":"e"},"regarding":{"kind":"Pod","name":"web"},)"
                          R"("note":"hello","reason":"Scheduled","type":"Normal"})");
  ASSERT_EQ(made.code, 201) << made.body;
  EXPECT_EQ(made.json()["note"].Str(), "hello");
  const Json core =
      Send("GET", "/api/v1/namespaces/default/events?fieldSelector=involvedObject.name%3Dweb")
          .json();
  ASSERT_EQ(core["items"].Items().size(), 1u);
  EXPECT_EQ(core["items"].Items()[0]["message"].Str(), "hello");
}

TEST_F(ApiServerTest, CustomResourcesAfterTheirDefinition) {
  const std::string target = "/apis/example.com/v1/namespaces/default/boats";
  EXPECT_EQ(Send("GET", target).code, 404);
  const Reply made = Send(
      "POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
      R"({"metadata":{"name":"boats.example.com"},"spec":{"group":"example.com","scope":"Namespaced",)"
      R"("names":{"kind":"Boat","plural":"boats"},"versions":[{"name":"v1","served":true,"storage":true}]}})");
  ASSERT_EQ(made.code, 201) << made.body;
  EXPECT_EQ(Send("POST", target, R"({"metadata":{"name":"a"},"spec":{"sails":2}})").code, 201);
  EXPECT_EQ(Send("GET", target + "/a").json()["apiVersion"].Str(), "example.com/v1");
  EXPECT_EQ(
      Send("DELETE", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/boats.example.com")
          .code,
      200);
  EXPECT_EQ(Send("GET", target).code, 404);
}

TEST_F(ApiServerTest, NamespacesOfEveryClusterStay) {
  const Reply refused = Send("DELETE", "/api/v1/namespaces/default");
  EXPECT_EQ(refused.code, 403);
  EXPECT_EQ(refused.message(),
            "namespaces \"default\" is forbidden: this namespace may not be deleted");
  EXPECT_EQ(Send("DELETE", "/api/v1/namespaces/other").code, 200);
}

// kubectl get events --sort-by=.lastTimestamp fails where the field is missing.
TEST_F(ApiServerTest, EventsHaveTheirTimesEvenIfNull) {
  const std::string core = "/api/v1/namespaces/default/events";
  ASSERT_EQ(
      Send("POST", "/apis/events.k8s.io/v1/namespaces/default/events",
           R"({"metadata":{"name":"e"},"eventTime":"2024-05-06T07:08:09.123456Z",)"
           R"("action":"A","reason":"R","reportingController":"c","reportingInstance":"i",)"
           R"("regarding":{"kind":"Pod","name":"web","namespace":"default"},"type":"Normal"})")
          .code,
      201);
  const Json event = Send("GET", core + "/e").json();
  EXPECT_TRUE(event.Has("lastTimestamp"));
  EXPECT_TRUE(event["lastTimestamp"].IsNull());
  EXPECT_TRUE(event.Has("firstTimestamp"));
  EXPECT_EQ(event["eventTime"].Str(), "2024-05-06T07:08:09.123456Z");
}

TEST_F(ApiServerTest, TablesForKubectl) {
  Send("POST", kPods, std::string(kPod));
  const Json table =
      Send("GET", kPods, "", "", "application/json;as=Table;v=v1;g=meta.k8s.io,application/json")
          .json();
  EXPECT_EQ(table["kind"].Str(), "Table");
  EXPECT_EQ(table["rows"].Items()[0]["cells"].Items()[0].Str(), "web");
  EXPECT_EQ(table["rows"].Items()[0]["cells"].Items()[1].Str(), "0/1");
  EXPECT_EQ(table["columnDefinitions"].Items()[2]["name"].Str(), "Status");
}

TEST_F(ApiServerTest, DiscoveryNamesEveryResource) {
  const Json core = Send("GET", "/api/v1").json();
  EXPECT_EQ(core["kind"].Str(), "APIResourceList");
  EXPECT_GT(core["resources"].Items().size(), 20u);
  const Reply groups = Send(
      "GET", "/apis", "", "",
      std::string(
          "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json"));
  EXPECT_EQ(groups.json()["kind"].Str(), "APIGroupDiscoveryList");
  EXPECT_EQ(Send("GET", "/openapi/v3/apis/apps/v1").json()["openapi"].Str(), "3.0.0");
}

TEST_F(ApiServerTest, MeasuresNodesByTheirAnnotations) {
  const std::string nodes = "/apis/metrics.k8s.io/v1beta1/nodes";
  for (
      const char* node :
      {R"({"apiVersion":"v1","kind":"Node","metadata":{"name":"busy","annotations":{"berth.dev/load-cpu":"3500m"}}})",
       R"({"apiVersion":"v1","kind":"Node","metadata":{"name":"odd","annotations":{"berth.dev/load-cpu":"much"}}})",
       R"({"apiVersion":"v1","kind":"Node","metadata":{"name":"idle"}})"}) {
    EXPECT_EQ(Send("POST", "/api/v1/nodes", node).code, 201);
  }
  const Json metrics = Send("GET", nodes).json();
  EXPECT_EQ(metrics["kind"].Str(), "NodeMetricsList");
  ASSERT_EQ(metrics["items"].Items().size(), 1u) << "others are not measured";
  const Json& busy = metrics["items"].Items()[0];
  EXPECT_EQ(busy["metadata"]["name"].Str(), "busy");
  EXPECT_EQ(busy["usage"]["cpu"].Str(), "3500m");
  EXPECT_FALSE(busy["timestamp"].Str().empty());
}

}  // namespace
}  // namespace berth::apiserver
