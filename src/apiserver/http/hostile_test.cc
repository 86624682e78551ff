// Requests of web pages and of hostile clients, by the numbers of the findings they once were.
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "apiserver/http/api_server.h"
#include "net/testing/fake_loop.h"

namespace berth::apiserver {
namespace {

using Headers = std::vector<std::pair<std::string, std::string>>;

class HostileTest : public testing::Test {
 protected:
  HostileTest() {
    Json object = Json::MakeObject();
    object.At("metadata").Set("name", "default");
    EXPECT_TRUE(registry_.Create(catalog_.Core("namespaces"), "", std::move(object)));
  }

  static server::Request Make(std::string method, std::string target, Headers headers,
                              std::string body = "") {
    server::Request request;
    request.method = std::move(method);
    request.target = target;
    EXPECT_TRUE(server::ParseTarget(target, &request.path, &request.query));
    request.headers = std::move(headers);
    request.body = std::move(body);
    return request;
  }

  server::Response Send(ApiServer& server, server::Request request) {
    if (auto refused = server.Admit(request)) return std::move(*refused);
    server::Response reply;
    server.Handle(std::move(request),
                  [&](server::Response response) { reply = std::move(response); });
    return reply;
  }
  server::Response Patch(const std::string& type, const std::string& body) {
    return Send(server_, Make("PATCH", kMap + "?fieldManager=m&force=true",
                              {{"host", "localhost"}, {"content-type", type}}, body));
  }
  // The text of the ConfigMap.
  std::string Kept() { return store_.Get(maps_.storage_id, "default", "m")->text; }

  const std::string kMaps = "/api/v1/namespaces/default/configmaps";
  const std::string kMap = kMaps + "/m";
  net::FakeLoop loop_;
  Catalog catalog_;
  Store store_{catalog_};
  Registry registry_{catalog_, store_, {.now = [] { return api::Time::FromUnixNano(0); }}};
  const Resource& maps_ = catalog_.Core("configmaps");
  ApiServer server_{registry_, loop_};
};

TEST_F(HostileTest, H1PagesOfOtherSitesAreRefused) {
  const Headers page = {{"host", "rebind.evil.example"}, {"origin", "http://evil.example"}};
  const std::string map = R"({"metadata":{"name":"m"}})";
  const struct {
    const char* what;
    const char* method;
    std::string target;
    Headers headers;
    int code;
  } rows[] = {
      {"a pod as text",
       "POST",
       "/api/v1/namespaces/default/pods",
       {{"content-type", "text/plain"}},
       403},
      {"a list of secrets", "GET", "/api/v1/secrets", {}, 403},
      {"a deletion", "DELETE", "/api/v1/namespaces/default/pods", {}, 403},
      {"discovery", "GET", "/api", {}, 403},
      {"health", "GET", "/healthz", {}, 403},
  };
  for (const auto& row : rows) {
    Headers headers = page;
    headers.insert(headers.end(), row.headers.begin(), row.headers.end());
    const auto response = Send(server_, Make(row.method, row.target, headers, map));
    EXPECT_EQ(response.status, row.code) << row.what;
    EXPECT_EQ(Json::Parse(response.body)->operator[]("reason").Str(), "Forbidden") << row.what;
  }
  EXPECT_TRUE(store_.All(maps_.storage_id).empty());
}

TEST_F(HostileTest, H1BodiesOfFormsAreNoObjects) {
  const struct {
    const char* what;
    Headers headers;
    int code;
  } rows[] = {
      {"text", {{"content-type", "text/plain"}}, 415},
      {"text with a charset", {{"content-type", "text/plain;charset=UTF-8"}}, 415},
      {"a form", {{"content-type", "application/x-www-form-urlencoded"}}, 415},
      {"a form with files", {{"content-type", "multipart/form-data; boundary=x"}}, 415},
      {"no type, from a browser", {{"origin", "http://localhost"}}, 415},
      {"JSON, from a browser",
       {{"origin", "http://localhost"}, {"content-type", "application/json"}},
       201},
      {"no type", {}, 201},
  };
  for (const auto& row : rows) {
    Headers headers = row.headers;
    headers.emplace_back("host", "localhost");
    const auto response =
        Send(server_, Make("POST", kMaps, headers, R"({"metadata":{"generateName":"m"}})"));
    EXPECT_EQ(response.status, row.code) << row.what << " " << response.body;
  }
  EXPECT_EQ(store_.All(maps_.storage_id).size(), 2u);
  const Headers text = {{"host", "localhost"}, {"content-type", "text/plain"}};
  for (const char* path : {"/api/v1/namespaces/default/pods/p/eviction",
                           "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"}) {
    EXPECT_EQ(Send(server_, Make("POST", path, text, "{}")).status, 415) << path;
  }
}

TEST_F(HostileTest, M6TheTokenDecidesBeforeTheBody) {
  ApiServerOptions options;
  options.token = "secret";
  options.mounts.push_back({.prefix = "/dashboard", .handle = {}, .open = true});
  const ApiServer server(registry_, loop_, options);
  const Headers host = {{"host", "anything.example"}};
  const Headers token = {{"host", "anything.example"}, {"authorization", "Bearer secret"}};
  EXPECT_EQ(server.Admit(Make("POST", kMaps, host))->status, 401);
  EXPECT_FALSE(server.Admit(Make("POST", kMaps, token)));
  EXPECT_FALSE(server.Admit(Make("GET", "/healthz", host)));
  EXPECT_FALSE(server.Admit(Make("GET", "/dashboard/", host)));
  EXPECT_EQ(server.Admit(Make("POST", "/healthz", host))->status, 401) << "has a body";
  EXPECT_EQ(server.Admit(Make("GET", "/dashboards", host))->status, 401);
}

class PatchTest : public HostileTest {
 protected:
  PatchTest() {
    Json map = Json::MakeObject({{"data", Json::MakeObject({{"x", "y"}})}});
    map.At("metadata").Set("name", "m");
    EXPECT_TRUE(registry_.Create(maps_, "default", std::move(map)));
  }
};

constexpr const char* kJsonPatch = "application/json-patch+json";
constexpr const char* kMergePatch = "application/merge-patch+json";
constexpr const char* kStrategicPatch = "application/strategic-merge-patch+json";
constexpr const char* kApplyPatch = "application/apply-patch+yaml";

TEST_F(PatchTest, H2ABombIsRefused) {
  std::string patch = R"([{"op":"add","path":"/data/x","value":")" + std::string(1000, 'x') + "\"}";
  for (int i = 0; i < 16; ++i) {
    patch += R"(,{"op":"copy","from":"/data","path":"/data/k)" + std::to_string(i) + "\"}";
  }
  const std::string before = Kept();
  const auto response = Patch(kJsonPatch, patch + "]");
  EXPECT_EQ(response.status, 413) << response.body;
  EXPECT_EQ(Json::Parse(response.body)->operator[]("reason").Str(), "RequestEntityTooLarge");
  EXPECT_EQ(Kept(), before);
}

TEST_F(PatchTest, H2TheResultHasABound) {
  // Every patch is within the limit of a body, their sum is not.
  const std::string part(1'400'000, 'x');
  const auto body = [&](const std::string& name) {
    return R"({"apiVersion":"v1","kind":"ConfigMap","data":{")" + name + R"(":")" + part + R"("}})";
  };
  for (const char* type : {kMergePatch, kStrategicPatch, kApplyPatch}) {
    EXPECT_EQ(Patch(type, body("a")).status, 200) << type;
    EXPECT_EQ(Patch(type, body("a")).status, 200) << type;
    const std::string kept = Kept();
    const std::string both = R"({"apiVersion":"v1","kind":"ConfigMap","data":{"a":")" + part +
                             R"(","b":")" + std::string(1'800'000, 'x') + R"("}})";
    const auto response = Patch(type, both);
    EXPECT_EQ(response.status, 413) << type << " " << response.body.substr(0, 200);
    EXPECT_TRUE(Kept() == kept) << type;
  }
  // Characters that take more space when they are written.
  const auto response = Send(
      server_,
      Make("POST", kMaps, {{"host", "localhost"}, {"content-type", "application/json"}},
           R"({"metadata":{"name":"n"},"data":{"x":")" + std::string(1'000'000, '<') + R"("}})"));
  EXPECT_EQ(response.status, 413);
}

TEST_F(PatchTest, M1WhatIsKeptCanBeReadAgain) {
  std::string patch = "[";
  std::string path = "/a";
  for (int i = 0; i < 12; ++i) {
    patch += (i > 0 ? "," : "") + (R"({"op":"copy","from":"","path":")" + path + "\"}");
    path += path;
  }
  EXPECT_EQ(Patch(kJsonPatch, patch + "]").status, 422);
  // Depths that are fine by themselves and too much with what they are put into.
  std::string deep;
  for (int i = 0; i < 997; ++i) deep += R"({"f":)";
  deep += "1" + std::string(997, '}');
  for (const char* type : {kMergePatch, kStrategicPatch}) {
    EXPECT_EQ(Patch(type, R"({"data":{"deep":)" + deep + "}}").status, 200) << type;
    EXPECT_TRUE(Json::Parse(Kept())) << type;
  }
  const auto applied =
      Patch(kApplyPatch, R"({"apiVersion":"v1","kind":"ConfigMap","data":)" + deep + "}");
  EXPECT_NE(applied.status, 200) << "its managed fields are nested deeper than itself";
  EXPECT_TRUE(Json::Parse(Kept()));
}

}  // namespace
}  // namespace berth::apiserver
