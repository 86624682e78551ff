#include "net/http/url.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace berth::net {
namespace {

using ::testing::HasSubstr;

TEST(UrlTest, PartsOfAUrl) {
  const auto url = ParseUrl("HTTPS://us%65r:p%3Aw@Example.COM:6443/path?query");
  ASSERT_TRUE(url) << url.error().Message();
  EXPECT_EQ(url->scheme, "https");
  EXPECT_EQ(url->user, "user");
  EXPECT_EQ(url->password, "p:w");
  EXPECT_EQ(url->host, "example.com");
  EXPECT_EQ(url->port, 6443);
  EXPECT_EQ(url->authority, "Example.COM:6443");
  EXPECT_EQ(url->HostPort(), "example.com:6443");
}

TEST(UrlTest, PortsAndAddresses) {
  const std::tuple<const char*, const char*, const char*> cases[] = {
      {"http://a", "a:80", "a"},
      {"https://a", "a:443", "a"},
      {"https://a:", "a:443", "a"},
      {"socks5://a", "a:1080", "a"},
      {"https://[::1]", "[::1]:443", "[::1]"},
      {"https://[fd00::1]:6443/", "[fd00::1]:6443", "[fd00::1]:6443"},
      {"http://10.0.0.1:8080", "10.0.0.1:8080", "10.0.0.1:8080"},
  };
  for (const auto& [text, host_port, authority] : cases) {
    const auto url = ParseUrl(text);
    ASSERT_TRUE(url) << text;
    EXPECT_EQ(url->HostPort(), host_port);
    EXPECT_EQ(url->authority, authority);
  }
}

TEST(UrlTest, WhatIsNotAUrl) {
  const std::pair<std::string, const char*> cases[] = {
      {"", "missing protocol scheme"},
      {"example.com", "missing protocol scheme"},
      {"ftp://a", "unsupported protocol scheme"},
      {"http://", "no host"},
      {"http://:80", "no host"},
      {"http://a:0", "invalid port"},
      {"http://a:65536", "invalid port"},
      {"http://a:b", "invalid port"},
      {"http://[::1", "missing ']'"},
      {"http://[nonsense]", "invalid IPv6"},
      {"http://[::1]x", "invalid character after"},
      {"http://a b", "invalid character"},
      {"http://a\r\nb", "invalid character"},
      {"http://%zz@a", "invalid URL escape"},
      {"http://%4@a", "invalid URL escape"},
      {"http://" + std::string(300, 'a'), "too long"},
      {std::string(10000, 'a'), "too long"},
  };
  for (const auto& [text, expected] : cases) {
    const auto url = ParseUrl(text);
    ASSERT_FALSE(url) << text;
    EXPECT_THAT(url.error().Message(), HasSubstr(expected));
  }
}

TEST(UrlTest, WhichProxy) {
  struct Case {
    const char* name;
    const char* target;
    ProxyEnvironment environment;
    const char* expected;  // host:port of the proxy, "" for none
  };
  const ProxyEnvironment both{"http://plain:1", "http://secure:2", ""};
  const auto without = [](const char* no_proxy) {
    return ProxyEnvironment{"http://plain:1", "http://secure:2", no_proxy};
  };
  const Case cases[] = {
      {"nothing set", "https://a", {}, ""},
      {"https", "https://a", both, "secure:2"},
      {"http", "http://a", both, "plain:1"},
      {"a proxy without a scheme", "http://a", {"plain:1", "", ""}, "plain:1"},
      {"localhost goes direct", "https://localhost:6443", both, ""},
      {"loopback goes direct", "https://127.0.0.2", both, ""},
      {"loopback in IPv6 too", "https://[::1]", both, ""},
      {"everything excluded", "https://a", without("*"), ""},
      {"the host excluded", "https://a.b", without("x, a.b"), ""},
      {"a subdomain of it", "https://c.a.b", without("a.b"), ""},
      {"not a mere suffix", "https://ca.b", without("a.b"), "secure:2"},
      {"subdomains only", "https://a.b", without(".a.b"), "secure:2"},
      {"a subdomain", "https://c.a.b", without("*.a.b"), ""},
      {"upper case", "https://a.b", without("A.B"), ""},
      {"an address", "https://10.0.0.1", without("10.0.0.1"), ""},
      {"another address", "https://10.0.0.2", without("10.0.0.1"), "secure:2"},
      {"a block", "https://10.1.2.3", without("10.0.0.0/8"), ""},
      {"outside of the block", "https://11.1.2.3", without("10.0.0.0/8"), "secure:2"},
      {"a block of IPv6", "https://[fd00::5]", without("fd00::/16"), ""},
      {"a block that is none", "https://10.1.2.3", without("10.0.0.0/99,/,a/b"), "secure:2"},
      {"names are in no block", "https://a", without("0.0.0.0/0"), "secure:2"},
      {"the port too", "https://a:6443", without("a:6443"), ""},
      {"another port", "https://a:6443", without("a:443"), "secure:2"},
  };
  for (const Case& row : cases) {
    SCOPED_TRACE(row.name);
    const auto proxy = ProxyFor(*ParseUrl(row.target), row.environment);
    ASSERT_TRUE(proxy);
    EXPECT_EQ(*proxy ? (*proxy)->HostPort() : "", row.expected);
  }
  EXPECT_FALSE(ProxyFor(*ParseUrl("http://a"), {"http://:", "", ""}));
}

}  // namespace
}  // namespace berth::net
