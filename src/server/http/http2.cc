#include "server/http/http2.h"

#include <nghttp2/nghttp2.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstring>
#include <map>
#include <utility>
#include <vector>

namespace berth::server {
namespace {

constexpr int32_t kStreamWindow = 256 << 10;  // as kube-scheduler's
// Requests of all streams together, in sizes of the largest one.
constexpr size_t kLargestRequests = 4;
// Answers the client has not taken: with more, it gets no further ones.
constexpr size_t kMostUnsent = 16u << 20;
// What a header counts besides its letters (RFC 9113, 6.5.2).
constexpr size_t kHeaderOverhead = 32;

struct SessionDeleter {
  void operator()(nghttp2_session* session) const { nghttp2_session_del(session); }
};

std::string_view View(const uint8_t* bytes, size_t size) {
  return {reinterpret_cast<const char*>(bytes), size};
}

nghttp2_nv Pair(std::string_view name, std::string_view value) {
  const auto bytes = [](std::string_view text) {
    return reinterpret_cast<uint8_t*>(const_cast<char*>(text.data()));
  };
  return {bytes(name), bytes(value), name.size(), value.size(), NGHTTP2_NV_FLAG_NONE};
}

std::string Lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return lower;
}

// Headers that speak about an HTTP/1.1 connection, and the length, which is counted here.
bool IsForbidden(std::string_view name) {
  return name == "connection" || name == "transfer-encoding" || name == "keep-alive" ||
         name == "upgrade" || name == "content-length";
}

// A request and its answer.
struct Stream {
  int32_t id = 0;
  Request request;
  bool complete = false;  // the request is there, or no longer of interest
  size_t held = 0;        // bytes of the request
  bool answered = false;
  std::string body;  // of the answer, or what was taken of its stream
  size_t sent = 0;   // of `body`
  std::shared_ptr<BodyStream> flow;
  bool waits = false;  // for more of `flow`
  Http2::Clock::time_point deadline;

  size_t Unsent() const { return body.size() - sent; }
};

class Connection final : public Http2, public std::enable_shared_from_this<Connection> {
 public:
  Connection(Http2Options options, Handler handler, std::function<void()> wake)
      : options_(std::move(options)), handler_(std::move(handler)), wake_(std::move(wake)) {}

  bool Open() {
    nghttp2_session* session = nullptr;
    if (nghttp2_session_server_new(&session, Callbacks(), this) != 0) return false;
    session_.reset(session);
    const auto header_bytes = static_cast<uint32_t>(options_.max_header_bytes);
    const std::array<nghttp2_settings_entry, 3> settings = {{
        {NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, options_.max_streams},
        {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, kStreamWindow},
        {NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, header_bytes},
    }};
    nghttp2_submit_settings(session, NGHTTP2_FLAG_NONE, settings.data(), settings.size());
    const auto streams = static_cast<int32_t>(std::min<uint32_t>(options_.max_streams, 100));
    nghttp2_session_set_local_window_size(session, NGHTTP2_FLAG_NONE, 0, kStreamWindow * streams);
    return true;
  }

  void Receive(std::string_view bytes) override {
    if (broken_) return;
    const ssize_t used = nghttp2_session_mem_recv(
        session_.get(), reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
    if (used < 0) broken_ = true;  // no HTTP/2, or a flood
  }

  void Produce(std::string& out, size_t limit) override {
    while (!broken_ && out.size() < limit) {
      const uint8_t* data = nullptr;
      const ssize_t size = nghttp2_session_mem_send(session_.get(), &data);
      if (size == 0) return;
      if (size < 0) {
        broken_ = true;
      } else {
        out.append(reinterpret_cast<const char*>(data), static_cast<size_t>(size));
      }
    }
  }

  bool Over() const override {
    return broken_ || (nghttp2_session_want_read(session_.get()) == 0 &&
                       nghttp2_session_want_write(session_.get()) == 0);
  }

  size_t Streams() const override { return streams_.size(); }
  size_t Busy() const override {
    return static_cast<size_t>(std::count_if(
        streams_.begin(), streams_.end(), [](const auto& each) { return each.second.complete; }));
  }

  void DropIncomplete() override {
    for (auto& [id, stream] : streams_) {
      if (stream.complete) continue;
      stream.complete = true;
      stream.request.body = {};
      held_ -= std::exchange(stream.held, 0);
      Reset(id, NGHTTP2_ENHANCE_YOUR_CALM);
    }
    Wake();
  }

  void Expire(Clock::time_point now) override {
    for (const auto& [id, stream] : streams_) {
      const bool at_work = stream.complete && !stream.answered;
      if (!at_work && !stream.waits && now >= stream.deadline) Reset(id, NGHTTP2_CANCEL);
    }
    Wake();
  }

  void Finish() override {
    if (broken_ || std::exchange(finishing_, true)) return;
    nghttp2_submit_goaway(session_.get(), NGHTTP2_FLAG_NONE,
                          nghttp2_session_get_last_proc_stream_id(session_.get()), NGHTTP2_NO_ERROR,
                          nullptr, 0);
    for (const auto& [id, stream] : streams_) {
      if (stream.flow || !stream.complete) Reset(id, NGHTTP2_CANCEL);
    }
    if (streams_.empty()) nghttp2_session_terminate_session(session_.get(), NGHTTP2_NO_ERROR);
    Wake();
  }

  void Close() override {
    broken_ = true;
    closed_ = true;
    for (auto streams = std::exchange(streams_, {}); auto& [id, stream] : streams) {
      if (stream.flow) stream.flow->Close();
    }
  }

 private:
  void Wake() {
    if (!closed_) wake_();
  }

  // --- Requests

  Stream* Find(int32_t id) {
    const auto it = streams_.find(id);
    return it == streams_.end() ? nullptr : &it->second;
  }

  void Reset(int32_t id, uint32_t code) {
    nghttp2_submit_rst_stream(session_.get(), NGHTTP2_FLAG_NONE, id, code);
  }

  void Begin(int32_t id) {
    // Room for answers, and handlers whose requests were taken back, are bounded per connection.
    if (at_work_ > size_t{2} * options_.max_streams) {
      nghttp2_session_terminate_session(session_.get(), NGHTTP2_ENHANCE_YOUR_CALM);
      return;
    }
    if (finishing_ || unsent_ > kMostUnsent) return Reset(id, NGHTTP2_REFUSED_STREAM);
    Stream& stream = streams_[id];
    stream.id = id;
    stream.deadline = Clock::now() + options_.patience;
  }

  // False: the request is too large, with what the others hold.
  bool Hold(Stream& stream, size_t size) {
    const size_t largest = options_.max_header_bytes + options_.max_body_bytes;
    stream.held += size;
    held_ += size;
    return held_ <= kLargestRequests * largest && (!options_.hold || options_.hold(held_));
  }

  void Release(Stream& stream) {
    held_ -= std::exchange(stream.held, 0);
    if (options_.hold && !closed_) options_.hold(held_);
  }

  void AddHeader(Stream& stream, std::string_view name, std::string_view value) {
    if (stream.complete) return;
    const bool fits = Hold(stream, name.size() + value.size() + kHeaderOverhead);
    if (!fits) return Reset(stream.id, NGHTTP2_ENHANCE_YOUR_CALM);
    if (stream.held > options_.max_header_bytes) {
      return Refuse(stream, 431, "431 Request Header Fields Too Large");
    }
    Request& request = stream.request;
    if (name == ":method") {
      request.method = value;
    } else if (name == ":path") {
      request.target = value;
    } else if (name == ":authority") {
      request.headers.emplace_back("host", value);
    } else if (!name.starts_with(':')) {
      request.headers.emplace_back(name, value);
    }
  }

  void AddBody(Stream& stream, std::string_view bytes) {
    if (stream.complete) return;
    if (!Hold(stream, bytes.size())) return Reset(stream.id, NGHTTP2_ENHANCE_YOUR_CALM);
    if (stream.request.body.size() + bytes.size() > options_.max_body_bytes) {
      return Refuse(stream, 413, "413 Request Entity Too Large");
    }
    stream.request.body += bytes;
  }

  // Answers before the request is whole; the rest of it is not looked at.
  void Refuse(Stream& stream, Response response) {
    stream.complete = true;
    Release(stream);
    Answer(stream.id, std::move(response));
  }

  void Refuse(Stream& stream, int status, std::string_view text) {
    Response response;
    response.status = status;
    const bool described = status == 413 && !options_.too_large_json.empty();
    response.Set("Content-Type", described ? "application/json" : "text/plain; charset=utf-8");
    response.body = described ? options_.too_large_json : std::string(text);
    Refuse(stream, std::move(response));
  }

  // The header is complete.
  void Admit(Stream& stream) {
    if (stream.complete) return;
    Request& request = stream.request;
    request.peer = options_.peer;
    if (!ParseTarget(request.target, &request.path, &request.query)) {
      return Refuse(stream, 400, "400 Bad Request");
    }
    if (!options_.admit) return;
    if (auto response = options_.admit(request)) Refuse(stream, std::move(*response));
  }

  void Complete(Stream& stream) {
    if (stream.complete) return;
    Request request = std::move(stream.request);
    stream.request.method = request.method;
    stream.complete = true;
    Release(stream);
    ++at_work_;
    handler_(std::move(request), [self = shared_from_this(), id = stream.id](Response response) {
      --self->at_work_;
      self->Answer(id, std::move(response));
    });
  }

  // --- Answers

  void Answer(int32_t id, Response response) {
    Stream* stream = broken_ ? nullptr : Find(id);
    if (stream == nullptr || stream->answered) {  // nobody waits for it
      if (response.stream) response.stream->Close();
      return;
    }
    stream->answered = true;
    stream->deadline = Clock::now() + options_.patience;
    const bool no_body = stream->request.method == "HEAD";
    Submit(*stream, response, no_body);
    Wake();
  }

  void Submit(Stream& stream, Response& response, bool no_body) {
    std::vector<std::pair<std::string, std::string>> fields;
    fields.emplace_back(":status", std::to_string(response.status));
    for (const auto& [name, value] : response.headers) {
      if (std::string lower = Lower(name); !IsForbidden(lower)) {
        fields.emplace_back(std::move(lower), value);
      }
    }
    if (!response.stream) {
      fields.emplace_back("content-length", std::to_string(response.body.size()));
    }
    std::vector<nghttp2_nv> pairs;
    pairs.reserve(fields.size());
    for (const auto& [name, value] : fields) pairs.push_back(Pair(name, value));
    if (!no_body) TakeBody(stream, response);
    nghttp2_data_provider provider{};
    provider.read_callback = &ReadBody;
    const bool has_body = stream.flow || !stream.body.empty();
    if (nghttp2_submit_response(session_.get(), stream.id, pairs.data(), pairs.size(),
                                has_body ? &provider : nullptr) != 0) {
      Reset(stream.id, NGHTTP2_INTERNAL_ERROR);
    }
  }

  void TakeBody(Stream& stream, Response& response) {
    stream.body = std::move(response.body);
    unsent_ += stream.Unsent();
    if (!response.stream) return;
    stream.flow = std::move(response.stream);
    stream.flow->SetReady([weak = weak_from_this(), id = stream.id] {
      if (const auto self = weak.lock()) self->MoreOf(id);
    });
  }

  // The handler has written to a body, or ended it.
  void MoreOf(int32_t id) {
    Stream* stream = Find(id);
    if (stream == nullptr) return;
    // A client that does not take what is being sent is not waited for.
    if (stream->flow->Aborted()) {
      Reset(id, NGHTTP2_INTERNAL_ERROR);
    } else if (std::exchange(stream->waits, false)) {
      stream->deadline = Clock::now() + options_.patience;
      nghttp2_session_resume_data(session_.get(), id);
    } else {
      return;
    }
    Wake();
  }

  // What the client takes of an answer. A body without an end is taken piece by piece, so that what
  // the client leaves stays where its writer sees it.
  ssize_t Read(Stream& stream, uint8_t* to, size_t size, uint32_t* flags) {
    if (stream.flow && stream.Unsent() == 0) {
      stream.flow->Sent();
      stream.body = stream.flow->Take();
      stream.sent = 0;
      unsent_ += stream.body.size();
      stream.deadline = Clock::now() + options_.patience;
      if (stream.body.empty() && !stream.flow->Ended()) {
        stream.waits = true;
        return NGHTTP2_ERR_DEFERRED;
      }
    }
    const size_t part = std::min(size, stream.Unsent());
    std::memcpy(to, stream.body.data() + stream.sent, part);
    stream.sent += part;
    unsent_ -= part;
    const bool last =
        stream.Unsent() == 0 &&
        (!stream.flow || (stream.flow->Ended() && stream.flow->Backlog() == stream.body.size()));
    if (last) *flags |= NGHTTP2_DATA_FLAG_EOF;
    return static_cast<ssize_t>(part);
  }

  void End(int32_t id) {
    const auto it = streams_.find(id);
    if (it == streams_.end()) return;
    Stream stream = std::move(it->second);
    streams_.erase(it);
    Release(stream);
    unsent_ -= stream.Unsent();
    if (stream.flow) stream.flow->Close();
    if (finishing_ && streams_.empty()) {
      nghttp2_session_terminate_session(session_.get(), NGHTTP2_NO_ERROR);
    }
  }

  // --- nghttp2's callbacks

  static Connection& Self(void* user_data) { return *static_cast<Connection*>(user_data); }

  static const nghttp2_session_callbacks* Callbacks() {
    static const nghttp2_session_callbacks* const kCallbacks = [] {
      nghttp2_session_callbacks* made = nullptr;
      nghttp2_session_callbacks_new(&made);
      nghttp2_session_callbacks_set_on_begin_headers_callback(made, &OnBeginHeaders);
      nghttp2_session_callbacks_set_on_header_callback(made, &OnHeader);
      nghttp2_session_callbacks_set_on_frame_recv_callback(made, &OnFrame);
      nghttp2_session_callbacks_set_on_data_chunk_recv_callback(made, &OnChunk);
      nghttp2_session_callbacks_set_on_stream_close_callback(made, &OnStreamClose);
      return made;
    }();
    return kCallbacks;
  }

  static int OnBeginHeaders(nghttp2_session*, const nghttp2_frame* frame, void* user_data) {
    if (frame->headers.cat == NGHTTP2_HCAT_REQUEST) Self(user_data).Begin(frame->hd.stream_id);
    return 0;
  }

  static int OnHeader(nghttp2_session*, const nghttp2_frame* frame, const uint8_t* name,
                      size_t name_size, const uint8_t* value, size_t value_size, uint8_t,
                      void* user_data) {
    Connection& self = Self(user_data);
    if (frame->headers.cat != NGHTTP2_HCAT_REQUEST) return 0;  // trailers
    if (Stream* stream = self.Find(frame->hd.stream_id)) {
      self.AddHeader(*stream, View(name, name_size), View(value, value_size));
    }
    return 0;
  }

  static int OnFrame(nghttp2_session*, const nghttp2_frame* frame, void* user_data) {
    Connection& self = Self(user_data);
    if (frame->hd.type != NGHTTP2_HEADERS && frame->hd.type != NGHTTP2_DATA) return 0;
    if (frame->hd.type == NGHTTP2_HEADERS && frame->headers.cat == NGHTTP2_HCAT_REQUEST) {
      if (Stream* stream = self.Find(frame->hd.stream_id)) self.Admit(*stream);
    }
    if ((frame->hd.flags & NGHTTP2_FLAG_END_STREAM) == 0) return 0;
    if (Stream* stream = self.Find(frame->hd.stream_id)) self.Complete(*stream);
    return 0;
  }

  static int OnChunk(nghttp2_session*, uint8_t, int32_t id, const uint8_t* data, size_t size,
                     void* user_data) {
    Connection& self = Self(user_data);
    if (Stream* stream = self.Find(id)) self.AddBody(*stream, View(data, size));
    return 0;
  }

  static int OnStreamClose(nghttp2_session*, int32_t id, uint32_t, void* user_data) {
    Self(user_data).End(id);
    return 0;
  }

  static ssize_t ReadBody(nghttp2_session*, int32_t id, uint8_t* to, size_t size, uint32_t* flags,
                          nghttp2_data_source*, void* user_data) {
    Connection& self = Self(user_data);
    Stream* stream = self.Find(id);
    if (stream == nullptr) return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
    return self.Read(*stream, to, size, flags);
  }

  const Http2Options options_;
  const Handler handler_;
  const std::function<void()> wake_;
  std::unique_ptr<nghttp2_session, SessionDeleter> session_;
  std::map<int32_t, Stream> streams_;
  size_t held_ = 0;     // bytes of requests that are coming in
  size_t unsent_ = 0;   // bytes of answers
  size_t at_work_ = 0;  // handlers that have not answered
  bool finishing_ = false;
  bool broken_ = false;
  bool closed_ = false;  // nobody is there to be woken
};

}  // namespace

std::shared_ptr<Http2> Http2::Make(Http2Options options, Handler handler,
                                   std::function<void()> wake) {
  auto made = std::make_shared<Connection>(std::move(options), std::move(handler), std::move(wake));
  if (!made->Open()) return nullptr;
  return made;
}

}  // namespace berth::server
