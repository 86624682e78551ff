#include "net/http/proxy_handshake.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace berth::net {
namespace {

using ::testing::HasSubstr;

struct Case {
  const char* name;
  const char* proxy;
  std::string replies;
  std::string expected;  // part of the error; empty: the way opens
};

TEST(ProxyHandshakeTest, EndsInAnOpenWayOrAnError) {
  const auto raw = [](std::string_view text) { return std::string(text); };
  using namespace std::string_view_literals;
  const Case cases[] = {
      {"CONNECT", "http://p", "HTTP/1.1 200 OK\r\nA: b\r\n\r\n", ""},
      {"CONNECT in HTTP/1.0", "http://p", "HTTP/1.0 200 Established\r\n\r\n", ""},
      {"CONNECT refused", "http://p", "HTTP/1.1 403 Forbidden\r\n\r\n", "Forbidden"},
      {"CONNECT refused without a word", "http://p", "HTTP/1.1 403\r\n\r\n", "403"},
      {"CONNECT answered with nonsense", "http://p", "SSH-2.0\r\n\r\n", "malformed HTTP response"},
      {"CONNECT answered at length", "http://p", std::string(100000, 'x'), "too large"},
      {"SOCKS", "socks5://p", raw("\x05\x00\x05\x00\x00\x01\x01\x02\x03\x04\x00\x50"sv), ""},
      {"SOCKS, bound to a name", "socks5://p", raw("\x05\x00\x05\x00\x00\x03\x02no\x00\x50"sv), ""},
      {"SOCKS, bound to IPv6", "socks5://p",
       raw("\x05\x00\x05\x00\x00\x04"sv) + std::string(16, '\1') + raw("\x00\x50"sv), ""},
      {"SOCKS with a password", "socks5://u:p@p",
       raw("\x05\x02\x01\x00\x05\x00\x00\x01\x01\x02\x03\x04\x00\x50"sv), ""},
      {"SOCKS with a wrong password", "socks5://u:p@p", raw("\x05\x02\x01\x01"sv),
       "authentication failed"},
      {"SOCKS that wants a password", "socks5://p", raw("\x05\x02"sv), "no acceptable"},
      {"SOCKS that takes nothing", "socks5://p", raw("\x05\xff"sv), "no acceptable"},
      {"another version", "socks5://p", raw("\x04\x00"sv), "unexpected protocol version 4"},
      {"SOCKS refused", "socks5://p", raw("\x05\x00\x05\x05\x00\x01\x00"sv), "connection refused"},
      {"SOCKS refused unheard of", "socks5://p", raw("\x05\x00\x05\x63\x00\x01\x00"sv),
       "unknown code: 99"},
      {"SOCKS with a strange address", "socks5://p", raw("\x05\x00\x05\x00\x00\x09\x00"sv),
       "unknown address type 9"},
  };
  for (const Case& row : cases) {
    SCOPED_TRACE(row.name);
    for (const size_t piece : {size_t{1}, size_t{1} << 20}) {
      const auto handshake =
          MakeProxyHandshake(*ParseUrl(row.proxy), *ParseUrl("https://target.example:6443"));
      EXPECT_FALSE(handshake->Start().empty());
      std::string reply;
      std::string error;
      bool open = false;
      const std::string all = row.replies + (piece == 1 ? "" : "rest");
      for (size_t at = 0; at < all.size() && !open && error.empty(); at += piece) {
        const auto done = handshake->Receive(std::string_view(all).substr(at, piece), reply);
        if (!done) error = done.error().Message();
        open = done && *done;
      }
      EXPECT_EQ(open, row.expected.empty()) << error;
      EXPECT_THAT(error, HasSubstr(row.expected));
      if (open) {
        EXPECT_EQ(handshake->Rest(), piece == 1 ? "" : "rest");
      }
    }
  }
}

}  // namespace
}  // namespace berth::net
