#include "net/http/http_client.h"

#include <algorithm>
#include <array>
#include <deque>
#include <utility>

#include <boost/unordered/unordered_flat_map.hpp>

#include "net/http/connection.h"

namespace berth::net {
namespace {

// What kube-apiserver takes per connection; connections are opened by this guess, and filled by
// what the server says.
constexpr size_t kHttp2Guess = 100;
// After an extra connection failed, for how long those that are there must do.
constexpr Nanoseconds kExtraDialPause = std::chrono::seconds(1);
// Over HTTP/1.1 requests that hang hold their connections. One that has waited this long behind
// such requests gets another connection, as long as there are not too many.
constexpr Nanoseconds kPatience = std::chrono::seconds(1);
constexpr size_t kMostConnections = 250;
// Of the body of an answer that is not 2xx: what is beyond is not read.
constexpr size_t kMaxErrorBytes = 1 << 20;
// Larger bodies are kept in pieces of this size until they are complete: a string that doubles as
// it grows takes three times the memory of the body.
constexpr size_t kPieceBytes = 16 << 20;

// The connections for one kind of exchange, and those waiting for room.
struct Lane {
  size_t max_connections = 0;
  size_t http1_connections = 0;  // the same over HTTP/1.1; 0: no more than max_connections
  bool http1 = false;            // as far as is known
  bool relief_due = false;       // a timer will look for those who wait for too long
  size_t per_connection = 1;     // exchanges, as far as is known
  size_t pipeline = 1;           // over HTTP/1.1
  std::deque<uint64_t> waiting;  // those cancelled meanwhile are skipped
  std::vector<std::shared_ptr<Connection>> connections;
  Nanoseconds no_dial_before{0};
};

// All state; outlives the HttpClient for as long as one of its methods runs.
class Core final : public Connection::Owner, public std::enable_shared_from_this<Core> {
 public:
  Core(SystemLoop& loop, HttpClientOptions options, Route route)
      : loop_(loop), options_(std::move(options)), route_(std::move(route)) {
    lanes_[kRequests].max_connections = std::max<size_t>(1, options_.max_connections);
    lanes_[kStreams].max_connections = SIZE_MAX;
    lanes_[kRequests].http1_connections = options_.http1_connections;
    lanes_[kRequests].pipeline = std::max<size_t>(1, options_.pipeline);
    const bool http2 = route_.target.scheme == "https" && options_.http2;
    for (Lane& lane : lanes_) {
      lane.per_connection = http2 ? kHttp2Guess : lane.pipeline;
      lane.http1 = !http2;
    }
    form_.scheme = route_.target.scheme;
    form_.authority = route_.target.authority;
    form_.kept_headers = options_.kept_headers;
    if (route_.AsksProxy()) {
      form_.target_prefix = "http://" + route_.target.authority;
      if (route_.proxy->has_user) form_.proxy_authorization = route_.proxy->BasicAuthorization();
    }
  }

  void Shutdown() {
    closed_ = true;
    for (auto& [id, exchange] : exchanges_) loop_.Cancel(exchange->timer);
    for (Lane& lane : lanes_) {
      for (const auto& connection : lane.connections) connection->Close();
      lane.connections.clear();
    }
    // An exchange that ends at this moment is in the hands of a method below: keep the rest alive
    // until it returns.
    loop_.Post([self = shared_from_this()] { self->exchanges_.clear(); });
  }

  HttpClient::Id Add(HttpRequest request, Nanoseconds timeout, HttpClient::Callback done,
                     StreamSink* sink) {
    const uint64_t id = next_id_++;
    auto exchange = std::make_unique<Exchange>();
    exchange->id = id;
    exchange->request = std::move(request);
    exchange->done = std::move(done);
    exchange->sink = sink;
    if (auto why = Malformed(exchange->request, exchange->request.headers.Shares(good_headers_))) {
      exchanges_.emplace(id, std::move(exchange));
      loop_.Post([self = weak_from_this(), id, words = std::move(*why)] {
        if (const auto core = self.lock()) core->OnLost(id, {HttpError::Kind::kConnect, words});
      });
      return id;
    }
    good_headers_ = exchange->request.headers;
    exchange->queued_at = loop_.Steady();
    if (timeout.count() > 0) exchange->timer = loop_.After(timeout, [this, id] { OnTimeout(id); });
    LaneOf(*exchange).waiting.push_back(id);
    exchanges_.emplace(id, std::move(exchange));
    ScheduleTurn();
    return id;
  }

  void Cancel(HttpClient::Id id) {
    const auto found = exchanges_.find(id);
    if (found == exchanges_.end()) return;
    Withdraw(*found->second);
    loop_.Cancel(found->second->timer);
    Bury(found);
    ScheduleTurn();
  }

  void SetTls(std::shared_ptr<const TlsContext> tls) {
    route_.tls = std::move(tls);
    for (Lane& lane : lanes_) {
      for (const auto& connection : lane.connections) connection->Drain();
    }
    ScheduleTurn();
  }

  // ---- Connection::Owner ----

  void OnAnswer(Exchange& exchange) override {
    if (exchange.sink != nullptr) {
      exchange.sink->OnResponse(exchange.response.status, exchange.response.headers);
      return;
    }
    const std::string_view length = exchange.response.Get("content-length");
    size_t bytes = 0;
    for (const char c : length.substr(0, 18)) {
      if (c < '0' || c > '9') break;
      bytes = bytes * 10 + static_cast<size_t>(c - '0');
    }
    const bool failed = exchange.response.status >= 300;
    MakeRoom(exchange.response.body, failed ? std::min(bytes, kMaxErrorBytes) : bytes);
  }

  void OnBody(Exchange& exchange, std::string_view bytes) override {
    if (exchange.sink != nullptr) {
      exchange.sink->OnData(bytes);
      return;
    }
    std::string& body = exchange.response.body;
    const bool failed = exchange.response.status >= 300;
    const size_t most = failed ? kMaxErrorBytes : options_.max_response_bytes;
    if (const size_t room = most - body.size() - exchange.piece_bytes; bytes.size() > room) {
      if (failed) body += bytes.substr(0, room);  // the status says enough
      Withdraw(exchange);
      const HttpError error{HttpError::Kind::kTooLarge, "http: response body too large"};
      OnFinished(exchange, failed ? nullptr : &error, false);
      return;
    }
    if (body.empty() && body.capacity() < bytes.size() && options_.body_size != nullptr) {
      MakeRoom(body, options_.body_size(bytes));
    }
    if (body.size() >= kPieceBytes && body.capacity() - body.size() < bytes.size()) {
      exchange.piece_bytes += body.size();
      exchange.pieces.push_back(std::exchange(body, {}));
      body.reserve(kPieceBytes);
    }
    body += bytes;
  }

  void OnFinished(Exchange& exchange, const HttpError* error, bool retry) override {
    if (closed_) return;
    if (error != nullptr && retry && !exchange.answered && exchange.tries == 0) {
      Retry(exchange);
      return;
    }
    const auto found = exchanges_.find(exchange.id);
    if (found == exchanges_.end()) return;
    loop_.Cancel(exchange.timer);
    StreamSink* sink = exchange.sink;
    if (sink != nullptr) {
      Bury(found);
      sink->OnDone(error);
      return;
    }
    const HttpClient::Callback done = std::move(exchange.done);
    if (error != nullptr) {
      Bury(found);
      done(tl::unexpected<HttpError>(*error));
      return;
    }
    JoinBody(exchange);
    HttpResponse response = std::move(exchange.response);
    Bury(found);
    done(std::move(response));
  }

  void OnLost(uint64_t id, const HttpError& error) override {
    if (closed_) return;
    const auto found = exchanges_.find(id);
    if (found == exchanges_.end()) return;
    OnFinished(*found->second, &error, error.kind == HttpError::Kind::kUnsent);
  }

  void OnGone(Connection& connection, const HttpError* error) override {
    const auto self = shared_from_this();
    for (Lane& lane : lanes_) {
      const auto found =
          std::find_if(lane.connections.begin(), lane.connections.end(),
                       [&](const auto& other) { return other.get() == &connection; });
      if (found == lane.connections.end()) continue;
      lane.connections.erase(found);
      if (error == nullptr) continue;
      const bool others = std::any_of(lane.connections.begin(), lane.connections.end(),
                                      [](const auto& other) { return !other->Draining(); });
      if (!others) {
        FailWaiting(lane, *error, SIZE_MAX);
      } else if (&lane == &lanes_[kStreams]) {
        FailWaiting(lane, *error, lane.per_connection);  // the others may be taken for hours
      } else {
        PauseDialing(lane);
      }
    }
    ScheduleTurn();
  }

  void OnProgress() override { ScheduleTurn(); }

 private:
  enum LaneName { kRequests, kStreams };
  using Exchanges = boost::unordered_flat_map<uint64_t, std::unique_ptr<Exchange>>;
  // What a server says of a length is believed up to here.
  static constexpr size_t kMaxReserve = 64 << 20;

  // A body that grows piece by piece is copied again and again.
  void MakeRoom(std::string& body, size_t bytes) const {
    body.reserve(std::min({bytes, options_.max_response_bytes, kMaxReserve}));
  }

  static void JoinBody(Exchange& exchange) {
    if (exchange.pieces.empty()) return;
    std::string whole;
    whole.reserve(exchange.piece_bytes + exchange.response.body.size());
    for (std::string& piece : exchange.pieces) {
      whole += piece;
      std::string().swap(piece);
    }
    whole += exchange.response.body;
    exchange.response.body = std::move(whole);
    exchange.pieces.clear();
  }

  Lane& LaneOf(const Exchange& exchange) {
    return lanes_[exchange.sink != nullptr ? kStreams : kRequests];
  }

  // Takes the exchange off its connection.
  void Withdraw(Exchange& exchange) {
    if (exchange.connection != nullptr) exchange.connection->Abort(exchange);
  }

  // Forgets an exchange. Its memory stays until the next turn: the protocol that is reporting it
  // may still look at it.
  void Bury(Exchanges::iterator found) {
    buried_.push_back(std::move(found->second));
    exchanges_.erase(found);
    if (buried_.size() == 1) ScheduleTurn();
  }

  void Retry(Exchange& exchange) {
    ++exchange.tries;
    exchange.stream = 0;
    exchange.body_sent = 0;
    exchange.interims = 0;
    exchange.response = {};
    LaneOf(exchange).waiting.push_front(exchange.id);
    ScheduleTurn();
  }

  void OnTimeout(uint64_t id) {
    const auto self = shared_from_this();
    const auto found = exchanges_.find(id);
    if (found == exchanges_.end()) return;
    Exchange& exchange = *found->second;
    exchange.timer = 0;
    Withdraw(exchange);
    const HttpError error{HttpError::Kind::kTimeout, "context deadline exceeded"};
    OnFinished(exchange, &error, false);
    ScheduleTurn();
  }

  // Fails the first `count` of those waiting now; what their callbacks ask for waits on.
  void FailWaiting(Lane& lane, const HttpError& error, size_t count) {
    count = std::min(count, lane.waiting.size());
    const auto end = lane.waiting.begin() + static_cast<std::ptrdiff_t>(count);
    const std::vector<uint64_t> failing(lane.waiting.begin(), end);
    lane.waiting.erase(lane.waiting.begin(), end);
    for (const uint64_t id : failing) OnLost(id, error);
  }

  void PauseDialing(Lane& lane) {
    lane.no_dial_before = loop_.Steady() + kExtraDialPause;
    loop_.After(kExtraDialPause, [self = weak_from_this()] {
      if (const auto core = self.lock()) core->Turn();
    });
  }

  // All that was asked for since the last turn goes out together.
  void ScheduleTurn() {
    if (turn_scheduled_) return;
    turn_scheduled_ = true;
    loop_.Post([self = weak_from_this()] {
      const auto core = self.lock();
      if (!core) return;
      core->turn_scheduled_ = false;
      core->buried_.clear();
      core->Turn();
    });
  }

  void Turn() {
    const auto self = shared_from_this();
    for (Lane& lane : lanes_) {
      if (closed_) return;
      Dispatch(lane);
      // Flushing may end connections.
      const std::vector<std::shared_ptr<Connection>> connections = lane.connections;
      for (const auto& connection : connections) {
        if (closed_) return;
        connection->Flush();
      }
    }
  }

  void Dispatch(Lane& lane) {
    while (!lane.waiting.empty()) {
      const auto found = exchanges_.find(lane.waiting.front());
      if (found == exchanges_.end()) {
        lane.waiting.pop_front();
        continue;
      }
      if (IsTooLate(found->second->request)) {
        lane.waiting.pop_front();
        const HttpError error{HttpError::Kind::kUnsent, "not sent in time"};
        OnFinished(*found->second, &error, false);
        if (closed_) return;
        continue;
      }
      Connection* connection = FirstWithRoom(lane);
      if (connection == nullptr) break;
      lane.waiting.pop_front();
      connection->Start(*found->second);
    }
    if (!lane.waiting.empty()) Dial(lane);
  }

  bool IsTooLate(const HttpRequest& request) const {
    return request.send_by.count() > 0 && loop_.Steady() >= request.send_by;
  }

  // Few connections with much to say each: one read or write then serves many requests.
  static Connection* FirstWithRoom(const Lane& lane) {
    for (const auto& connection : lane.connections) {
      if (connection->Room() > 0) return connection.get();
    }
    return nullptr;
  }

  // Opens as many connections as those waiting need.
  void Dial(Lane& lane) {
    size_t alive = 0;
    size_t connecting = 0;
    for (const auto& connection : lane.connections) {
      if (connection->Draining()) continue;
      ++alive;
      if (connection->Connecting()) ++connecting;
      if (!connection->Connecting() && !connection->Http2()) {
        lane.per_connection = lane.pipeline;
        lane.http1 = true;
      }
    }
    if (alive > 0 && loop_.Steady() < lane.no_dial_before) return;
    const size_t wanted = (lane.waiting.size() + lane.per_connection - 1) / lane.per_connection;
    const bool relieves = lane.http1 && lane.http1_connections > 0;
    const size_t most =
        relieves ? std::max(lane.max_connections, lane.http1_connections) : lane.max_connections;
    for (; connecting < wanted && alive < most; ++connecting, ++alive) Open(lane);
    if (!relieves || connecting >= wanted) return;
    const size_t overdue = std::min(wanted, Overdue(lane));
    for (; connecting < overdue && alive < kMostConnections; ++connecting, ++alive) Open(lane);
    if (alive >= kMostConnections || std::exchange(lane.relief_due, true)) return;
    loop_.After(kPatience, [self = weak_from_this(), &lane] {
      const auto core = self.lock();
      if (!core) return;
      lane.relief_due = false;
      core->Turn();
    });
  }

  // How many of those waiting have waited for too long.
  size_t Overdue(const Lane& lane) const {
    const Nanoseconds since = loop_.Steady() - kPatience;
    size_t overdue = 0;
    for (const uint64_t id : lane.waiting) {
      const auto found = exchanges_.find(id);
      if (found == exchanges_.end()) continue;
      if (found->second->queued_at > since || overdue == kMostConnections) break;
      ++overdue;
    }
    return overdue;
  }

  void Open(Lane& lane) {
    RequestForm form = form_;
    form.pipeline = lane.pipeline;
    lane.connections.push_back(std::make_shared<Connection>(
        loop_, route_, std::move(form),
        ConnectionTimes{options_.ping_idle, options_.ping_timeout, options_.idle_timeout}, this));
    lane.connections.back()->Open();
  }

  SystemLoop& loop_;
  const HttpClientOptions options_;
  Route route_;
  RequestForm form_;
  std::array<Lane, 2> lanes_;
  Exchanges exchanges_;
  RequestHeaders good_headers_;  // of the last request; mostly the next one's as well
  std::vector<std::unique_ptr<Exchange>> buried_;
  uint64_t next_id_ = 1;
  bool turn_scheduled_ = false;
  bool closed_ = false;
};

class Client final : public HttpClient {
 public:
  explicit Client(SystemLoop& loop, std::shared_ptr<Core> core)
      : loop_(loop), core_(std::move(core)) {}
  ~Client() override { core_->Shutdown(); }

  Id Send(HttpRequest request, Nanoseconds timeout, Callback done) override {
    return core_->Add(std::move(request), timeout, std::move(done), nullptr);
  }
  Id Stream(HttpRequest request, StreamSink* sink) override {
    return core_->Add(std::move(request), Nanoseconds(0), nullptr, sink);
  }
  void Cancel(Id id) override { core_->Cancel(id); }
  Result<void> SetTls(const TlsOptions& tls) override {
    auto context = MakeTlsContext(tls);
    if (!context) return Fail(context.error());
    core_->SetTls(std::move(*context));
    return {};
  }

 private:
  SystemLoop& loop_;
  std::shared_ptr<Core> core_;
};

Result<std::optional<Url>> ChooseProxy(const HttpClientOptions& options, const Url& target) {
  if (options.proxy_url.empty()) return ProxyFor(target, ProxyEnvironment::OfProcess());
  auto proxy = ParseUrl(options.proxy_url);
  if (!proxy) return Fail(proxy.error().In("invalid proxy URL"));
  return std::optional<Url>(std::move(*proxy));
}

}  // namespace

Result<std::unique_ptr<HttpClient>> MakeHttpClient(SystemLoop& loop, HttpClientOptions options) {
  auto target = ParseUrl(options.url);
  if (!target) return Fail(target.error());
  if (target->scheme != "http" && target->scheme != "https") {
    return Fail("unsupported protocol scheme \"" + target->scheme + "\"");
  }
  auto proxy = ChooseProxy(options, *target);
  if (!proxy) return Fail(proxy.error());
  auto tls = MakeTlsContext(options.tls);
  if (!tls) return Fail(tls.error());
  Route route{std::move(*target), std::move(*proxy), std::move(*tls), options.http2,
              options.connect_timeout};
  auto core = std::make_shared<Core>(loop, std::move(options), std::move(route));
  return std::unique_ptr<HttpClient>(std::make_unique<Client>(loop, std::move(core)));
}

}  // namespace berth::net
