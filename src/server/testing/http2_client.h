// A client's side of HTTP/2 for tests: requests in, bytes out, and the other way round.
#pragma once

#include <nghttp2/nghttp2.h>

#include <cstring>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace berth::server {

class Http2TestClient {
 public:
  using Fields = std::vector<std::pair<std::string, std::string>>;
  struct Answer {
    int status = 0;
    std::map<std::string, std::string> headers;
    std::string body;
    bool closed = false;
    uint32_t error = 0;
  };

  // `window`: what it takes of an answer before it says more.
  explicit Http2TestClient(uint32_t window = 65535) {
    nghttp2_session_callbacks* callbacks = nullptr;
    nghttp2_session_callbacks_new(&callbacks);
    nghttp2_session_callbacks_set_on_header_callback(callbacks, &OnHeader);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, &OnChunk);
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, &OnClose);
    nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, &OnFrame);
    nghttp2_option* option = nullptr;
    nghttp2_option_new(&option);
    nghttp2_option_set_no_auto_window_update(option, window == 65535 ? 0 : 1);
    nghttp2_session_client_new2(&session_, callbacks, this, option);
    nghttp2_option_del(option);
    nghttp2_session_callbacks_del(callbacks);
    const nghttp2_settings_entry setting{NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, window};
    nghttp2_submit_settings(session_, NGHTTP2_FLAG_NONE, &setting, 1);
  }
  ~Http2TestClient() { nghttp2_session_del(session_); }
  Http2TestClient(const Http2TestClient&) = delete;
  Http2TestClient& operator=(const Http2TestClient&) = delete;

  // The number of the stream. `ends`: the body is all there is.
  int32_t Ask(const std::string& method, const std::string& path, Fields headers = {},
              std::string body = "", bool ends = true) {
    Fields fields = {{":method", method}, {":scheme", "https"}, {":authority", "x"}};
    fields.emplace_back(":path", path);
    fields.insert(fields.end(), headers.begin(), headers.end());
    std::vector<nghttp2_nv> pairs;
    for (auto& [name, value] : fields) {
      pairs.push_back({reinterpret_cast<uint8_t*>(name.data()),
                       reinterpret_cast<uint8_t*>(value.data()), name.size(), value.size(),
                       NGHTTP2_NV_FLAG_NONE});
    }
    nghttp2_data_provider provider{};
    provider.read_callback = &ReadBody;
    const bool has_body = !body.empty() || !ends;
    const int32_t id = nghttp2_submit_request(session_, nullptr, pairs.data(), pairs.size(),
                                              has_body ? &provider : nullptr, nullptr);
    bodies_[id] = {std::move(body), ends};
    return id;
  }
  void Cancel(int32_t id) {
    nghttp2_submit_rst_stream(session_, NGHTTP2_FLAG_NONE, id, NGHTTP2_CANCEL);
  }
  void Ping() { nghttp2_submit_ping(session_, NGHTTP2_FLAG_NONE, nullptr); }

  std::string Produce() {
    std::string out;
    const uint8_t* data = nullptr;
    for (ssize_t size = 0; (size = nghttp2_session_mem_send(session_, &data)) > 0;) {
      out.append(reinterpret_cast<const char*>(data), static_cast<size_t>(size));
    }
    return out;
  }
  void Receive(std::string_view bytes) {
    nghttp2_session_mem_recv(session_, reinterpret_cast<const uint8_t*>(bytes.data()),
                             bytes.size());
  }

  Answer& Of(int32_t id) { return answers_[id]; }
  bool Closed(int32_t id) { return answers_[id].closed; }
  uint32_t Setting(nghttp2_settings_id id) const {
    return nghttp2_session_get_remote_settings(session_, id);
  }
  bool GoneAway() const { return gone_away_; }
  uint32_t GoawayError() const { return goaway_error_; }

 private:
  static Http2TestClient& Self(void* self) { return *static_cast<Http2TestClient*>(self); }

  static ssize_t ReadBody(nghttp2_session*, int32_t id, uint8_t* to, size_t size, uint32_t* flags,
                          nghttp2_data_source*, void* self) {
    auto& [body, ends] = Self(self).bodies_[id];
    const size_t part = std::min(size, body.size());
    std::memcpy(to, body.data(), part);
    body.erase(0, part);
    if (body.empty() && ends) *flags |= NGHTTP2_DATA_FLAG_EOF;
    return part == 0 && !ends ? static_cast<ssize_t>(NGHTTP2_ERR_DEFERRED)
                              : static_cast<ssize_t>(part);
  }
  static int OnHeader(nghttp2_session*, const nghttp2_frame* frame, const uint8_t* name,
                      size_t name_size, const uint8_t* value, size_t value_size, uint8_t,
                      void* self) {
    Answer& answer = Self(self).answers_[frame->hd.stream_id];
    const std::string key(reinterpret_cast<const char*>(name), name_size);
    const std::string text(reinterpret_cast<const char*>(value), value_size);
    if (key == ":status") {
      answer.status = std::stoi(text);
    } else {
      answer.headers[key] = text;
    }
    return 0;
  }
  static int OnChunk(nghttp2_session*, uint8_t, int32_t id, const uint8_t* data, size_t size,
                     void* self) {
    Self(self).answers_[id].body.append(reinterpret_cast<const char*>(data), size);
    return 0;
  }
  static int OnClose(nghttp2_session*, int32_t id, uint32_t error, void* self) {
    Self(self).answers_[id].closed = true;
    Self(self).answers_[id].error = error;
    return 0;
  }
  static int OnFrame(nghttp2_session*, const nghttp2_frame* frame, void* self) {
    if (frame->hd.type != NGHTTP2_GOAWAY) return 0;
    Self(self).gone_away_ = true;
    Self(self).goaway_error_ = frame->goaway.error_code;
    return 0;
  }

  nghttp2_session* session_ = nullptr;
  std::map<int32_t, std::pair<std::string, bool>> bodies_;
  std::map<int32_t, Answer> answers_;
  bool gone_away_ = false;
  uint32_t goaway_error_ = 0;
};

}  // namespace berth::server
