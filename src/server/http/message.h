// Requests the server gets and responses it gives, as values.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace berth::server {

// The certificates a client presented, its own first, in DER. Nobody has verified them yet.
using PeerChain = std::shared_ptr<const std::vector<std::string>>;

struct Request {
  std::string method;
  std::string target;                                        // as it came
  std::string path;                                          // of the target, decoded
  std::string query;                                         // of the target, encoded, without "?"
  std::vector<std::pair<std::string, std::string>> headers;  // names in lower case, in order
  std::string body;
  PeerChain peer;  // null: none

  // The first header of that (lower case) name, or "".
  std::string_view Header(std::string_view name) const {
    for (const auto& [key, value] : headers) {
      if (key == name) return value;
    }
    return "";
  }
};

// A body that is written while it comes about, such as a watch. The handler writes, the connection
// takes; both on the loop's thread. The connection is closed after it.
class BodyStream {
 public:
  void Write(std::string_view bytes) {
    if (closed_ || ended_) return;
    pending_ += bytes;
    if (ready_) ready_();
  }
  void End() {
    if (ended_) return;
    ended_ = true;
    if (ready_) ready_();
  }
  // Ends it without the mark of a proper end: the client does not keep up.
  void Abort() {
    aborted_ = true;
    End();
  }
  // Bytes written that the network has not taken.
  size_t Backlog() const { return pending_.size() + sending_; }
  bool Closed() const { return closed_; }
  // Called once when the connection is gone; nothing written after that is sent.
  void OnClosed(std::function<void()> closed) { on_closed_ = std::move(closed); }

  // For the connection.
  void SetReady(std::function<void()> ready) { ready_ = std::move(ready); }
  std::string Take() {
    sending_ = pending_.size();
    return std::exchange(pending_, {});
  }
  void Sent() { sending_ = 0; }
  bool Ended() const { return ended_; }
  bool Aborted() const { return aborted_; }
  void Close() {
    if (std::exchange(closed_, true)) return;
    ready_ = nullptr;
    if (const auto call = std::exchange(on_closed_, nullptr)) call();
  }

 private:
  std::string pending_;
  size_t sending_ = 0;
  bool ended_ = false;
  bool aborted_ = false;
  bool closed_ = false;
  std::function<void()> ready_;
  std::function<void()> on_closed_;
};

struct Response {
  int status = 200;
  std::vector<std::pair<std::string, std::string>> headers = {};
  std::string body = {};
  // Instead of a body. Shared: handler and connection let go of it at different times.
  std::shared_ptr<BodyStream> stream = {};

  Response& Set(std::string name, std::string value) {
    for (auto& header : headers) {
      if (header.first == name) {
        header.second = std::move(value);
        return *this;
      }
    }
    headers.emplace_back(std::move(name), std::move(value));
    return *this;
  }
  std::string_view Get(std::string_view name) const {
    for (const auto& header : headers) {
      if (header.first == name) return header.second;
    }
    return "";
  }
};

// Answers a request: calls `respond` once, now or later, on the thread the handler was called on.
using Respond = std::function<void(Response)>;
using Handler = std::function<void(Request request, Respond respond)>;

// Whether headers of an HTTP/1 request leave in doubt where its body ends or which host it is for;
// version is 10 or 11. The answers are Go's. {0, ""}: they do not.
std::pair<int, std::string> CheckFraming(const Request& request, unsigned version);

// Splits and decodes a request target. False: it is malformed.
bool ParseTarget(std::string_view target, std::string* path, std::string* query);

// "%41" and, in queries, "+". False: a bad escape.
bool PercentDecode(std::string_view text, bool plus_is_space, std::string* out);

// The values of one key of an encoded query, decoded; entries that are malformed are left out.
std::vector<std::string> QueryValues(std::string_view query, std::string_view key);
bool QueryHas(std::string_view query, std::string_view key);

// What Go's http.Error answers: text, a newline, and no sniffing.
Response TextError(int status, std::string_view text);

// The body in gzip, when the client takes that.
bool AcceptsGzip(const Request& request);
std::string Gzip(std::string_view text);

}  // namespace berth::server
