// Http2Pump: moves bytes between a connection and its Http2, and keeps its times. Private to this
// folder.
#pragma once

#include <array>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include <boost/asio/buffer.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/tcp_stream.hpp>

#include "server/http/http2.h"
#include "server/server.h"

namespace berth::server {

class Http2Pump {
 public:
  using Clock = Http2::Clock;
  using Stream = boost::asio::ssl::stream<boost::beast::tcp_stream&>;
  using error_code = boost::system::error_code;

  // Whose part the pump is.
  class Owner {
   public:
    virtual ~Owner() = default;
    // Keeps the owner, and so the pump, while something is under way.
    virtual std::shared_ptr<void> Hold() = 0;
    // A request began or was completed, or the last one was answered.
    virtual void Progress() = 0;
    virtual void Abort() = 0;
  };

  Http2Pump(Owner& owner, Stream& stream, const ServingOptions& options, Handler handler,
            PeerChain peer, std::function<bool(size_t)> hold)
      : owner_(owner),
        stream_(stream),
        timer_(stream.get_executor()),
        first_patience_(options.header_timeout),
        idle_patience_(options.idle_timeout),
        idle_since_(Clock::now()) {
    Http2Options limits;
    limits.max_streams = options.http2_max_streams;
    limits.max_header_bytes = options.max_header_bytes;
    limits.max_body_bytes = options.max_body_bytes;
    limits.too_large_json = options.too_large_json;
    limits.patience = options.header_timeout;
    limits.peer = std::move(peer);
    limits.admit = options.admit;
    limits.hold = std::move(hold);
    http2_ = Http2::Make(std::move(limits), std::move(handler), [this] { Write(); });
  }
  ~Http2Pump() {
    if (http2_) http2_->Close();
  }
  Http2Pump(const Http2Pump&) = delete;
  Http2Pump& operator=(const Http2Pump&) = delete;

  void Start() {
    if (!http2_) return owner_.Abort();
    Read();
    Write();
    Tick();
  }
  bool Idle() const { return !http2_ || http2_->Streams() == 0; }
  // No request is complete.
  bool Receiving() const { return !http2_ || http2_->Busy() == 0; }
  // No further request; those under way are answered.
  void Finish() {
    was_idle_ = Idle();
    if (http2_) http2_->Finish();
  }
  void DropIncomplete() {
    if (http2_) http2_->DropIncomplete();
  }
  // Closes the connection at once.
  void Stop() {
    if (std::exchange(stopped_, true)) return;
    ending_ = true;
    if (http2_) http2_->Close();
    timer_.cancel();
    owner_.Abort();
  }

 private:
  static constexpr size_t kMostAtOnce = 64u << 10;
  static constexpr std::chrono::seconds kPeriod{1};
  // For a client to read the end.
  static constexpr std::chrono::seconds kLinger{2};

  void Read() {
    stream_.async_read_some(boost::asio::buffer(in_),
                            [this, hold = owner_.Hold()](error_code error, size_t size) {
                              if (error) return Stop();
                              Take({in_.data(), size});
                              Read();
                            });
  }

  void Take(std::string_view bytes) {
    if (ending_) return;
    taking_ = true;
    http2_->Receive(bytes);
    taking_ = false;
    if (http2_->Streams() > 0) served_ = true;
    const auto state = std::pair(http2_->Streams(), http2_->Busy());
    if (std::exchange(state_, state) != state) owner_.Progress();
    Write();
  }

  // One write at a time; answers that come meanwhile go together.
  void Write() {
    if (writing_ || taking_ || ending_) return;
    out_.clear();
    http2_->Produce(out_, kMostAtOnce);
    LookIdle();
    if (out_.empty()) {
      if (http2_->Over()) End();
      return;
    }
    writing_ = true;
    write_began_ = Clock::now();
    boost::asio::async_write(stream_, boost::asio::buffer(out_),
                             [this, hold = owner_.Hold()](error_code error, size_t) {
                               writing_ = false;
                               if (error) return Stop();
                               Write();
                             });
  }

  void LookIdle() {
    const bool idle = Idle();
    if (std::exchange(idle_, idle) == idle || !idle) return;
    idle_since_ = Clock::now();
    owner_.Progress();
  }

  // All is said. What a client still sends is read for a while, so that it is not reset before it
  // has read the end.
  void End() {
    if (was_idle_) return Stop();
    ending_ = true;
    write_began_ = Clock::now();
    error_code ignored;
    auto& socket = stream_.next_layer().socket();
    socket.shutdown(boost::asio::ip::tcp::socket::shutdown_send, ignored);
  }

  void Tick() {
    timer_.expires_after(kPeriod);
    timer_.async_wait([this, hold = owner_.Hold()](error_code error) {
      if (error || stopped_) return;
      Look(Clock::now());
      if (!stopped_) Tick();
    });
  }

  void Look(Clock::time_point now) {
    if (ending_ && now - write_began_ >= kLinger) return Stop();
    // A client that reads nothing at all.
    if (writing_ && now - write_began_ >= first_patience_) return Stop();
    if (ending_) return;
    http2_->Expire(now);
    const auto patience = served_ ? idle_patience_ : first_patience_;
    if (Idle() && now - idle_since_ >= patience) http2_->Finish();
  }

  Owner& owner_;
  Stream& stream_;
  boost::asio::steady_timer timer_;
  const std::chrono::seconds first_patience_;
  const std::chrono::seconds idle_patience_;
  std::shared_ptr<Http2> http2_;
  std::array<char, 16384> in_;
  std::string out_;
  Clock::time_point write_began_;
  Clock::time_point idle_since_;
  std::pair<size_t, size_t> state_{0, 0};  // streams, and those that are complete
  bool idle_ = true;
  bool served_ = false;    // there was a request
  bool was_idle_ = false;  // when it was told to finish
  bool taking_ = false;
  bool writing_ = false;
  bool ending_ = false;
  bool stopped_ = false;
};

}  // namespace berth::server
