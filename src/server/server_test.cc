// The server over a real socket, with real TLS.
#include "server/server.h"

#include <sys/mman.h>
#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstring>
#include <future>
#include <thread>

#include "log/log.h"
#include "server/testing/server.h"

namespace berth::server {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

// A blocking client. What it says is what it got; "" after an error.
class Client : public TestConnection {
 public:
  using TestConnection::TestConnection;

  std::string CommonName() {
    char text[256] = "";
    X509* cert = SSL_get0_peer_certificate(Ssl());
    X509_NAME_get_text_by_NID(X509_get_subject_name(cert), NID_commonName, text, sizeof text);
    return text;
  }

  // One request and its response, on the same connection again and again.
  std::string Ask(const std::string& request, bool head = false) {
    if (!Send(request)) return "";
    std::string got;
    while (true) {
      const size_t end = got.find("\r\n\r\n");
      if (end != std::string::npos) {
        const size_t at = got.find("Content-Length: ");
        const size_t size =
            at < end ? std::stoul(got.substr(at + 16)) : std::string::npos - end - 4;
        if (head || got.size() >= end + 4 + size) return got;
      }
      if (!Receive(&got)) return got;
    }
  }
  // Everything that comes until the server closes the connection.
  std::string AskAll(const std::string& request) {
    if (!Send(request)) return "";
    std::string got;
    while (Receive(&got)) {
    }
    return got;
  }
  std::string Get(const std::string& path, const std::string& headers = "") {
    return Ask("GET " + path + " HTTP/1.1\r\nHost: localhost\r\n" + headers + "\r\n");
  }
  // True: the server has closed the connection.
  bool Closed() {
    char byte;
    return SSL_read(Ssl(), &byte, 1) <= 0;
  }
};

class ServerTest : public ServerFixture {
 protected:
  ServerTest() {
    options_.endpoints.readyz = {{"shutdown", [] { return Result<void>(); }}};
  }
  void UseNoFiles() {
    options_.serving.cert_file.clear();
    options_.serving.key_file.clear();
  }
};

TEST_F(ServerTest, HealthzOverTlsAgainAndAgain) {
  Start();
  Client client(server_->Port());
  ASSERT_TRUE(client.Handshake());
  for (int i = 0; i < 3; ++i) {
    const std::string got = client.Get("/healthz");
    EXPECT_THAT(got, StartsWith("HTTP/1.1 200 OK\r\n"));
    EXPECT_THAT(got, HasSubstr("Cache-Control: no-cache, private\r\n"));
    EXPECT_THAT(got, HasSubstr("Date: "));
    EXPECT_THAT(got, EndsWith("\r\n\r\nok"));
  }
  EXPECT_STREQ(SSL_get_version(client.Ssl()), "TLSv1.3");
  EXPECT_STREQ(SSL_get_cipher(client.Ssl()), "TLS_AES_128_GCM_SHA256");
}

TEST_F(ServerTest, ACertificateIsMadeWhenNoneIsGiven) {
  UseNoFiles();
  Start();
  Client client(server_->Port());
  ASSERT_TRUE(client.Handshake());
  EXPECT_THAT(client.CommonName(), StartsWith("localhost@"));
  X509* cert = SSL_get0_peer_certificate(client.Ssl());
  EXPECT_EQ(X509_check_host(cert, "localhost", 0, 0, nullptr), 1);
  EXPECT_EQ(X509_check_ip_asc(cert, "127.0.0.1", 0), 1);
  EXPECT_EQ(X509_check_host(cert, "example.com", 0, 0, nullptr), 0);
  EXPECT_EQ(sk_X509_num(SSL_get_peer_cert_chain(client.Ssl())), 2) << "with its authority";
}

TEST_F(ServerTest, WithoutCredentialsEverythingElseIsForbidden) {
  Start();
  Client client(server_->Port());
  ASSERT_TRUE(client.Handshake());
  const std::string got = client.Get("/metrics");
  EXPECT_THAT(got, StartsWith("HTTP/1.1 403 Forbidden\r\n"));
  EXPECT_THAT(got, HasSubstr("User \\\"system:anonymous\\\" cannot get path \\\"/metrics\\\""));
}

TEST_F(ServerTest, RequestsAreLoggedAtThreeAndRefusalsAtFour) {
  const int fd = memfd_create("log", 0);
  ASSERT_TRUE(log::Configure({.verbosity = 4, .fd = fd}));
  Start();
  Client client(server_->Port());
  ASSERT_TRUE(client.Handshake());
  client.Get("/healthz?verbose");
  client.Get("/metrics");
  server_->Stop();
  ASSERT_TRUE(log::Configure({}));
  std::string text(static_cast<size_t>(lseek(fd, 0, SEEK_END)), '\0');
  EXPECT_EQ(pread(fd, text.data(), text.size(), 0), static_cast<ssize_t>(text.size()));
  close(fd);
  EXPECT_THAT(text, HasSubstr("] \"HTTP\" verb=\"GET\" URI=\"/healthz?verbose\" latency=\""));
  EXPECT_THAT(text, HasSubstr(" resp=200\n"));
  EXPECT_THAT(text, HasSubstr("] \"Forbidden\" URI=\"/metrics\" reason=\"\"\n"));
  EXPECT_THAT(text, HasSubstr(" resp=403\n"));
}

TEST_F(ServerTest, MetricsWhenAllowedRefreshedOnAnotherThreadAndZipped) {
  options_.auth.always_allow_paths.push_back("/metrics");
  Gauge* gauge = registry_.AddGauge({"g", "G."}).Only();
  options_.endpoints.refresh_metrics = [&](std::function<void()> done) {
    std::thread([gauge, done = std::move(done)] {
      gauge->Set(5);
      done();
    }).detach();
  };
  Start();
  Client client(server_->Port());
  ASSERT_TRUE(client.Handshake());
  EXPECT_THAT(client.Get("/metrics"), EndsWith("g 5\n"));
  const std::string zipped = client.Get("/metrics", "Accept-Encoding: gzip\r\n");
  EXPECT_THAT(zipped, HasSubstr("Content-Encoding: gzip\r\n"));
  EXPECT_THAT(zipped, HasSubstr("\r\n\r\n\x1f\x8b"));
}

TEST_F(ServerTest, ARefreshThatNeverAnswersIsNotWaitedFor) {
  options_.auth.always_allow_paths.push_back("/metrics");
  options_.endpoints.refresh_metrics = [](const std::function<void()>&) {};
  registry_.AddGauge({"g", "G."});
  Start();
  Client client(server_->Port());
  ASSERT_TRUE(client.Handshake());
  EXPECT_THAT(client.Get("/metrics"), EndsWith("g 0\n"));
}

TEST_F(ServerTest, AMountAnswersFromAnyThreadBehindTheSameDoor) {
  const auto answer = [](const Request& request, const Respond& respond, const Post& post) {
    std::thread([post, respond, path = request.path] {
      post([respond, path] { respond({200, {{"Cache-Control", "max-age=60"}}, "mount " + path}); });
    }).detach();
  };
  options_.endpoints.mounts = {{"/apis/explain/v1", answer, false}, {"/dashboard/", answer, true}};
  Start();
  Client client(server_->Port());
  ASSERT_TRUE(client.Handshake());
  EXPECT_THAT(client.Get("/apis/explain/v1/nodes"), StartsWith("HTTP/1.1 403 Forbidden\r\n"));
  const std::string page = client.Get("/dashboard/app.js");
  EXPECT_THAT(page, EndsWith("\r\n\r\nmount /dashboard/app.js"));
  EXPECT_THAT(page, HasSubstr("Cache-Control: max-age=60\r\n"));
}

TEST_F(ServerTest, RequestsThatComeTogetherAreAnsweredInTheirOrder) {
  const auto answer = [](const Request& request, const Respond& respond, const Post& post) {
    const std::string body =
        request.path == "/dashboard/large" ? std::string(700'000, 'l') : "body " + request.body;
    std::thread([post, respond, body] {
      post([respond, body] { respond({200, {}, body}); });
    }).detach();
  };
  options_.endpoints.mounts = {{"/dashboard/", answer, true}};
  Start();
  Client client(server_->Port());
  ASSERT_TRUE(client.Handshake());
  const std::string got = client.AskAll(
      "GET /livez HTTP/1.1\r\nHost: x\r\n\r\n"
      "POST /dashboard/echo HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\none"
      "HEAD /healthz HTTP/1.1\r\nHost: x\r\n\r\n"
      "GET /dashboard/large HTTP/1.1\r\nHost: x\r\n\r\n"
      "POST /dashboard/echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
      "2\r\nch\r\n4\r\nunks\r\n0\r\n\r\n"
      "GET /livez HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
      "GET /livez HTTP/1.1\r\nHost: x\r\n\r\n");
  std::string bodies;
  size_t answers = 0;
  for (size_t at = 0; (at = got.find("HTTP/1.1 200 OK\r\n", at)) != std::string::npos; ++at) {
    ++answers;
    const size_t end = std::min(got.find("HTTP/1.1 ", at + 1), got.size());
    const size_t body = got.find("\r\n\r\n", at) + 4;
    bodies += end - body > 100 ? std::to_string(end - body) : got.substr(body, end - body);
    bodies += "|";
  }
  EXPECT_EQ(bodies, "ok|body one||700000|body chunks|ok|");
  EXPECT_EQ(answers, 6u) << "the one after the farewell is not answered";
}

TEST_F(ServerTest, ARequestMayComeInSmallPieces) {
  Start();
  Client client(server_->Port());
  ASSERT_TRUE(client.Handshake());
  const std::string request = "GET /livez HTTP/1.1\r\nHost: x\r\n\r\n";
  for (size_t i = 0; i + 1 < request.size(); ++i) SSL_write(client.Ssl(), &request[i], 1);
  EXPECT_THAT(client.Ask(request.substr(request.size() - 1)), EndsWith("ok"));
}

TEST_F(ServerTest, HeadHasNoBodyAndCloseCloses) {
  Start();
  Client client(server_->Port());
  ASSERT_TRUE(client.Handshake());
  const std::string head = client.Ask("HEAD /healthz HTTP/1.1\r\nHost: x\r\n\r\n", true);
  EXPECT_THAT(head, HasSubstr("Content-Length: 2\r\n"));
  EXPECT_THAT(head, EndsWith("\r\n\r\n"));
  EXPECT_THAT(client.Get("/healthz", "Connection: close\r\n"), EndsWith("ok"));
  EXPECT_TRUE(client.Closed());
}

TEST_F(ServerTest, PlainHttpIsToldSo) {
  Start();
  Client client(server_->Port());
  EXPECT_EQ(client.PlainAsk("GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"),
            "HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n");
}

TEST_F(ServerTest, NonsenseAndTooMuchAreRefused) {
  options_.serving.max_header_bytes = 2000;
  options_.serving.max_body_bytes = 100;
  Start();
  const struct {
    const char* name;
    std::string request;
    const char* status;
  } kRows[] = {
      {"no HTTP", "nonsense\r\n\r\n", "HTTP/1.1 400 Bad Request"},
      {"a bad escape", "GET /%zz HTTP/1.1\r\nHost: x\r\n\r\n", "HTTP/1.1 400 Bad Request"},
      {"a large header", "GET / HTTP/1.1\r\nHost: x\r\nX: " + std::string(4000, 'x') + "\r\n\r\n",
       "HTTP/1.1 431"},
      {"a large body", "PUT /healthz HTTP/1.1\r\nHost: x\r\nContent-Length: 5000\r\n\r\n",
       "HTTP/1.1 413"},
  };
  for (const auto& row : kRows) {
    Client client(server_->Port());
    ASSERT_TRUE(client.Handshake());
    EXPECT_THAT(client.Ask(row.request), StartsWith(row.status)) << row.name;
    EXPECT_TRUE(client.Closed()) << row.name;
  }
}

TEST_F(ServerTest, OldTlsIsRefusedAndTls12IsNot) {
  Start();
  Client old(server_->Port());
  SSL_CTX_set_max_proto_version(old.Context(), TLS1_1_VERSION);
  EXPECT_FALSE(old.Handshake());
  Client client(server_->Port());
  SSL_CTX_set_max_proto_version(client.Context(), TLS1_2_VERSION);
  ASSERT_TRUE(client.Handshake());
  EXPECT_STREQ(SSL_get_cipher(client.Ssl()), "ECDHE-RSA-AES128-GCM-SHA256");
}

TEST_F(ServerTest, CipherSuitesAndVersionsAreChosenByName) {
  options_.serving.cipher_suites = {"TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384"};
  Start();
  Client client(server_->Port());
  SSL_CTX_set_max_proto_version(client.Context(), TLS1_2_VERSION);
  ASSERT_TRUE(client.Handshake());
  EXPECT_STREQ(SSL_get_cipher(client.Ssl()), "ECDHE-RSA-AES256-GCM-SHA384");
  options_.serving.cipher_suites = {"TLS_NOPE"};
  const auto refused = Server::Make(options_);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().Message(), "Cipher suite TLS_NOPE not supported or doesn't exist");
}

TEST_F(ServerTest, KeyExchangesAreChosenByNumber) {
  options_.serving.key_exchanges = {24, 4588};
  Start();
  Client other(server_->Port());
  SSL_CTX_set1_groups_list(other.Context(), "X25519:P-256");
  EXPECT_FALSE(other.Handshake());
  Client client(server_->Port());
  SSL_CTX_set1_groups_list(client.Context(), "X25519:P-256:P-384");
  ASSERT_TRUE(client.Handshake());
  EXPECT_EQ(SSL_get_negotiated_group(client.Ssl()), NID_secp384r1);
}

TEST_F(ServerTest, KeyExchangesThatAreNotThere) {
  options_.serving.key_exchanges = {12345};
  const auto refused = Server::Make(options_);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().Message(), "the TLS library here has none of the key exchanges 12345");
}

TEST_F(ServerTest, ClientCertificatesSpeakForTheirUser) {
  const TestAuthority authority("ca");
  options_.auth.client_ca_file = Write("ca.crt", authority.Pem());
  Start();
  const auto ask = [&](const TestAuthority& by, const char* group) {
    Client client(server_->Port());
    client.BeJane(by, group);
    EXPECT_TRUE(client.Handshake());
    return client.Get("/configz");
  };
  EXPECT_THAT(ask(authority, "system:masters"), StartsWith("HTTP/1.1 200 OK"));
  EXPECT_THAT(ask(authority, "devs"), HasSubstr("User \\\"jane\\\" cannot get path"));
  EXPECT_THAT(ask(TestAuthority("other"), "system:masters"),
              StartsWith("HTTP/1.1 401 Unauthorized"));
}

TEST_F(ServerTest, NewCertificateFilesAreTakenUp) {
  const TestAuthority authority("ca");
  const auto first = authority.IssuePair("first", {}, false);
  const auto second = authority.IssuePair("second", {}, false);
  options_.serving.cert_file = Write("tls.crt", first.cert_pem);
  options_.serving.key_file = Write("tls.key", first.key_pem);
  const auto certificates = ServingCertificates::Make(options_.serving);
  ASSERT_TRUE(certificates) << certificates.error().Message();
  const auto before = (*certificates)->Current();
  EXPECT_FALSE(*(*certificates)->Reload()) << "nothing new";
  Write("tls.crt", second.cert_pem);
  EXPECT_FALSE((*certificates)->Reload()) << "the key is not of this certificate";
  EXPECT_EQ((*certificates)->Current(), before);
  Write("tls.key", second.key_pem);
  const auto loaded = (*certificates)->Reload();
  ASSERT_TRUE(loaded);
  EXPECT_TRUE(*loaded);
  EXPECT_NE((*certificates)->Current(), before);
}

TEST_F(ServerTest, CertificatesByName) {
  const TestAuthority authority("ca");
  const auto named = authority.IssuePair("named", {}, false, "named.example");
  const auto wild = authority.IssuePair("wild", {}, false);
  options_.serving.sni.push_back(
      {{}, Write("a.crt", named.cert_pem), Write("a.key", named.key_pem)});
  options_.serving.sni.push_back(
      {{"*.wild.example"}, Write("b.crt", wild.cert_pem), Write("b.key", wild.key_pem)});
  Start();
  const struct {
    const char* asked;
    const char* shown;
  } kRows[] = {{"named.example", "named"},
               {"a.wild.example", "wild"},
               {"a.b.wild.example", "shared@"},
               {"other.example", "shared@"}};
  for (const auto& row : kRows) {
    Client client(server_->Port());
    ASSERT_TRUE(client.Handshake(row.asked));
    EXPECT_THAT(client.CommonName(), StartsWith(row.shown)) << row.asked;
  }
}

TEST_F(ServerTest, AMadeCertificateIsKeptInItsDirectory) {
  UseNoFiles();
  options_.serving.cert_dir = directory_ / "pki";
  Start();
  EXPECT_TRUE(std::filesystem::exists(directory_ / "pki/kube-scheduler.crt"));
  struct stat info {};
  ASSERT_EQ(stat((directory_ / "pki/kube-scheduler.key").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
  Client client(server_->Port());
  ASSERT_TRUE(client.Handshake());
  const std::string made = client.CommonName();
  server_.reset();
  Start();
  Client again(server_->Port());
  ASSERT_TRUE(again.Handshake());
  EXPECT_EQ(again.CommonName(), made);
}

TEST_F(ServerTest, MistakesAreToldInGosWords) {
  Start();
  ServerOptions options = options_;
  options.serving.any_port = false;
  options.serving.port = server_->Port();
  const std::string where = "127.0.0.1:" + std::to_string(server_->Port());
  EXPECT_EQ(Server::Make(options).error().Message(),
            "failed to create listener: failed to listen on " + where + ": listen tcp " + where +
                ": bind: address already in use");
  options = options_;
  options.serving.cert_file = "missing.crt";
  options.serving.key_file = "missing.key";
  EXPECT_EQ(Server::Make(options).error().Message(), "open missing.crt: no such file or directory");
  options.serving.key_file.clear();
  EXPECT_EQ(Server::Make(options).error().Message(), "missing filename for serving cert");
  options.serving.cert_file = Write("bad.crt", "x");
  options.serving.key_file = Write("bad.key", "x");
  EXPECT_EQ(Server::Make(options).error().Message(),
            "tls: failed to find any PEM data in certificate input");
}

TEST_F(ServerTest, PortZeroIsNoServer) {
  options_.serving.any_port = false;
  options_.serving.port = 0;
  options_.serving.cert_file = "missing";
  Start();
  EXPECT_EQ(server_->Port(), 0);
  server_->Stop();
}

TEST_F(ServerTest, StopEndsIdleConnectionsAndTakesNoNewOnes) {
  Start();
  const int port = server_->Port();
  Client idle(port);
  ASSERT_TRUE(idle.Handshake());
  EXPECT_THAT(idle.Get("/livez"), EndsWith("ok"));
  server_->Stop();
  server_->Stop();
  EXPECT_TRUE(idle.Closed());
  Client late(port);
  EXPECT_FALSE(late.Connected());
}

TEST_F(ServerTest, ARequestUnderWayIsAnsweredBeforeTheEnd) {
  options_.auth.always_allow_paths.push_back("/metrics");
  registry_.AddGauge({"g", "G."});
  std::promise<void> asked;
  std::function<void()> answer;
  options_.endpoints.refresh_metrics = [&](std::function<void()> done) {
    answer = std::move(done);
    asked.set_value();
  };
  Start();
  Client client(server_->Port());
  ASSERT_TRUE(client.Handshake());
  std::string got;
  std::thread asker([&] { got = client.Get("/metrics"); });
  asked.get_future().wait();
  std::thread stopper([&] { server_->Stop(); });
  answer();
  asker.join();
  stopper.join();
  EXPECT_THAT(got, StartsWith("HTTP/1.1 200 OK"));
}

TEST_F(ServerTest, TheLongestIdleConnectionMakesRoom) {
  options_.serving.max_connections = 2;
  Start();
  Client first(server_->Port()), second(server_->Port());
  ASSERT_TRUE(first.Handshake());
  EXPECT_THAT(first.Get("/livez"), EndsWith("ok"));
  ASSERT_TRUE(second.Handshake());
  EXPECT_THAT(second.Get("/livez"), EndsWith("ok"));
  Client third(server_->Port());
  ASSERT_TRUE(third.Handshake());
  EXPECT_THAT(third.Get("/livez"), EndsWith("ok"));
  EXPECT_TRUE(first.Closed());
  EXPECT_THAT(second.Get("/livez"), EndsWith("ok"));
}

}  // namespace
}  // namespace berth::server
