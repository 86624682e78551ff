// Protocol: one connection's HTTP as a machine of bytes, HTTP/1.1 or HTTP/2; no sockets.
//
// Whatever the peer sends, each exchange ends at most once and a broken connection says so. An
// exchange may be aborted from inside any event, even its own.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "net/http/http_client.h"

namespace berth::net {

class Connection;

// Headers of a response, all together, may not be larger.
inline constexpr size_t kMaxHeaderBytes = 1 << 20;
// 1xx answers before the answer.
inline constexpr int kMaxInterims = 100;
inline constexpr std::string_view kTooManyInterims =
    "net/http: too many 1xx informational responses";

// A request and the response that is being put together for it.
struct Exchange {
  uint64_t id = 0;
  HttpRequest request;
  HttpClient::Callback done;   // of Send
  StreamSink* sink = nullptr;  // of Stream
  Loop::TimerId timer = 0;
  Nanoseconds queued_at{0};
  int tries = 0;

  Connection* connection = nullptr;  // null: waits for one
  size_t slot = 0;                   // place among the connection's exchanges
  int32_t stream = 0;                // HTTP/2's
  size_t body_sent = 0;

  HttpResponse response;
  std::vector<std::string> pieces;  // of a large body; response.body is the last
  size_t piece_bytes = 0;           // in pieces
  size_t header_bytes = 0;
  int interims = 0;       // 1xx answers so far
  bool answered = false;  // status and headers are complete
};

class ExchangeEvents {
 public:
  virtual ~ExchangeEvents() = default;
  // Status and headers are in `exchange.response`.
  virtual void OnAnswer(Exchange& exchange) = 0;
  virtual void OnBody(Exchange& exchange, std::string_view bytes) = 0;
  virtual void OnEnd(Exchange& exchange) = 0;
  // `retry`: it does no harm to send the request once more.
  virtual void OnFailure(Exchange& exchange, HttpError error, bool retry) = 0;
};

class Protocol {
 public:
  virtual ~Protocol() = default;
  // How many exchanges it carries at a time; 0: no new ones any more.
  virtual size_t Limit() const = 0;
  // REQUIRES: fewer than Limit are going on.
  virtual void Start(Exchange& exchange) = 0;
  // Forgets the exchange, and tells the peer if there is a way to.
  virtual void Abort(Exchange& exchange) = 0;
  virtual void Receive(std::string_view bytes) = 0;
  // The transport ended, `proper`ly or not, in the words of `error`.
  virtual void ReceiveEnd(const HttpError& error, bool proper) = 0;
  // Appends what is to be sent, up to about `limit` bytes.
  virtual void Produce(std::string& out, size_t limit) = 0;
  // Asks the peer for a sign of life. False: there is no way to.
  virtual bool Ping() = 0;
  // Set: the connection is of no use any more, what is left of it fails with this.
  virtual const std::optional<HttpError>& Broken() const = 0;
};

// How requests name the server.
struct RequestForm {
  std::string scheme;
  std::string authority;
  std::string target_prefix;                   // "http://host" when a proxy is asked, else empty
  std::string proxy_authorization;             // or empty
  std::vector<std::string> kept_headers = {};  // of responses; empty: all
  size_t pipeline = 1;                         // requests at a time over HTTP/1.1
};

std::unique_ptr<Protocol> MakeHttp1(const RequestForm& form, ExchangeEvents& events);
std::unique_ptr<Protocol> MakeHttp2(const RequestForm& form, ExchangeEvents& events);

// Adds a header to the response that is coming in. False: too many bytes of them.
bool AddHeader(Exchange& exchange, std::string_view name, std::string_view value);
// Whether a request of this method and body has a content-length.
bool SaysLength(const HttpRequest& request);
// What is wrong with the request, if anything: it would not survive being written as HTTP. Headers
// that were looked at before need not be again.
std::optional<std::string> Malformed(const HttpRequest& request, bool headers_known = false);

}  // namespace berth::net
