#include "server/endpoints/zpages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/endpoints/accept.h"

namespace berth::server {
namespace {

using config::Release;
using testing::HasSubstr;

constexpr const char* kBeta = "application/json;v=v1beta1;g=config.k8s.io;as=Statusz";
constexpr const char* kAlpha = "application/json;v=v1alpha1;g=config.k8s.io;as=Statusz";

ZPages PagesOf(Release release) {
  return {.statusz = true,
          .flagz = true,
          .release = release,
          .binary_version = "1.37.1",
          .emulation_version = "1.37",
          .paths = {"/configz", "/metrics"}};
}

Request Asking(std::string accept, std::string agent = "") {
  Request request;
  request.headers.emplace_back("accept", std::move(accept));
  if (!agent.empty()) request.headers.emplace_back("user-agent", std::move(agent));
  return request;
}

const StatuszFacts kFacts = {"kube-scheduler", 1'000'000'000, 3723};

TEST(ParseAccept, TheMostWantedComesFirst) {
  const auto clauses = ParseAccept("*/*, text/*;q=0.5 , nonsense, a/b;v = 1 ;x, c/d/e, *;q=0.9");
  ASSERT_EQ(clauses.size(), 4);
  EXPECT_EQ(clauses[0].type, "a");
  EXPECT_EQ(clauses[0].subtype, "b");
  EXPECT_EQ(clauses[0].Parameter("v"), "1");
  EXPECT_EQ(clauses[0].Parameter("x"), "");
  EXPECT_EQ(clauses[1].type, "*");
  EXPECT_EQ(clauses[1].subtype, "*");
  EXPECT_EQ(clauses[2].q, 0.9);
  EXPECT_EQ(clauses[3].type, "text");
}

TEST(Statusz, TheTextNamesPathsFromOn135) {
  const std::string head =
      "\nkube-scheduler statusz\nWarning: This endpoint is not meant to be machine parseable, has "
      "no formatting compatibility guarantees and is for debugging purposes only.\n\n"
      "Started= Sun Sep  9 01:46:40 UTC 2001\nUp= 1 hr 02 min 03 sec\nGo version= none\n"
      "Binary version= 1.37.1\nEmulation version= 1.37\n";
  EXPECT_EQ(Statusz(Asking("*/*"), PagesOf(Release::k1_34), kFacts).body, head + "\n");
  for (const Release release : {Release::k1_35, Release::k1_36, Release::k1_37}) {
    EXPECT_EQ(Statusz(Asking("*/*"), PagesOf(release), kFacts).body,
              head + "Paths= /configz /metrics\n");
    EXPECT_EQ(Statusz(Asking(""), PagesOf(release), kFacts).status, 200);
  }
  EXPECT_EQ(Statusz(Asking(""), PagesOf(Release::k1_34), kFacts).status, 406);
}

TEST(Statusz, ObjectsByRelease) {
  const struct {
    const char* what;
    Release release;
    const char* accept;
    int status;
    const char* content_type;
    bool warns;
  } kRows[] = {
      {"1.34 has none", Release::k1_34, kBeta, 406, "text/plain; charset=utf-8", false},
      {"1.35 has v1alpha1", Release::k1_35, kAlpha, 200,
       "application/json;g=config.k8s.io;v=v1alpha1;as=Statusz", false},
      {"1.35 has no v1beta1", Release::k1_35, kBeta, 406, "application/json", false},
      {"1.36 has v1beta1", Release::k1_36, kBeta, 200,
       "application/json;g=config.k8s.io;v=v1beta1;as=Statusz", false},
      {"1.36 deprecates v1alpha1", Release::k1_36, kAlpha, 200,
       "application/json;g=config.k8s.io;v=v1alpha1;as=Statusz", true},
      {"1.37 as 1.36", Release::k1_37, kAlpha, 200,
       "application/json;g=config.k8s.io;v=v1alpha1;as=Statusz", true},
      {"the version must be named", Release::k1_37, "application/json", 406, "application/json",
       false},
      {"the second choice", Release::k1_37, "application/json, text/plain", 200,
       "text/plain; charset=utf-8", false},
      {"the kind must be the page's", Release::k1_37,
       "application/json;v=v1beta1;g=config.k8s.io;as=Flagz", 406, "application/json", false},
  };
  for (const auto& row : kRows) {
    const Response response = Statusz(Asking(row.accept), PagesOf(row.release), kFacts);
    EXPECT_EQ(response.status, row.status) << row.what;
    EXPECT_EQ(response.Get("Content-Type"), row.content_type) << row.what;
    EXPECT_EQ(response.Get("Warning"),
              row.warns ? "299 - \"This version of the statusz endpoint is deprecated. Please use "
                          "a newer version.\""
                        : "")
        << row.what;
  }
}

TEST(Statusz, TheObject) {
  const ZPages pages = PagesOf(Release::k1_37);
  EXPECT_EQ(Statusz(Asking(kBeta), pages, kFacts).body,
            R"({"kind":"Statusz","apiVersion":"config.k8s.io/v1beta1",)"
            R"("metadata":{"name":"kube-scheduler"},"startTime":"2001-09-09T01:46:40Z",)"
            R"("uptimeSeconds":3723,"goVersion":"none","binaryVersion":"1.37.1",)"
            R"("emulationVersion":"1.37","paths":["/configz","/metrics"]})"
            "\n");
  EXPECT_THAT(Statusz(Asking(kBeta, "curl/8"), pages, kFacts).body,
              HasSubstr("  \"metadata\": {\n    \"name\": \"kube-scheduler\"\n  },\n"));
  const Response yaml =
      Statusz(Asking("application/yaml;v=v1beta1;g=config.k8s.io;as=Statusz"), pages, kFacts);
  EXPECT_EQ(yaml.Get("Content-Type"), "application/yaml;g=config.k8s.io;v=v1beta1;as=Statusz");
  EXPECT_THAT(yaml.body, HasSubstr("binaryVersion: 1.37.1\n"));
}

TEST(Statusz, RefusalsAreInTheFormatOfTheClient) {
  const ZPages pages = PagesOf(Release::k1_37);
  EXPECT_EQ(Statusz(Asking("application/json"), pages, kFacts).body,
            R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":)"
            R"("only the following media types are accepted: application/json, application/yaml, )"
            R"(text/plain","reason":"NotAcceptable","code":406})"
            "\n");
  EXPECT_EQ(Statusz(Asking("application/yaml"), pages, kFacts).body,
            "apiVersion: v1\ncode: 406\nkind: Status\nmessage: 'only the following media types are "
            "accepted: application/json, application/yaml,\n  text/plain'\nmetadata: {}\nreason: "
            "NotAcceptable\nstatus: Failure\n");
  EXPECT_EQ(Statusz(Asking("text/html"), pages, kFacts).body,
            "{\n  \"kind\": \"Status\",\n  \"apiVersion\": \"v1\",\n  \"metadata\": {},\n"
            "  \"status\": \"Failure\",\n  \"message\": \"only the following media types are "
            "accepted: application/json, application/yaml, text/plain\",\n"
            "  \"reason\": \"NotAcceptable\",\n  \"code\": 406\n}");
}

TEST(Flagz, TextAndObject) {
  const std::vector<std::pair<std::string, std::string>> flags = {{"bind-address", "127.0.0.1"},
                                                                  {"v", "2"}};
  const ZPages pages = PagesOf(Release::k1_36);
  EXPECT_EQ(Flagz(Asking("text/plain"), pages, "kube-scheduler", flags).body,
            "\nkube-scheduler flagz\nWarning: This endpoint is not meant to be machine parseable, "
            "has no formatting compatibility guarantees and is for debugging purposes only.\n"
            "bind-address=127.0.0.1\nv=2\n");
  EXPECT_EQ(Flagz(Asking("application/json;v=v1beta1;g=config.k8s.io;as=Flagz"), pages,
                  "kube-scheduler", flags)
                .body,
            R"({"kind":"Flagz","apiVersion":"config.k8s.io/v1beta1",)"
            R"("metadata":{"name":"kube-scheduler"},"flags":{"bind-address":"127.0.0.1","v":"2"}})"
            "\n");
}

}  // namespace
}  // namespace berth::server
