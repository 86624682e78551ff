// For tests of the server over a real socket with real TLS: one side that connects, and a fixture
// that starts the other.
#pragma once

#include <arpa/inet.h>
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "server/http/tls.h"
#include "server/server.h"
#include "server/testing/certificates.h"

namespace berth::server {

// A blocking connection to the server of this machine. What is set up in Context() before the
// handshake counts.
class TestConnection {
 public:
  explicit TestConnection(int port) {
    fd_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    connected_ = connect(fd_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
  }
  ~TestConnection() {
    SSL_free(ssl_);
    SSL_CTX_free(context_);
    close(fd_);
  }
  TestConnection(const TestConnection&) = delete;
  TestConnection& operator=(const TestConnection&) = delete;

  bool Connected() const { return connected_; }
  SSL_CTX* Context() {
    if (context_ == nullptr) context_ = SSL_CTX_new(TLS_client_method());
    return context_;
  }
  // Shows a certificate of the user jane in that group.
  void BeJane(const TestAuthority& by, const std::string& group) {
    const auto issued = by.IssuePair("jane", {group});
    BIO* cert = BIO_new_mem_buf(issued.cert_pem.data(), -1);
    BIO* key = BIO_new_mem_buf(issued.key_pem.data(), -1);
    X509* x509 = PEM_read_bio_X509(cert, nullptr, nullptr, nullptr);
    EVP_PKEY* pkey = PEM_read_bio_PrivateKey(key, nullptr, nullptr, nullptr);
    SSL_CTX_use_certificate(Context(), x509);
    SSL_CTX_use_PrivateKey(Context(), pkey);
    X509_free(x509);
    EVP_PKEY_free(pkey);
    BIO_free(cert);
    BIO_free(key);
  }
  bool Handshake(const char* name = nullptr) {
    ssl_ = SSL_new(Context());
    if (name != nullptr) SSL_set_tlsext_host_name(ssl_, name);
    SSL_set_fd(ssl_, fd_);
    return SSL_connect(ssl_) == 1;
  }
  SSL* Ssl() const { return ssl_; }

  bool Send(std::string_view bytes) {
    return SSL_write(ssl_, bytes.data(), static_cast<int>(bytes.size())) > 0;
  }
  // Appends what comes next. False: the server has closed the connection.
  bool Receive(std::string* into) {
    char buffer[4096];
    const int n = SSL_read(ssl_, buffer, sizeof buffer);
    if (n <= 0) return false;
    into->append(buffer, static_cast<size_t>(n));
    return true;
  }
  // Without TLS: everything that comes until the server closes the connection.
  std::string PlainAsk(std::string_view request) {
    send(fd_, request.data(), request.size(), MSG_NOSIGNAL);
    std::string got;
    char buffer[4096];
    for (ssize_t n; (n = recv(fd_, buffer, sizeof buffer, 0)) > 0;) {
      got.append(buffer, static_cast<size_t>(n));
    }
    return got;
  }

 private:
  int fd_ = -1;
  bool connected_ = false;
  SSL_CTX* context_ = nullptr;
  SSL* ssl_ = nullptr;
};

// A server on a free port, with files in a directory of its own.
class ServerFixture : public testing::Test {
 protected:
  ServerFixture() {
    options_.serving.bind_address = "127.0.0.1";
    options_.serving.any_port = true;
    options_.endpoints.metrics = &registry_;
    const testing::TestInfo& test = *testing::UnitTest::GetInstance()->current_test_info();
    directory_ =
        std::filesystem::temp_directory_path() /
        ("berth-" + std::to_string(getpid()) + "-" + test.test_suite_name() + "-" + test.name());
    std::filesystem::create_directories(directory_);
    // Making one takes a while: most tests share it.
    static const CertificatePem pem = *MakeSelfSigned("shared", {"localhost"}, {"127.0.0.1"});
    options_.serving.cert_file = Write("shared.crt", pem.cert);
    options_.serving.key_file = Write("shared.key", pem.key);
  }
  ~ServerFixture() override {
    server_.reset();
    std::error_code ignored;
    std::filesystem::remove_all(directory_, ignored);
  }

  void Start() {
    auto server = Server::Make(options_);
    ASSERT_TRUE(server) << server.error().Message();
    server_ = std::move(*server);
    server_->Start();
  }
  std::string Write(const std::string& name, const std::string& text) const {
    const std::string path = directory_ / name;
    std::ofstream(path) << text;
    return path;
  }

  Registry registry_;
  ServerOptions options_;
  std::unique_ptr<Server> server_;
  std::filesystem::path directory_;
};

}  // namespace berth::server
