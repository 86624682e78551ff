// HTTP/2 on the secure port: a real socket and real TLS.
#include <arpa/inet.h>
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/auth/test_certificates.h"
#include "server/http/http2_client_testing.h"
#include "server/http/tls.h"
#include "server/server.h"

namespace berth::server {
namespace {

using testing::HasSubstr;

// A blocking client that offers `protocols`, in the form of ALPN.
class Client {
 public:
  explicit Client(int port, const TestAuthority* by = nullptr, const char* group = "",
                  std::string protocols = "\x02h2\x08http/1.1") {
    fd_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(connect(fd_, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    context_ = SSL_CTX_new(TLS_client_method());
    if (by != nullptr) Show(by->IssuePair("jane", {group}));
    SSL_CTX_set_alpn_protos(context_, reinterpret_cast<const unsigned char*>(protocols.data()),
                            static_cast<unsigned>(protocols.size()));
    ssl_ = SSL_new(context_);
    SSL_set_fd(ssl_, fd_);
    EXPECT_EQ(SSL_connect(ssl_), 1);
  }
  ~Client() {
    SSL_free(ssl_);
    SSL_CTX_free(context_);
    close(fd_);
  }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  std::string Selected() const {
    const unsigned char* name = nullptr;
    unsigned size = 0;
    SSL_get0_alpn_selected(ssl_, &name, &size);
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
  template <class Pair>
  void Show(const Pair& issued) {
    BIO* cert = BIO_new_mem_buf(issued.cert_pem.data(), -1);
    BIO* key = BIO_new_mem_buf(issued.key_pem.data(), -1);
    X509* x509 = PEM_read_bio_X509(cert, nullptr, nullptr, nullptr);
    EVP_PKEY* pkey = PEM_read_bio_PrivateKey(key, nullptr, nullptr, nullptr);
    SSL_CTX_use_certificate(context_, x509);
    SSL_CTX_use_PrivateKey(context_, pkey);
    X509_free(x509);
    EVP_PKEY_free(pkey);
    BIO_free(cert);
    BIO_free(key);
  }
  // Sends what there is and reads once. False: the server has closed the connection.
  bool Turn() {
    const std::string out = http2_.Produce();
    if (!out.empty() && SSL_write(ssl_, out.data(), static_cast<int>(out.size())) <= 0) {
      return false;
    }
    char buffer[4096];
    const int n = SSL_read(ssl_, buffer, sizeof buffer);
    if (n <= 0) return false;
    http2_.Receive({buffer, static_cast<size_t>(n)});
    return true;
  }

  int fd_ = -1;
  SSL_CTX* context_ = nullptr;
  SSL* ssl_ = nullptr;
  Http2TestClient http2_;
};

class Http2ServerTest : public testing::Test {
 protected:
  Http2ServerTest() {
    options_.serving.bind_address = "127.0.0.1";
    options_.serving.any_port = true;
    options_.endpoints.metrics = &registry_;
    options_.auth.always_allow_paths.push_back("/metrics");
    char name[] = "/tmp/berth-http2-XXXXXX";
    directory_ = mkdtemp(name);
    static const CertificatePem pem = *MakeSelfSigned("shared", {"localhost"}, {"127.0.0.1"});
    options_.serving.cert_file = Write("tls.crt", pem.cert);
    options_.serving.key_file = Write("tls.key", pem.key);
  }
  ~Http2ServerTest() override {
    server_.reset();
    std::filesystem::remove_all(directory_);
  }

  void Start() {
    auto server = Server::Make(options_);
    ASSERT_TRUE(server) << server.error().Message();
    server_ = std::move(*server);
    server_->Start();
  }
  std::string Write(const std::string& name, const std::string& text) {
    const std::string path = directory_ + "/" + name;
    std::ofstream(path) << text;
    return path;
  }

  Registry registry_;
  ServerOptions options_;
  std::unique_ptr<Server> server_;
  std::string directory_;
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
