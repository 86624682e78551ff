// EventWriter: gets events to the API server: a few at a time, again when it cannot be reached.
//
// What the server refuses is dropped. What does not reach it is tried 12 times, ten to twelve and a
// half seconds apart. Few requests are under way at once, so that events never stand in line before
// bindings; at most kMaxWaiting events wait, more are dropped and counted.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <string>

#include <boost/unordered/unordered_flat_map.hpp>

#include "kube/client/api_client.h"

namespace berth::kube {

struct EventWrite {
  std::string collection;  // path to POST to
  std::string object;      // the event, encoded as the client's content type
  std::string name;        // with a patch: the event to PATCH
  std::string patch;       // "": create it. When there is no such event it is created after all
  bool once = false;       // do not try again
  std::function<void(bool delivered)> done;  // the server has answered, whatever; may be null
};

class EventWriter {
 public:
  static constexpr size_t kMaxWaiting = 10'000;

  EventWriter(net::Loop& loop, ApiClient& client) : loop_(loop), client_(client) {}
  ~EventWriter() { Stop(); }

  // False: dropped, too many are waiting.
  bool Write(EventWrite write);
  uint64_t Dropped() const { return dropped_; }
  // Nothing is sent after this, and no `done` is called.
  void Stop();

 private:
  using Key = uint64_t;
  struct Waiting {
    EventWrite write;
    int tries = 0;
    bool create = false;  // the patch found nothing: create it
    ApiClient::Id request = 0;
    net::Loop::TimerId timer = 0;
  };

  void SendNext();
  void Send(Key key);
  void OnAnswer(Key key, const ApiResponse& response);
  void Retry(Key key, const ApiResponse& response);
  void Finish(Key key, bool delivered);

  net::Loop& loop_;
  ApiClient& client_;
  bool stopped_ = false;
  uint64_t dropped_ = 0;
  Key last_ = 0;
  size_t in_flight_ = 0;
  std::deque<Key> ready_;
  boost::unordered_flat_map<Key, Waiting> waiting_;
};

}  // namespace berth::kube
