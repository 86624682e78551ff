// The client over plain HTTP/1.1 and through proxies, against servers in this process.
#include "net/http/http_client.h"

#include <gmock/gmock.h>

#include "net/testing/http_fixture.h"

namespace berth::net {
namespace {

using namespace berth::net::testing;  // NOLINT: the servers of the tests
using ::testing::HasSubstr;
using Kind = HttpError::Kind;

class Http1ClientTest : public HttpTest {
 protected:
  // Answers with what it was asked.
  static std::function<void(Peer&)> Echo() {
    return Http1Handler([](Peer& peer, const SeenRequest& request) {
      peer.Write(Http1Ok(request.method + " " + request.target + " " + request.body));
    });
  }
};

TEST_F(Http1ClientTest, OneConnectionServesManyRequests) {
  Server& server = Serve(Echo());
  HttpClient& client = Connect(server);
  for (int i = 0; i < 3; ++i) {
    const Outcome got = Send(client, {"POST", "/a?b=c", {{"x", "y"}}, "body"});
    ASSERT_TRUE(got) << got.error().message;
    EXPECT_EQ(got->status, 200);
    EXPECT_EQ(got->body, "POST /a?b=c body");
    EXPECT_EQ(got->Get("content-length"), "16");
  }
  EXPECT_EQ(On([&] { return server.Accepted(); }), 1u);
}

TEST_F(Http1ClientTest, RequestsSayWhatTheServerMustKnow) {
  SeenRequest seen;
  Server& server = Serve(Http1Handler([&](Peer& peer, const SeenRequest& request) {
    seen = request;
    peer.Write(Http1Ok(""));
  }));
  HttpClient& client = Connect(server);
  ASSERT_TRUE(Send(client, {"POST", "/x", {{"authorization", "Bearer t"}}, ""}));
  EXPECT_EQ(seen.headers["host"], "127.0.0.1:" + std::to_string(server.Port()));
  EXPECT_EQ(seen.headers["authorization"], "Bearer t");
  EXPECT_EQ(seen.headers["content-length"], "0");
  ASSERT_TRUE(Get(client));
  EXPECT_EQ(seen.headers.count("content-length"), 0u);
}

TEST_F(Http1ClientTest, NoMoreConnectionsThanAllowed) {
  std::vector<std::shared_ptr<Peer>> asked;
  Server& server = Serve(Http1Handler([&](Peer& peer, const SeenRequest&) {
    asked.push_back(peer.shared_from_this());
    if (asked.size() % 3 != 0) return;
    for (const auto& waiting : asked) waiting->Write(Http1Ok("late"));
    asked.clear();
  }));
  HttpClientOptions options;
  options.url = server.Url();
  options.max_connections = 3;
  HttpClient& client = Connect(options);
  int answered = 0;
  On([&] {
    for (int i = 0; i < 30; ++i) {
      client.Send({"GET", "/", {}, ""}, Nanoseconds(0), [&](Outcome outcome) {
        EXPECT_TRUE(outcome) << outcome.error().message;
        ++answered;
      });
    }
  });
  Until([&] { return answered == 30; });
  EXPECT_EQ(On([&] { return server.Accepted(); }), 3u);
}

struct RawCase {
  const char* name;
  std::string response;  // after which the server closes
  int status;            // 0: an error
  std::string expected;  // the body, or part of the error
};

TEST_F(Http1ClientTest, ResponsesOfAllShapes) {
  const std::string huge = "HTTP/1.1 200 OK\r\nX: " + std::string(2 << 20, 'x') + "\r\n\r\n";
  const RawCase cases[] = {
      {"length", "HTTP/1.1 201 Created\r\nContent-Length: 2\r\n\r\nhi", 201, "hi"},
      {"chunks",
       "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n1\r\n!\r\n0\r\n\r\n", 200,
       "hi!"},
      {"chunks with a trailer",
       "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\nA: b\r\n\r\n", 200,
       "hi"},
      {"until the end", "HTTP/1.1 200 OK\r\n\r\nall of it", 200, "all of it"},
      {"nothing", "HTTP/1.1 204 No Content\r\n\r\n", 204, ""},
      {"an interim answer first",
       "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", 200, "ok"},
      {"no bytes", "", 0, "EOF"},
      {"less than announced", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhi", 0,
       "unexpected EOF"},
      {"half a head", "HTTP/1.1 200 OK\r\nContent-", 0, "unexpected EOF"},
      {"half a chunk", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\nhi", 0,
       "unexpected EOF"},
      {"a chunk of no size", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nhi\r\n", 0,
       "malformed response body"},
      {"an endless line between chunks",
       "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;" + std::string(200000, 'x'), 0,
       "header line too long"},
      {"garbage", "\x16\x03\x01 not HTTP\r\n\r\n", 0,
       "malformed HTTP response \"\\x16\\x03\\x01 not HTTP\""},
      {"two lengths", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhi", 0,
       "malformed"},
      {"huge headers", huge, 0, "server response headers exceeded 1048576 bytes; aborted"},
  };
  for (const RawCase& row : cases) {
    SCOPED_TRACE(row.name);
    Server& server = Serve(Http1Handler([&](Peer& peer, const SeenRequest&) {
      peer.Write(row.response);
      peer.CloseWhenWritten();
    }));
    const Outcome got = Send(Connect(server), {"POST", "/", {}, ""});
    EXPECT_EQ(got ? got->status : 0, row.status) << Words(got);
    if (got) {
      EXPECT_EQ(got->body, row.expected);
    } else {
      EXPECT_THAT(got.error().message, HasSubstr(row.expected));
      EXPECT_FALSE(got.error().SurelyNotDone());
    }
  }
}

TEST_F(Http1ClientTest, HeadHasNoBody) {
  Server& server = Serve(Http1Handler([](Peer& peer, const SeenRequest&) {
    peer.Write("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n");
  }));
  HttpClient& client = Connect(server);
  for (int i = 0; i < 2; ++i) {
    const Outcome got = Send(client, {"HEAD", "/", {}, ""});
    ASSERT_TRUE(got) << got.error().message;
    EXPECT_EQ(got->body, "");
  }
  EXPECT_EQ(On([&] { return server.Accepted(); }), 1u);
}

TEST_F(Http1ClientTest, AReadIsRepeatedWhenTheServerDropsAnIdleConnection) {
  int asked = 0;
  Server& server = Serve(Http1Handler([&](Peer& peer, const SeenRequest&) {
    if (++asked == 2) return peer.Close();
    peer.Write(Http1Ok("ok"));
  }));
  HttpClient& client = Connect(server);
  ASSERT_TRUE(Get(client));
  const Outcome again = Get(client);
  EXPECT_TRUE(again) << again.error().message;
  EXPECT_EQ(asked, 3);
}

TEST_F(Http1ClientTest, AWriteIsNotRepeated) {
  int asked = 0;
  Server& server = Serve(Http1Handler([&](Peer& peer, const SeenRequest&) {
    if (++asked == 2) return peer.Close();
    peer.Write(Http1Ok("ok"));
  }));
  HttpClient& client = Connect(server);
  ASSERT_TRUE(Get(client));
  const Outcome again = Send(client, {"POST", "/", {}, "x"});
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().kind, Kind::kBroken);
  EXPECT_EQ(again.error().message, "EOF");
  EXPECT_EQ(asked, 2);
}

TEST_F(Http1ClientTest, NobodyListens) {
  Server& server = Serve(Echo());
  HttpClient& client = Connect(server);
  const std::string port = std::to_string(server.Port());
  On([&] { server.Stop(); });
  const Outcome got = Get(client);
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().kind, Kind::kRefused);
  EXPECT_EQ(got.error().message, "dial tcp 127.0.0.1:" + port + ": connect: connection refused");
}

TEST_F(Http1ClientTest, NoSuchHost) {
  HttpClientOptions options;
  options.url = "http://no-such-host.invalid";
  const Outcome got = Get(Connect(options));
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().kind, Kind::kConnect);
  EXPECT_THAT(got.error().message, HasSubstr("dial tcp: lookup no-such-host.invalid: "));
}

TEST_F(Http1ClientTest, TheServerComesBack) {
  auto& server = Serve(Echo());
  const uint16_t port = server.Port();
  HttpClient& client = Connect(server);
  ASSERT_TRUE(Get(client));
  On([&] { server.Stop(); });
  EXPECT_FALSE(Get(client));
  On([&] { servers_.push_back(std::make_unique<Server>(*loop_, Echo(), nullptr, port)); });
  const Outcome got = Get(client);
  EXPECT_TRUE(got) << got.error().message;
}

TEST_F(Http1ClientTest, NoAnswerInTime) {
  Server& server = Serve(Http1Handler([](Peer&, const SeenRequest&) {}));
  HttpClient& client = Connect(server);
  const Outcome got = Send(client, {"GET", "/", {}, ""}, std::chrono::milliseconds(20));
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().kind, Kind::kTimeout);
  EXPECT_EQ(got.error().message, "context deadline exceeded");
}

TEST_F(Http1ClientTest, NoConnectionInTime) {
  // A proxy that never answers stands for a server that cannot be reached.
  Server& proxy = Serve([](Peer&) {});
  HttpClientOptions options;
  options.url = "https://127.0.0.1:1";
  options.proxy_url = proxy.Url();
  options.connect_timeout = std::chrono::milliseconds(20);
  const Outcome got = Get(Connect(options));
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().kind, Kind::kConnect);
  EXPECT_THAT(got.error().message, HasSubstr("proxyconnect tcp: "));
  EXPECT_THAT(got.error().message, HasSubstr("i/o timeout"));
}

TEST_F(Http1ClientTest, ACancelledRequestIsNotHeardOf) {
  size_t asked = 0;
  Server& server = Serve(Http1Handler([&](Peer&, const SeenRequest&) { ++asked; }));
  HttpClient& client = Connect(server);
  bool called = false;
  const auto id = On([&] {
    return client.Send({"GET", "/", {}, ""}, Nanoseconds(0), [&](Outcome) { called = true; });
  });
  Until([&] { return asked == 1; });
  On([&] {
    client.Cancel(id);
    client.Cancel(id);
    client.Cancel(12345);
  });
  Until([&] { return server.Open().empty(); });
  EXPECT_FALSE(called);
}

TEST_F(Http1ClientTest, ResponsesMayNotBeLargerThanAllowed) {
  Server& server = Serve(Http1Handler([](Peer& peer, const SeenRequest& request) {
    peer.Write(Http1Ok(std::string(request.target == "/large" ? 101 : 100, 'x')));
  }));
  HttpClientOptions options;
  options.url = server.Url();
  options.max_response_bytes = 100;
  HttpClient& client = Connect(options);
  const Outcome large = Get(client, "/large");
  ASSERT_FALSE(large);
  EXPECT_EQ(large.error().kind, Kind::kTooLarge);
  EXPECT_TRUE(Get(client, "/fits"));
}

TEST_F(Http1ClientTest, RequestsThatCannotBeWritten) {
  Server& server = Serve(Echo());
  HttpClient& client = Connect(server);
  const std::pair<HttpRequest, std::string> cases[] = {
      {{"G ET", "/", {}, ""}, "invalid method"},
      {{"GET", "/a b", {}, ""}, "invalid request target"},
      {{"GET", "/a\r\nX: y", {}, ""}, "invalid request target"},
      {{"GET", "a", {}, ""}, "invalid request target"},
      {{"GET", "/", {{"a b", "c"}}, ""}, "invalid header field name"},
      {{"GET", "/", {{"a", "b\r\nc: d"}}, ""}, "invalid header field value for \"a\""},
  };
  for (const auto& [request, expected] : cases) {
    const Outcome got = Send(client, request);
    ASSERT_FALSE(got);
    EXPECT_THAT(got.error().message, HasSubstr(expected));
    EXPECT_TRUE(got.error().SurelyNotDone());
  }
  EXPECT_EQ(On([&] { return server.Accepted(); }), 0u);
}

TEST_F(Http1ClientTest, AStreamComesInPieces) {
  Server& server = Serve(Http1Handler([](Peer& peer, const SeenRequest&) {
    peer.Write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\none\r\n");
  }));
  HttpClient& client = Connect(server);
  RecordingSink sink;
  On([&] { client.Stream({"GET", "/watch", {}, ""}, &sink); });
  Until([&] { return sink.body == "one"; });
  EXPECT_EQ(sink.got_status, 200);
  On([&] { server.Open()[0]->Write("3\r\ntwo\r\n"); });
  Until([&] { return sink.body == "onetwo"; });
  EXPECT_EQ(On([&] { return sink.ended; }), 0);
  On([&] { server.Open()[0]->Write("0\r\n\r\n"); });
  Until([&] { return sink.ended == 1; });
  EXPECT_FALSE(sink.failure);
}

TEST_F(Http1ClientTest, StreamsHaveConnectionsOfTheirOwn) {
  Server& server = Serve(Http1Handler([](Peer& peer, const SeenRequest& request) {
    if (request.target == "/watch") {
      peer.Write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
    } else {
      peer.Write(Http1Ok("ok"));
    }
  }));
  HttpClientOptions options;
  options.url = server.Url();
  options.max_connections = 1;
  HttpClient& client = Connect(options);
  std::vector<RecordingSink> sinks(5);
  On([&] {
    for (RecordingSink& sink : sinks) client.Stream({"GET", "/watch", {}, ""}, &sink);
  });
  for (RecordingSink& sink : sinks) Until([&] { return sink.got_status == 200; });
  EXPECT_TRUE(Get(client));
  EXPECT_EQ(On([&] { return server.Accepted(); }), 6u);
  On([&] { server.CloseAll(); });
  for (RecordingSink& sink : sinks) {
    Until([&] { return sink.ended == 1; });
    ASSERT_TRUE(sink.failure);
    EXPECT_EQ(sink.failure->message, "unexpected EOF");
  }
}

TEST_F(Http1ClientTest, AStreamCancelledFromInsideStaysSilent) {
  Server& server = Serve(Http1Handler([](Peer& peer, const SeenRequest&) {
    peer.Write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\none\r\n3\r\ntwo\r\n");
  }));
  HttpClient& client = Connect(server);
  RecordingSink sink;
  HttpClient::Id id = 0;
  sink.on_data = [&] { client.Cancel(id); };
  On([&] { id = client.Stream({"GET", "/watch", {}, ""}, &sink); });
  Until([&] { return server.Accepted() == 1 && server.Open().empty(); });
  EXPECT_EQ(sink.body, "one");
  EXPECT_EQ(sink.ended, 0);
}

TEST_F(Http1ClientTest, TheClientMayGoAtAnyTime) {
  Server& server = Serve(Http1Handler([](Peer& peer, const SeenRequest& request) {
    if (request.target != "/never") peer.Write(Http1Ok("ok"));
  }));
  for (const bool inside : {false, true}) {
    auto client =
        On([&] { return std::move(*MakeHttpClient(*loop_, {.url = server.Url(), .tls = {}})); });
    int called = 0;
    RecordingSink sink;
    On([&] {
      client->Stream({"GET", "/never", {}, ""}, &sink);
      client->Send({"GET", "/never", {}, ""}, std::chrono::hours(1), [&](Outcome) { ++called; });
      client->Send({"GET", "/", {}, ""}, std::chrono::hours(1), [&](Outcome) {
        ++called;
        client.reset();
      });
      if (!inside) client.reset();
    });
    if (inside) Until([&] { return client == nullptr; });
    Until([&] { return server.Open().empty(); });
    EXPECT_EQ(called, inside ? 1 : 0);
    EXPECT_EQ(sink.ended, 0);
  }
}

TEST_F(Http1ClientTest, BadOptionsAreRefused) {
  const std::string valid = "https://localhost";
  TlsOptions no_pem{.ca_pem = "nonsense"};
  TlsOptions no_key{.client_cert_pem = "x"};
  const std::tuple<HttpClientOptions, std::string> cases[] = {
      {{.url = "localhost", .tls = {}}, "missing protocol scheme"},
      {{.url = "ftp://x", .tls = {}}, "unsupported protocol scheme \"ftp\""},
      {{.url = "socks5://x", .tls = {}}, "unsupported protocol scheme \"socks5\""},
      {{.url = valid, .tls = no_pem}, "unable to parse bytes as PEM block"},
      {{.url = valid, .tls = no_key}, "client certificate without a key"},
      {{.url = valid, .tls = {}, .proxy_url = "x"}, "invalid proxy URL"},
  };
  for (const auto& [options, expected] : cases) {
    const auto made = MakeHttpClient(*loop_, options);
    ASSERT_FALSE(made) << expected;
    EXPECT_THAT(made.error().Message(), HasSubstr(expected));
  }
}

TEST_F(Http1ClientTest, PlainRequestsAskAnHttpProxy) {
  SeenRequest seen;
  Server& proxy = Serve(Http1Handler([&](Peer& peer, const SeenRequest& request) {
    seen = request;
    peer.Write(Http1Ok("from the proxy"));
  }));
  HttpClientOptions options;
  options.url = "http://example.com:8080";
  options.proxy_url = "http://me:secret@127.0.0.1:" + std::to_string(proxy.Port());
  const Outcome got = Get(Connect(options), "/a");
  ASSERT_TRUE(got) << got.error().message;
  EXPECT_EQ(got->body, "from the proxy");
  EXPECT_EQ(seen.target, "http://example.com:8080/a");
  EXPECT_EQ(seen.headers["host"], "example.com:8080");
  EXPECT_EQ(seen.headers["proxy-authorization"], "Basic bWU6c2VjcmV0");
}

TEST_F(Http1ClientTest, ProxyThatIsNotThere) {
  Server& proxy = Serve([](Peer&) {});
  HttpClientOptions options;
  options.url = "https://example.com";
  options.proxy_url = proxy.Url();
  const std::string port = std::to_string(proxy.Port());
  On([&] { proxy.Stop(); });
  const Outcome got = Get(Connect(options));
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().message,
            "proxyconnect tcp: dial tcp 127.0.0.1:" + port + ": connect: connection refused");
}

TEST_F(Http1ClientTest, Socks5CarriesPlainRequests) {
  Server& server = Serve(Echo());
  std::string heard;
  Server& proxy = Serve([&](Peer& peer) {
    peer.on_bytes = [&](Peer& from, std::string_view bytes) {
      heard += bytes;
      if (heard.size() == 4) from.Write(std::string_view("\x05\x02", 2));      // method: password
      if (heard.size() == 4 + 7) from.Write(std::string_view("\x01\x00", 2));  // accepted
      if (heard.size() != 4 + 7 + 10) return;
      const auto peer_alive = from.shared_from_this();
      Splice(*loop_, from, server.Port(), [peer_alive] {
        peer_alive->Write(std::string_view("\x05\x00\x00\x01\x7f\x00\x00\x01\x00\x00", 10));
      });
    };
  });
  HttpClientOptions options;
  options.url = server.Url();
  options.proxy_url = "socks5://ab:cd@127.0.0.1:" + std::to_string(proxy.Port());
  const Outcome got = Get(Connect(options), "/through");
  ASSERT_TRUE(got) << got.error().message;
  EXPECT_EQ(got->body, "GET /through ");
  std::string expected(
      "\x05\x02\x00\x02\x01\x02"
      "ab\x02"
      "cd\x05\x01\x00\x01\x7f\x00\x00\x01",
      19);
  expected += static_cast<char>(server.Port() >> 8);
  expected += static_cast<char>(server.Port() & 0xff);
  EXPECT_EQ(heard, expected);
}

}  // namespace
}  // namespace berth::net
