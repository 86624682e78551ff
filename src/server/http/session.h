// Session: one connection of a listener: HTTP/1.1, or HTTP/2 when the client offers it over TLS.
// Private to this folder.
#pragma once

#include <array>
#include <cctype>
#include <chrono>
#include <cstdio>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/detect_ssl.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http.hpp>

#include "log/log.h"
#include "server/http/arriving_body.h"
#include "server/http/http2_pump.h"
#include "server/http/message.h"
#include "server/http/peer.h"
#include "server/http/tls.h"
#include "server/server.h"

namespace berth::server {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using tcp = asio::ip::tcp;
using boost::system::error_code;

inline std::string HostPort(const std::string& host, int port) {
  const bool v6 = host.find(':') != std::string::npos;
  return (v6 ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

inline std::string LowerCase(beast::string_view text) {
  std::string lower(text.data(), text.size());
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return lower;
}

class Session;

// What sessions need of the listener.
struct Shared {
  ServingOptions options;
  const ServingCertificates* certificates;  // null: plain HTTP
  Handler handler;
  // In the order of their last progress: a new connection, a request that began or whose header
  // became complete, a response that was sent.
  std::list<Session*> sessions;
  size_t incoming = 0;  // bytes of requests that are not complete, of all sessions
  bool stopping = false;
  std::function<void()> drained = {};

  void MaybeDrained() {
    if (!stopping || !sessions.empty() || !drained) return;
    const auto done = std::move(drained);
    drained = nullptr;
    done();
  }

  // Closes the connection that has waited longest for the rest of its request; with
  // `holding_bytes` one of those that have sent a part of it. False: there is none but `except`.
  bool MakeRoom(const Session* except = nullptr, bool holding_bytes = false);

  // Counts `now` incoming bytes of a session instead of `*held`. False: there are too many, and no
  // other connection to close.
  bool Hold(const Session& session, size_t* held, size_t now) {
    incoming += now - *held;
    *held = now;
    while (incoming > options.max_incoming_bytes) {
      if (!MakeRoom(&session, true)) return false;
    }
    return true;
  }
};

// One connection. Lives as long as an operation of it is under way.
// More than twenty fields: the buffers, timers and parser of one connection, of both protocols,
// which share the TLS stream and the limits.
class Session final : public std::enable_shared_from_this<Session>, private Http2Pump::Owner {
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
  ~Session() override {
    if (body_) body_->Close();
    shared_->incoming -= held_;
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

  // No complete request: neither work nor a response would be lost by closing the connection.
  bool Receiving() const { return http2_ ? http2_->Receiving() : stage_ != Stage::kBusy; }
  size_t IncomingBytes() const { return held_; }
  // Drops requests that are not complete, and closes the connection if there is no other.
  // REQUIRES: called from outside of the session.
  void Evict() {
    if (http2_ && !http2_->Receiving()) {
      http2_->DropIncomplete();
      shared_->incoming -= std::exchange(held_, 0);
      return;
    }
    if (http2_ && http2_->Idle()) {  // its client learns that it may connect again
      evicted_ = true;
      http2_->Finish();
      return;
    }
    if (http2_) {
      http2_->Stop();
    } else if (parser_) {
      parser_->get().body() = {};
    }
    shared_->incoming -= std::exchange(held_, 0);
    evicted_ = true;
    Abort();
  }
  bool Evicted() const { return evicted_; }
  // The other side may be in the middle of anything.
  void Abort() override {
    error_code ignored;
    tcp_.socket().close(ignored);
  }
  // No further request; the one under way is answered.
  void Finish() {
    if (http2_) return http2_->Finish();
    last_ = true;
    if (stage_ == Stage::kWaiting || stage_ == Stage::kHeader) Abort();
    if (body_) EndStream();
  }

 private:
  using Parser = http::request_parser<ArrivingBody>;
  enum class Stage { kWaiting, kHeader, kBody, kBusy };  // of the request

  // More than this is not gathered before it is sent.
  static constexpr size_t kMaxGathered = 256u << 10;

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
                               if (SpeaksHttp2(self->secure_->native_handle())) {
                                 self->StartHttp2();
                               } else {
                                 self->Read(self->shared_->options.header_timeout);
                               }
                             });
  }

  // From here on the connection is the pump's.
  void StartHttp2() {
    tcp_.expires_never();
    Http2Pump::Owner& owner = *this;
    const auto hold = [this](size_t now) { return shared_->Hold(*this, &held_, now); };
    http2_ = std::make_unique<Http2Pump>(owner, *secure_, shared_->options, shared_->handler, peer_,
                                         hold);
    http2_->Start();
    if (shared_->stopping) http2_->Finish();
  }
  std::shared_ptr<void> Hold() override { return shared_from_this(); }
  void Progress() override {
    shared_->sessions.splice(shared_->sessions.end(), shared_->sessions, place_);
  }

  void LogHandshake(const error_code& error) {
    if (!log::V(2)) return;
    error_code unknown;
    const auto remote = tcp_.socket().remote_endpoint(unknown);
    std::string line = "http: TLS handshake error";
    if (!unknown) line += " from " + HostPort(remote.address().to_string(), remote.port());
    log::InfoLine(2, line + ": " + error.message());
  }

  // Waits for a request.
  void Read(std::chrono::seconds patience) {
    patience_ = patience;
    NewParser();
    Work();
  }

  void NewParser() {
    parser_.emplace();
    parser_->header_limit(static_cast<uint32_t>(shared_->options.max_header_bytes));
    parser_->body_limit(shared_->options.max_body_bytes);
    parser_->eager(true);
    timed_ = false;
    admitted_ = false;
  }

  // Answers what has come. Requests that came together are answered together: one read and one
  // write then serve many of them.
  void Work() {
    if (std::exchange(working_, true)) return;  // the loop further up goes on
    while (Step()) {
    }
    working_ = false;
  }

  // False: something is to be waited for.
  bool Step() {
    if (answering_ || reading_ || writing_ || body_) return false;
    const bool header_was_done = parser_->is_header_done();
    const bool no_more = (last_ || shared_->stopping) && !header_was_done;
    if (no_more || head_.size() + tail_.size() > kMaxGathered) {
      if (!head_.empty()) return Flush();
      return Close();
    }
    error_code error;
    // Beast's parser asserts that it never gets a shorter part of a body's last chunk, "0\r\n\r\n".
    const bool too_short = header_was_done && parser_->chunked() && buffer_.size() < 5;
    if (buffer_.size() > 0 && !too_short) {
      buffer_.consume(parser_->put(buffer_.cdata(), error));
      if (error == http::error::need_more) error = {};
    }
    if (error) return OnReadError(error);
    if (parser_->is_header_done() && !admitted_ && !Admit()) return true;
    if (parser_->is_done()) return Handle();
    if (!CountIncoming()) {
      Refuse(429, "429 Too Many Requests");
      return true;
    }
    if (!head_.empty()) return Flush();
    // The time for a request does not begin anew with each of its bytes.
    if (!timed_ || parser_->is_header_done() != header_was_done) {
      Deadline(parser_->is_header_done() ? shared_->options.header_timeout : patience_);
      timed_ = true;
    }
    return Fill();
  }

  bool Fill() {
    constexpr size_t kMost = 64u << 10;
    reading_ = true;
    const Stage stage = parser_->is_header_done() ? Stage::kBody
                        : buffer_.size() > 0      ? Stage::kHeader
                                                  : Stage::kWaiting;
    if (std::exchange(stage_, stage) != stage) Progress();
    const auto done = [self = shared_from_this()](error_code error, size_t size) {
      self->reading_ = false;
      if (error) return (void)self->Close();
      self->buffer_.commit(size);
      self->Work();
    };
    With([&](auto& stream) { stream.async_read_some(buffer_.prepare(kMost), done); });
    return false;
  }

  bool CountIncoming() {
    const size_t body = parser_->is_header_done() ? parser_->get().body().size() : 0;
    return shared_->Hold(*this, &held_, buffer_.size() + body);
  }

  bool OnReadError(const error_code& error) {
    no_body_ = false;
    if (error == http::error::header_limit) {
      Refuse(431, "431 Request Header Fields Too Large");
    } else if (error == http::error::body_limit) {
      Refuse(413, "413 Request Entity Too Large");
    } else {
      Refuse(400, "400 Bad Request");
    }
    return true;
  }

  void Refuse(int status, std::string text) {
    last_ = true;
    refused_ = true;
    version_ = 11;
    Response response;
    response.status = status;
    const bool described = status == 413 && !shared_->options.too_large_json.empty();
    response.Set("Content-Type", described ? "application/json" : "text/plain; charset=utf-8");
    if (status == 429) response.Set("Retry-After", "1");
    response.body = described ? shared_->options.too_large_json : std::move(text);
    Write(std::move(response));
  }

  // Looks at the header of a request, before its body is read. False: the request is answered.
  bool Admit() {
    admitted_ = true;
    const auto& message = parser_->get();
    version_ = message.version();
    no_body_ = message.method() == http::verb::head;
    if (!message.keep_alive()) last_ = true;
    request_ = {};
    request_.method = std::string(message.method_string());
    request_.target = std::string(message.target());
    request_.peer = peer_;
    for (const auto& field : message) {
      request_.headers.emplace_back(LowerCase(field.name_string()), std::string(field.value()));
    }
    if (const auto [status, text] = CheckFraming(request_, version_); status != 0) {
      Refuse(status, text);
      return false;
    }
    if (!ParseTarget(request_.target, &request_.path, &request_.query)) {
      Refuse(400, "400 Bad Request");
      return false;
    }
    if (shared_->options.admit) {
      if (auto response = shared_->options.admit(request_)) {
        // The rest of the request is not read.
        if (!parser_->is_done()) last_ = refused_ = true;
        Write(std::move(*response));
        return false;
      }
    }
    if (version_ == 11 && !parser_->is_done() && parser_->get().body().empty() &&
        beast::iequals(request_.Header("expect"), "100-continue")) {
      head_ += "HTTP/1.1 100 Continue\r\n\r\n";
    }
    return true;
  }

  bool Handle() {
    answering_ = true;
    stage_ = Stage::kBusy;
    shared_->Hold(*this, &held_, 0);
    request_.body = std::move(parser_->get().body());
    // Nothing is read while the request is worked on; the time that takes is its handler's affair.
    if (timed_) tcp_.expires_never();
    shared_->handler(std::move(request_), [self = shared_from_this()](Response response) {
      self->Write(std::move(response));
    });
    return true;
  }

  // Appends to what is to be sent.
  void Write(Response response) {
    answering_ = false;
    if (shared_->stopping || response.stream) last_ = true;
    const auto status = static_cast<http::status>(response.status);
    head_ += version_ == 10 ? "HTTP/1.0 " : "HTTP/1.1 ";
    head_ += std::to_string(response.status);
    head_ += ' ';
    const beast::string_view reason = http::obsolete_reason(status);
    head_.append(reason.data(), reason.size());
    head_ += "\r\n";
    for (const auto& [name, value] : response.headers) Header(name, value);
    if (last_) Header("Connection", "close");
    if (!last_ && version_ == 10) Header("Connection", "keep-alive");
    if (response.stream) {
      Header("Transfer-Encoding", "chunked");
      head_ += "\r\n";
      StartStream(std::move(response.stream));
      return;
    }
    Header("Content-Length", std::to_string(response.body.size()));
    head_ += "\r\n";
    if (no_body_) {
      // Only told of.
    } else if (response.body.size() > kMaxGathered) {
      tail_ = std::move(response.body);
    } else {
      head_ += response.body;
    }
    patience_ = shared_->options.idle_timeout;
    NewParser();
    Work();
  }

  void Header(std::string_view name, std::string_view value) {
    head_ += name;
    head_ += ": ";
    head_ += value;
    head_ += "\r\n";
  }

  // Sends what has gathered.
  bool Flush() {
    writing_ = true;
    Deadline(shared_->options.header_timeout);
    const auto done = [self = shared_from_this()](error_code error, size_t) {
      self->writing_ = false;
      self->head_.clear();
      self->tail_.clear();
      if (!error) self->Work();
    };
    const std::array<asio::const_buffer, 2> pieces{asio::buffer(head_), asio::buffer(tail_)};
    With([&](auto& stream) { asio::async_write(stream, pieces, done); });
    return false;
  }

  void StartStream(std::shared_ptr<BodyStream> body) {
    body_ = std::move(body);
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
    With([&](auto& stream) { asio::async_write(stream, asio::buffer(head_), done); });
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

  bool Close() {
    constexpr std::chrono::seconds kPatience{2};
    if (std::exchange(closing_, true)) return false;
    Deadline(kPatience);
    if (secure_ && !refused_) {
      secure_->async_shutdown([self = shared_from_this()](error_code) { self->Abort(); });
      return false;
    }
    error_code ignored;
    tcp_.socket().shutdown(refused_ ? tcp::socket::shutdown_send : tcp::socket::shutdown_both,
                           ignored);
    if (refused_) Linger();
    return false;
  }

  // A client that is still sending what was refused reads the answer only if the connection is not
  // reset under it: its bytes are taken, for a while, and thrown away.
  void Linger() {
    tcp_.async_read_some(asio::buffer(ignored_.data(), ignored_.size()),
                         [self = shared_from_this()](error_code error, size_t) {
                           error ? self->Abort() : self->Linger();
                         });
  }

  std::shared_ptr<Shared> shared_;
  std::list<Session*>::iterator place_;
  std::shared_ptr<TlsContext> tls_;  // outlives the connection: names are looked up in it
  beast::tcp_stream tcp_;
  std::optional<asio::ssl::context> context_;                    // of a secure connection,
  std::optional<asio::ssl::stream<beast::tcp_stream&>> secure_;  // which is over tcp_
  beast::flat_buffer buffer_;
  std::unique_ptr<Http2Pump> http2_;  // of a connection that speaks it
  std::optional<Parser> parser_;
  Request request_;  // of the parser's header
  PeerChain peer_;
  // Answers that have gathered; a large body is not copied.
  std::string head_;
  std::string tail_;
  std::shared_ptr<BodyStream> body_;  // of a response that is streamed
  std::string chunk_;
  std::array<char, 16384> ignored_;
  std::chrono::seconds patience_{0};  // with a client that has no request under way
  bool timed_ = false;                // the time of the request that comes in is running
  bool working_ = false;
  bool answering_ = false;
  bool reading_ = false;
  bool writing_ = false;
  bool sending_ = false;  // of the stream
  bool closing_ = false;
  bool refused_ = false;  // the client may still be sending
  unsigned version_ = 11;
  bool no_body_ = false;
  bool admitted_ = false;  // the header of the request was looked at
  bool last_ = false;      // close after the response that is under way
  bool evicted_ = false;
  Stage stage_ = Stage::kWaiting;
  size_t held_ = 0;  // bytes of Shared::incoming
};

inline bool Shared::MakeRoom(const Session* except, bool holding_bytes) {
  for (Session* session : sessions) {
    if (session == except || session->Evicted()) continue;
    if (holding_bytes ? session->IncomingBytes() == 0 : !session->Receiving()) continue;
    session->Evict();
    return true;
  }
  return false;
}

}  // namespace berth::server
