// HTTP/1.1 over Beast's parser, connections kept alive: one exchange at a time, or several when the
// server is known to answer requests that come together.
#include <algorithm>
#include <deque>

#include <fmt/format.h>
#include <boost/asio/buffer.hpp>
#include <boost/beast/http/basic_parser.hpp>

#include "net/http/protocol.h"

namespace berth::net {
namespace {

namespace http = boost::beast::http;
using boost::beast::error_code;
using Text = boost::beast::string_view;

std::string_view View(Text text) { return {text.data(), text.size()}; }

class ResponseParser final : public http::basic_parser<false> {
 public:
  class Reader {
   public:
    virtual ~Reader() = default;
    virtual void OnStatus(int status) = 0;
    virtual bool OnField(std::string_view name, std::string_view value) = 0;
    virtual void OnHead() = 0;
    virtual bool OnPiece(std::string_view bytes) = 0;
  };

  ResponseParser(Reader& reader, bool no_body) : reader_(reader) {
    header_limit(kMaxHeaderBytes);
    body_limit(boost::none);
    eager(true);
    skip(no_body);
  }

 private:
  static error_code Stop() {
    return boost::system::errc::make_error_code(boost::system::errc::operation_canceled);
  }

  void on_request_impl(http::verb, Text, Text, int, error_code&) override {}
  void on_response_impl(int code, Text, int, error_code&) override { reader_.OnStatus(code); }
  void on_field_impl(http::field, Text name, Text value, error_code& error) override {
    if (!reader_.OnField(View(name), View(value))) error = http::error::header_limit;
  }
  void on_header_impl(error_code&) override { reader_.OnHead(); }
  void on_body_init_impl(const boost::optional<std::uint64_t>&, error_code&) override {}
  std::size_t on_body_impl(Text body, error_code& error) override {
    if (!reader_.OnPiece(View(body))) error = Stop();
    return body.size();
  }
  void on_chunk_header_impl(std::uint64_t, Text, error_code&) override {}
  std::size_t on_chunk_body_impl(std::uint64_t, Text body, error_code& error) override {
    if (!reader_.OnPiece(View(body))) error = Stop();
    return body.size();
  }
  void on_finish_impl(error_code&) override {}

  Reader& reader_;
};

constexpr size_t kMaxLineBytes = 64 << 10;
// "0\r\n\r\n". Beast's parser, called again after it saw only a part of the last chunk, asserts
// that it gets no fewer bytes.
constexpr size_t kLastChunkBytes = 5;

class Http1 final : public Protocol, ResponseParser::Reader {
 public:
  Http1(const RequestForm& form, ExchangeEvents& events) : form_(form), events_(events) {}

  size_t Limit() const override { return broken_ || last_ ? 0 : form_.pipeline; }

  void Start(Exchange& exchange) override {
    queue_.push_back({&exchange, exchange.request.method == "HEAD"});
    if (!awaiting_) NextAnswer();
    WriteRequest(exchange.request);
  }

  void Abort(Exchange& exchange) override {
    if (exchange_ == &exchange) {
      exchange_ = nullptr;
      // Others wait behind it: its answer is read and thrown away.
      if (form_.pipeline > 1) return;
      Break(HttpError::Kind::kCancelled, "context canceled");
      return;
    }
    for (Queued& queued : queue_) {
      if (queued.exchange == &exchange) queued.exchange = nullptr;
    }
  }

  void Receive(std::string_view bytes) override {
    if (broken_) return;
    if (!awaiting_) {
      Break(HttpError::Kind::kBroken, "http: unsolicited response received on idle HTTP channel");
      return;
    }
    // The parser wants the whole head in one piece; bodies go by without a copy.
    std::string_view input = bytes;
    if (!head_.empty()) {
      head_ += bytes;
      input = head_;
      if (InChunks() && input.size() < kLastChunkBytes) return;
    }
    size_t used = 0;
    do {
      heard_ = true;
      used += Parse(input.substr(used));
      if (broken_) return;
    } while (FinishIfDone() && awaiting_ && used < input.size());
    if (broken_) return;
    if (!awaiting_ && used < input.size()) {
      Break(HttpError::Kind::kBroken, "http: unsolicited response received on idle HTTP channel");
      return;
    }
    if (head_.empty()) {
      head_ = input.substr(used);
    } else {
      head_.erase(0, used);
    }
    // The parser bounds the head; lines between chunks and trailers are up to us.
    if (parser_->is_header_done() && head_.size() > kMaxLineBytes) {
      Break(HttpError::Kind::kTooLarge, "http: header line too long");
    }
  }

  void ReceiveEnd(const HttpError& end, bool proper) override {
    if (broken_ || exchange_ == nullptr) return;
    if (!heard_) {
      // Go's net/http repeats such requests as well: the server closed a connection it kept idle.
      Exchange& exchange = *std::exchange(exchange_, nullptr);
      const bool harmless = exchange.request.method == "GET" || exchange.request.method == "HEAD";
      broken_ = end;
      events_.OnFailure(exchange, end, harmless && served_ > 0);
      return;
    }
    error_code error;
    if (proper && parser_->is_header_done()) parser_->put_eof(error);
    if (proper && !error && parser_->is_done()) {
      last_ = true;
      FinishIfDone();
      return;
    }
    Break(end.kind, end.message == "EOF" ? "unexpected EOF" : end.message);
  }

  void Produce(std::string& out, size_t) override {
    out += out_;
    out_.clear();
  }

  bool Ping() override { return false; }
  const std::optional<HttpError>& Broken() const override { return broken_; }

 private:
  // A request whose answer is still to come. Null: nobody waits for it any more.
  struct Queued {
    Exchange* exchange;
    bool head;
  };

  // Begins to wait for the answer of the next request, if there is one.
  void NextAnswer() {
    awaiting_ = !queue_.empty();
    if (!awaiting_) return;
    exchange_ = queue_.front().exchange;
    no_body_ = queue_.front().head;
    queue_.pop_front();
    heard_ = false;
    interim_ = false;
    interims_ = 0;
    NewParser();
  }

  // What is left unparsed of such a body is always the beginning of a chunk's line.
  bool InChunks() const { return parser_->is_header_done() && parser_->chunked(); }

  void NewParser() { parser_.emplace(static_cast<Reader&>(*this), no_body_); }

  void WriteRequest(const HttpRequest& request) {
    out_ += request.method;
    out_ += ' ';
    out_ += form_.target_prefix;
    out_ += request.target;
    out_ += " HTTP/1.1\r\nhost: ";
    out_ += form_.authority;
    out_ += "\r\n";
    for (const Header& header : request.headers.List()) WriteHeader(header.name, header.value);
    if (!form_.proxy_authorization.empty()) {
      WriteHeader("proxy-authorization", form_.proxy_authorization);
    }
    if (SaysLength(request)) WriteHeader("content-length", std::to_string(request.body.size()));
    out_ += "\r\n";
    out_ += request.body;
  }

  void WriteHeader(std::string_view name, std::string_view value) {
    out_ += name;
    out_ += ": ";
    out_ += value;
    out_ += "\r\n";
  }

  // Hands bytes to the parser while it takes any; how many it took.
  size_t Parse(std::string_view input) {
    size_t used = 0;
    while (!broken_ && !parser_->is_done() && used < input.size()) {
      error_code error;
      const size_t took =
          parser_->put(boost::asio::const_buffer(input.data() + used, input.size() - used), error);
      used += took;
      if (error == http::error::need_more) break;
      if (error) {
        OnParseError(error, input);
        break;
      }
      if (interim_ &&
          parser_->is_done()) {  // 100 Continue and the like: the answer is still to come
        interim_ = false;
        if (++interims_ > kMaxInterims) {
          Break(HttpError::Kind::kBroken, std::string(kTooManyInterims));
          break;
        }
        NewParser();
        continue;
      }
      if (took == 0) break;
    }
    return used;
  }

  void OnParseError(const error_code& error, std::string_view input) {
    if (broken_) return;
    if (error == http::error::header_limit) {
      Break(HttpError::Kind::kTooLarge,
            fmt::format("net/http: server response headers exceeded {} bytes; aborted",
                        kMaxHeaderBytes));
      return;
    }
    if (parser_->is_header_done()) {
      Break(HttpError::Kind::kBroken, "net/http: malformed response body: " + error.message());
      return;
    }
    const std::string_view line = input.substr(0, std::min<size_t>(input.find("\r\n"), 64));
    Break(
        HttpError::Kind::kBroken,
        "net/http: HTTP/1.x transport connection broken: malformed HTTP response " + Quoted(line));
  }

  static std::string Quoted(std::string_view bytes) {
    std::string quoted = "\"";
    for (const char c : bytes) {
      if (c == '"' || c == '\\') {
        quoted += '\\';
        quoted += c;
      } else if (c >= 0x20 && c < 0x7f) {
        quoted += c;
      } else {
        quoted += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
      }
    }
    return quoted + '"';
  }

  // Whether an answer was complete.
  bool FinishIfDone() {
    if (!awaiting_ || !parser_->is_done()) return false;
    const bool unanswered = !queue_.empty();
    if (!parser_->keep_alive()) last_ = true;
    ++served_;
    Exchange* exchange = std::exchange(exchange_, nullptr);
    awaiting_ = false;
    // Requests after one that was answered with a farewell were not looked at.
    if (last_) Break(unanswered ? HttpError::Kind::kUnsent : HttpError::Kind::kBroken, "EOF");
    if (!last_) NextAnswer();
    if (exchange != nullptr) events_.OnEnd(*exchange);
    return true;
  }

  void Break(HttpError::Kind kind, std::string message) {
    if (!broken_) broken_ = HttpError{kind, std::move(message)};
  }

  // ---- from the parser ----

  void OnStatus(int status) override {
    if (exchange_ == nullptr) return;
    exchange_->response.status = status;
    exchange_->response.headers.clear();
    exchange_->header_bytes = 0;
    interim_ = status >= 100 && status < 200;
  }

  bool OnField(std::string_view name, std::string_view value) override {
    if (exchange_ == nullptr || exchange_->answered) return true;  // a trailer
    if (!AddHeader(*exchange_, name, value)) return false;
    std::string& kept = exchange_->response.headers.back().name;
    std::transform(kept.begin(), kept.end(), kept.begin(), [](char c) {
      return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    });
    return true;
  }

  void OnHead() override {
    if (exchange_ == nullptr || interim_) return;
    exchange_->answered = true;
    events_.OnAnswer(*exchange_);
  }

  bool OnPiece(std::string_view bytes) override {
    if (exchange_ != nullptr) events_.OnBody(*exchange_, bytes);
    return !broken_;
  }

  const RequestForm form_;
  ExchangeEvents& events_;
  std::deque<Queued> queue_;      // in the order of their requests, without the first
  Exchange* exchange_ = nullptr;  // whose answer comes next; null: nobody waits for it
  bool awaiting_ = false;         // an answer is to come
  bool no_body_ = false;          // it is one to HEAD
  std::optional<ResponseParser> parser_;
  std::string head_;  // received, not yet parsed
  std::string out_;
  size_t served_ = 0;
  bool heard_ = false;    // of this exchange's response
  bool interim_ = false;  // a 1xx is being read
  int interims_ = 0;      // read before this exchange's answer
  bool last_ = false;     // the peer closes after this
  std::optional<HttpError> broken_;
};

}  // namespace

std::unique_ptr<Protocol> MakeHttp1(const RequestForm& form, ExchangeEvents& events) {
  return std::make_unique<Http1>(form, events);
}

}  // namespace berth::net
