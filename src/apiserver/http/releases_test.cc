// What the API servers of the supported releases serve, keep and refuse.
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "apiserver/http/api_server.h"
#include "net/testing/fake_loop.h"

namespace berth::apiserver {
namespace {

config::FeatureGates GatesOf(int minor, std::string_view text = "") {
  config::FeatureGates gates(minor);
  EXPECT_TRUE(gates.Set(text));
  return gates;
}

// The API server of one release.
class Server {
 public:
  explicit Server(const config::FeatureGates& gates) : catalog_(gates) {
    EXPECT_TRUE(registry_.Create(catalog_.Core("namespaces"), "",
                                 Json::Parse(R"({"metadata":{"name":"default"}})").value()));
  }

  server::Response Send(std::string method, std::string target, std::string body = "") {
    server::Request request;
    request.method = std::move(method);
    EXPECT_TRUE(server::ParseTarget(target, &request.path, &request.query));
    request.target = std::move(target);
    request.headers.emplace_back("content-type", "application/json");
    request.body = std::move(body);
    server::Response response;
    server_.Handle(std::move(request),
                   [&](server::Response answer) { response = std::move(answer); });
    return response;
  }
  Json Get(std::string target) {
    return Json::Parse(Send("GET", std::move(target)).body).value_or(Json());
  }
  bool Serves(const std::string& group_version, std::string_view plural) {
    const Json list = Get("/apis/" + group_version);
    for (const Json& resource : list["resources"].Items()) {
      if (resource["name"].Str() == plural) return true;
    }
    return false;
  }

 private:
  net::FakeLoop loop_;
  Catalog catalog_;
  Store store_{catalog_};
  Registry registry_{catalog_, store_, {.now = [] { return api::Time::FromUnixNano(0); }}};
  ApiServer server_{registry_, loop_};
};

constexpr int kMinors[] = {34, 35, 36, 37};
constexpr const char* kPods = "/api/v1/namespaces/default/pods";

TEST(ReleasesTest, TheVersionIsTheReleases) {
  for (const int minor : kMinors) {
    const Json version = Server(GatesOf(minor)).Get("/version");
    EXPECT_EQ(version["minor"].Str(), std::to_string(minor));
    EXPECT_TRUE(version["gitVersion"].Str().starts_with("v1." + std::to_string(minor) + "."));
    EXPECT_EQ(version["minCompatibilityMinor"].Str(), std::to_string(minor - 1));
  }
}

TEST(ReleasesTest, ResourcesOfEachRelease) {
  struct Row {
    const char* what;
    const char* group_version;
    const char* plural;
    const char* gates;
    std::vector<int> minors;
  };
  const Row rows[] = {
      {"device classes", "resource.k8s.io/v1", "deviceclasses", "", {34, 35, 36, 37}},
      {"taint rules are stable in 1.37", "resource.k8s.io/v1", "devicetaintrules", "", {37}},
      {"they come with their gate before",
       "resource.k8s.io/v1beta2",
       "devicetaintrules",
       "DRADeviceTaintRules=true",
       {36}},
      {"first as alpha", "resource.k8s.io/v1alpha3", "devicetaintrules", "AllAlpha=true", {34, 35}},
      {"both versions of autoscalers",
       "autoscaling/v1",
       "horizontalpodautoscalers",
       "",
       {34, 35, 36, 37}},
      {"no pod groups by default", "scheduling.k8s.io/v1beta1", "podgroups", "", {}},
      {"pod groups by gate",
       "scheduling.k8s.io/v1beta1",
       "podgroups",
       "GenericWorkload=true",
       {37}},
      {"mutating policies",
       "admissionregistration.k8s.io/v1",
       "mutatingadmissionpolicies",
       "",
       {36, 37}},
      {"migrations", "storagemigration.k8s.io/v1", "storageversionmigrations", "", {37}},
      {"classes of volume attributes",
       "storage.k8s.io/v1",
       "volumeattributesclasses",
       "",
       {34, 35, 36, 37}},
  };
  for (const Row& row : rows) {
    std::vector<int> served;
    for (const int minor : kMinors) {
      config::FeatureGates gates(minor);
      if (!gates.Set(row.gates)) continue;  // a gate of later releases
      if (Server(gates).Serves(row.group_version, row.plural)) served.push_back(minor);
    }
    EXPECT_EQ(served, row.minors) << row.what;
  }
}

TEST(ReleasesTest, FieldsOfEachRelease) {
  struct Row {
    const char* what;
    const char* field;  // of a container or the pod's spec
    const char* value;
    const char* gates;
    std::vector<int> known;  // no error of strict decoding
    std::vector<int> kept;
  };
  const Row rows[] = {
      {"a field of all",
       "hostAliases",
       R"([{"ip":"1.2.3.4"}])",
       "",
       {34, 35, 36, 37},
       {34, 35, 36, 37}},
      {"known and disabled", "hostnameOverride", R"("x")", "", {34, 35, 36, 37}, {35, 36, 37}},
      {"one release alone, disabled",
       "workloadRef",
       R"({"name":"w","podGroup":"g"})",
       "",
       {35},
       {}},
      {"one release alone, by its gate",
       "workloadRef",
       R"({"name":"w","podGroup":"g"})",
       "AllAlpha=true",
       {35},
       {35}},
      {"since 1.36, by its gate",
       "schedulingGroup",
       R"({"podGroupName":"g"})",
       "GenericWorkload=true",
       {36, 37},
       {36, 37}},
      {"nonsense", "nonsense", "1", "", {}, {}},
  };
  for (const Row& row : rows) {
    std::vector<int> known;
    std::vector<int> kept;
    for (const int minor : kMinors) {
      config::FeatureGates gates(minor);
      if (!gates.Set(row.gates)) continue;
      Server server(gates);
      const auto pod = [&](const char* name) {
        return std::string(R"({"metadata":{"name":")") + name + R"("},"spec":{")" + row.field +
               "\":" + row.value + R"(,"containers":[{"name":"c","image":"i"}]}})";
      };
      const auto strict =
          server.Send("POST", std::string(kPods) + "?fieldValidation=Strict", pod("strict"));
      if (strict.status == 201) known.push_back(minor);
      ASSERT_EQ(server.Send("POST", kPods, pod("p")).status, 201) << row.what;
      const Json made = server.Get(std::string(kPods) + "/p");
      if (made["spec"].Has(row.field)) kept.push_back(minor);
    }
    EXPECT_EQ(known, row.known) << row.what;
    EXPECT_EQ(kept, row.kept) << row.what;
  }
}

TEST(ReleasesTest, AutoscalersHaveTwoForms) {
  Server server(GatesOf(37));
  const std::string v1 = "/apis/autoscaling/v1/namespaces/default/horizontalpodautoscalers";
  const std::string v2 = "/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers";
  ASSERT_EQ(
      server
          .Send("POST", v1,
                R"({"apiVersion":"autoscaling/v1","kind":"HorizontalPodAutoscaler",)"
                R"("metadata":{"name":"web"},"spec":{"maxReplicas":5,)"
                R"("scaleTargetRef":{"apiVersion":"apps/v1","kind":"Deployment","name":"web"},)"
                R"("targetCPUUtilizationPercentage":70}})")
          .status,
      201);
  const Json second = server.Get(v2 + "/web");
  EXPECT_EQ(second["apiVersion"].Str(), "autoscaling/v2");
  ASSERT_EQ(second["spec"]["metrics"].Items().size(), 1u);
  EXPECT_EQ(second["spec"]["metrics"].Items()[0]["resource"]["target"]["averageUtilization"].Int(),
            70);
  const Json first = server.Get(v1 + "/web");
  EXPECT_EQ(first["apiVersion"].Str(), "autoscaling/v1");
  EXPECT_EQ(first["spec"]["targetCPUUtilizationPercentage"].Int(), 70);
  EXPECT_FALSE(first["spec"].Has("metrics"));
  EXPECT_EQ(server.Get(v1)["items"].Items()[0]["apiVersion"].Str(), "autoscaling/v1");
}

TEST(ReleasesTest, ListsAsWatches) {
  Server server(GatesOf(37));
  ASSERT_EQ(
      server
          .Send("POST", kPods,
                R"({"metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"i"}]}})")
          .status,
      201);
  const std::string watch = std::string(kPods) + "?watch=1&sendInitialEvents=true";
  const auto streamed =
      server.Send("GET", watch + "&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan");
  ASSERT_TRUE(streamed.stream);
  const std::string text = streamed.stream->Take();
  EXPECT_LT(text.find("ADDED"), text.find("BOOKMARK"));
  EXPECT_NE(text.find(R"("k8s.io/initial-events-end":"true")"), std::string::npos);
  const auto refused = server.Send("GET", watch);
  EXPECT_EQ(refused.status, 422);
  EXPECT_NE(refused.body.find(
                "ListOptions.meta.k8s.io \\\"\\\" is invalid: resourceVersionMatch: Forbidden: "
                "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"),
            std::string::npos)
      << refused.body;
  EXPECT_EQ(server.Send("GET", std::string(kPods) + "?sendInitialEvents=true").status, 422);
}

}  // namespace
}  // namespace berth::apiserver
