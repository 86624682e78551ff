#include "net/http/transport.h"

#include <algorithm>
#include <utility>
#include <vector>

#define BOOST_ASIO_NO_DEPRECATED
#include <fmt/format.h>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/write.hpp>

#include "net/http/proxy_handshake.h"

namespace berth::net {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

constexpr size_t kReadSize = 128 << 10;
// Who sends so much at once is in the middle of something large.
constexpr size_t kMuch = 16 << 10;
// A write buffer grown by a burst is not kept at more than this.
constexpr size_t kKeptWriteCapacity = 256 << 10;

// Go prints errno's words in lower case.
std::string Words(const error_code& error) {
  std::string words = error.message();
  if (words.size() > 1 && words[0] >= 'A' && words[0] <= 'Z' && words[1] >= 'a') {
    words[0] = static_cast<char>(words[0] - 'A' + 'a');
  }
  return words;
}

std::string Words(const tcp::endpoint& endpoint) {
  return JoinHostPort(endpoint.address().to_string(), endpoint.port());
}

// More than twenty fields: one connection through its whole life (name look-up, proxy, TLS, HTTP/2
// or HTTP/1.1), with the callbacks and the buffers of each stage.
class TcpTransport final : public Transport, public std::enable_shared_from_this<TcpTransport> {
 public:
  TcpTransport(SystemLoop& loop, Route route, Listener* listener)
      : loop_(loop),
        io_(*static_cast<asio::io_context*>(loop.Native())),
        route_(std::move(route)),
        listener_(listener),
        resolver_(io_),
        socket_(io_) {}

  void Start() {
    PlanSteps();
    deadline_ = loop_.Steady() + route_.connect_timeout;
    if (route_.connect_timeout.count() > 0) {
      connect_timer_ = loop_.After(route_.connect_timeout, [self = weak_from_this()] {
        if (const auto transport = self.lock()) transport->OnConnectTimeout();
      });
    }
    const Url& hop = FirstHop();
    error_code error;
    const auto address = asio::ip::make_address(hop.host, error);
    if (!error) {
      endpoints_.emplace_back(address, hop.port);
      loop_.Post([self = shared_from_this()] { self->ConnectNext(); });
      return;
    }
    resolver_.async_resolve(
        hop.host, std::to_string(hop.port), tcp::resolver::numeric_service,
        [self = shared_from_this()](const error_code& failure, const auto& results) {
          self->OnResolved(failure, results);
        });
  }

  void Write(std::string_view bytes) override {
    if (stage_ != Stage::kOpen) return;
    Send(layers_.size(), bytes);
    StartWrite();
  }

  size_t Backlog() const override { return pending_.size() + (writing_now_ ? writing_.size() : 0); }

  void Close() override {
    listener_ = nullptr;
    if (stage_ == Stage::kClosed) return;
    if (stage_ == Stage::kOpen) SayGoodbye();
    Release();
  }

 private:
  enum class Stage { kResolving, kConnecting, kNegotiating, kOpen, kClosed };
  enum class Step { kProxyTls, kProxyWords, kTargetTls };

  const Url& FirstHop() const { return route_.proxy ? *route_.proxy : route_.target; }

  void PlanSteps() {
    if (route_.proxy && route_.proxy->scheme == "https") steps_.push_back(Step::kProxyTls);
    if (route_.proxy && !route_.AsksProxy()) steps_.push_back(Step::kProxyWords);
    if (route_.target.scheme == "https") steps_.push_back(Step::kTargetTls);
  }

  // What Go puts before errors on the way to the proxy.
  std::string Blame(const std::string& words) const {
    if (!route_.proxy || stage_ == Stage::kOpen) return words;
    if (route_.proxy->scheme.starts_with("socks5")) {
      return fmt::format("socks connect tcp {}->{}: {}", route_.proxy->HostPort(),
                         route_.target.HostPort(), words);
    }
    return "proxyconnect tcp: " + words;
  }

  // ---- TCP ----

  void OnResolved(const error_code& error, const tcp::resolver::results_type& results) {
    if (stage_ == Stage::kClosed) return;
    if (error || results.empty()) {
      const std::string why = error == asio::error::host_not_found || !error
                                  ? std::string("no such host")
                                  : Words(error);
      Fail(HttpError::Kind::kConnect,
           Blame(fmt::format("dial tcp: lookup {}: {}", FirstHop().host, why)));
      return;
    }
    for (const auto& result : results) endpoints_.push_back(result.endpoint());
    ConnectNext();
  }

  void ConnectNext() {
    if (stage_ == Stage::kClosed) return;
    stage_ = Stage::kConnecting;
    const tcp::endpoint endpoint = endpoints_[next_endpoint_++];
    error_code error;
    socket_.close(error);
    socket_.open(endpoint.protocol(), error);
    if (error) {
      OnConnected(endpoint, error);
      return;
    }
    LimitAttempt();
    socket_.async_connect(endpoint, [self = shared_from_this(), endpoint](const error_code& e) {
      self->OnConnected(endpoint, e);
    });
  }

  // With several addresses each gets its share of the time that is left.
  void LimitAttempt() {
    const size_t left = endpoints_.size() - next_endpoint_ + 1;
    if (left < 2 || route_.connect_timeout.count() == 0) return;
    const Nanoseconds remaining = deadline_ - loop_.Steady();
    const Nanoseconds share =
        std::max<Nanoseconds>(remaining / static_cast<int64_t>(left), std::chrono::seconds(2));
    loop_.Cancel(attempt_timer_);
    attempt_timer_ = loop_.After(share, [self = weak_from_this()] {
      const auto transport = self.lock();
      if (!transport || transport->stage_ != Stage::kConnecting) return;
      transport->attempt_timed_out_ = true;
      error_code ignored;
      transport->socket_.cancel(ignored);
    });
  }

  void OnConnected(const tcp::endpoint& endpoint, const error_code& error) {
    if (stage_ == Stage::kClosed) return;
    loop_.Cancel(std::exchange(attempt_timer_, 0));
    const bool timed_out = std::exchange(attempt_timed_out_, false);
    if (!error) {
      OnTcpOpen();
      return;
    }
    if (first_failure_.empty()) {
      refused_ = error == asio::error::connection_refused;
      first_failure_ =
          fmt::format("dial tcp {}: {}", Words(endpoint),
                      timed_out ? std::string("i/o timeout") : "connect: " + Words(error));
    }
    if (next_endpoint_ < endpoints_.size()) {
      // From the loop: a failed open() must not recurse through a long list of addresses.
      loop_.Post([self = shared_from_this()] { self->ConnectNext(); });
      return;
    }
    Fail(refused_ ? HttpError::Kind::kRefused : HttpError::Kind::kConnect, Blame(first_failure_));
  }

  void OnTcpOpen() {
    stage_ = Stage::kNegotiating;
    error_code error;
    socket_.set_option(tcp::no_delay(true), error);
    socket_.set_option(asio::socket_base::keep_alive(true), error);
    SetKeepAlive(TCP_KEEPIDLE, 30);
    SetKeepAlive(TCP_KEEPINTVL, 15);
    const auto local = socket_.local_endpoint(error);
    const auto remote = socket_.remote_endpoint(error);
    addresses_ = Words(local) + "->" + Words(remote);
    read_buffer_.reset(new char[kReadSize]);
    StartRead();
    BeginStep();
    StartWrite();
  }

  void SetKeepAlive(int option, int seconds) {
    setsockopt(socket_.native_handle(), IPPROTO_TCP, option, &seconds, sizeof seconds);
  }

  void OnConnectTimeout() {
    connect_timer_ = 0;
    std::string words;
    if (stage_ == Stage::kResolving) {
      words = Blame(fmt::format("dial tcp: lookup {}: i/o timeout", FirstHop().host));
    } else if (stage_ == Stage::kConnecting) {
      words = Blame(fmt::format("dial tcp {}: i/o timeout", Words(endpoints_[next_endpoint_ - 1])));
    } else if (stage_ == Stage::kNegotiating && CurrentStep() == Step::kTargetTls) {
      words = "net/http: TLS handshake timeout";
    } else if (stage_ == Stage::kNegotiating) {
      words = Blame("i/o timeout");
    } else {
      return;
    }
    Fail(HttpError::Kind::kConnect, std::move(words));
  }

  // ---- what comes between TCP and the first byte ----

  Step CurrentStep() const { return steps_[next_step_]; }

  // Begins what is next, or opens.
  void BeginStep() {
    if (next_step_ == steps_.size()) {
      stage_ = Stage::kOpen;
      loop_.Cancel(std::exchange(connect_timer_, 0));
      const bool http2 = route_.target.scheme == "https" && layers_.back()->Http2();
      listener_->OnOpen(http2);
      return;
    }
    switch (CurrentStep()) {
      case Step::kProxyWords:
        handshake_ = MakeProxyHandshake(*route_.proxy, route_.target);
        Send(layers_.size(), handshake_->Start());
        return;
      case Step::kProxyTls:
        AddTls(route_.proxy->host, false);
        return;
      case Step::kTargetTls:
        AddTls(route_.target.host, route_.offer_http2);
        return;
    }
  }

  void AddTls(const std::string& host, bool offer_http2) {
    const bool target = CurrentStep() == Step::kTargetTls;
    layers_.push_back(MakeTlsLayer(route_.tls, host, target, target && offer_http2));
    plain_.emplace_back();
    layers_.back()->Receive({}, plain_.back());
    PushOutput(layers_.size() - 1);
  }

  void EndStep() {
    ++next_step_;
    BeginStep();
  }

  // ---- bytes out: from the top layer down to the wire ----

  // Sends `bytes` as those above layer `level` - 1 say them.
  void Send(size_t level, std::string_view bytes) {
    if (level == 0) {
      pending_ += bytes;
      return;
    }
    layers_[level - 1]->Send(bytes);  // a failure shows when reading
    PushOutput(level - 1);
  }

  void PushOutput(size_t layer) {
    std::string& output = layers_[layer]->Output();
    if (output.empty()) return;
    if (layer == 0 && pending_.empty()) {
      pending_.swap(output);
    } else {
      Send(layer, output);
    }
    output.clear();
  }

  void StartWrite() {
    if (writing_now_ || write_failed_ || pending_.empty() || stage_ == Stage::kClosed) return;
    writing_now_ = true;
    writing_.swap(pending_);
    asio::async_write(
        socket_, asio::buffer(writing_),
        [self = shared_from_this()](const error_code& error, size_t) { self->OnWritten(error); });
  }

  void OnWritten(const error_code& error) {
    writing_now_ = false;
    writing_.clear();
    if (writing_.capacity() > kKeptWriteCapacity) writing_.shrink_to_fit();
    if (stage_ == Stage::kClosed) return;
    if (error) {
      // The reader finds the end too, after what the peer said before it.
      write_failed_ = true;
      pending_.clear();
      return;
    }
    StartWrite();
    if (!writing_now_ && stage_ == Stage::kOpen && listener_ != nullptr) listener_->OnDrained();
  }

  // ---- bytes in: from the wire up ----

  void StartRead() {
    socket_.async_read_some(asio::buffer(read_buffer_.get(), kReadSize),
                            [self = shared_from_this()](const error_code& error, size_t size) {
                              self->OnRead(error, size);
                            });
  }

  void OnRead(const error_code& error, size_t size) {
    if (stage_ == Stage::kClosed) return;
    if (size > 0) Process({read_buffer_.get(), size});
    if (stage_ == Stage::kClosed) return;
    if (error) {
      OnReadEnd(error);
      return;
    }
    StartWrite();
    if (size >= kMuch) return StartRead();  // there may be more already
    loop_.NextRound([self = shared_from_this()] {
      if (self->stage_ != Stage::kClosed) self->StartRead();
    });
  }

  void OnReadEnd(const error_code& error) {
    if (error == asio::error::eof) {
      Fail(NotOpen() ? HttpError::Kind::kConnect : HttpError::Kind::kBroken, Blame("EOF"),
           layers_.empty());
      return;
    }
    Fail(NotOpen() ? HttpError::Kind::kConnect : HttpError::Kind::kBroken,
         Blame(fmt::format("read tcp {}: read: {}", addresses_, Words(error))));
  }

  bool NotOpen() const { return stage_ != Stage::kOpen; }

  void Process(std::string_view data) {
    size_t level = 0;
    for (;;) {
      if (level < layers_.size()) {
        if (!Decrypt(level, data)) return;
        ++level;
        continue;
      }
      if (data.empty() || stage_ == Stage::kClosed) return;
      if (stage_ == Stage::kOpen) {
        heard_ = true;
        listener_->OnBytes(data);
        return;
      }
      if (!handshake_) {
        Fail(HttpError::Kind::kConnect, Blame("unexpected bytes from the peer"));
        return;
      }
      if (!ProxyReply(data)) return;
    }
  }

  // Replaces `data` by what it means above layer `level`. False: nothing more to do.
  bool Decrypt(size_t level, std::string_view& data) {
    const auto layer = layers_[level].get();
    plain_[level].Clear();
    const TlsLayer::State state = layer->Receive(data, plain_[level]);
    PushOutput(level);
    data = plain_[level].View();
    const bool negotiating = stage_ == Stage::kNegotiating && level + 1 == layers_.size() &&
                             CurrentStep() != Step::kProxyWords;
    switch (state) {
      case TlsLayer::State::kHandshake:
        return false;
      case TlsLayer::State::kOpen:
        if (negotiating) EndStep();
        return stage_ != Stage::kClosed;
      case TlsLayer::State::kClosed:
      case TlsLayer::State::kFailed:
        FinishLayer(level, data);
        return false;
    }
    return false;
  }

  // The layer ended; what came before the end is still delivered.
  void FinishLayer(size_t level, std::string_view data) {
    const bool top = level + 1 == layers_.size();
    const bool proper = layers_[level]->Failure().empty();
    const std::string words = proper ? "EOF" : layers_[level]->Failure();
    if (top && stage_ == Stage::kOpen && !data.empty()) {
      heard_ = true;
      listener_->OnBytes(data);
      if (stage_ == Stage::kClosed) return;
    }
    // A server that wants a client certificate says so after our side of the handshake is done.
    const bool refused = !proper && !heard_;
    Fail(NotOpen() || refused ? HttpError::Kind::kConnect : HttpError::Kind::kBroken,
         CurrentStepIsTarget() ? words : Blame(words), proper);
  }

  bool CurrentStepIsTarget() const {
    return stage_ == Stage::kNegotiating && CurrentStep() == Step::kTargetTls;
  }

  // The proxy's words; then `data` is what came through it.
  bool ProxyReply(std::string_view& data) {
    std::string reply;
    const auto done = handshake_->Receive(data, reply);
    if (!done) {
      Fail(HttpError::Kind::kConnect, done.error().Message());
      return false;
    }
    Send(layers_.size(), reply);
    if (!*done) return false;
    through_proxy_ = handshake_->Rest();
    handshake_.reset();
    data = through_proxy_;
    EndStep();
    return stage_ != Stage::kClosed;
  }

  // ---- the end ----

  void Fail(HttpError::Kind kind, std::string message, bool proper = false) {
    if (stage_ == Stage::kClosed) return;
    // Alerts and the like, so that the peer knows why.
    if (stage_ == Stage::kNegotiating || stage_ == Stage::kOpen) SendNow();
    Release();
    Listener* listener = std::exchange(listener_, nullptr);
    if (listener != nullptr) listener->OnClosed({kind, std::move(message)}, proper);
  }

  void SayGoodbye() {
    for (size_t level = layers_.size(); level-- > 0;) {
      layers_[level]->Shutdown();
      PushOutput(level);
    }
    SendNow();
  }

  void SendNow() {
    if (writing_now_ || write_failed_ || pending_.empty()) return;
    error_code error;
    socket_.non_blocking(true, error);
    if (!error) socket_.write_some(asio::buffer(pending_), error);
  }

  void Release() {
    stage_ = Stage::kClosed;
    loop_.Cancel(std::exchange(connect_timer_, 0));
    loop_.Cancel(std::exchange(attempt_timer_, 0));
    error_code error;
    resolver_.cancel();
    socket_.shutdown(tcp::socket::shutdown_both, error);
    socket_.close(error);
  }

  SystemLoop& loop_;
  asio::io_context& io_;
  const Route route_;
  Listener* listener_;
  tcp::resolver resolver_;
  tcp::socket socket_;
  Stage stage_ = Stage::kResolving;

  std::vector<tcp::endpoint> endpoints_;
  size_t next_endpoint_ = 0;
  std::string first_failure_;
  bool refused_ = false;
  bool attempt_timed_out_ = false;
  Nanoseconds deadline_{0};
  Loop::TimerId connect_timer_ = 0;
  Loop::TimerId attempt_timer_ = 0;
  std::string addresses_;  // "ours->theirs"

  std::vector<Step> steps_;
  size_t next_step_ = 0;
  std::unique_ptr<ProxyHandshake> handshake_;
  std::string through_proxy_;

  std::vector<std::unique_ptr<TlsLayer>> layers_;  // outermost (next to the wire) first
  std::vector<ByteBuffer> plain_;                  // what each layer read
  std::unique_ptr<char[]> read_buffer_;
  bool heard_ = false;

  std::string pending_;
  std::string writing_;
  bool writing_now_ = false;
  bool write_failed_ = false;
};

}  // namespace

std::shared_ptr<Transport> OpenTransport(SystemLoop& loop, Route route,
                                         Transport::Listener* listener) {
  auto transport = std::make_shared<TcpTransport>(loop, std::move(route), listener);
  transport->Start();
  return transport;
}

}  // namespace berth::net
