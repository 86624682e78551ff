// RequestObserver: told of requests to the API server, for metrics. Does nothing unless overridden.
//
// Called on the loop's thread of the client it watches.
#pragma once

#include <cstddef>
#include <string_view>

namespace berth::kube {

class RequestObserver {
 public:
  virtual ~RequestObserver() = default;
  // An answer, or "<error>" for none; of every attempt, and of the beginning of a watch. `host` is
  // that of the server's URL, with its port.
  virtual void Answered(std::string_view /*method*/, std::string_view /*host*/,
                        std::string_view /*code*/, size_t /*request_bytes*/) {}
  // A request has its answer for good, after all its attempts.
  virtual void Finished(std::string_view /*method*/, std::string_view /*host*/, double /*seconds*/,
                        size_t /*response_bytes*/) {}
  // How long the client's own rate held it back.
  virtual void HeldBack(std::string_view /*method*/, std::string_view /*host*/,
                        double /*seconds*/) {}
  // It is sent once more, after an answer with this code.
  virtual void Retried(std::string_view /*method*/, std::string_view /*host*/,
                       std::string_view /*code*/) {}
};

}  // namespace berth::kube
