// H1: requests a web page can make a browser send. L7: comparison of tokens.
#include "server/http/host_guard.h"

#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace berth::server {
namespace {

using Headers = std::vector<std::pair<std::string, std::string>>;

Request Make(Headers headers, std::string target = "/api/v1/secrets") {
  Request request;
  request.method = "GET";
  request.target = std::move(target);
  request.headers = std::move(headers);
  return request;
}

struct Row {
  const char* what;
  Headers headers;
  bool accepted;
};

TEST(HostGuard, H1HostsOfThisMachineAlone) {
  const Row rows[] = {
      {"a name", {{"host", "localhost"}}, true},
      {"with a port", {{"host", "localhost:8001"}}, true},
      {"a forwarded port", {{"host", "localhost:31999"}}, true},
      {"any case", {{"host", "LocalHost:8001"}}, true},
      {"the root's dot", {{"host", "localhost.:8001"}}, true},
      {"the usual address", {{"host", "127.0.0.1:8001"}}, true},
      {"another address of the net", {{"host", "127.8.9.10:8001"}}, true},
      {"IPv6", {{"host", "[::1]:8001"}}, true},
      {"IPv6 without a port", {{"host", "[::1]"}}, true},
      {"a rebound name", {{"host", "rebind.evil.example"}}, false},
      {"a name that begins like an address", {{"host", "127.0.0.1.evil.example"}}, false},
      {"a name that begins like localhost", {{"host", "localhost.evil.example"}}, false},
      {"a name that ends like localhost", {{"host", "evillocalhost"}}, false},
      {"another address", {{"host", "192.168.1.1:8001"}}, false},
      {"another IPv6 address", {{"host", "[fe80::1]:8001"}}, false},
      {"a user before the name", {{"host", "localhost@evil.example"}}, false},
      {"a path after the name", {{"host", "localhost/evil.example"}}, false},
      {"a bracket that stays open", {{"host", "[::1"}}, false},
      {"no port after the colon but letters", {{"host", "localhost:evil"}}, false},
      {"junk after the bracket", {{"host", "[::1]evil.example"}}, false},
      {"an empty host", {{"host", ""}}, false},
      {"no host", {}, false},
  };
  const HostGuard guard;
  for (const Row& row : rows) {
    EXPECT_EQ(!guard.Refuse(Make(row.headers)), row.accepted) << row.what;
  }
}

TEST(HostGuard, H1OtherOriginsAreRefused) {
  const std::string host = "localhost:8001";
  const Row rows[] = {
      {"the dashboard", {{"origin", "http://localhost:8001"}}, true},
      {"the dashboard, as browsers report it",
       {{"origin", "http://localhost:8001"}, {"sec-fetch-site", "same-origin"}},
       true},
      {"an address typed in", {{"sec-fetch-site", "none"}}, true},
      {"a script of the dashboard", {{"sec-fetch-site", "same-origin"}}, true},
      {"a page elsewhere", {{"origin", "http://evil.example"}}, false},
      {"a page of another port", {{"origin", "http://localhost:3000"}}, false},
      {"another name of this machine", {{"origin", "http://127.0.0.1:8001"}}, false},
      {"a sandboxed frame", {{"origin", "null"}}, false},
      {"an extension", {{"origin", "chrome-extension://abcdef"}}, false},
      {"a file", {{"origin", "file://"}}, false},
      {"an image of a page elsewhere", {{"sec-fetch-site", "cross-site"}}, false},
      {"an image of a page of another port", {{"sec-fetch-site", "same-site"}}, false},
      {"a redirect between ports of this machine",
       {{"origin", "http://localhost:8001"}, {"sec-fetch-site", "same-site"}},
       true},
      {"its own origin, across sites",
       {{"origin", "http://localhost:8001"}, {"sec-fetch-site", "cross-site"}},
       false},
      {"a value of the future", {{"sec-fetch-site", "elsewhere"}}, false},
  };
  const HostGuard guard;
  for (const Row& row : rows) {
    Headers headers = row.headers;
    headers.emplace_back("host", host);
    EXPECT_EQ(!guard.Refuse(Make(headers)), row.accepted) << row.what;
  }
  EXPECT_FALSE(guard.Refuse(Make({{"host", "localhost"}, {"origin", "http://localhost:80"}})));
  EXPECT_FALSE(guard.Refuse(Make({{"host", "[::1]:8001"}, {"origin", "http://[::1]:8001"}})));
}

TEST(HostGuard, H1AnAbsoluteTargetCountsToo) {
  const HostGuard guard;
  const Headers host = {{"host", "localhost:8001"}};
  EXPECT_FALSE(guard.Refuse(Make(host, "http://localhost:8001/api")));
  EXPECT_TRUE(guard.Refuse(Make(host, "http://rebind.evil.example/api")));
}

TEST(HostGuard, H1AcceptedNamesAreAdded) {
  const HostGuard guard({"Dev.Example", "*.app.example"});
  EXPECT_FALSE(guard.Refuse(Make({{"host", "dev.example:8001"}})));
  EXPECT_FALSE(guard.Refuse(Make({{"host", "a.b.app.example"}})));
  EXPECT_TRUE(guard.Refuse(Make({{"host", "app.example"}}))) << "the suffix alone";
  EXPECT_TRUE(guard.Refuse(Make({{"host", "x.dev.example"}})));
  // A proxy may have put localhost for the name the browser knows.
  EXPECT_FALSE(guard.Refuse(Make({{"host", "localhost:1"}, {"origin", "https://x.app.example"}})));
  EXPECT_TRUE(guard.Refuse(Make({{"host", "dev.example"}, {"origin", "http://evil.example"}})));
  EXPECT_FALSE(HostGuard({"*"}).Refuse(Make({{"host", "anything.example"}})));
}

TEST(HostGuard, PatternsAreChecked) {
  for (const char* good : {"*", "name", "a.b-c.example", "*.example", "10.0.0.1", "fe80::1"}) {
    EXPECT_TRUE(HostGuard::CheckPattern(good)) << good;
  }
  for (const char* bad : {"", "*.", "a b", "^.*$", "a.*.b", "http://x", "x:80"}) {
    EXPECT_FALSE(HostGuard::CheckPattern(bad)) << bad;
  }
}

TEST(BearerToken, L7IsComparedAsAWhole) {
  const struct {
    const char* what;
    const char* header;
    bool accepted;
  } rows[] = {
      {"the token", "Bearer secret", true},
      {"the scheme in any case", "bearer secret", true},
      {"spaces around it", "Bearer  secret ", true},
      {"nothing", "", false},
      {"no scheme", "secret", false},
      {"another scheme", "Basic secret", false},
      {"no token", "Bearer ", false},
      {"the beginning", "Bearer secre", false},
      {"more", "Bearer secrets", false},
      {"another one", "Bearer terces", false},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(HasBearerToken(Make({{"authorization", row.header}}), "secret"), row.accepted)
        << row.what;
  }
  EXPECT_FALSE(HasBearerToken(Make({}), "secret"));
}

}  // namespace
}  // namespace berth::server
