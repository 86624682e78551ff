// What a hostile or broken server can make the client hold: connections, memory, time.
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include "net/http/http_client.h"
#include "net/testing/http_fixture.h"

namespace berth::net {
namespace {

using namespace berth::net::testing;  // NOLINT: the servers of the tests
using ::testing::HasSubstr;

class HttpLimitsTest : public HttpTest {
 protected:
  // Never answers requests for /hang.
  static std::function<void(Peer&)> SometimesHanging() {
    return Http1Handler([](Peer& peer, const SeenRequest& request) {
      if (request.target != "/hang") peer.Write(Http1Ok(request.target));
    });
  }
  void Hang(HttpClient& client, int count) {
    On([&] {
      for (int i = 0; i < count; ++i) {
        client.Send({"POST", "/hang", {}, ""}, Nanoseconds(0), [](const Outcome&) {});
      }
    });
  }
};

TEST_F(HttpLimitsTest, M7RequestsThatHangDoNotStopOthersOverHttp1) {
  Server& server = Serve(SometimesHanging());
  HttpClientOptions options;
  options.url = server.Url();
  options.http1_connections = 4;
  HttpClient& client = Connect(options);
  Hang(client, 3);  // more than max_connections
  EXPECT_EQ(Words(Get(client, "/other")), "status 200");
  EXPECT_EQ(On([&] { return server.Accepted(); }), 4u);
  Hang(client, 20);  // more than http1_connections: others get one after a while
  EXPECT_EQ(Words(Get(client, "/other")), "status 200");
}

TEST_F(HttpLimitsTest, M7AConnectionIsMadeForWhatWaitsTooLongOnly) {
  Server& server = Serve(Http1Handler(
      [](Peer& peer, const SeenRequest& request) { peer.Write(Http1Ok(request.target)); }));
  HttpClientOptions options;
  options.url = server.Url();
  options.http1_connections = 4;
  HttpClient& client = Connect(options);
  int answered = 0;
  On([&] {
    for (int i = 0; i < 500; ++i) {
      client.Send({"GET", "/", {}, ""}, Nanoseconds(0), [&](const Outcome&) { ++answered; });
    }
  });
  Until([&] { return answered == 500; });
  EXPECT_EQ(On([&] { return server.Accepted(); }), 4u);
}

TEST_F(HttpLimitsTest, ARequestThatWaitsBeyondItsTimeIsNotSent) {
  int seen = 0;
  Server& server = Serve(Http1Handler([&](Peer& peer, const SeenRequest& request) {
    ++seen;
    peer.Write(Http1Ok(request.target));
  }));
  HttpClient& client = Connect(server);
  std::vector<Outcome> outcomes;
  const auto send = [&](Nanoseconds send_by) {
    On([&] {
      HttpRequest request{"POST", "/", {}, ""};
      request.send_by = send_by;
      client.Send(std::move(request), Nanoseconds(0),
                  [&](const Outcome& outcome) { outcomes.push_back(outcome); });
    });
  };
  send(On([&] { return loop_->Steady(); }));
  Until([&] { return outcomes.size() == 1; });
  ASSERT_FALSE(outcomes[0]);
  EXPECT_EQ(outcomes[0].error().kind, HttpError::Kind::kUnsent);
  EXPECT_EQ(On([&] { return seen; }), 0);
  send(On([&] { return loop_->Steady() + std::chrono::hours(1); }));
  Until([&] { return outcomes.size() == 2; });
  EXPECT_TRUE(outcomes[1]);
}

TEST_F(HttpLimitsTest, L2ErrorBodiesAreCutAtAMebibyte) {
  const std::string body(3 << 20, 'x');
  Server& server = Serve(Http1Handler([&](Peer& peer, const SeenRequest& request) {
    const std::string head = request.target == "/list" ? "HTTP/1.1 200 OK\r\n"
                                                       : "HTTP/1.1 500 Internal Server Error\r\n";
    peer.Write(head + "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body);
  }));
  HttpClient& client = Connect(server);
  const Outcome failed = Get(client, "/failing");
  ASSERT_TRUE(failed) << failed.error().message;
  EXPECT_EQ(failed->status, 500);
  EXPECT_EQ(failed->body.size(), size_t{1} << 20);
  const Outcome list = Get(client, "/list");
  ASSERT_TRUE(list) << list.error().message;
  EXPECT_EQ(list->body.size(), body.size());
}

TEST_F(HttpLimitsTest, L2LargeBodiesComeTogetherFromPieces) {
  std::string body;
  for (int i = 0; body.size() < (size_t{40} << 20); ++i) body += std::to_string(i) + ",";
  for (const bool length : {false, true}) {
    Server& server = Serve(Http1Handler([&](Peer& peer, const SeenRequest&) {
      peer.Write(length ? Http1Ok(body) : "HTTP/1.1 200 OK\r\n\r\n" + body);
      if (!length) peer.CloseWhenWritten();
    }));
    const Outcome got = Get(Connect(server));
    ASSERT_TRUE(got) << got.error().message;
    EXPECT_TRUE(got->body == body) << got->body.size() << " of " << body.size() << " bytes";
  }
}

TEST_F(HttpLimitsTest, L7InterimAnswersEndOverHttp1) {
  const auto interim = [](int count) {
    std::string all;
    for (int i = 0; i < count; ++i) all += "HTTP/1.1 103 Early Hints\r\n\r\n";
    return all;
  };
  Server& server = Serve(Http1Handler([&](Peer& peer, const SeenRequest& request) {
    peer.Write(interim(request.target == "/few" ? 100 : 101) + Http1Ok("late"));
  }));
  HttpClient& client = Connect(server);
  EXPECT_EQ(Words(Get(client, "/few")), "status 200");
  EXPECT_EQ(Words(Get(client, "/many")), "net/http: too many 1xx informational responses");
}

TEST_F(HttpLimitsTest, L7InterimAnswersEndOverHttp2) {
  const Identity ca =
      MakeIdentity({.common_name = "authority", .authority = true, .elliptic = false});
  const ServerTls tls{
      .identity = MakeIdentity({.common_name = "server", .names = "IP:127.0.0.1"}, &ca),
      .client_ca = {}};
  Server& server =
      Serve(Http2Handler([](Http2Session& session, int32_t stream, const SeenRequest& request) {
              const int count = request.target == "/few" ? 100 : 101;
              for (int i = 0; i < count; ++i) session.Interim(stream, 103);
              session.Respond(stream, 200, "late");
            }),
            &tls);
  HttpClientOptions options;
  options.url = server.Url();
  options.tls.ca_pem = ca.certificate;
  HttpClient& client = Connect(options);
  EXPECT_EQ(Words(Get(client, "/few")), "status 200");
  EXPECT_EQ(Words(Get(client, "/many")), "net/http: too many 1xx informational responses");
}

}  // namespace
}  // namespace berth::net
