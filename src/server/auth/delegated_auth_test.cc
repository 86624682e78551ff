#include "server/auth/delegated_auth.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>

#include "api/codec/json.h"
#include "kube/testing/fake_api_client.h"
#include "net/testing/fake_loop.h"
#include "server/auth/reviews.h"
#include "server/testing/certificates.h"

namespace berth::server {
namespace {

using kube::FakeApiClient;
using testing::HasSubstr;
using Kind = AuthDecision::Kind;

constexpr std::string_view kTokenPath = TokenReview::kPath;
constexpr std::string_view kAccessPath = SubjectAccessReview::kPath;
constexpr std::string_view kMapPath =
    "/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication";

Request Get(const std::string& path, const std::string& authorization = "") {
  Request request;
  request.method = "GET";
  request.target = path;
  request.path = path;
  if (!authorization.empty()) request.headers.emplace_back("authorization", authorization);
  return request;
}

std::string Known(const std::string& user, const std::string& groups = "\"system:authenticated\"") {
  return R"({"kind":"TokenReview","apiVersion":"authentication.k8s.io/v1","status":{)"
         R"("authenticated":true,"user":{"username":")" +
         user + R"(","uid":"u1","groups":[)" + groups + R"(],"extra":{"k":["v"]}}}})";
}
const char* const kUnknown =
    R"({"kind":"TokenReview","status":{"user":{},"error":"invalid bearer token"}})";
const char* const kNobody = R"({"kind":"TokenReview","status":{"user":{}}})";
const char* const kAllowed = R"({"kind":"SubjectAccessReview","status":{"allowed":true}})";
const char* const kNotAllowed =
    R"({"kind":"SubjectAccessReview","status":{"allowed":false,"reason":"no <rule>"}})";

class DelegatedAuthTest : public testing::Test {
 protected:
  DelegatedAuthTest() {
    options_.loop = &loop_;
    options_.authentication = &client_;
    options_.authorization = &client_;
    options_.skip_lookup = true;
  }

  void Make() {
    auto auth = DelegatedAuth::Make(options_, &registry_);
    ASSERT_TRUE(auth) << auth.error().Message();
    auth_ = std::move(*auth);
    auth_->Start();
  }
  // What Check answered; nothing yet: waits for the client.
  std::shared_ptr<std::optional<AuthDecision>> Check(const Request& request) {
    if (!auth_) Make();
    auto answer = std::make_shared<std::optional<AuthDecision>>();
    auth_->Check(request, [answer](AuthDecision decision) { *answer = std::move(decision); });
    return answer;
  }
  // Answers the open request to `path`; false: there is none.
  bool Answer(std::string_view path, const std::string& body) {
    return client_.Respond(client_.FindOpen(path), FakeApiClient::Success(body, kube::kJson));
  }
  bool Refuse(std::string_view path, int code) {
    return client_.Respond(client_.FindOpen(path), FakeApiClient::Failure(code, "", "down"));
  }

  net::FakeLoop loop_;
  FakeApiClient client_{kube::kJson};
  Registry registry_;
  AuthOptions options_;
  std::unique_ptr<DelegatedAuth> auth_;
};

TEST_F(DelegatedAuthTest, OpenPathsNeedNobody) {
  for (const char* path : {"/healthz", "/livez", "/readyz"}) {
    EXPECT_EQ((*Check(Get(path)))->kind, Kind::kAllowed) << path;
  }
  EXPECT_EQ(client_.Size(), 0u);
}

TEST_F(DelegatedAuthTest, AnonymousIsAskedAboutAsRecorded) {
  const auto answer = Check(Get("/healthz/ping"));
  ASSERT_EQ(client_.Lines(),
            (std::vector<std::string>{
                "POST /apis/authorization.k8s.io/v1/subjectaccessreviews?timeout=10s"}));
  EXPECT_THAT(client_.At(0).request.body,
              HasSubstr(R"("spec":{"nonResourceAttributes":{"path":"/healthz/ping","verb":"get"},)"
                        R"("user":"system:anonymous","groups":["system:unauthenticated"]},)"
                        R"("status":{"allowed":false})"));
  EXPECT_EQ(client_.At(0).request.content_type, "application/json");
  ASSERT_TRUE(Answer(kAccessPath, kNotAllowed));
  EXPECT_EQ((*answer)->kind, Kind::kForbidden);
  EXPECT_EQ((*answer)->user.name, "system:anonymous");
}

TEST_F(DelegatedAuthTest, TokensAreReviewedAndThenTheirUserIsAskedAbout) {
  const auto answer = Check(Get("/metrics", "Bearer viewer-token"));
  ASSERT_EQ(client_.Lines(),
            (std::vector<std::string>{"POST /apis/authentication.k8s.io/v1/tokenreviews"}));
  EXPECT_THAT(client_.At(0).request.body, HasSubstr(R"("spec":{"token":"viewer-token"})"));
  ASSERT_TRUE(Answer(kTokenPath, Known("viewer")));
  EXPECT_FALSE(answer->has_value());
  EXPECT_THAT(client_.At(1).request.body,
              HasSubstr(R"("user":"viewer","groups":["system:authenticated"],)"
                        R"("extra":{"k":["v"]},"uid":"u1"})"));
  ASSERT_TRUE(Answer(kAccessPath, kAllowed));
  EXPECT_EQ((*answer)->kind, Kind::kAllowed);
  EXPECT_EQ((*answer)->user.name, "viewer");
}

TEST_F(DelegatedAuthTest, WhatRequestsAndReviewsTakeIsCounted) {
  Check(Get("/metrics", "Bearer t"));
  EXPECT_THAT(registry_.WriteText(),
              HasSubstr("authentication_token_cache_active_fetch_count{status=\"in_flight\"} 1\n"));
  loop_.Advance(std::chrono::milliseconds(250));
  Answer(kTokenPath, Known("viewer"));
  loop_.Advance(std::chrono::milliseconds(7));
  Answer(kAccessPath, kAllowed);
  Check(Get("/metrics", "Bearer t"));
  Check(Get("/healthz", "Bearer garbage"));
  Answer(kTokenPath, kUnknown);
  const std::string text = registry_.WriteText();
  for (const char* line : {
           "authentication_duration_seconds_sum{result=\"success\"} 0.25\n",
           "authentication_duration_seconds_count{result=\"success\"} 2\n",
           "authentication_duration_seconds_count{result=\"error\"} 1\n",
           "authorization_duration_seconds_sum{result=\"allowed\"} 0.007\n",
           "authorization_duration_seconds_count{result=\"allowed\"} 2\n",
           "authentication_token_cache_request_total{status=\"hit\"} 1\n",
           "authentication_token_cache_request_total{status=\"miss\"} 2\n",
           "authentication_token_cache_request_duration_seconds_sum{status=\"miss\"} 0.25\n",
           "authentication_token_cache_fetch_total{status=\"ok\"} 1\n",
           "authentication_token_cache_fetch_total{status=\"error\"} 1\n",
           "authentication_token_cache_active_fetch_count{status=\"in_flight\"} 0\n",
           "authentication_token_cache_active_fetch_count{status=\"blocked\"} 0\n",
       }) {
    EXPECT_THAT(text, HasSubstr(line));
  }
}

TEST_F(DelegatedAuthTest, AnUnknownTokenIsRefusedEvenOnOpenPaths) {
  const auto answer = Check(Get("/healthz", "Bearer garbage"));
  ASSERT_TRUE(Answer(kTokenPath, kUnknown));
  EXPECT_EQ((*answer)->kind, Kind::kUnauthorized);
}

TEST_F(DelegatedAuthTest, AnswersAreKeptForTheirTime) {
  const auto ask = [&] {
    const auto answer = Check(Get("/metrics", "Bearer t"));
    Answer(kTokenPath, Known("viewer"));
    Answer(kAccessPath, kAllowed);
    return (*answer)->kind;
  };
  EXPECT_EQ(ask(), Kind::kAllowed);
  EXPECT_EQ(client_.Size(), 2u);
  loop_.Advance(std::chrono::seconds(9));
  EXPECT_EQ(ask(), Kind::kAllowed);
  EXPECT_EQ(client_.Size(), 2u) << "kept";
  loop_.Advance(std::chrono::seconds(2));
  EXPECT_EQ(ask(), Kind::kAllowed);
  EXPECT_EQ(client_.Size(), 4u) << "expired";
}

TEST_F(DelegatedAuthTest, TokensNobodyHasAreKeptAndErrorsAreNot) {
  for (int i = 0; i < 2; ++i) {
    const auto answer = Check(Get("/metrics", "Bearer nobody"));
    Answer(kTokenPath, kNobody);
    EXPECT_EQ((*answer)->kind, Kind::kUnauthorized);
  }
  EXPECT_EQ(client_.Size(), 1u);
  for (int i = 0; i < 2; ++i) {
    const auto answer = Check(Get("/metrics", "Bearer garbage"));
    Answer(kTokenPath, kUnknown);
    EXPECT_EQ((*answer)->kind, Kind::kUnauthorized);
  }
  EXPECT_EQ(client_.Size(), 3u);
}

TEST_F(DelegatedAuthTest, OneReviewServesAllWhoWaitForIt) {
  const auto first = Check(Get("/metrics", "Bearer t"));
  const auto second = Check(Get("/metrics", "Bearer t"));
  EXPECT_EQ(client_.Size(), 1u);
  Answer(kTokenPath, Known("viewer"));
  EXPECT_EQ(client_.Size(), 2u);
  Answer(kAccessPath, kAllowed);
  EXPECT_EQ((*first)->kind, Kind::kAllowed);
  EXPECT_EQ((*second)->kind, Kind::kAllowed);
}

TEST_F(DelegatedAuthTest, MastersAreAlwaysAllowed) {
  const auto answer = Check(Get("/metrics", "Bearer t"));
  Answer(kTokenPath, Known("root", "\"system:masters\""));
  EXPECT_EQ((*answer)->kind, Kind::kAllowed);
  EXPECT_EQ((*answer)->user.groups,
            (std::vector<std::string>{"system:masters", "system:authenticated"}));
}

TEST_F(DelegatedAuthTest, WithoutClientsTokensAreIgnoredAndAllElseIsForbidden) {
  options_.loop = nullptr;
  options_.authentication = nullptr;
  options_.authorization = nullptr;
  EXPECT_EQ((*Check(Get("/healthz", "Bearer garbage")))->kind, Kind::kAllowed);
  const auto answer = Check(Get("/metrics", "Bearer viewer-token"));
  EXPECT_EQ((*answer)->kind, Kind::kForbidden);
  EXPECT_EQ((*answer)->user.name, "system:anonymous");
}

TEST_F(DelegatedAuthTest, FailingReviewsAreRepeatedAndThenAnError) {
  const auto answer = Check(Get("/metrics"));
  int tries = 0;
  while (!answer->has_value() && tries < 20) {
    ++tries;
    ASSERT_TRUE(Refuse(kAccessPath, 500)) << tries;
    loop_.Advance(std::chrono::seconds(5));
  }
  EXPECT_EQ(tries, 5);
  EXPECT_EQ((*answer)->kind, Kind::kError);
  EXPECT_EQ((*answer)->reason, "down");
  const auto forbidden = Check(Get("/configz"));
  ASSERT_TRUE(Refuse(kAccessPath, 403));  // not worth repeating
  EXPECT_EQ((*forbidden)->kind, Kind::kError);
}

TEST_F(DelegatedAuthTest, AHeaderThatIsNoBearerTokenMakesAnonymous) {
  for (const char* header : {"Basic dXNlcjpwYXNz", "Bearer", "Bearer ", "bearerx t"}) {
    const size_t before = client_.Size();
    const auto answer = Check(Get("/metrics", header));
    if (client_.Size() > before) Answer(kAccessPath, kNotAllowed);
    EXPECT_EQ((*answer)->user.name, "system:anonymous") << header;
  }
}

TEST_F(DelegatedAuthTest, ClientCertificatesOfTheClustersAuthority) {
  options_.skip_lookup = false;
  const TestAuthority authority("wire-ca");
  const TestAuthority stranger("other-ca");
  Make();
  ASSERT_EQ(client_.Lines(), (std::vector<std::string>{"GET " + std::string(kMapPath)}));
  ConfigMap map;
  map.metadata.name = "extension-apiserver-authentication";
  map.metadata.resource_version = "15";
  map.data["client-ca-file"] = authority.Pem();
  ASSERT_TRUE(Answer(kMapPath, api::ToJson(map)));
  EXPECT_THAT(client_.Last().Line(), HasSubstr("resourceVersion=15"));

  Request request = Get("/healthz");
  request.peer = authority.Issue("jane", {"devs", "system:masters"});
  auto answer = Check(request);
  EXPECT_EQ((*answer)->kind, Kind::kAllowed);
  EXPECT_EQ((*answer)->user.name, "jane");
  EXPECT_EQ((*answer)->user.groups,
            (std::vector<std::string>{"devs", "system:masters", "system:authenticated"}));
  EXPECT_THAT((*answer)->user.extra.at("authentication.kubernetes.io/credential-id"),
              testing::ElementsAre(HasSubstr("X509SHA256=")));

  request.peer = stranger.Issue("jane", {"system:masters"});
  EXPECT_EQ((*Check(request))->kind, Kind::kUnauthorized);
  request.peer = authority.Issue("jane", {}, /*client=*/false);
  EXPECT_EQ((*Check(request))->kind, Kind::kUnauthorized) << "a server's certificate";

  // The authority changes.
  map.metadata.resource_version = "16";
  map.data["client-ca-file"] = stranger.Pem();
  ASSERT_TRUE(client_.Start(client_.NextWatch()));
  client_.SendFrame(client_.NextWatch(),
                    R"({"type":"MODIFIED","object":)" + api::ToJson(map) + "}");
  request.peer = stranger.Issue("jane", {"system:masters"});
  EXPECT_EQ((*Check(request))->kind, Kind::kAllowed);
}

TEST_F(DelegatedAuthTest, AFrontProxySpeaksForOthers) {
  options_.skip_lookup = false;
  const TestAuthority proxies("front-proxy-ca");
  Make();
  ConfigMap map;
  map.data["requestheader-client-ca-file"] = proxies.Pem();
  map.data["requestheader-allowed-names"] = R"(["front-proxy-client"])";
  map.data["requestheader-username-headers"] = R"(["X-Remote-User"])";
  map.data["requestheader-group-headers"] = R"(["X-Remote-Group"])";
  map.data["requestheader-extra-headers-prefix"] = R"(["X-Remote-Extra-"])";
  ASSERT_TRUE(Answer(kMapPath, api::ToJson(map)));
  Request request = Get("/healthz");
  request.headers = {{"x-remote-user", "jane"},
                     {"x-remote-group", "devs"},
                     {"x-remote-group", "ops"},
                     {"x-remote-extra-acme.com%2fproject", "p"}};
  request.peer = proxies.Issue("front-proxy-client", {});
  const auto answer = Check(request);
  EXPECT_EQ((*answer)->user.name, "jane");
  EXPECT_EQ((*answer)->user.groups,
            (std::vector<std::string>{"devs", "ops", "system:authenticated"}));
  EXPECT_EQ((*answer)->user.extra.at("acme.com/project"), (std::vector<std::string>{"p"}));
  request.peer = proxies.Issue("somebody", {});
  EXPECT_EQ((*Check(request))->kind, Kind::kUnauthorized);
  request.peer = nullptr;  // anybody can send headers
  EXPECT_EQ((*Check(request))->user.name, "system:anonymous");
}

TEST_F(DelegatedAuthTest, TheLookupIsRepeatedUntilItWorks) {
  options_.skip_lookup = false;
  Make();
  ASSERT_TRUE(Refuse(kMapPath, 403));
  EXPECT_EQ(client_.CountOpen(), 0u);
  loop_.Advance(std::chrono::seconds(10));
  EXPECT_EQ(client_.FindOpen(kMapPath), 1u);
}

TEST_F(DelegatedAuthTest, RequestsAreCounted) {
  Check(Get("/metrics", "Bearer t"));
  Answer(kTokenPath, Known("viewer"));
  Answer(kAccessPath, kAllowed);
  const std::string text = registry_.WriteText();
  for (const char* line : {"apiserver_delegated_authn_request_total{code=\"200\"} 1\n",
                           "apiserver_delegated_authz_request_total{code=\"200\"} 1\n",
                           "authenticated_user_requests{username=\"other\"} 1\n",
                           "authorization_attempts_total{result=\"allowed\"} 1\n"}) {
    EXPECT_THAT(text, HasSubstr(line));
  }
}

TEST_F(DelegatedAuthTest, NothingIsCalledAfterStop) {
  const auto answer = Check(Get("/metrics"));
  auth_->Stop();
  EXPECT_FALSE(Answer(kAccessPath, kAllowed));
  EXPECT_FALSE(answer->has_value());
}

TEST(OpenPaths, ExactOrByPrefix) {
  const std::vector<std::string> patterns = {"/healthz", "metrics", "/debug/*", "/"};
  EXPECT_TRUE(IsOpenPath(patterns, "/healthz"));
  EXPECT_FALSE(IsOpenPath(patterns, "/healthz/ping"));
  EXPECT_TRUE(IsOpenPath(patterns, "/metrics"));
  EXPECT_TRUE(IsOpenPath(patterns, "/debug/flags/v"));
  EXPECT_TRUE(IsOpenPath(patterns, "/"));
  EXPECT_FALSE(IsOpenPath({}, "/"));
  EXPECT_TRUE(ValidateOpenPaths(patterns));
  EXPECT_EQ(ValidateOpenPaths({"/a*b"}).error().Message(), "only trailing * allowed in \"a*b\"");
}

TEST(Refusal, BodiesAsRecorded) {
  AuthDecision decision;
  decision.user.name = "system:anonymous";
  Response response = RefusalOf(decision, Get("/metrics"));
  EXPECT_EQ(response.status, 403);
  EXPECT_EQ(response.body,
            "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},\"status\":\"Failure\","
            "\"message\":\"forbidden: User \\\"system:anonymous\\\" cannot get path "
            "\\\"/metrics\\\"\",\"reason\":\"Forbidden\",\"details\":{},\"code\":403}\n");
  EXPECT_EQ(response.body.size(), 192u);
  EXPECT_EQ(response.Get("X-Content-Type-Options"), "nosniff");
  decision.kind = Kind::kUnauthorized;
  response = RefusalOf(decision, Get("/metrics"));
  EXPECT_EQ(response.body,
            "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},\"status\":\"Failure\","
            "\"message\":\"Unauthorized\",\"reason\":\"Unauthorized\",\"code\":401}\n");
  EXPECT_EQ(response.body.size(), 129u);
  EXPECT_EQ(response.Get("X-Content-Type-Options"), "");
  decision.kind = Kind::kError;
  decision.reason = "dial <x>";
  response = RefusalOf(decision, Get("/metrics?a"));
  EXPECT_EQ(response.status, 500);
  EXPECT_EQ(response.body, "Internal Server Error: \"/metrics?a\": dial &lt;x&gt;\n");
}

TEST_F(DelegatedAuthTest, FilesThatAreMissingAreNamed) {
  options_.request_header.client_ca_file = "missing";
  EXPECT_EQ(DelegatedAuth::Make(options_, nullptr).error().Message(),
            "unable to create request header authentication config: open missing: no such file or "
            "directory");
}

}  // namespace
}  // namespace berth::server
