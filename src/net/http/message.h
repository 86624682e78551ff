// HTTP requests and responses as values, whatever version of the protocol carries them.
#pragma once

#include <chrono>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace berth::net {

struct Header {
  std::string name;  // lower case
  std::string value;
};

// Headers of a request. Nearly all requests have one of a few lists, which copies share.
class RequestHeaders {
 public:
  RequestHeaders() = default;
  RequestHeaders(std::vector<Header> list)
      : list_(std::make_shared<const std::vector<Header>>(std::move(list))) {}
  RequestHeaders(std::initializer_list<Header> list) : RequestHeaders(std::vector<Header>(list)) {}

  const std::vector<Header>& List() const {
    static const std::vector<Header> kNone;
    return list_ ? *list_ : kNone;
  }

  // Whether it is the very same list.
  bool Shares(const RequestHeaders& other) const { return list_ && list_ == other.list_; }

 private:
  std::shared_ptr<const std::vector<Header>> list_;
};

struct HttpRequest {
  std::string method;
  std::string target;      // path and query
  RequestHeaders headers;  // without host and content-length
  std::string body;
  // On the loop's steady clock: a request that still waits for a connection then is not sent and
  // ends with kUnsent. 0: whenever there is one.
  std::chrono::nanoseconds send_by{0};
};

struct HttpResponse {
  int status = 0;
  std::vector<Header> headers;
  std::string body;

  // The first header of that (lower case) name, or "".
  std::string_view Get(std::string_view name) const {
    for (const Header& header : headers) {
      if (header.name == name) return header.value;
    }
    return "";
  }
};

// Why there is no (complete) response.
struct HttpError {
  enum class Kind {
    kConnect,    // no connection came about: nothing was sent
    kRefused,    // like kConnect: the peer refused it (nothing listens there)
    kUnsent,     // the connection closed before the request was taken (GOAWAY, REFUSED_STREAM)
    kBroken,     // the connection broke after the request was sent: it may have been carried out
    kTimeout,    // no complete response in time: it may have been carried out
    kCancelled,  // by the caller
    kTooLarge,   // the response is larger than allowed
  };
  Kind kind = Kind::kBroken;
  std::string message;  // in the words of Go's net/http where they are known

  bool SurelyNotDone() const {
    return kind == Kind::kConnect || kind == Kind::kRefused || kind == Kind::kUnsent;
  }
};

}  // namespace berth::net
