// HTTP/2 on the secure port: a real socket and real TLS.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/testing/http2_client.h"
#include "server/testing/server.h"

namespace berth::server {
namespace {

using testing::HasSubstr;

// A blocking client that offers `protocols`, in the form of ALPN.
class Client {
 public:
  explicit Client(int port, const TestAuthority* by = nullptr, const char* group = "",
                  std::string protocols = "\x02h2\x08http/1.1")
      : connection_(port) {
    EXPECT_TRUE(connection_.Connected());
    if (by != nullptr) connection_.BeJane(*by, group);
    SSL_CTX_set_alpn_protos(connection_.Context(),
                            reinterpret_cast<const unsigned char*>(protocols.data()),
                            static_cast<unsigned>(protocols.size()));
    EXPECT_TRUE(connection_.Handshake());
  }

  std::string Selected() const {
    const unsigned char* name = nullptr;
    unsigned size = 0;
    SSL_get0_alpn_selected(connection_.Ssl(), &name, &size);
    return {reinterpret_cast<const char*>(name), size};
  }
  int32_t Ask(const std::string& path, Http2TestClient::Fields headers = {}) {
    return http2_.Ask("GET", path, std::move(headers));
  }
  // Waits for the answer.
  const Http2TestClient::Answer& Of(int32_t id) {
    while (!http2_.Closed(id) && Turn()) {
    }
    return http2_.Of(id);
  }
  // Waits for the end of the connection.
  bool Ends() {
    while (Turn()) {
    }
    return http2_.GoneAway();
  }
  uint32_t Setting(nghttp2_settings_id id) const { return http2_.Setting(id); }

 private:
  // Sends what there is and reads once. False: the server has closed the connection.
  bool Turn() {
    const std::string out = http2_.Produce();
    if (!out.empty() && !connection_.Send(out)) return false;
    std::string in;
    if (!connection_.Receive(&in)) return false;
    http2_.Receive(in);
    return true;
  }

  TestConnection connection_;
  Http2TestClient http2_;
};

class Http2ServerTest : public ServerFixture {
 protected:
  Http2ServerTest() { options_.auth.always_allow_paths.push_back("/metrics"); }
};

TEST_F(Http2ServerTest, IsSpokenWithWhoOffersIt) {
  Start();
  EXPECT_EQ(Client(server_->Port()).Selected(), "h2");
  EXPECT_EQ(Client(server_->Port(), nullptr, "", "\x08http/1.1\x02h2").Selected(), "h2");
  EXPECT_EQ(Client(server_->Port(), nullptr, "", "\x08http/1.1").Selected(), "http/1.1");
}

TEST_F(Http2ServerTest, IsNotSpokenWhenSwitchedOff) {
  options_.serving.http2 = false;
  Start();
  EXPECT_EQ(Client(server_->Port()).Selected(), "http/1.1");
}

TEST_F(Http2ServerTest, ManyRequestsAtATimeOnOneConnection) {
  registry_.AddGauge({"g", "G."});
  options_.serving.http2_max_streams = 30;
  Start();
  Client client(server_->Port());
  EXPECT_EQ(client.Of(client.Ask("/livez")).status, 200);  // it knows the limit now
  std::vector<int32_t> ids;
  for (int i = 0; i < 50; ++i) ids.push_back(client.Ask(i % 2 == 0 ? "/healthz" : "/metrics"));
  for (size_t i = 0; i < ids.size(); ++i) {
    const Http2TestClient::Answer& answer = client.Of(ids[i]);
    EXPECT_EQ(answer.status, 200);
    if (i % 2 == 0) {
      EXPECT_EQ(answer.body, "ok");
    } else {
      EXPECT_THAT(answer.body, HasSubstr("# TYPE g gauge"));
    }
  }
  EXPECT_EQ(client.Setting(NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS), 30U);
}

TEST_F(Http2ServerTest, EachRequestIsAuthenticatedAndAuthorized) {
  const TestAuthority authority("ca");
  options_.auth.client_ca_file = Write("ca.crt", authority.Pem());
  Start();
  Client anonymous(server_->Port());
  EXPECT_EQ(anonymous.Of(anonymous.Ask("/healthz")).status, 200);
  EXPECT_EQ(anonymous.Of(anonymous.Ask("/configz")).status, 403);
  Client master(server_->Port(), &authority, "system:masters");
  EXPECT_EQ(master.Of(master.Ask("/configz")).status, 200);
  Client dev(server_->Port(), &authority, "devs");
  const auto& answer = dev.Of(dev.Ask("/configz"));
  EXPECT_EQ(answer.status, 403);
  EXPECT_THAT(answer.body, HasSubstr("User \\\"jane\\\" cannot get path"));
}

TEST_F(Http2ServerTest, StopSaysGoodbyeToIdleConnections) {
  Start();
  Client client(server_->Port());
  EXPECT_EQ(client.Of(client.Ask("/livez")).status, 200);
  server_->Stop();
  EXPECT_TRUE(client.Ends());
}

TEST_F(Http2ServerTest, TheLongestIdleConnectionMakesRoom) {
  options_.serving.max_connections = 2;
  Start();
  Client first(server_->Port());
  EXPECT_EQ(first.Of(first.Ask("/livez")).status, 200);
  Client second(server_->Port());
  EXPECT_EQ(second.Of(second.Ask("/livez")).status, 200);
  Client third(server_->Port());
  EXPECT_EQ(third.Of(third.Ask("/livez")).status, 200);
  EXPECT_TRUE(first.Ends());
  EXPECT_EQ(second.Of(second.Ask("/livez")).status, 200);
}

}  // namespace
}  // namespace berth::server
