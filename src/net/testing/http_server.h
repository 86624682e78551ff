// Servers on 127.0.0.1 for tests, on the client's own loop: raw bytes, HTTP/1.1, HTTP/2, a proxy.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#define BOOST_ASIO_NO_DEPRECATED
#include <nghttp2/nghttp2.h>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/asio/write.hpp>

#include "net/http/message.h"
#include "net/loop.h"
#include "net/testing/certificates.h"

namespace berth::net::testing {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

// What a TLS server shows and asks for.
struct ServerTls {
  Identity identity;
  std::string client_ca;  // PEM; empty: no client certificates
  std::vector<std::string> protocols = {"h2", "http/1.1"};
};

// One accepted connection.
class Peer : public std::enable_shared_from_this<Peer> {
 public:
  using Bytes = std::function<void(Peer&, std::string_view)>;

  Peer(tcp::socket socket, asio::ssl::context* tls) : socket_(std::move(socket)) {
    error_code ignored;
    socket_.set_option(tcp::no_delay(true), ignored);
    if (tls != nullptr) tls_ = std::make_unique<asio::ssl::stream<tcp::socket&>>(socket_, *tls);
  }

  void Start(std::function<void(Peer&)> opened) {
    if (!tls_) {
      opened(*this);
      Read();
      return;
    }
    tls_->async_handshake(asio::ssl::stream_base::server,
                          [self = shared_from_this(), opened](const error_code& error) {
                            if (error) {
                              self->Close();
                              return;
                            }
                            opened(*self);
                            self->Read();
                          });
  }

  void Write(std::string_view bytes) {
    if (closed) return;
    pending_ += bytes;
    if (!writing_now_) WriteSome();
  }
  // After what was written before.
  void CloseWhenWritten() {
    close_when_written_ = true;
    if (!writing_now_) Close();
  }
  void Close() {
    if (std::exchange(closed, true)) return;
    error_code ignored;
    socket_.close(ignored);
    const auto notify = std::move(on_close);
    if (notify) notify(*this);
  }
  // The common name of the client's certificate, or "".
  std::string ClientName() {
    X509* certificate = SSL_get1_peer_certificate(tls_->native_handle());
    if (certificate == nullptr) return "";
    char name[256] = "";
    X509_NAME_get_text_by_NID(X509_get_subject_name(certificate), NID_commonName, name,
                              sizeof name);
    X509_free(certificate);
    return name;
  }
  std::string ServerNameAsked() {
    const char* name = SSL_get_servername(tls_->native_handle(), TLSEXT_NAMETYPE_host_name);
    return name != nullptr ? name : "";
  }
  bool Http2() const {
    const unsigned char* name = nullptr;
    unsigned size = 0;
    if (tls_) SSL_get0_alpn_selected(tls_->native_handle(), &name, &size);
    return size == 2;
  }

  Bytes on_bytes;
  std::function<void(Peer&)> on_close;
  std::shared_ptr<void> state;  // of whoever handles it
  bool deaf = false;            // reads no more
  bool closed = false;

 private:
  void Read() {
    if (closed || deaf) return;
    const auto handler = [self = shared_from_this()](const error_code& error, size_t size) {
      if (size > 0 && self->on_bytes) {
        const auto bytes = self->on_bytes;
        bytes(*self, {self->buffer_, size});
      }
      if (error) {
        self->Close();
      } else {
        self->Read();
      }
    };
    if (tls_) {
      tls_->async_read_some(asio::buffer(buffer_), handler);
    } else {
      socket_.async_read_some(asio::buffer(buffer_), handler);
    }
  }

  void WriteSome() {
    writing_now_ = true;
    writing_.swap(pending_);
    pending_.clear();
    const auto handler = [self = shared_from_this()](const error_code& error, size_t) {
      self->writing_now_ = false;
      if (self->closed) return;
      if (error) {
        self->Close();
      } else if (!self->pending_.empty()) {
        self->WriteSome();
      } else if (self->close_when_written_) {
        self->Close();
      }
    };
    if (tls_) {
      asio::async_write(*tls_, asio::buffer(writing_), handler);
    } else {
      asio::async_write(socket_, asio::buffer(writing_), handler);
    }
  }

  tcp::socket socket_;
  std::unique_ptr<asio::ssl::stream<tcp::socket&>> tls_;
  char buffer_[16384];
  std::string pending_;
  std::string writing_;
  bool writing_now_ = false;
  bool close_when_written_ = false;
};

// Accepts connections; what happens on them is up to `opened`.
class Server {
 public:
  Server(SystemLoop& loop, std::function<void(Peer&)> opened, const ServerTls* tls = nullptr,
         uint16_t port = 0)
      : io_(*static_cast<asio::io_context*>(loop.Native())),
        acceptor_(io_, tcp::endpoint(asio::ip::address_v4::loopback(), port)),
        opened_(std::make_shared<std::function<void(Peer&)>>(std::move(opened))) {
    if (tls != nullptr) Configure(*tls);
    Accept();
  }
  ~Server() { Stop(); }
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  uint16_t Port() const { return port_; }
  std::string Url() const {
    return (tls_ ? "https://127.0.0.1:" : "http://127.0.0.1:") + std::to_string(port_);
  }
  size_t Accepted() const { return peers_.size(); }
  std::vector<std::shared_ptr<Peer>> Open() const {
    std::vector<std::shared_ptr<Peer>> open;
    for (const auto& peer : peers_) {
      if (!peer->closed) open.push_back(peer);
    }
    return open;
  }
  void CloseAll() {
    for (const auto& peer : Open()) peer->Close();
  }
  // Listens no more.
  void Stop() {
    error_code ignored;
    acceptor_.close(ignored);
    *opened_ = nullptr;
    for (const auto& peer : peers_) {
      peer->on_bytes = nullptr;
      peer->on_close = nullptr;
      peer->Close();
      peer->state = nullptr;
    }
  }

 private:
  void Configure(const ServerTls& tls) {
    tls_ = std::make_unique<asio::ssl::context>(asio::ssl::context::tls_server);
    protocols_.clear();
    for (const std::string& name : tls.protocols) {
      protocols_ += static_cast<char>(name.size());
      protocols_ += name;
    }
    tls_->use_certificate_chain(asio::buffer(tls.identity.certificate));
    tls_->use_private_key(asio::buffer(tls.identity.key), asio::ssl::context::pem);
    if (!tls.client_ca.empty()) {
      tls_->add_certificate_authority(asio::buffer(tls.client_ca));
      tls_->set_verify_mode(asio::ssl::verify_peer | asio::ssl::verify_fail_if_no_peer_cert);
    }
    SSL_CTX_set_alpn_select_cb(
        tls_->native_handle(),
        [](SSL*, const unsigned char** out, unsigned char* size, const unsigned char* in,
           unsigned in_size, void* self) {
          const std::string& own = static_cast<Server*>(self)->protocols_;
          const int found =
              SSL_select_next_proto(const_cast<unsigned char**>(out), size,
                                    reinterpret_cast<const unsigned char*>(own.data()),
                                    static_cast<unsigned>(own.size()), in, in_size);
          return found == OPENSSL_NPN_NEGOTIATED ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_NOACK;
        },
        this);
  }

  void Accept() {
    port_ = acceptor_.local_endpoint().port();
    acceptor_.async_accept([this, opened = opened_](const error_code& error, tcp::socket socket) {
      if (error || !*opened) return;
      const auto peer = std::make_shared<Peer>(std::move(socket), tls_.get());
      peers_.push_back(peer);
      peer->Start([opened](Peer& open) {
        if (*opened) (*opened)(open);
      });
      Accept();
    });
  }

  asio::io_context& io_;
  tcp::acceptor acceptor_;
  std::shared_ptr<std::function<void(Peer&)>> opened_;
  std::unique_ptr<asio::ssl::context> tls_;
  std::string protocols_;
  uint16_t port_ = 0;
  std::vector<std::shared_ptr<Peer>> peers_;
};

// A request as a server saw it.
struct SeenRequest {
  std::string method;
  std::string target;
  std::map<std::string, std::string> headers;  // names in lower case
  std::string body;
};

// Reads HTTP/1.1 requests; `answer` writes the response itself.
inline std::function<void(Peer&)> Http1Handler(
    std::function<void(Peer&, const SeenRequest&)> answer) {
  return [answer = std::move(answer)](Peer& peer) {
    peer.on_bytes = [answer, buffer = std::make_shared<std::string>()](Peer& from,
                                                                       std::string_view bytes) {
      *buffer += bytes;
      for (;;) {
        const size_t end = buffer->find("\r\n\r\n");
        if (end == buffer->npos) return;
        SeenRequest request;
        const std::string head = buffer->substr(0, end + 2);
        const size_t line_end = head.find("\r\n");
        const std::string line = head.substr(0, line_end);
        request.method = line.substr(0, line.find(' '));
        request.target = line.substr(line.find(' ') + 1, line.rfind(' ') - line.find(' ') - 1);
        for (size_t at = line_end + 2; at < head.size();) {
          const size_t stop = head.find("\r\n", at);
          const size_t colon = head.find(": ", at);
          request.headers[head.substr(at, colon - at)] = head.substr(colon + 2, stop - colon - 2);
          at = stop + 2;
        }
        const auto said = request.headers.find("content-length");
        const size_t length =
            said == request.headers.end() ? 0 : std::strtoul(said->second.c_str(), nullptr, 10);
        if (buffer->size() < end + 4 + length) return;
        request.body = buffer->substr(end + 4, length);
        buffer->erase(0, end + 4 + length);
        answer(from, request);
      }
    };
  };
}

inline std::string Http1Ok(const std::string& body) {
  return "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

// An HTTP/2 server's side of one connection.
class Http2Session : public std::enable_shared_from_this<Http2Session> {
 public:
  using Answer = std::function<void(Http2Session&, int32_t stream, const SeenRequest&)>;

  Http2Session(Peer& peer, Answer answer, uint32_t max_streams)
      : peer_(peer), answer_(std::move(answer)) {
    nghttp2_session_callbacks* callbacks = nullptr;
    nghttp2_session_callbacks_new(&callbacks);
    nghttp2_session_callbacks_set_on_header_callback(callbacks, OnHeader);
    nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks, OnBegin);
    nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, OnFrame);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, OnChunk);
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, OnClose);
    nghttp2_option* option = nullptr;
    nghttp2_option_new(&option);
    nghttp2_option_set_max_send_header_block_length(option, 16 << 20);
    nghttp2_session_server_new2(&session, callbacks, this, option);
    nghttp2_option_del(option);
    nghttp2_session_callbacks_del(callbacks);
    const nghttp2_settings_entry entry{NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, max_streams};
    nghttp2_submit_settings(session, NGHTTP2_FLAG_NONE, &entry, 1);
    Flush();
  }
  ~Http2Session() { nghttp2_session_del(session); }

  void Receive(std::string_view bytes) {
    if (nghttp2_session_mem_recv(session, reinterpret_cast<const uint8_t*>(bytes.data()),
                                 bytes.size()) < 0) {
      peer_.Close();
      return;
    }
    Flush();
  }

  void Flush() {
    const uint8_t* data = nullptr;
    for (ssize_t size; (size = nghttp2_session_mem_send(session, &data)) > 0;) {
      peer_.Write({reinterpret_cast<const char*>(data), static_cast<size_t>(size)});
    }
  }

  // Status and headers; the body follows with Push and End.
  void Begin(int32_t stream, int status, const std::vector<Header>& headers = {}) {
    const std::string code = std::to_string(status);
    std::vector<nghttp2_nv> pairs = {Pair(":status", code)};
    for (const Header& header : headers) pairs.push_back(Pair(header.name, header.value));
    nghttp2_data_provider provider{};
    provider.read_callback = ReadBody;
    nghttp2_submit_response(session, stream, pairs.data(), pairs.size(), &provider);
  }
  // A 1xx answer before the answer.
  void Interim(int32_t stream, int status) {
    const std::string code = std::to_string(status);
    const nghttp2_nv pair = Pair(":status", code);
    nghttp2_submit_headers(session, NGHTTP2_FLAG_NONE, stream, nullptr, &pair, 1, nullptr);
  }
  void Push(int32_t stream, std::string_view bytes) {
    bodies_[stream].pending += bytes;
    nghttp2_session_resume_data(session, stream);
  }
  void End(int32_t stream) {
    bodies_[stream].ended = true;
    nghttp2_session_resume_data(session, stream);
  }
  void Respond(int32_t stream, int status, std::string_view body,
               const std::vector<Header>& headers = {}) {
    Begin(stream, status, headers);
    Push(stream, body);
    End(stream);
  }
  void Reset(int32_t stream, uint32_t code) {
    nghttp2_submit_rst_stream(session, NGHTTP2_FLAG_NONE, stream, code);
  }
  void Goaway(int32_t last_stream, uint32_t code = NGHTTP2_NO_ERROR) {
    nghttp2_submit_goaway(session, NGHTTP2_FLAG_NONE, last_stream, code, nullptr, 0);
  }
  Peer& peer() { return peer_; }

  nghttp2_session* session = nullptr;
  size_t open_streams = 0;
  size_t peak_streams = 0;
  std::map<int32_t, uint32_t> closed_streams;  // with their error codes

 private:
  struct Body {
    std::string pending;
    size_t sent = 0;
    bool ended = false;
  };

  static nghttp2_nv Pair(std::string_view name, std::string_view value) {
    const auto bytes = [](std::string_view text) {
      return reinterpret_cast<uint8_t*>(const_cast<char*>(text.data()));
    };
    return {bytes(name), bytes(value), name.size(), value.size(), NGHTTP2_NV_FLAG_NONE};
  }
  static Http2Session& Self(void* user) { return *static_cast<Http2Session*>(user); }

  static ssize_t ReadBody(nghttp2_session*, int32_t stream, uint8_t* to, size_t size,
                          uint32_t* flags, nghttp2_data_source*, void* user) {
    Body& body = Self(user).bodies_[stream];
    const size_t part = std::min(size, body.pending.size() - body.sent);
    std::memcpy(to, body.pending.data() + body.sent, part);
    body.sent += part;
    if (body.sent == body.pending.size() && body.ended) {
      *flags |= NGHTTP2_DATA_FLAG_EOF;
    } else if (part == 0) {
      return NGHTTP2_ERR_DEFERRED;
    }
    return static_cast<ssize_t>(part);
  }
  static int OnBegin(nghttp2_session*, const nghttp2_frame*, void* user) {
    Http2Session& self = Self(user);
    self.peak_streams = std::max(self.peak_streams, ++self.open_streams);
    return 0;
  }
  static int OnHeader(nghttp2_session*, const nghttp2_frame* frame, const uint8_t* name,
                      size_t name_size, const uint8_t* value, size_t value_size, uint8_t,
                      void* user) {
    SeenRequest& request = Self(user).requests_[frame->hd.stream_id];
    const std::string key(reinterpret_cast<const char*>(name), name_size);
    const std::string text(reinterpret_cast<const char*>(value), value_size);
    if (key == ":method") request.method = text;
    if (key == ":path") request.target = text;
    request.headers[key] = text;
    return 0;
  }
  static int OnChunk(nghttp2_session*, uint8_t, int32_t stream, const uint8_t* data, size_t size,
                     void* user) {
    Self(user).requests_[stream].body.append(reinterpret_cast<const char*>(data), size);
    return 0;
  }
  static int OnFrame(nghttp2_session*, const nghttp2_frame* frame, void* user) {
    const bool request = frame->hd.type == NGHTTP2_HEADERS || frame->hd.type == NGHTTP2_DATA;
    if (!request || (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) == 0) return 0;
    Http2Session& self = Self(user);
    self.answer_(self, frame->hd.stream_id, self.requests_[frame->hd.stream_id]);
    return 0;
  }
  static int OnClose(nghttp2_session*, int32_t stream, uint32_t error, void* user) {
    Http2Session& self = Self(user);
    --self.open_streams;
    self.closed_streams[stream] = error;
    self.requests_.erase(stream);
    self.bodies_.erase(stream);
    return 0;
  }

  Peer& peer_;
  Answer answer_;
  std::map<int32_t, SeenRequest> requests_;
  std::map<int32_t, Body> bodies_;
};

inline std::function<void(Peer&)> Http2Handler(Http2Session::Answer answer,
                                               uint32_t max_streams = 100) {
  return [answer = std::move(answer), max_streams](Peer& peer) {
    const auto session = std::make_shared<Http2Session>(peer, answer, max_streams);
    peer.state = session;
    peer.on_bytes = [raw = session.get()](Peer&, std::string_view bytes) { raw->Receive(bytes); };
  };
}
inline Http2Session& SessionOf(Peer& peer) { return *static_cast<Http2Session*>(peer.state.get()); }

// Passes bytes between a peer and a port of 127.0.0.1.
inline void Splice(SystemLoop& loop, Peer& peer, uint16_t port, std::function<void()> connected) {
  auto socket = std::make_shared<tcp::socket>(*static_cast<asio::io_context*>(loop.Native()));
  socket->async_connect(
      tcp::endpoint(asio::ip::address_v4::loopback(), port),
      [socket, from = peer.shared_from_this(), connected](const error_code& error) {
        if (error) return from->Close();
        const auto other = std::make_shared<Peer>(std::move(*socket), nullptr);
        from->on_bytes = [other](Peer&, std::string_view bytes) { other->Write(bytes); };
        from->on_close = [other](Peer&) { other->Close(); };
        connected();
        other->on_close = [from](Peer&) { from->Close(); };
        other->Start([from](Peer& open) {
          open.on_bytes = [from](Peer&, std::string_view bytes) { from->Write(bytes); };
        });
      });
}

}  // namespace berth::net::testing
