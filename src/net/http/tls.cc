#include "net/http/tls.h"

#include <openssl/bio.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <climits>
#include <cstring>

#include "net/http/tls_context.h"
#include "net/http/tls_records.h"
#include "net/http/url.h"

namespace berth::net {
namespace {

constexpr size_t kMaxRecord = 16 << 10;

// Where OpenSSL reads ciphertext from and writes it to: straight from and to our buffers. It gets
// one record at a time: what it has read beyond a record it moves to the front of its buffer, again
// for every record.
struct Wire {
  std::string_view input;
  TlsRecords records;
  std::string output;
};

int WireRead(BIO* bio, char* to, size_t size, size_t* read) {
  auto* wire = static_cast<Wire*>(BIO_get_data(bio));
  BIO_clear_retry_flags(bio);
  if (wire->input.empty()) {
    *read = 0;
    BIO_set_retry_read(bio);
    return 0;
  }
  *read = wire->records.Take(wire->input.substr(0, size));
  std::memcpy(to, wire->input.data(), *read);
  wire->input.remove_prefix(*read);
  return 1;
}

int WireWrite(BIO* bio, const char* from, size_t size, size_t* written) {
  static_cast<Wire*>(BIO_get_data(bio))->output.append(from, size);
  BIO_clear_retry_flags(bio);
  *written = size;
  return 1;
}

long WireControl(BIO*, int command, long, void*) { return command == BIO_CTRL_FLUSH ? 1 : 0; }

const BIO_METHOD* WireMethod() {
  static const BIO_METHOD* const kMethod = [] {
    BIO_METHOD* method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "wire");
    BIO_meth_set_read_ex(method, WireRead);
    BIO_meth_set_write_ex(method, WireWrite);
    BIO_meth_set_ctrl(method, WireControl);
    return method;
  }();
  return kMethod;
}

std::string WithoutTrailingDot(std::string name) {
  if (name.ends_with('.')) name.pop_back();
  return name;
}

class OpenSslLayer final : public TlsLayer {
 public:
  OpenSslLayer(std::shared_ptr<const TlsContext> context, const std::string& host, bool offer_http1,
               bool offer_http2)
      : context_(std::static_pointer_cast<const OpenSslContext>(std::move(context))),
        check_{WithoutTrailingDot(context_->server_name.empty() ? host : context_->server_name),
               {}},
        ssl_(SSL_new(context_->context.get())) {
    BIO* bio = BIO_new(WireMethod());
    BIO_set_data(bio, &wire_);
    BIO_set_init(bio, 1);
    SSL_set_bio(ssl_.get(), bio, bio);
    SSL_set_connect_state(ssl_.get());
    SetName();
    SetProtocols(offer_http1, offer_http2);
  }

  State Receive(std::string_view wire, ByteBuffer& plain) override {
    if (state_ == State::kFailed || state_ == State::kClosed) return state_;
    ERR_clear_error();
    wire_.input = wire;
    if (state_ == State::kHandshake) Handshake(wire);
    if (state_ == State::kOpen) Read(plain);
    wire_.input = {};
    return state_;
  }

  bool Send(std::string_view plain) override {
    ERR_clear_error();
    while (!plain.empty()) {
      size_t written = 0;
      if (SSL_write_ex(ssl_.get(), plain.data(), plain.size(), &written) != 1) {
        failure_ = TlsFailureWords(check_);
        return false;
      }
      plain.remove_prefix(written);
    }
    return true;
  }

  void Shutdown() override {
    if (state_ != State::kOpen) return;
    ERR_clear_error();
    SSL_shutdown(ssl_.get());
    ERR_clear_error();
  }

  std::string& Output() override { return wire_.output; }

  bool Http2() const override {
    const unsigned char* name = nullptr;
    unsigned size = 0;
    SSL_get0_alpn_selected(ssl_.get(), &name, &size);
    return size == 2 && std::memcmp(name, "h2", 2) == 0;
  }

  const std::string& Failure() const override { return failure_; }

 private:
  void SetName() {
    const std::string& host = check_.host;
    SSL_set_app_data(ssl_.get(), &check_);
    X509_VERIFY_PARAM* param = SSL_get0_param(ssl_.get());
    if (IsIpAddress(host)) {  // no SNI for addresses
      X509_VERIFY_PARAM_set1_ip_asc(param, host.c_str());
      return;
    }
    SSL_set_tlsext_host_name(ssl_.get(), host.c_str());
    X509_VERIFY_PARAM_set_hostflags(param, kHostFlags);
    X509_VERIFY_PARAM_set1_host(param, host.data(), host.size());
  }

  void SetProtocols(bool http1, bool http2) {
    std::string names;
    if (http2) names += "\x02h2";
    if (http1) names += "\x08http/1.1";
    if (names.empty()) return;
    SSL_set_alpn_protos(ssl_.get(), reinterpret_cast<const unsigned char*>(names.data()),
                        static_cast<unsigned>(names.size()));
  }

  void Handshake(std::string_view wire) {
    const bool plain_http = !heard_ && wire.starts_with("HTTP/");
    heard_ = heard_ || !wire.empty();
    const int done = SSL_do_handshake(ssl_.get());
    if (done == 1) {
      state_ = State::kOpen;
      return;
    }
    const int error = SSL_get_error(ssl_.get(), done);
    if (error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE) return;
    state_ = State::kFailed;
    failure_ = TlsFailureWords(check_);
    if (plain_http) failure_ = "http: server gave HTTP response to HTTPS client";
  }

  void Read(ByteBuffer& plain) {
    for (;;) {
      size_t read = 0;
      const int ok = SSL_read_ex(ssl_.get(), plain.Prepare(kMaxRecord), kMaxRecord, &read);
      if (ok == 1) {
        plain.Commit(read);
        continue;
      }
      const int error = SSL_get_error(ssl_.get(), ok);
      if (error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE) return;
      state_ = error == SSL_ERROR_ZERO_RETURN ? State::kClosed : State::kFailed;
      if (state_ == State::kFailed) failure_ = TlsFailureWords(check_);
      return;
    }
  }

  const std::shared_ptr<const OpenSslContext> context_;
  CertificateCheck check_;
  Wire wire_;
  SslPtr ssl_;
  State state_ = State::kHandshake;
  bool heard_ = false;
  std::string failure_;
};

}  // namespace

std::unique_ptr<TlsLayer> MakeTlsLayer(std::shared_ptr<const TlsContext> context,
                                       const std::string& host, bool offer_http1,
                                       bool offer_http2) {
  return std::make_unique<OpenSslLayer>(std::move(context), host, offer_http1, offer_http2);
}

}  // namespace berth::net
