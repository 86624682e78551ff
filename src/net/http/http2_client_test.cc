// The client over TLS: HTTP/2, certificates, tunnels through proxies.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "net/http/http_client.h"
#include "net/testing/http_fixture.h"

namespace berth::net {
namespace {

using namespace berth::net::testing;  // NOLINT: the servers of the tests
using ::testing::HasSubstr;
using ::testing::StartsWith;
using Kind = HttpError::Kind;

const Identity& Authority() {
  static const Identity kAuthority =
      MakeIdentity({.common_name = "authority", .authority = true, .elliptic = false});
  return kAuthority;
}

ServerTls TlsFor(const std::string& names) {
  return {.identity = MakeIdentity({.common_name = "server", .names = names}, &Authority()),
          .client_ca = {}};
}

class Http2ClientTest : public HttpTest {
 protected:
  HttpClientOptions Options(const Server& server) {
    HttpClientOptions options;
    options.url = server.Url();
    options.tls.ca_pem = Authority().certificate;
    return options;
  }
  Server& ServeHttp2(Http2Session::Answer answer, uint32_t max_streams = 100) {
    return Serve(Http2Handler(std::move(answer), max_streams), &tls_);
  }
  static Http2Session::Answer Echo() {
    return [](Http2Session& session, int32_t stream, const SeenRequest& request) {
      session.Respond(stream, 200, request.method + " " + request.target + " " + request.body,
                      {{"content-type", "text/plain"}});
    };
  }
  static Http2Session::Answer Silence() {
    return [](Http2Session&, int32_t, const SeenRequest&) {};
  }

  const ServerTls tls_ = TlsFor("IP:127.0.0.1,DNS:localhost");
};

TEST_F(Http2ClientTest, RequestsAndResponses) {
  Server& server = ServeHttp2(Echo());
  HttpClient& client = Connect(Options(server));
  for (int i = 0; i < 3; ++i) {
    const Outcome got = Send(client, {"POST", "/a?b", {{"x-y", "z"}}, "body"});
    ASSERT_TRUE(got) << got.error().message;
    EXPECT_EQ(got->status, 200);
    EXPECT_EQ(got->body, "POST /a?b body");
    EXPECT_EQ(got->Get("content-type"), "text/plain");
  }
  EXPECT_EQ(On([&] { return server.Accepted(); }), 1u);
}

TEST_F(Http2ClientTest, MoreRequestsThanStreams) {
  // Answers come in heaps, so that streams pile up as far as the client lets them.
  struct Heap {
    std::vector<std::pair<Http2Session*, int32_t>> waiting;
  } heap;
  Server& server =
      ServeHttp2([&](Http2Session& session, int32_t stream,
                     const SeenRequest&) { heap.waiting.emplace_back(&session, stream); },
                 10);
  HttpClientOptions options = Options(server);
  options.max_connections = 3;
  HttpClient& client = Connect(options);
  size_t answered = 0;
  On([&] {
    for (int i = 0; i < 500; ++i) {
      client.Send({"POST", "/", {}, "x"}, Nanoseconds(0), [&](Outcome outcome) {
        EXPECT_TRUE(outcome) << outcome.error().message;
        ++answered;
      });
    }
  });
  Until([&] {
    const auto waiting = std::exchange(heap.waiting, {});
    for (const auto& [session, stream] : waiting) session->Respond(stream, 200, "ok");
    for (const auto& peer : server.Open()) {
      if (peer->state) SessionOf(*peer).Flush();
    }
    return answered == 500;
  });
  On([&] {
    EXPECT_EQ(server.Accepted(), 3u);
    for (const auto& peer : server.Open()) {
      EXPECT_LE(SessionOf(*peer).peak_streams, 10u);
      EXPECT_GE(SessionOf(*peer).closed_streams.size(), 50u) << "requests spread evenly";
    }
  });
}

TEST_F(Http2ClientTest, LargeBodiesBothWays) {
  Server& server = ServeHttp2([](Http2Session& session, int32_t stream, const SeenRequest& r) {
    session.Respond(stream, 200, r.body + r.body);
  });
  std::string body(9 << 20, 'a');
  for (size_t i = 0; i < body.size(); i += 1000) body[i] = static_cast<char>('b' + i % 20);
  const Outcome got = Send(Connect(Options(server)), {"PUT", "/", {}, body});
  ASSERT_TRUE(got) << got.error().message;
  EXPECT_TRUE(got->body == body + body);
}

TEST_F(Http2ClientTest, AStreamComesInPiecesAndIsCancelled) {
  int32_t asked = 0;
  Server& server = ServeHttp2([&](Http2Session& session, int32_t stream, const SeenRequest&) {
    asked = stream;
    session.Begin(stream, 200);
    session.Push(stream, "one");
  });
  HttpClient& client = Connect(Options(server));
  RecordingSink sink;
  const auto id = On([&] { return client.Stream({"GET", "/watch", {}, ""}, &sink); });
  Until([&] { return sink.body == "one"; });
  On([&] {
    Http2Session& session = SessionOf(*server.Open()[0]);
    session.Push(asked, "two");
    session.Flush();
  });
  Until([&] { return sink.body == "onetwo"; });
  On([&] { client.Cancel(id); });
  Until([&] { return SessionOf(*server.Open()[0]).closed_streams.contains(asked); });
  On([&] {
    EXPECT_EQ(SessionOf(*server.Open()[0]).closed_streams[asked], NGHTTP2_CANCEL);
    EXPECT_EQ(sink.ended, 0);
  });
}

TEST_F(Http2ClientTest, StreamsBeyondTheLimitGetAnotherConnection) {
  Server& server = ServeHttp2([](Http2Session& session, int32_t stream, const SeenRequest&) {
    session.Begin(stream, 200);
  });
  HttpClient& client = Connect(Options(server));
  std::vector<RecordingSink> sinks(150);
  On([&] {
    for (RecordingSink& sink : sinks) client.Stream({"GET", "/watch", {}, ""}, &sink);
  });
  for (RecordingSink& sink : sinks) Until([&] { return sink.got_status == 200; });
  EXPECT_EQ(On([&] { return server.Accepted(); }), 2u);
}

TEST_F(Http2ClientTest, NoAnswerInTimeResetsTheStream) {
  Server& server = ServeHttp2([](Http2Session& session, int32_t stream, const SeenRequest& r) {
    if (r.target == "/first") session.Respond(stream, 200, "");
  });
  HttpClient& client = Connect(Options(server));
  ASSERT_TRUE(Get(client, "/first"));
  const Outcome got = Send(client, {"GET", "/", {}, ""}, std::chrono::milliseconds(20));
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().kind, Kind::kTimeout);
  Until([&] { return SessionOf(*server.Open()[0]).closed_streams.contains(3); });
  EXPECT_EQ(On([&] { return SessionOf(*server.Open()[0]).closed_streams[3]; }), NGHTTP2_CANCEL);
}

TEST_F(Http2ClientTest, AGracefulGoawayLosesNothing) {
  // The first connection takes stream 1, refuses the others and goes.
  Http2Session* first = nullptr;
  int held = 0;
  Server& server = ServeHttp2([&](Http2Session& session, int32_t stream, const SeenRequest&) {
    if (first == nullptr) first = &session;
    if (first != &session) return session.Respond(stream, 200, "second");
    if (++held == 3) session.Goaway(1);
  });
  HttpClient& client = Connect(Options(server));
  std::vector<std::string> bodies(3);
  On([&] {
    for (std::string& body : bodies) {
      client.Send({"POST", "/", {}, "x"}, Nanoseconds(0), [&](Outcome outcome) {
        ASSERT_TRUE(outcome) << outcome.error().message;
        body = outcome->body;
      });
    }
  });
  Until([&] { return !bodies[1].empty() && !bodies[2].empty(); });
  EXPECT_EQ(bodies, (std::vector<std::string>{"", "second", "second"}));
  On([&] {
    first->Respond(1, 200, "first");
    first->Flush();
  });
  Until([&] { return !bodies[0].empty(); });
  EXPECT_EQ(bodies[0], "first");
  Until([&] { return server.Open().size() == 1; });  // the client lets go of the first
}

TEST_F(Http2ClientTest, ARefusedStreamIsTriedOnceMore) {
  int asked = 0;
  Server& server = ServeHttp2([&](Http2Session& session, int32_t stream, const SeenRequest& r) {
    ++asked;
    if (asked == 1 || r.target == "/never") return session.Reset(stream, NGHTTP2_REFUSED_STREAM);
    session.Respond(stream, 200, "ok");
  });
  HttpClient& client = Connect(Options(server));
  const Outcome got = Get(client);
  EXPECT_TRUE(got) << got.error().message;
  EXPECT_EQ(asked, 2);
  const Outcome never = Get(client, "/never");
  ASSERT_FALSE(never);
  EXPECT_EQ(never.error().kind, Kind::kUnsent);
  EXPECT_THAT(never.error().message, HasSubstr("REFUSED_STREAM; received from peer"));
  EXPECT_EQ(asked, 4);
}

TEST_F(Http2ClientTest, AResetStreamIsAnError) {
  Server& server = ServeHttp2([](Http2Session& session, int32_t stream, const SeenRequest&) {
    session.Begin(stream, 200);
    session.Push(stream, "half");
    session.Flush();
    session.Reset(stream, NGHTTP2_INTERNAL_ERROR);
  });
  const Outcome got = Get(Connect(Options(server)));
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().kind, Kind::kBroken);
  EXPECT_EQ(got.error().message, "stream error: stream ID 1; INTERNAL_ERROR; received from peer");
}

TEST_F(Http2ClientTest, ABrokenConnectionFailsWhatItCarriedAndIsMadeAnew) {
  int asked = 0;
  Server& server = ServeHttp2([&](Http2Session& session, int32_t stream, const SeenRequest&) {
    if (++asked > 5) session.Respond(stream, 200, "ok");
  });
  HttpClient& client = Connect(Options(server));
  int failed = 0;
  On([&] {
    for (int i = 0; i < 5; ++i) {
      client.Send({"GET", "/", {}, ""}, Nanoseconds(0), [&](Outcome outcome) {
        ASSERT_FALSE(outcome);
        EXPECT_EQ(outcome.error().kind, Kind::kBroken);
        ++failed;
      });
    }
  });
  Until([&] { return asked == 5; });
  On([&] { server.CloseAll(); });
  Until([&] { return failed == 5; });
  const Outcome got = Get(client);
  EXPECT_TRUE(got) << got.error().message;
  EXPECT_EQ(On([&] { return server.Accepted(); }), 2u);
}

TEST_F(Http2ClientTest, ASilentServerIsGivenUp) {
  Server& server = ServeHttp2(Silence());
  HttpClientOptions options = Options(server);
  options.ping_idle = options.ping_timeout = std::chrono::milliseconds(500);
  HttpClient& client = Connect(options);
  RecordingSink sink;
  On([&] { client.Stream({"GET", "/watch", {}, ""}, &sink); });
  Until([&] {
    const auto open = server.Open();
    if (!open.empty() && open[0]->state && SessionOf(*open[0]).peak_streams == 1) {
      open[0]->on_bytes = nullptr;
    }
    return sink.ended == 1;
  });
  ASSERT_TRUE(sink.failure);
  EXPECT_EQ(sink.failure->message, "http2: client connection lost");
}

TEST_F(Http2ClientTest, AServerThatAnswersPingsIsKept) {
  Server& server = ServeHttp2([](Http2Session& session, int32_t stream, const SeenRequest&) {
    session.Begin(stream, 200);
  });
  HttpClientOptions options = Options(server);
  options.ping_idle = std::chrono::milliseconds(5);
  options.ping_timeout = std::chrono::seconds(50);
  HttpClient& client = Connect(options);
  RecordingSink sink;
  On([&] { client.Stream({"GET", "/watch", {}, ""}, &sink); });
  Until([&] { return sink.got_status == 200; });
  const auto before = On([&] { return loop_->Steady(); });
  Until([&] { return loop_->Steady() - before > std::chrono::milliseconds(60); });
  EXPECT_EQ(On([&] { return sink.ended; }), 0);
}

TEST_F(Http2ClientTest, IdleConnectionsClose) {
  Server& server = ServeHttp2(Echo());
  HttpClientOptions options = Options(server);
  options.idle_timeout = std::chrono::milliseconds(10);
  HttpClient& client = Connect(options);
  ASSERT_TRUE(Get(client));
  Until([&] { return server.Open().empty(); });
  EXPECT_TRUE(Get(client));
}

TEST_F(Http2ClientTest, ServersWithoutHttp2SpeakHttp1) {
  ServerTls tls = tls_;
  tls.protocols = {"http/1.1"};
  Server& server = Serve(Http1Handler([](Peer& peer, const SeenRequest& request) {
                           peer.Write(Http1Ok(request.target));
                         }),
                         &tls);
  const Outcome got = Get(Connect(Options(server)), "/old");
  ASSERT_TRUE(got) << got.error().message;
  EXPECT_EQ(got->body, "/old");
}

TEST_F(Http2ClientTest, GarbageIsAnError) {
  const std::string settings("\x00\x00\x00\x04\x00\x00\x00\x00\x00", 9);
  const std::string cases[] = {
      "HTTP/1.1 200 OK\r\n\r\n", std::string(100000, '\xff'), std::string(9, '\0'),
      settings + std::string("\x00\x00\x05\x01\x04\x00\x00\x00\x01\xff\xff\xff\xff\xff", 14),
      settings + std::string("\x00\x00\x01\x00\x00\x00\x00\x00\x07x", 10)};
  for (const std::string& bytes : cases) {
    Server& server = Serve(
        [&](Peer& peer) {
          peer.on_bytes = [&](Peer& from, std::string_view) {
            from.on_bytes = nullptr;
            from.Write(bytes);
          };
        },
        &tls_);
    const Outcome got =
        Send(Connect(Options(server)), {"GET", "/", {}, ""}, std::chrono::seconds(30));
    ASSERT_FALSE(got);
    EXPECT_EQ(got.error().kind, Kind::kBroken) << got.error().message;
  }
}

TEST_F(Http2ClientTest, HugeHeadersAreRefused) {
  Server& server = ServeHttp2([](Http2Session& session, int32_t stream, const SeenRequest& r) {
    std::vector<Header> headers;
    // Each is a reference into the server's table: a little traffic, a lot of memory.
    for (int i = 0; i < 3000 && r.target == "/huge"; ++i) {
      headers.push_back({"x-large", std::string(1000, 'x')});
    }
    session.Respond(stream, 200, "body", headers);
  });
  HttpClient& client = Connect(Options(server));
  const Outcome got = Get(client, "/huge");
  ASSERT_FALSE(got);
  EXPECT_THAT(got.error().message, HasSubstr("http2: "));
  EXPECT_TRUE(Get(client, "/small"));
}

// ---- certificates ----

struct CertificateCase {
  const char* name;
  CertificateRequest certificate;
  bool known_authority;
  std::string host;         // of the URL
  std::string server_name;  // override
  bool insecure;
  std::string expected;  // start of the error; empty: none
};

TEST_F(Http2ClientTest, CertificatesAreJudged) {
  const std::string kVerify = "tls: failed to verify certificate: ";
  const CertificateCase cases[] = {
      {"address among the names", {.names = "IP:127.0.0.1"}, true, "127.0.0.1", "", false, ""},
      {"host among the names", {.names = "DNS:localhost"}, true, "localhost", "", false, ""},
      {"a wildcard",
       {.names = "DNS:*.default.svc"},
       true,
       "127.0.0.1",
       "kubernetes.default.svc",
       false,
       ""},
      {"the name asked for instead", {.names = "DNS:api"}, true, "127.0.0.1", "api", false, ""},
      {"unknown authority",
       {.names = "IP:127.0.0.1"},
       false,
       "127.0.0.1",
       "",
       false,
       kVerify + "x509: certificate signed by unknown authority"},
      {"unknown authority, whatever", {.names = "IP:127.0.0.1"}, false, "127.0.0.1", "", true, ""},
      {"another address",
       {.names = "IP:10.0.0.1,IP:::1"},
       true,
       "127.0.0.1",
       "",
       false,
       kVerify + "x509: certificate is valid for 10.0.0.1, ::1, not 127.0.0.1"},
      {"another host",
       {.names = "DNS:a,DNS:b"},
       true,
       "localhost",
       "",
       false,
       kVerify + "x509: certificate is valid for a, b, not localhost"},
      {"no addresses",
       {.names = "DNS:a"},
       true,
       "127.0.0.1",
       "",
       false,
       kVerify + "x509: cannot validate certificate for 127.0.0.1 because it doesn't contain any "
                 "IP SANs"},
      {"the common name does not count",
       {.common_name = "localhost"},
       true,
       "localhost",
       "",
       false,
       kVerify + "x509: certificate is not valid for any names, but wanted to match localhost"},
      {"expired",
       {.names = "IP:127.0.0.1", .from_seconds = -100, .to_seconds = -50},
       true,
       "127.0.0.1",
       "",
       false,
       kVerify + "x509: certificate has expired or is not yet valid: current time "},
      {"not yet valid",
       {.names = "IP:127.0.0.1", .from_seconds = 500},
       true,
       "127.0.0.1",
       "",
       false,
       kVerify + "x509: certificate has expired or is not yet valid: current time "},
  };
  const Identity stranger = MakeIdentity({.common_name = "authority", .authority = true});
  for (const CertificateCase& row : cases) {
    SCOPED_TRACE(row.name);
    const ServerTls tls{
        .identity = MakeIdentity(row.certificate, row.known_authority ? &Authority() : &stranger),
        .client_ca = {}};
    Server& server = Serve(Http2Handler(Echo()), &tls);
    HttpClientOptions options = Options(server);
    options.url = "https://" + row.host + ":" + std::to_string(server.Port());
    options.tls.server_name = row.server_name;
    options.tls.insecure = row.insecure;
    const Outcome got = Get(Connect(options));
    if (row.expected.empty()) {
      EXPECT_TRUE(got) << got.error().message;
      continue;
    }
    ASSERT_FALSE(got);
    EXPECT_EQ(got.error().kind, Kind::kConnect);
    EXPECT_THAT(got.error().message, StartsWith(row.expected));
  }
}

TEST_F(Http2ClientTest, TheServerSeesTheClientsCertificate) {
  ServerTls tls = tls_;
  tls.client_ca = Authority().certificate;
  std::string seen;
  Server& server =
      Serve(Http2Handler([&](Http2Session& session, int32_t stream, const SeenRequest&) {
              seen = session.peer().ClientName();
              session.Respond(stream, 200, "");
            }),
            &tls);
  for (const bool elliptic : {false, true}) {
    const Identity me =
        MakeIdentity({.common_name = elliptic ? "ec" : "rsa", .elliptic = elliptic}, &Authority());
    for (const std::string& key : {me.key, me.plain_key}) {
      HttpClientOptions options = Options(server);
      options.tls.client_cert_pem = me.certificate;
      options.tls.client_key_pem = key;
      const Outcome got = Get(Connect(options));
      ASSERT_TRUE(got) << got.error().message;
      EXPECT_EQ(seen, elliptic ? "ec" : "rsa");
    }
  }
}

TEST_F(Http2ClientTest, AServerThatWantsACertificateSaysSo) {
  ServerTls tls = tls_;
  tls.client_ca = Authority().certificate;
  Server& server = Serve(Http2Handler(Echo()), &tls);
  const Outcome got = Get(Connect(Options(server)));
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().kind, Kind::kConnect);
  EXPECT_EQ(got.error().message, "remote error: tls: certificate required");
}

TEST_F(Http2ClientTest, NewCertificatesAreForNewConnections) {
  ServerTls tls = tls_;
  tls.client_ca = Authority().certificate;
  std::vector<std::string> seen;
  Server& server =
      Serve(Http2Handler([&](Http2Session& session, int32_t stream, const SeenRequest& request) {
              seen.push_back(session.peer().ClientName());
              session.Begin(stream, 200);
              if (request.target != "/watch") session.End(stream);
            }),
            &tls);
  const Identity old = MakeIdentity({.common_name = "old"}, &Authority());
  const Identity fresh = MakeIdentity({.common_name = "fresh"}, &Authority());
  HttpClientOptions options = Options(server);
  options.tls.client_cert_pem = old.certificate;
  options.tls.client_key_pem = old.key;
  HttpClient& client = Connect(options);
  RecordingSink sink;
  const auto watch = On([&] { return client.Stream({"GET", "/watch", {}, ""}, &sink); });
  Until([&] { return sink.got_status == 200; });
  ASSERT_TRUE(Get(client));
  TlsOptions bad = options.tls;
  bad.client_key_pem = fresh.key;
  On([&] {
    const auto refused = client.SetTls(bad);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().Message(), "tls: private key does not match public key");
    TlsOptions good = options.tls;
    good.client_cert_pem = fresh.certificate;
    good.client_key_pem = fresh.key;
    EXPECT_TRUE(client.SetTls(good));
  });
  ASSERT_TRUE(Get(client));
  EXPECT_EQ(seen, (std::vector<std::string>{"old", "old", "fresh"}));
  EXPECT_EQ(sink.ended, 0);
  Until([&] { return server.Open().size() == 2; });  // the watch's and the new one
  On([&] { client.Cancel(watch); });
  Until([&] { return server.Open().size() == 1; });
}

TEST_F(Http2ClientTest, AServerThatSpeaksNoTls) {
  Server& plain = Serve(Http1Handler([](Peer&, const SeenRequest&) {}));
  Server& html = Serve([](Peer& peer) {
    peer.on_bytes = [](Peer& from, std::string_view) {
      from.Write("HTTP/1.1 400 Bad Request\r\n\r\n");
      from.CloseWhenWritten();
    };
  });
  Server& closing =
      Serve([](Peer& peer) { peer.on_bytes = [](Peer& from, std::string_view) { from.Close(); }; });
  HttpClientOptions options = Options(html);
  options.url = "https://127.0.0.1:" + std::to_string(html.Port());
  EXPECT_EQ(Words(Get(Connect(options))), "http: server gave HTTP response to HTTPS client");
  options.url = "https://127.0.0.1:" + std::to_string(closing.Port());
  EXPECT_EQ(Words(Get(Connect(options))), "EOF");
  options.url = "https://127.0.0.1:" + std::to_string(plain.Port());
  options.connect_timeout = std::chrono::milliseconds(20);
  EXPECT_THAT(Words(Get(Connect(options))), HasSubstr("timeout"));
}

// ---- proxies ----

TEST_F(Http2ClientTest, TunnelsThroughProxies) {
  Server& server = ServeHttp2(Echo());
  std::vector<SeenRequest> seen;
  const auto tunnel = Http1Handler([&](Peer& peer, const SeenRequest& request) {
    seen.push_back(request);
    const auto alive = peer.shared_from_this();
    Splice(*loop_, peer, server.Port(),
           [alive] { alive->Write("HTTP/1.1 200 Connection established\r\n\r\n"); });
  });
  ServerTls proxy_tls = tls_;
  proxy_tls.protocols = {};
  Server& plain = Serve(tunnel);
  Server& secure = Serve(tunnel, &proxy_tls);
  for (Server* proxy : {&plain, &secure}) {
    HttpClientOptions options = Options(server);
    options.proxy_url = proxy->Url();
    options.proxy_url.insert(options.proxy_url.find("//") + 2, "user:p%40ss@");
    const Outcome got = Get(Connect(options), "/tunnelled");
    ASSERT_TRUE(got) << got.error().message;
    EXPECT_EQ(got->body, "GET /tunnelled ");
  }
  ASSERT_EQ(seen.size(), 2u);
  EXPECT_EQ(seen[0].method, "CONNECT");
  EXPECT_EQ(seen[0].target, "127.0.0.1:" + std::to_string(server.Port()));
  EXPECT_EQ(seen[1].headers["Proxy-Authorization"], "Basic dXNlcjpwQHNz");
}

TEST_F(Http2ClientTest, AProxyThatRefuses) {
  Server& server = ServeHttp2(Echo());
  Server& proxy = Serve(Http1Handler([](Peer& peer, const SeenRequest&) {
    peer.Write("HTTP/1.1 407 Proxy Authentication Required\r\n\r\n");
  }));
  HttpClientOptions options = Options(server);
  options.proxy_url = proxy.Url();
  const Outcome got = Get(Connect(options));
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().kind, Kind::kConnect);
  EXPECT_EQ(got.error().message, "Proxy Authentication Required");
}

}  // namespace
}  // namespace berth::net
