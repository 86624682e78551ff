// Http2: the server's side of one HTTP/2 connection, over nghttp2. Bytes that came go in, bytes to
// send come out; it does no I/O of its own. Private to this folder.
//
// What a client can hold is bounded: streams at a time, the sizes of headers and bodies, of all of
// them together, the answers it does not take, the time a request may take to arrive and an answer
// to leave, requests it takes back while they are worked on. nghttp2 bounds the rest (floods of
// settings, pings, resets, continuations).
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "server/http/message.h"

namespace berth::server {

struct Http2Options {
  uint32_t max_streams = 100;
  size_t max_header_bytes = 1u << 20;
  size_t max_body_bytes = 1u << 20;
  std::string too_large_json = {};  // see ServingOptions
  std::chrono::seconds patience{32};
  PeerChain peer = {};
  // See ServingOptions.
  std::function<std::optional<Response>(const Request&)> admit = {};
  // Takes the bytes of requests that are not complete, of all streams. False: they are too many.
  std::function<bool(size_t bytes)> hold = {};
};

// All on one thread. It may outlive its connection: handlers still hold it then.
class Http2 {
 public:
  using Clock = std::chrono::steady_clock;

  // `wake` is called when something is to be sent that was not before, also from inside Receive().
  static std::shared_ptr<Http2> Make(Http2Options options, Handler handler,
                                     std::function<void()> wake);
  virtual ~Http2() = default;

  virtual void Receive(std::string_view bytes) = 0;
  // Appends what is to be sent, until there are `limit` bytes or a few more.
  virtual void Produce(std::string& out, size_t limit) = 0;
  // Nothing will come and nothing is left to send: the connection is to be closed.
  virtual bool Over() const = 0;
  // Requests that are coming in, worked on or being answered.
  virtual size_t Streams() const = 0;
  // Those of them that are complete.
  virtual size_t Busy() const = 0;
  // Ends streams whose requests are not complete; their bytes no longer count.
  virtual void DropIncomplete() = 0;
  // Ends streams whose time is over.
  virtual void Expire(Clock::time_point now) = 0;
  // Takes no further request; those under way are answered, but for bodies without an end.
  virtual void Finish() = 0;
  // The connection is gone.
  virtual void Close() = 0;
};

}  // namespace berth::server
