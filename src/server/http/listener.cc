// The one file that knows Beast.
#include "server/http/listener.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdio>
#include <list>
#include <optional>
#include <utility>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ip/v6_only.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/detect_ssl.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http.hpp>

#include "log/log.h"

namespace berth::server {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using tcp = asio::ip::tcp;
using boost::system::error_code;

std::string HostPort(const std::string& host, int port) {
  const bool v6 = host.find(':') != std::string::npos;
  return (v6 ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

std::string LowerFirst(std::string text) {
  if (!text.empty()) text[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(text[0])));
  return text;
}

std::string LowerCase(beast::string_view text) {
  std::string lower(text.data(), text.size());
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return lower;
}

// The certificates the client has shown, in DER.
PeerChain ChainOf(SSL* ssl) {
  X509* leaf = SSL_get0_peer_certificate(ssl);
  if (leaf == nullptr) return nullptr;
  auto chain = std::make_shared<std::vector<std::string>>();
  const auto add = [&](X509* cert) {
    unsigned char* der = nullptr;
    const int size = i2d_X509(cert, &der);
    if (size > 0) chain->emplace_back(reinterpret_cast<char*>(der), static_cast<size_t>(size));
    OPENSSL_free(der);
  };
  add(leaf);
  const STACK_OF(X509)* rest = SSL_get_peer_cert_chain(ssl);  // of a client: without its own
  for (int i = 0; i < sk_X509_num(rest); ++i) add(sk_X509_value(rest, i));
  return chain;
}

class Session;

// What sessions need of the listener.
struct Shared {
  ServingOptions options;
  const ServingCertificates* certificates;  // null: plain HTTP
  Handler handler;
  std::list<Session*> sessions;  // the ones that waited longest for a request first
  bool stopping = false;
  std::function<void()> drained = {};

  void MaybeDrained() {
    if (!stopping || !sessions.empty() || !drained) return;
    const auto done = std::move(drained);
    drained = nullptr;
    done();
  }
};

// One connection. Lives as long as an operation of it is under way.
class Session : public std::enable_shared_from_this<Session> {
 public:
  Session(tcp::socket socket, std::shared_ptr<Shared> shared)
      : shared_(std::move(shared)), tcp_(std::move(socket)) {
    if (shared_->certificates) {
      tls_ = shared_->certificates->Current();
      context_.emplace(Reference(tls_->Native()));
      secure_.emplace(tcp_, *context_);
    }
    place_ = shared_->sessions.insert(shared_->sessions.end(), this);
  }
  ~Session() {
    if (body_) body_->Close();
    shared_->sessions.erase(place_);
    shared_->MaybeDrained();
  }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  void Run() {
    Deadline(shared_->options.header_timeout);
    if (!secure_) {
      Read(shared_->options.header_timeout);
      return;
    }
    beast::async_detect_ssl(tcp_, buffer_,
                            [self = shared_from_this()](error_code error, bool is_tls) {
                              if (error) return;
                              is_tls ? self->Handshake() : self->RefusePlain();
                            });
  }

  bool Idle() const { return idle_; }
  // The other side may be in the middle of anything.
  void Abort() {
    error_code ignored;
    tcp_.socket().close(ignored);
  }
  // No further request; the one under way is answered.
  void Finish() {
    last_ = true;
    if (idle_) Abort();
    if (body_) EndStream();
  }

 private:
  // A context of asio's owns its SSL_CTX: give it a reference of its own.
  static SSL_CTX* Reference(SSL_CTX* context) {
    SSL_CTX_up_ref(context);
    return context;
  }

  void Deadline(std::chrono::seconds after) { tcp_.expires_after(after); }

  void RefusePlain() {
    static constexpr std::string_view kText =
        "HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n";
    asio::async_write(tcp_, asio::buffer(kText.data(), kText.size()),
                      [self = shared_from_this()](error_code, size_t) {
                        error_code ignored;
                        auto& socket = self->tcp_.socket();
                        socket.shutdown(tcp::socket::shutdown_both, ignored);
                      });
  }

  void Handshake() {
    secure_->async_handshake(asio::ssl::stream_base::server, buffer_.data(),
                             [self = shared_from_this()](error_code error, size_t used) {
                               if (error) {
                                 self->LogHandshake(error);
                                 return;
                               }
                               self->buffer_.consume(used);
                               self->peer_ = ChainOf(self->secure_->native_handle());
                               self->Read(self->shared_->options.header_timeout);
                             });
  }

  void LogHandshake(const error_code& error) {
    if (!log::V(2)) return;
    error_code unknown;
    const auto remote = tcp_.socket().remote_endpoint(unknown);
    std::string line = "http: TLS handshake error";
    if (!unknown) line += " from " + HostPort(remote.address().to_string(), remote.port());
    log::InfoLine(2, line + ": " + error.message());
  }

  void Read(std::chrono::seconds patience) {
    if (last_ || shared_->stopping) {
      Close();
      return;
    }
    parser_.emplace();
    parser_->header_limit(static_cast<uint32_t>(shared_->options.max_header_bytes));
    parser_->body_limit(shared_->options.max_body_bytes);
    idle_ = true;
    shared_->sessions.splice(shared_->sessions.end(), shared_->sessions, place_);
    Deadline(patience);
    const auto done = [self = shared_from_this()](error_code error, size_t) {
      self->idle_ = false;
      error ? self->OnReadError(error) : self->ReadBody();
    };
    With([&](auto& stream) { http::async_read_header(stream, buffer_, *parser_, done); });
  }

  void ReadBody() {
    Deadline(shared_->options.header_timeout);
    const auto done = [self = shared_from_this()](error_code error, size_t) {
      error ? self->OnReadError(error) : self->Handle();
    };
    With([&](auto& stream) { http::async_read(stream, buffer_, *parser_, done); });
  }

  void OnReadError(const error_code& error) {
    if (error == http::error::header_limit) {
      Refuse(431, "431 Request Header Fields Too Large");
    } else if (error == http::error::body_limit) {
      Refuse(413, "413 Request Entity Too Large");
    } else if (error.category() == http::make_error_code(http::error::bad_method).category() &&
               error != http::error::end_of_stream && error != http::error::partial_message) {
      Refuse(400, "400 Bad Request");
    } else {
      Close();
    }
  }

  void Refuse(int status, std::string text) {
    last_ = true;
    version_ = 11;
    Response response;
    response.status = status;
    response.Set("Content-Type", "text/plain; charset=utf-8");
    response.body = std::move(text);
    Write(std::move(response));
  }

  void Handle() {
    auto message = parser_->release();
    version_ = message.version();
    head_ = message.method() == http::verb::head;
    if (!message.keep_alive()) last_ = true;
    Request request;
    request.method = std::string(message.method_string());
    request.target = std::string(message.target());
    if (!ParseTarget(request.target, &request.path, &request.query)) {
      Refuse(400, "400 Bad Request");
      return;
    }
    for (const auto& field : message) {
      request.headers.emplace_back(LowerCase(field.name_string()), std::string(field.value()));
    }
    request.body = std::move(message.body());
    request.peer = peer_;
    // Nothing is read while the request is worked on; the time that takes is its handler's affair.
    tcp_.expires_never();
    shared_->handler(std::move(request), [self = shared_from_this()](Response response) {
      self->Write(std::move(response));
    });
  }

  void Write(Response response) {
    if (shared_->stopping || response.stream) last_ = true;
    out_.emplace();
    out_->version(version_);
    out_->result(static_cast<unsigned>(response.status));
    for (auto& [name, value] : response.headers) out_->insert(name, value);
    out_->keep_alive(!last_);
    if (response.stream) {
      StartStream(std::move(response.stream));
      return;
    }
    const size_t size = response.body.size();
    if (!head_) out_->body() = std::move(response.body);
    out_->content_length(size);
    Deadline(shared_->options.header_timeout);
    serializer_.emplace(*out_);
    const auto done = [self = shared_from_this()](error_code error, size_t) {
      self->serializer_.reset();
      self->out_.reset();
      if (error) return;
      self->last_ ? self->Close() : self->Read(self->shared_->options.idle_timeout);
    };
    With([&](auto& stream) { http::async_write(stream, *serializer_, done); });
  }

  void StartStream(std::shared_ptr<BodyStream> body) {
    body_ = std::move(body);
    out_->chunked(true);
    serializer_.emplace(*out_);
    sending_ = true;
    body_->SetReady([weak = weak_from_this()] {
      if (const auto self = weak.lock()) self->Pump();
    });
    Deadline(shared_->options.header_timeout);
    const auto done = [self = shared_from_this()](error_code error, size_t) {
      self->sending_ = false;
      if (error) return self->EndStream();
      self->tcp_.expires_never();
      self->Pump();
      self->WatchForClose();
    };
    With([&](auto& stream) { http::async_write_header(stream, *serializer_, done); });
  }

  // A client that is done with the stream closes its connection: nothing else tells. A further
  // request on this connection is never answered.
  void WatchForClose() {
    const auto done = [self = shared_from_this()](error_code error, size_t size) {
      if (error || size == 0) return self->EndStream();
      self->WatchForClose();
    };
    With([&](auto& stream) {
      stream.async_read_some(asio::buffer(ignored_.data(), ignored_.size()), done);
    });
  }

  // One write at a time; what has gathered meanwhile goes as one chunk.
  void Pump() {
    if (!body_ || body_->Closed()) return;
    // A client that does not take what is being sent is not waited for.
    if (body_->Aborted()) return EndStream();
    if (sending_) return;
    const std::string bytes = body_->Take();
    const bool end = bytes.empty();
    if (end && !body_->Ended()) return;
    char size[24];
    std::snprintf(size, sizeof size, "%zx\r\n", bytes.size());
    chunk_.assign(size);
    chunk_ += bytes;
    chunk_ += "\r\n";
    sending_ = true;
    Deadline(shared_->options.header_timeout);
    const auto done = [self = shared_from_this(), end](error_code error, size_t) {
      self->sending_ = false;
      if (error || end) return self->EndStream();
      self->tcp_.expires_never();
      self->body_->Sent();
      self->Pump();
    };
    With([&](auto& stream) { asio::async_write(stream, asio::buffer(chunk_), done); });
  }

  void EndStream() {
    if (!body_ || body_->Closed()) return;
    body_->Close();
    Abort();
  }

  // Calls `use` with the stream of this connection.
  template <class Use>
  void With(const Use& use) {
    secure_ ? use(*secure_) : use(tcp_);
  }

  void Close() {
    constexpr std::chrono::seconds kPatience{2};
    Deadline(kPatience);
    if (!secure_) {
      error_code ignored;
      tcp_.socket().shutdown(tcp::socket::shutdown_both, ignored);
      return;
    }
    secure_->async_shutdown([self = shared_from_this()](error_code) { self->Abort(); });
  }

  std::shared_ptr<Shared> shared_;
  std::list<Session*>::iterator place_;
  std::shared_ptr<TlsContext> tls_;  // outlives the connection: names are looked up in it
  beast::tcp_stream tcp_;
  std::optional<asio::ssl::context> context_;                    // of a secure connection,
  std::optional<asio::ssl::stream<beast::tcp_stream&>> secure_;  // which is over tcp_
  beast::flat_buffer buffer_;
  std::optional<http::request_parser<http::string_body>> parser_;
  std::optional<http::response<http::string_body>> out_;
  std::optional<http::response_serializer<http::string_body>> serializer_;
  PeerChain peer_;
  std::shared_ptr<BodyStream> body_;  // of a response that is streamed
  std::string chunk_;
  std::array<char, 256> ignored_;
  bool sending_ = false;
  unsigned version_ = 11;
  bool head_ = false;
  bool idle_ = true;   // no complete request header yet: may be closed to make room
  bool last_ = false;  // close after the response that is under way
};

class AsioListener final : public Listener {
 public:
  AsioListener(asio::io_context& io, std::shared_ptr<Shared> shared)
      : io_(io), acceptor_(io), retry_(io), force_(io), shared_(std::move(shared)) {}

  Result<void> Open(const ServingOptions& options) {
    const int port = options.any_port ? 0 : options.port;
    error_code error;
    const auto address = asio::ip::make_address(options.bind_address, error);
    const std::string where = HostPort(options.bind_address, port);
    std::string call = "lookup";
    // Unspecified: both families, where the system has both.
    if (!error && address.is_unspecified()) {
      call = OpenOn({asio::ip::address_v6::any(), static_cast<uint16_t>(port)}, options, error);
      if (!error || error == asio::error::address_in_use || error == asio::error::access_denied) {
        return Check(error, where, call);
      }
      error.clear();
    }
    if (!error) call = OpenOn({address, static_cast<uint16_t>(port)}, options, error);
    return Check(error, where, call);
  }

  int Port() const override { return port_; }
  std::string Address() const override { return address_; }

  void Start() override { Accept(); }

  void Stop(std::function<void()> done) override {
    shared_->stopping = true;
    shared_->drained = std::move(done);
    error_code ignored;
    acceptor_.close(ignored);
    retry_.cancel();
    const std::vector<Session*> sessions(shared_->sessions.begin(), shared_->sessions.end());
    for (Session* session : sessions) session->Finish();
    force_.expires_after(shared_->options.shutdown_timeout);
    force_.async_wait([shared = shared_](error_code error) {
      if (error) return;
      const std::vector<Session*> left(shared->sessions.begin(), shared->sessions.end());
      for (Session* session : left) session->Abort();
      // A request whose handler never answers holds its session: it is not waited for.
      if (!shared->drained) return;
      const auto call = std::move(shared->drained);
      shared->drained = nullptr;
      call();
    });
    asio::post(io_, [shared = shared_] { shared->MaybeDrained(); });
  }

 private:
  // The name of the call that failed, for the error.
  std::string OpenOn(const tcp::endpoint& endpoint, const ServingOptions& options,
                     error_code& error) {
    error.clear();
    error_code ignored;
    if (acceptor_.is_open()) acceptor_.close(ignored);
    acceptor_.open(endpoint.protocol(), error);
    if (error) return "socket";
    acceptor_.set_option(asio::socket_base::reuse_address(true), ignored);  // as Go does
    if (endpoint.address().is_v6() && endpoint.address().is_unspecified()) {
      acceptor_.set_option(asio::ip::v6_only(false), ignored);
    }
    if (options.reuse_port) {
      using ReusePort = asio::detail::socket_option::boolean<SOL_SOCKET, SO_REUSEPORT>;
      acceptor_.set_option(ReusePort(true), ignored);
    }
    acceptor_.bind(endpoint, error);
    if (error) return "bind";
    acceptor_.listen(asio::socket_base::max_listen_connections, error);
    if (error) return "listen";
    const tcp::endpoint local = acceptor_.local_endpoint(error);
    port_ = local.port();
    address_ = HostPort(local.address().to_string(), port_);
    return "";
  }

  static Result<void> Check(const error_code& error, const std::string& where,
                            const std::string& call) {
    if (!error) return {};
    return Fail("failed to create listener: failed to listen on " + where + ": listen tcp " +
                where + ": " + call + ": " + LowerFirst(error.message()));
  }

  void Accept() {
    acceptor_.async_accept([this, shared = shared_](error_code error, tcp::socket socket) {
      if (shared->stopping || error == asio::error::operation_aborted) return;
      if (error) {  // out of descriptors: give others the time to close some
        MakeRoom();
        retry_.expires_after(std::chrono::milliseconds(100));
        retry_.async_wait([this, shared](error_code cancelled) {
          if (!cancelled && !shared->stopping) Accept();
        });
        return;
      }
      if (shared->sessions.size() < shared->options.max_connections || MakeRoom()) {
        error_code ignored;
        socket.set_option(tcp::no_delay(true), ignored);
        std::make_shared<Session>(std::move(socket), shared)->Run();
      }
      Accept();
    });
  }

  bool MakeRoom() {
    for (Session* session : shared_->sessions) {
      if (!session->Idle()) continue;
      session->Finish();
      return true;
    }
    return false;
  }

  asio::io_context& io_;
  tcp::acceptor acceptor_;
  asio::steady_timer retry_;
  asio::steady_timer force_;
  std::shared_ptr<Shared> shared_;
  int port_ = 0;
  std::string address_;
};

}  // namespace

namespace {

Result<std::unique_ptr<Listener>> Open(kube::SystemLoop& loop, const ServingOptions& options,
                                       const ServingCertificates* certificates, Handler handler) {
  auto shared = std::make_shared<Shared>();
  shared->options = options;
  shared->certificates = certificates;
  shared->handler = std::move(handler);
  auto* io = static_cast<asio::io_context*>(loop.Native());
  auto listener = std::make_unique<AsioListener>(*io, std::move(shared));
  if (auto ok = listener->Open(options); !ok) return Fail(ok.error());
  return std::unique_ptr<Listener>(std::move(listener));
}

}  // namespace

Result<std::unique_ptr<Listener>> Listener::Make(kube::SystemLoop& loop,
                                                 const ServingOptions& options,
                                                 const ServingCertificates& certificates,
                                                 Handler handler) {
  return Open(loop, options, &certificates, std::move(handler));
}

Result<std::unique_ptr<Listener>> Listener::MakePlain(kube::SystemLoop& loop,
                                                      const ServingOptions& options,
                                                      Handler handler) {
  return Open(loop, options, nullptr, std::move(handler));
}

}  // namespace berth::server
