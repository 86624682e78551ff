// HTTP/2 over nghttp2.
#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include <fmt/format.h>
#include <nghttp2/nghttp2.h>

#include "net/http/protocol.h"

namespace berth::net {
namespace {

constexpr int32_t kStreamWindow = 4 << 20;
constexpr int32_t kConnectionWindow = 16 << 20;
// For servers that set no limit.
constexpr size_t kMaxStreams = 1000;

struct SessionDeleter {
  void operator()(nghttp2_session* session) const { nghttp2_session_del(session); }
};

nghttp2_nv Pair(std::string_view name, std::string_view value, uint8_t flags) {
  const auto bytes = [](std::string_view text) {
    return reinterpret_cast<uint8_t*>(const_cast<char*>(text.data()));
  };
  return {bytes(name), bytes(value), name.size(), value.size(), flags};
}

std::string_view View(const uint8_t* bytes, size_t size) {
  return {reinterpret_cast<const char*>(bytes), size};
}

class Http2 final : public Protocol {
 public:
  Http2(const RequestForm& form, ExchangeEvents& events) : form_(form), events_(events) {
    nghttp2_session* session = nullptr;
    if (nghttp2_session_client_new(&session, Callbacks(), this) != 0) {
      Break(HttpError::Kind::kConnect, "http2: cannot make a session");
      return;
    }
    session_.reset(session);
    const std::array<nghttp2_settings_entry, 3> settings = {{
        {NGHTTP2_SETTINGS_ENABLE_PUSH, 0},
        {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, kStreamWindow},
        {NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, kMaxHeaderBytes},
    }};
    nghttp2_submit_settings(session, NGHTTP2_FLAG_NONE, settings.data(), settings.size());
    nghttp2_session_set_local_window_size(session, NGHTTP2_FLAG_NONE, 0, kConnectionWindow);
  }

  size_t Limit() const override {
    if (broken_ || going_away_) return 0;
    if (nghttp2_session_check_request_allowed(session_.get()) == 0) return 0;
    // A limit of 0 is for the moment: nghttp2 holds a request back until there is room.
    return std::clamp<size_t>(nghttp2_session_get_remote_settings(
                                  session_.get(), NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS),
                              1, kMaxStreams);
  }

  void Start(Exchange& exchange) override {
    const HttpRequest& request = exchange.request;
    constexpr uint8_t kKept = NGHTTP2_NV_FLAG_NO_COPY_NAME | NGHTTP2_NV_FLAG_NO_COPY_VALUE;
    pairs_.clear();
    pairs_.push_back(Pair(":method", request.method, NGHTTP2_NV_FLAG_NO_COPY_NAME));
    pairs_.push_back(Pair(":scheme", form_.scheme, kKept));
    pairs_.push_back(Pair(":authority", form_.authority, kKept));
    pairs_.push_back(Pair(":path", request.target, NGHTTP2_NV_FLAG_NO_COPY_NAME));
    for (const Header& header : request.headers.List()) {
      pairs_.push_back(Pair(header.name, header.value, NGHTTP2_NV_FLAG_NONE));
    }
    std::string length;
    if (SaysLength(request)) {
      length = std::to_string(request.body.size());
      pairs_.push_back(Pair("content-length", length, NGHTTP2_NV_FLAG_NO_COPY_NAME));
    }
    nghttp2_data_provider body{};
    body.read_callback = &Http2::ReadBody;
    exchange.stream = nghttp2_submit_request(session_.get(), nullptr, pairs_.data(), pairs_.size(),
                                             request.body.empty() ? nullptr : &body, &exchange);
    if (exchange.stream < 0) {
      Break(HttpError::Kind::kUnsent, std::string("http2: ") + nghttp2_strerror(exchange.stream));
    }
  }

  void Abort(Exchange& exchange) override {
    if (!session_ || exchange.stream <= 0) return;
    nghttp2_session_set_stream_user_data(session_.get(), exchange.stream, nullptr);
    nghttp2_submit_rst_stream(session_.get(), NGHTTP2_FLAG_NONE, exchange.stream, NGHTTP2_CANCEL);
  }

  void Receive(std::string_view bytes) override {
    if (broken_) return;
    const ssize_t used = nghttp2_session_mem_recv(
        session_.get(), reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
    if (used < 0) {
      Break(HttpError::Kind::kBroken,
            std::string("http2: ") + nghttp2_strerror(static_cast<int>(used)));
    }
    CheckWants();
  }

  void ReceiveEnd(const HttpError& end, bool) override {
    const std::string words = end.message == "EOF" ? "unexpected EOF" : end.message;
    Break(end.kind, going_away_ ? goaway_words_ : words);
  }

  void Produce(std::string& out, size_t limit) override {
    if (!session_) return;
    while (out.size() < limit) {
      const uint8_t* data = nullptr;
      const ssize_t size = nghttp2_session_mem_send(session_.get(), &data);
      if (size == 0) break;
      if (size < 0) {
        Break(HttpError::Kind::kBroken,
              std::string("http2: ") + nghttp2_strerror(static_cast<int>(size)));
        break;
      }
      out.append(reinterpret_cast<const char*>(data), static_cast<size_t>(size));
    }
    CheckWants();
  }

  bool Ping() override {
    if (broken_) return false;
    nghttp2_submit_ping(session_.get(), NGHTTP2_FLAG_NONE, nullptr);
    return true;
  }

  const std::optional<HttpError>& Broken() const override { return broken_; }

 private:
  void Break(HttpError::Kind kind, std::string message) {
    if (!broken_) broken_ = HttpError{kind, std::move(message)};
  }

  // nghttp2 ends a session whose peer breaks the protocol.
  void CheckWants() {
    if (broken_ || nghttp2_session_want_read(session_.get()) != 0 ||
        nghttp2_session_want_write(session_.get()) != 0) {
      return;
    }
    Break(HttpError::Kind::kBroken, going_away_ ? goaway_words_ : error_words_);
  }

  bool Keeps(std::string_view header) const {
    const auto& kept = form_.kept_headers;
    return kept.empty() || std::find(kept.begin(), kept.end(), header) != kept.end();
  }

  Exchange* Find(int32_t stream) const {
    return static_cast<Exchange*>(nghttp2_session_get_stream_user_data(session_.get(), stream));
  }

  // ---- nghttp2's callbacks ----

  static Http2& Self(void* user_data) { return *static_cast<Http2*>(user_data); }

  static const nghttp2_session_callbacks* Callbacks() {
    static const nghttp2_session_callbacks* const kCallbacks = [] {
      nghttp2_session_callbacks* made = nullptr;
      nghttp2_session_callbacks_new(&made);
      nghttp2_session_callbacks_set_on_header_callback(made, &OnHeader);
      nghttp2_session_callbacks_set_on_begin_headers_callback(made, &OnBeginHeaders);
      nghttp2_session_callbacks_set_on_frame_recv_callback(made, &OnFrame);
      nghttp2_session_callbacks_set_on_data_chunk_recv_callback(made, &OnChunk);
      nghttp2_session_callbacks_set_on_stream_close_callback(made, &OnStreamClose);
      nghttp2_session_callbacks_set_on_invalid_frame_recv_callback(made, &OnInvalidFrame);
      return made;
    }();
    return kCallbacks;
  }

  static ssize_t ReadBody(nghttp2_session* session, int32_t stream, uint8_t* to, size_t size,
                          uint32_t* flags, nghttp2_data_source*, void*) {
    auto* exchange = static_cast<Exchange*>(nghttp2_session_get_stream_user_data(session, stream));
    if (exchange == nullptr) return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;  // aborted meanwhile
    const std::string& body = exchange->request.body;
    const size_t part = std::min(size, body.size() - exchange->body_sent);
    std::memcpy(to, body.data() + exchange->body_sent, part);
    exchange->body_sent += part;
    if (exchange->body_sent == body.size()) *flags |= NGHTTP2_DATA_FLAG_EOF;
    return static_cast<ssize_t>(part);
  }

  static int OnBeginHeaders(nghttp2_session*, const nghttp2_frame* frame, void* user_data) {
    Exchange* exchange = Self(user_data).Find(frame->hd.stream_id);
    if (exchange == nullptr || exchange->answered) return 0;
    exchange->response.headers.clear();  // those of a 1xx
    exchange->header_bytes = 0;
    exchange->response.status = 0;
    return 0;
  }

  static int OnHeader(nghttp2_session*, const nghttp2_frame* frame, const uint8_t* name,
                      size_t name_size, const uint8_t* value, size_t value_size, uint8_t,
                      void* user_data) {
    Http2& self = Self(user_data);
    Exchange* exchange = self.Find(frame->hd.stream_id);
    if (exchange == nullptr || exchange->answered) return 0;  // aborted; trailers
    if (View(name, name_size) == ":status") {
      for (size_t i = 0; i < value_size; ++i) {
        exchange->response.status = exchange->response.status * 10 + (value[i] - '0');
      }
      return 0;
    }
    if (!self.Keeps(View(name, name_size))) return 0;
    if (AddHeader(*exchange, View(name, name_size), View(value, value_size))) return 0;
    self.Give(*exchange, {HttpError::Kind::kTooLarge,
                          "http2: response header list larger than advertised limit"});
    return 0;
  }

  // Fails an exchange for a reason of ours.
  void Give(Exchange& exchange, HttpError error) {
    Abort(exchange);
    events_.OnFailure(exchange, std::move(error), false);
  }

  static int OnFrame(nghttp2_session*, const nghttp2_frame* frame, void* user_data) {
    Http2& self = Self(user_data);
    if (frame->hd.type == NGHTTP2_GOAWAY) self.OnGoaway(frame->goaway);
    if (frame->hd.type == NGHTTP2_HEADERS) self.OnHeadersEnd(frame->hd.stream_id);
    return 0;
  }

  void OnHeadersEnd(int32_t stream) {
    Exchange* exchange = Find(stream);
    if (exchange == nullptr || exchange->answered) return;
    if (exchange->response.status < 200) {
      if (++exchange->interims > kMaxInterims) {
        Give(*exchange, {HttpError::Kind::kBroken, std::string(kTooManyInterims)});
      }
      return;
    }
    exchange->answered = true;
    events_.OnAnswer(*exchange);
  }

  void OnGoaway(const nghttp2_goaway& goaway) {
    going_away_ = true;
    goaway_words_ = fmt::format(
        "http2: server sent GOAWAY and closed the connection; LastStreamID={}, ErrCode={}, "
        "debug=\"{}\"",
        goaway.last_stream_id, nghttp2_http2_strerror(goaway.error_code),
        View(goaway.opaque_data, std::min<size_t>(goaway.opaque_data_len, 256)));
  }

  static int OnChunk(nghttp2_session*, uint8_t, int32_t stream, const uint8_t* data, size_t size,
                     void* user_data) {
    Http2& self = Self(user_data);
    Exchange* exchange = self.Find(stream);
    if (exchange != nullptr) self.events_.OnBody(*exchange, View(data, size));
    return 0;
  }

  static int OnStreamClose(nghttp2_session*, int32_t stream, uint32_t error, void* user_data) {
    Http2& self = Self(user_data);
    Exchange* exchange = self.Find(stream);
    if (exchange != nullptr) self.EndStream(*exchange, error);
    return 0;
  }

  void EndStream(Exchange& exchange, uint32_t error) {
    if (error == NGHTTP2_NO_ERROR && exchange.answered) {
      events_.OnEnd(exchange);
      return;
    }
    const bool refused = error == NGHTTP2_REFUSED_STREAM && !exchange.answered;
    events_.OnFailure(exchange,
                      {refused ? HttpError::Kind::kUnsent : HttpError::Kind::kBroken,
                       fmt::format("stream error: stream ID {}; {}; received from peer",
                                   exchange.stream, nghttp2_http2_strerror(error))},
                      refused);
  }

  static int OnInvalidFrame(nghttp2_session*, const nghttp2_frame*, int error, void* user_data) {
    Self(user_data).error_words_ =
        std::string("http2: connection error: ") + nghttp2_strerror(error);
    return 0;
  }

  const RequestForm form_;
  ExchangeEvents& events_;
  std::unique_ptr<nghttp2_session, SessionDeleter> session_;
  std::vector<nghttp2_nv> pairs_;  // kept for its memory
  bool going_away_ = false;
  std::string goaway_words_;
  std::string error_words_ = "http2: connection error: PROTOCOL_ERROR";
  std::optional<HttpError> broken_;
};

}  // namespace

std::unique_ptr<Protocol> MakeHttp2(const RequestForm& form, ExchangeEvents& events) {
  return std::make_unique<Http2>(form, events);
}

}  // namespace berth::net
