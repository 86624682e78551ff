// EventStreams: decisions and the state of the queue as server-sent events, for any number of
// clients. A client that does not read is dropped.
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "explain/report.h"
#include "server/http/message.h"
#include "server/http/mount.h"

namespace berth::server {

class EventStreams {
 public:
  static constexpr size_t kMaxClients = 64;
  static constexpr size_t kMaxBacklog = 1u << 20;

  // The answer that begins a stream, on the serving thread; nothing when there are too many.
  // `namespace_`: only decisions about its pods; empty: all.
  std::shared_ptr<BodyStream> Open(std::string namespace_, const Post& post);

  size_t Size() const;
  // From any thread; events are written on the clients' own.
  void Decisions(const std::vector<explain::DecisionSummary>& decisions, uint64_t dropped);
  void Queue(const explain::QueueState& state);
  void EndAll();

 private:
  struct Client {
    std::shared_ptr<BodyStream> stream;  // touched on the serving thread only
    std::string namespace_;
    Post post;
    bool gone = false;  // under mutex_
  };
  void Send(const std::function<std::string(const Client&)>& text);

  mutable std::mutex mutex_;
  std::list<std::shared_ptr<Client>> clients_;
};

}  // namespace berth::server
