// ApiClient: requests to a Kubernetes API server, in its vocabulary.
//
// What reflectors, writers and the leader elector speak through; rest_client.h is the real one,
// fake_api_client.h the one of tests. On the loop's thread only; callbacks come from the loop.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "net/http/message.h"
#include "net/loop.h"

namespace berth::kube {

inline constexpr std::string_view kProtobuf = "application/vnd.kubernetes.protobuf";
inline constexpr std::string_view kJson = "application/json";
inline constexpr std::string_view kStrategicMergePatch = "application/strategic-merge-patch+json";

struct ApiRequest {
  std::string method = "GET";
  std::string path = {};   // "/api/v1/pods"
  std::string query = {};  // encoded, keys sorted, without "?"
  std::string content_type = {};
  std::string body = {};
  // For all attempts together; 0: the client's own. Watches have none.
  net::Nanoseconds timeout = net::Nanoseconds(0);
  // Counted apart: kube-scheduler's events have a rate limit of their own beside that of everything
  // else. The first attempt of a watch is not counted at all.
  bool event = false;
  // Instead of the client's own, for objects whose bytes are wanted: "" is the client's own.
  std::string accept = {};
};

struct ApiResponse {
  int code = 0;                   // 0: no answer, see error
  net::HttpError error = {};      // with code 0
  std::string content_type = {};  // of the body
  std::string body = {};          // of an answer below 300
  std::string reason = {};        // of a Status: "NotFound", "Conflict", "Expired", …
  std::string message = {};       // what to tell people: the Status' message or the error's
  net::Nanoseconds retry_after = net::Nanoseconds(0);  // asked for by the server; 0: not

  bool Ok() const { return code >= 200 && code < 300; }
};

// Receives a watch.
class WatchSink {
 public:
  virtual ~WatchSink() = default;
  // The server has accepted the watch (2xx); its frames will be of this content type.
  virtual void OnStarted(std::string_view content_type) = 0;
  // One frame, without its length prefix (protobuf) or newline (JSON).
  virtual void OnFrame(std::string_view frame) = 0;
  // The last call: the server refused (code >= 300), ended the watch (2xx), or it broke (code 0).
  virtual void OnEnd(const ApiResponse& why) = 0;
};

class ApiClient {
 public:
  using Id = uint64_t;  // never 0
  using Callback = std::function<void(ApiResponse)>;

  virtual ~ApiClient() = default;

  // Retries by itself only what the server asked to be repeated (429 and 5xx with Retry-After, up
  // to 10 times), what surely did not reach it because a kept connection had died, what was refused
  // for a credential that could be renewed (once), and, a second later, reads and starts of watches
  // whose connection broke.
  virtual Id Send(ApiRequest request, Callback done) = 0;
  virtual Id Watch(ApiRequest request, WatchSink* sink) = 0;
  // No callback comes after this.
  virtual void Cancel(Id id) = 0;
  // What objects are encoded as: kProtobuf or kJson.
  virtual std::string_view ContentType() const = 0;
};

}  // namespace berth::kube
