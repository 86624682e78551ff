#include "kube/client/api_errors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/codec/proto.h"
#include "api/meta.h"

namespace berth::kube {
namespace {

using ::testing::ElementsAre;

ApiRequest Request(std::string method, std::string path) {
  ApiRequest request;
  request.method = std::move(method);
  request.path = std::move(path);
  return request;
}

TEST(ApiErrors, WhatAPathIsAbout) {
  struct Row {
    std::string path;
    std::string resource;
    std::string name;
  };
  const Row rows[] = {
      {"/api/v1/pods", "pods", ""},
      {"/api/v1/namespaces/default/pods", "pods", ""},
      {"/api/v1/namespaces/default/pods/a/binding", "pods", "a"},
      {"/api/v1/namespaces/default", "namespaces", "default"},
      {"/api/v1/namespaces/default/finalize", "namespaces", "default"},
      {"/api/v1/namespaces", "namespaces", ""},
      {"/apis/apps/v1/replicasets", "replicasets.apps", ""},
      {"/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/x", "leases.coordination.k8s.io",
       "x"},
      {"/apis/events.k8s.io/v1", "", ""},
      {"/api/v1", "", ""},
      {"/version", "", ""},
      {"", "", ""},
      {"///", "", ""},
  };
  for (const Row& row : rows) {
    const PathResource about = ResourceOfPath(row.path);
    EXPECT_EQ(about.resource, row.resource) << row.path;
    EXPECT_EQ(about.name, row.name) << row.path;
  }
}

TEST(ApiErrors, AStatusSpeaksForItself) {
  api::Status status;
  status.status = "Failure";
  status.reason = "Conflict";
  status.message = "the object has been modified";
  status.code = 409;
  status.details.emplace().retry_after_seconds = 3;
  const std::string json =
      R"({"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Conflict",)"
      R"("message":"the object has been modified","code":409,"details":{"retryAfterSeconds":3}})";
  const std::pair<std::string, std::string> bodies[] = {
      {"application/vnd.kubernetes.protobuf", api::ToEnvelope(status)},
      {"application/json", json},
      {"Application/JSON; charset=utf-8", json},
      {"", json},
      {"", api::ToEnvelope(status)},
  };
  for (const auto& [type, body] : bodies) {
    net::HttpResponse http{409, {}, body};
    if (!type.empty()) http.headers.push_back({"content-type", type});
    const ApiResponse response = ToApiResponse(Request("PUT", "/api/v1/pods"), http);
    EXPECT_EQ(response.code, 409) << type;
    EXPECT_EQ(response.reason, "Conflict") << type;
    EXPECT_EQ(response.message, "the object has been modified") << type;
    EXPECT_EQ(response.retry_after, std::chrono::seconds(3)) << type;
    EXPECT_EQ(response.body, "") << type;
  }
}

TEST(ApiErrors, WhatIsNoStatusGetsClientGosSentence) {
  struct Row {
    std::string what;
    std::string method;
    std::string path;
    net::HttpResponse response;
    std::string reason;
    std::string message;
  };
  const std::vector<net::Header> text = {{"content-type", "text/plain; charset=utf-8"}};
  const std::vector<net::Header> json = {{"content-type", "application/json"}};
  const Row rows[] = {
      {"a list of nothing",
       "GET",
       "/api/v1/pods",
       {404, text, "404 page not found\n"},
       "NotFound",
       "the server could not find the requested resource (get pods)"},
      {"no resource at all",
       "GET",
       "/apis/events.k8s.io/v1",
       {404, text, "404 page not found\n"},
       "NotFound",
       "the server could not find the requested resource"},
      {"a gateway that is lost",
       "POST",
       "/api/v1/namespaces/d/pods/a/binding",
       {502, text, " bad \"gateway\"\n"},
       "InternalError",
       "an error on the server (\"bad \\\"gateway\\\"\") has prevented the request from succeeding "
       "(post pods a)"},
      {"JSON that is no Status",
       "POST",
       "/api/v1/namespaces/d/pods",
       {500, json, "{}"},
       "InternalError",
       "an error on the server (\"unknown\") has prevented the request from succeeding (post "
       "pods)"},
      {"a Status of success",
       "GET",
       "/api/v1/nodes/n",
       {500, json, R"({"kind":"Status","status":"Success","message":"x"})"},
       "InternalError",
       "an error on the server (\"unknown\") has prevented the request from succeeding (get nodes "
       "n)"},
      {"an object that is no Status",
       "GET",
       "/api/v1/nodes/n",
       {500, json, R"({"kind":"Pod","status":"Failure","message":"x"})"},
       "InternalError",
       "an error on the server (\"unknown\") has prevented the request from succeeding (get nodes "
       "n)"},
      {"no content type is text",
       "GET",
       "/api/v1/nodes",
       {500, {}, "oops"},
       "InternalError",
       "an error on the server (\"oops\") has prevented the request from succeeding (get nodes)"},
      {"400",
       "GET",
       "/x",
       {400, text, "b"},
       "BadRequest",
       "the server rejected our request for an unknown reason"},
      {"401",
       "GET",
       "/x",
       {401, text, "b"},
       "Unauthorized",
       "the server has asked for the client to provide credentials"},
      {"403 keeps what the server said", "GET", "/x", {403, text, "no way"}, "Forbidden", "no way"},
      {"405",
       "GET",
       "/x",
       {405, text, "b"},
       "MethodNotAllowed",
       "the server does not allow this method on the requested resource"},
      {"406 without words",
       "GET",
       "/x",
       {406, json, ""},
       "NotAcceptable",
       "the server was unable to respond with a content type that the client supports"},
      {"406 with words", "GET", "/x", {406, text, "only JSON"}, "NotAcceptable", "only JSON"},
      {"a conflict of a new object",
       "POST",
       "/x",
       {409, text, "b"},
       "AlreadyExists",
       "the server reported a conflict"},
      {"a conflict of an old one",
       "PUT",
       "/x",
       {409, text, "b"},
       "Conflict",
       "the server reported a conflict"},
      {"415", "POST", "/x", {415, text, "b"}, "UnsupportedMediaType", "b"},
      {"422",
       "POST",
       "/x",
       {422, text, "b"},
       "Invalid",
       "the server rejected our request due to an error in our request"},
      {"429",
       "GET",
       "/x",
       {429, text, "b"},
       "TooManyRequests",
       "the server has received too many requests and has asked us to try again later"},
      {"503",
       "GET",
       "/x",
       {503, text, "b"},
       "ServiceUnavailable",
       "the server is currently unable to handle the request"},
      {"504",
       "GET",
       "/x",
       {504, text, "b"},
       "Timeout",
       "the server was unable to return a response in the time allotted, but may still be "
       "processing the request"},
      {"a redirect",
       "GET",
       "/x",
       {302, text, "b"},
       "",
       "the server responded with the status code 302 but did not return more information"},
  };
  for (const Row& row : rows) {
    const ApiResponse response = ToApiResponse(Request(row.method, row.path), row.response);
    EXPECT_EQ(response.code, row.response.status) << row.what;
    EXPECT_EQ(response.reason, row.reason) << row.what;
    EXPECT_EQ(response.message, row.message) << row.what;
  }
}

TEST(ApiErrors, LongBodiesAreCut) {
  const net::HttpResponse http{500, {}, std::string(100'000, 'x')};
  EXPECT_LT(ToApiResponse(Request("GET", "/x"), http).message.size(), 2200u);
}

TEST(ApiErrors, SuccessKeepsTheBody) {
  const ApiResponse response =
      ToApiResponse(Request("GET", "/x"), {201, {{"content-type", "application/json"}}, "{}"});
  EXPECT_TRUE(response.Ok());
  EXPECT_EQ(response.body, "{}");
  EXPECT_EQ(response.content_type, "application/json");
}

TEST(ApiErrors, NoAnswerIsToldWithTheUrl) {
  const ApiResponse response = ToApiResponse(
      "POST", "https://h:6443/api/v1/pods?limit=5",
      {net::HttpError::Kind::kRefused, "dial tcp 127.0.0.1:6443: connect: connection refused"});
  EXPECT_EQ(response.code, 0);
  EXPECT_EQ(response.message,
            "Post \"https://h:6443/api/v1/pods?limit=5\": dial tcp 127.0.0.1:6443: connect: "
            "connection refused");
  EXPECT_EQ(response.error.kind, net::HttpError::Kind::kRefused);
  EXPECT_EQ(response.error.message, "dial tcp 127.0.0.1:6443: connect: connection refused");
}

TEST(ApiErrors, RetryAfterIsANumberOfSeconds) {
  const std::pair<std::string, int> rows[] = {
      {"1", 1},
      {"0", 0},
      {"+7", 7},
      {"-3", -3},
      {"", -99},
      {"soon", -99},
      {"1.5", -99},
      {"1 ", -99},
      {"Wed, 21 Oct 2015 07:28:00 GMT", -99},
      {"++1", -99},
      {"999999999999", 300},
      {"99999999999999999999999", -99},
  };
  for (const auto& [text, want] : rows) {
    int seconds = -99;
    const net::HttpResponse response{429, {{"retry-after", text}}, ""};
    EXPECT_EQ(RetryAfterSeconds(response, &seconds), want != -99) << text;
    EXPECT_EQ(seconds, want) << text;
  }
  int seconds = 0;
  EXPECT_FALSE(RetryAfterSeconds(net::HttpResponse{429, {}, ""}, &seconds));
}

TEST(ApiErrors, WarningsOfTheServer) {
  const std::vector<net::Header> headers = {
      {"warning", R"(199 - "v1beta1 is \"deprecated\"")"},
      {"warning", "299 - \"other\""},
      {"warning", "199 - unquoted"},
      {"warning", "199 - \"no end"},
      {"warning", "199"},
      {"x", "199 - \"no\""},
      {"warning", "199 agent \"two\""},
  };
  EXPECT_THAT(Warnings(headers), ElementsAre("v1beta1 is \"deprecated\"", "two"));
}

}  // namespace
}  // namespace berth::kube
