// A request goes through these states: wait for the rate limit, wait for a credential, in flight,
// and perhaps wait for a repetition, which starts over. Every wait ends by a timer or a callback
// that finds the call by its id, so a call that was cancelled is simply not found.
#include "kube/client/rest_client.h"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <boost/unordered/unordered_flat_map.hpp>

#include "api/codec/proto.h"
#include "base/visible.h"
#include "kube/auth/server_url.h"
#include "kube/client/api_errors.h"
#include "kube/client/credentials.h"
#include "kube/client/rate_limiter.h"
#include "kube/client/request_rules.h"
#include "kube/client/watch_framer.h"
#include "log/log.h"

namespace berth::kube {
namespace {

// As client-go: repetitions of one request, and the pause before one that the server did not ask
// for.
constexpr int kMaxRetries = 10;
constexpr net::Nanoseconds kRetryPause = std::chrono::seconds(1);
// Pauses from here on are told of.
constexpr net::Nanoseconds kLongRetryAfter = std::chrono::seconds(10);
// Repetitions at once of what a closing connection did not take.
constexpr int kMaxResends = 5;
// Of the body of a refused watch.
constexpr size_t kMaxErrorBody = 1u << 20;

net::HttpError TimeoutError() {
  return {net::HttpError::Kind::kTimeout, "context deadline exceeded"};
}

void LogWarnings(const std::vector<net::Header>& headers) {
  for (const std::string& text : Warnings(headers)) log::WarningLine(Visible(text));
}

class RestClient final : public ApiClient {
 public:
  RestClient(net::Loop& loop, std::unique_ptr<net::HttpClient> http, ServerUrl url,
             std::shared_ptr<Credentials> credentials, RestClientOptions options);
  ~RestClient() override;

  Id Send(ApiRequest request, Callback done) override;
  Id Watch(ApiRequest request, WatchSink* sink) override;
  void Cancel(Id id) override;
  std::string_view ContentType() const override { return options_.content_type; }

 private:
  struct Call final : net::StreamSink {
    Call(RestClient& owner, Id its_id, ApiRequest what)
        : client(owner), id(its_id), request(std::move(what)) {}
    void OnResponse(int status, const std::vector<net::Header>& headers) override {
      client.OnWatchResponse(id, status, headers);
    }
    void OnData(std::string_view bytes) override { client.OnWatchData(id, bytes); }
    void OnDone(const net::HttpError* error) override { client.OnWatchDone(id, error); }

    RestClient& client;
    const Id id;
    const ApiRequest request;
    Callback done;              // of a request
    WatchSink* sink = nullptr;  // of a watch

    int retries = 0;
    int resends = 0;
    bool renewed = false;          // credentials, after a 401
    uint64_t credential = 0;       // version in use
    net::Nanoseconds deadline{0};  // 0: none
    net::Loop::TimerId timer = 0;  // of the wait it is in
    net::Nanoseconds sent{0};
    std::optional<net::Nanoseconds> first_sent;  // of all attempts
    net::HttpClient::Id http = 0;                // in flight
    bool throttled = false;                      // waits for the rate limit, with this token:
    net::Nanoseconds token_taken{0}, token_wait{0};
    std::string previous_error;  // of the attempt before this one

    bool started = false;  // the watch
    WatchFramer framer;
    net::HttpResponse refusal;  // of the watch
  };
  using CallPtr = std::shared_ptr<Call>;
  struct KnownHeaders {
    std::string accept;
    std::string content_type;  // empty: none
    uint64_t credential;       // its version
    net::RequestHeaders headers;
  };

  CallPtr Find(Id id) const;
  CallPtr Add(ApiRequest request);
  RateLimiter& LimiterOf(const Call& call) {
    return call.request.event ? event_limiter_ : limiter_;
  }
  void Throttle(const CallPtr& call);
  void Prepare(const CallPtr& call);
  void AwaitCredential(const CallPtr& call);
  void Launch(const CallPtr& call, const Credentials::Credential& credential);
  net::HttpRequest BuildRequest(const Call& call, const Credentials::Credential& credential);
  const net::RequestHeaders& HeadersFor(const ApiRequest& request,
                                        const Credentials::Credential& credential);
  std::string Url(const ApiRequest& request) const;
  void NoteResponse(const Call& call, std::string_view code) const;
  void NoteRetry(const Call& call, std::string_view code) const;
  void NoteWait(const Call& call, net::Nanoseconds wait) const;

  void Wait(const CallPtr& call, net::Nanoseconds delay, void (RestClient::*next)(const CallPtr&));
  void Retry(const CallPtr& call, net::Nanoseconds delay);
  void OnError(const CallPtr& call, net::HttpError error);
  void OnAnswer(const CallPtr& call, net::HttpResponse response);
  void FailSoon(const CallPtr& call, net::HttpError error);
  void FailAfter(net::Nanoseconds delay, const CallPtr& call, net::HttpError error);
  void FailWith(const CallPtr& call, net::HttpError error);
  bool IsFenced(const Call& call) const;
  void Finish(const CallPtr& call, ApiResponse response);

  void OnWatchResponse(Id id, int status, const std::vector<net::Header>& headers);
  void OnWatchData(Id id, std::string_view bytes);
  void OnWatchDone(Id id, const net::HttpError* error);
  void StartWatch(const CallPtr& call);

  net::Loop& loop_;
  const ServerUrl url_;
  const RestClientOptions options_;
  const std::string accept_;
  const std::string server_timeout_;  // "timeout=2.5s"; empty: none
  const std::shared_ptr<Credentials> credentials_;
  Credentials::ListenerId listener_ = 0;
  RateLimiter limiter_;
  RateLimiter event_limiter_;                // of events, at the same rate
  std::vector<KnownHeaders> known_headers_;  // as many as there are kinds of requests
  Id next_ = 1;
  boost::unordered_flat_map<Id, CallPtr> calls_;
  const std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
  const std::unique_ptr<net::HttpClient> http_;  // gone first: nothing calls back after that
};

std::string AcceptOf(const RestClientOptions& options) {
  return options.accept.empty() ? options.content_type + ", */*" : options.accept;
}

RestClient::RestClient(net::Loop& loop, std::unique_ptr<net::HttpClient> http, ServerUrl url,
                       std::shared_ptr<Credentials> credentials, RestClientOptions options)
    : loop_(loop),
      url_(std::move(url)),
      options_(std::move(options)),
      accept_(AcceptOf(options_)),
      server_timeout_(TimeoutParameter(options_.server_write_timeout)),
      credentials_(std::move(credentials)),
      limiter_(options_.qps, options_.burst),
      event_limiter_(options_.qps, options_.burst),
      http_(std::move(http)) {
  listener_ =
      credentials_->AddListener([this](const net::TlsOptions& tls) { return http_->SetTls(tls); });
}

RestClient::~RestClient() {
  *alive_ = false;
  credentials_->RemoveListener(listener_);
  for (const auto& [id, call] : calls_) {
    loop_.Cancel(call->timer);
    if (call->http != 0) http_->Cancel(call->http);
  }
}

RestClient::CallPtr RestClient::Find(Id id) const {
  const auto it = calls_.find(id);
  return it == calls_.end() ? nullptr : it->second;
}

RestClient::CallPtr RestClient::Add(ApiRequest request) {
  const Id id = next_++;
  return calls_.emplace(id, std::make_shared<Call>(*this, id, std::move(request))).first->second;
}

ApiClient::Id RestClient::Send(ApiRequest request, Callback done) {
  const CallPtr call = Add(std::move(request));
  call->done = std::move(done);
  if (const std::string_view dots = DotSegment(call->request.path); !dots.empty()) {
    FailSoon(call, InvalidName(dots));
    return call->id;
  }
  Throttle(call);
  return call->id;
}

ApiClient::Id RestClient::Watch(ApiRequest request, WatchSink* sink) {
  const CallPtr call = Add(std::move(request));
  call->sink = sink;
  // Only repetitions of a watch are held back, as in client-go.
  Prepare(call);
  return call->id;
}

void RestClient::Cancel(Id id) {
  const CallPtr call = Find(id);
  if (!call) return;
  calls_.erase(id);
  loop_.Cancel(call->timer);
  if (call->throttled) {
    LimiterOf(*call).GiveBack(loop_.Steady(), call->token_taken, call->token_wait);
  }
  if (call->http != 0) http_->Cancel(call->http);
}

void RestClient::Wait(const CallPtr& call, net::Nanoseconds delay,
                      void (RestClient::*next)(const CallPtr&)) {
  const net::Nanoseconds now = loop_.Steady();
  const bool too_late = call->deadline.count() != 0 && now + delay >= call->deadline;
  if (too_late) delay = call->deadline - now;
  call->timer = loop_.After(delay, [this, id = call->id, too_late, next] {
    const CallPtr found = Find(id);
    if (!found) return;
    found->timer = 0;
    if (too_late) {
      FailWith(found, TimeoutError());
    } else {
      (this->*next)(found);
    }
  });
}

void RestClient::Throttle(const CallPtr& call) {
  const net::Nanoseconds now = loop_.Steady();
  const net::Nanoseconds wait = LimiterOf(*call).Take(now);
  NoteWait(*call, wait);
  if (wait.count() == 0) return Prepare(call);
  call->throttled = true;
  call->token_taken = now;
  call->token_wait = wait;
  Wait(call, wait, &RestClient::Prepare);
}

void RestClient::Prepare(const CallPtr& call) {
  call->throttled = false;
  // The time a request may take starts when it may be sent: a client that holds back its own
  // requests does not let them time out.
  const net::Nanoseconds timeout =
      call->request.timeout.count() != 0 ? call->request.timeout : options_.timeout;
  if (call->deadline.count() == 0 && timeout.count() > 0 && call->sink == nullptr) {
    call->deadline = loop_.Steady() + timeout;
  }
  if (const Credentials::Credential* credential = credentials_->Current()) {
    Launch(call, *credential);
  } else {
    AwaitCredential(call);
  }
}

void RestClient::AwaitCredential(const CallPtr& call) {
  if (call->deadline.count() != 0) {
    Wait(call, call->deadline - loop_.Steady(), &RestClient::Prepare);
  }
  credentials_->Fetch([this, id = call->id, alive = alive_](const Result<void>& outcome) {
    const CallPtr found = *alive ? Find(id) : nullptr;
    if (!found || found->http != 0) return;
    loop_.Cancel(std::exchange(found->timer, 0));
    if (outcome) {
      Launch(found, credentials_->Latest());
    } else {
      FailWith(found, {net::HttpError::Kind::kConnect,
                       "getting credentials: " + outcome.error().Message()});
    }
  });
}

std::string RestClient::Url(const ApiRequest& request) const {
  std::string url = url_.Text() + request.path;
  if (!request.query.empty()) url += "?" + request.query;
  return url;
}

const net::RequestHeaders& RestClient::HeadersFor(const ApiRequest& request,
                                                  const Credentials::Credential& credential) {
  const std::string& accept = request.accept.empty() ? accept_ : request.accept;
  static const std::string kNone;
  const std::string& content = request.body.empty()           ? kNone
                               : request.content_type.empty() ? options_.content_type
                                                              : request.content_type;
  if (!known_headers_.empty() && known_headers_.front().credential != credential.version) {
    known_headers_.clear();
  }
  for (const KnownHeaders& known : known_headers_) {
    if (known.accept == accept && known.content_type == content) return known.headers;
  }
  std::vector<net::Header> headers;
  if (!options_.user_agent.empty()) headers.push_back({"user-agent", options_.user_agent});
  headers.push_back({"accept", accept});
  headers.insert(headers.end(), credential.headers.begin(), credential.headers.end());
  if (!content.empty()) headers.push_back({"content-type", content});
  known_headers_.push_back({accept, content, credential.version, std::move(headers)});
  return known_headers_.back().headers;
}

net::HttpRequest RestClient::BuildRequest(const Call& call,
                                          const Credentials::Credential& credential) {
  net::HttpRequest http;
  http.method = call.request.method;
  http.target = url_.path + call.request.path;
  if (!call.request.query.empty()) http.target += "?" + call.request.query;
  if (IsFencedWrite(call.request)) {
    if (!server_timeout_.empty()) {
      http.target += (call.request.query.empty() ? "?" : "&") + server_timeout_;
    }
    if (options_.fence != nullptr && !options_.fence->IsOpen()) {
      http.send_by = options_.fence->Until();
    }
  }
  http.headers = HeadersFor(call.request, credential);
  http.body = call.request.body;
  return http;
}

// An answer came, or none did.
void RestClient::NoteResponse(const Call& call, std::string_view status) const {
  constexpr int kLevel = 6;
  if (options_.observer != nullptr) {
    options_.observer->Answered(call.request.method, url_.authority,
                                status.empty() ? "<error>" : status, call.request.body.size());
  }
  if (!log::V(kLevel)) return;
  log::Info(kLevel, "Response",
            {{"verb", call.request.method},
             {"url", Url(call.request)},
             {"status", status},
             {"milliseconds", (loop_.Steady() - call.sent) / std::chrono::milliseconds(1)}});
}

void RestClient::NoteRetry(const Call& call, std::string_view code) const {
  if (options_.observer == nullptr) return;
  options_.observer->Retried(call.request.method, url_.authority, code);
}

void RestClient::NoteWait(const Call& call, net::Nanoseconds wait) const {
  if (options_.observer == nullptr) return;
  options_.observer->HeldBack(call.request.method, url_.authority,
                              std::chrono::duration<double>(wait).count());
}

void RestClient::Launch(const CallPtr& call, const Credentials::Credential& credential) {
  call->credential = credential.version;
  call->sent = loop_.Steady();
  if (!call->first_sent) call->first_sent = call->sent;
  if (IsFenced(*call)) return FailSoon(call, LeaseEnded());
  net::HttpRequest request = BuildRequest(*call, credential);
  if (call->sink != nullptr) {
    call->refusal = {};
    call->http = http_->Stream(std::move(request), call.get());
    return;
  }
  net::Nanoseconds timeout{0};
  if (call->deadline.count() != 0) {
    timeout = call->deadline - loop_.Steady();
    if (timeout.count() <= 0) return Wait(call, net::Nanoseconds(0), &RestClient::Prepare);
  } else if (call->request.method != "GET") {
    timeout = options_.write_timeout;
  }
  call->http =
      http_->Send(std::move(request), timeout,
                  [this, id = call->id](tl::expected<net::HttpResponse, net::HttpError> outcome) {
                    const CallPtr found = Find(id);
                    if (!found) return;
                    found->http = 0;
                    if (outcome) {
                      OnAnswer(found, std::move(*outcome));
                    } else {
                      OnError(found, std::move(outcome.error()));
                    }
                  });
}

void RestClient::Retry(const CallPtr& call, net::Nanoseconds delay) {
  log::Info(delay < kLongRetryAfter ? 4 : 0, "Got a Retry-After response",
            {{"delay", static_cast<int64_t>(delay / std::chrono::seconds(1))},
             {"attempt", call->retries},
             {"url", Url(call->request)}});
  Wait(call, std::max(delay, net::Nanoseconds(0)), &RestClient::Throttle);
}

void RestClient::OnError(const CallPtr& call, net::HttpError error) {
  using Kind = net::HttpError::Kind;
  NoteResponse(*call, "");
  if (error.kind == Kind::kConnect) credentials_->ConnectFailed();
  if (error.kind == Kind::kUnsent && call->resends < kMaxResends) {
    ++call->resends;
    return Prepare(call);
  }
  // Reading twice does no harm.
  const bool lost = error.kind == Kind::kBroken || error.kind == Kind::kUnsent;
  const bool again = call->sink != nullptr ? lost || error.kind == Kind::kTimeout
                                           : lost && call->request.method == "GET";
  if (again && call->retries < kMaxRetries) {
    ++call->retries;
    if (call->retries == 1) {
      log::Error(error.message, "No answer, will ask again",
                 {{"verb", call->request.method}, {"url", Url(call->request)}});
    }
    call->previous_error = error.message;
    NoteRetry(*call, "<error>");
    return Retry(call, kRetryPause);
  }
  // The server may still execute it for as long as it was given: only then is it worth looking.
  const net::Nanoseconds over = call->sent + options_.server_write_timeout - loop_.Steady();
  if (IsFencedWrite(call->request) && !error.SurelyNotDone() && over.count() > 0) {
    return FailAfter(over, call, std::move(error));
  }
  FailWith(call, std::move(error));
}

void RestClient::OnAnswer(const CallPtr& call, net::HttpResponse response) {
  NoteResponse(*call, std::to_string(response.status));
  if (response.status == 401 && !call->renewed && credentials_->Refused(call->credential)) {
    call->renewed = true;
    return Prepare(call);
  }
  const bool may_wait = response.status == 429 || response.status >= 500;
  int seconds = 0;
  if (may_wait && call->retries < kMaxRetries && RetryAfterSeconds(response, &seconds)) {
    ++call->retries;
    NoteRetry(*call, std::to_string(response.status));
    return Retry(call, std::chrono::seconds(seconds));
  }
  LogWarnings(response.headers);
  ApiResponse answer = ToApiResponse(call->request, std::move(response));
  if (call->sink != nullptr && answer.Ok()) {
    // Only 200 starts a watch.
    return FailWith(
        call, {net::HttpError::Kind::kBroken,
               fmt::format("for request {}, got status: {}", Url(call->request), answer.code)});
  }
  Finish(call, std::move(answer));
}

// From the loop: a callback never comes from inside a call.
void RestClient::FailSoon(const CallPtr& call, net::HttpError error) {
  FailAfter(net::Nanoseconds(0), call, std::move(error));
}

void RestClient::FailAfter(net::Nanoseconds delay, const CallPtr& call, net::HttpError error) {
  call->timer = loop_.After(delay, [this, id = call->id, why = std::move(error)] {
    if (const CallPtr found = Find(id)) FailWith(found, why);
  });
}

bool RestClient::IsFenced(const Call& call) const {
  return options_.fence != nullptr && IsFencedWrite(call.request) &&
         options_.fence->Passed(call.sent);
}

void RestClient::FailWith(const CallPtr& call, net::HttpError error) {
  const bool repeated = call->previous_error.empty() || call->previous_error == error.message;
  ApiResponse response = ToApiResponse(call->request.method, Url(call->request), std::move(error));
  if (!repeated) response.message += " - error from a previous attempt: " + call->previous_error;
  Finish(call, std::move(response));
}

void RestClient::Finish(const CallPtr& call, ApiResponse response) {
  calls_.erase(call->id);
  loop_.Cancel(call->timer);
  if (options_.observer != nullptr && call->sink == nullptr) {
    const net::Nanoseconds took = loop_.Steady() - call->first_sent.value_or(loop_.Steady());
    options_.observer->Finished(call->request.method, url_.authority,
                                std::chrono::duration<double>(took).count(), response.body.size());
  }
  // Nothing of ours is touched after this: the receiver may destroy the client.
  if (call->sink != nullptr) {
    call->sink->OnEnd(response);
  } else {
    call->done(std::move(response));
  }
}

void RestClient::OnWatchResponse(Id id, int status, const std::vector<net::Header>& headers) {
  const CallPtr call = Find(id);
  if (!call) return;
  call->refusal.status = status;
  call->refusal.headers = headers;
  if (status == 200) StartWatch(call);
}

void RestClient::StartWatch(const CallPtr& call) {
  NoteResponse(*call, "200");
  LogWarnings(call->refusal.headers);
  const std::string_view header = call->refusal.Get("content-type");
  const std::string media_type = header.empty() ? options_.content_type : MediaType(header);
  if (media_type != kProtobuf && media_type != kJson) {
    http_->Cancel(std::exchange(call->http, 0));
    return FailWith(call, {net::HttpError::Kind::kBroken,
                           fmt::format("unable to decode a watch of content type \"{}\"", header)});
  }
  call->started = true;
  call->framer = WatchFramer(media_type == kProtobuf ? WatchFramer::Format::kPrefixed
                                                     : WatchFramer::Format::kLines);
  call->sink->OnStarted(media_type);
}

void RestClient::OnWatchData(Id id, std::string_view bytes) {
  const CallPtr call = Find(id);
  if (!call) return;
  if (!call->started) {
    const size_t room = kMaxErrorBody - std::min(kMaxErrorBody, call->refusal.body.size());
    call->refusal.body.append(bytes.substr(0, room));
    return;
  }
  const std::shared_ptr<bool> alive = alive_;
  const auto outcome = call->framer.Add(bytes, [&](std::string_view frame) {
    call->sink->OnFrame(frame);
    return *alive && calls_.contains(id);
  });
  if (outcome != WatchFramer::Outcome::kTooLarge) return;
  http_->Cancel(std::exchange(call->http, 0));
  // Asking for the same events again would bring the same frame: what the server is said to have
  // answered makes the reader start anew.
  ApiResponse why;
  why.code = 500;
  why.reason = "InternalError";
  why.message =
      "unable to decode an event from the watch stream: object to decode was longer than maximum "
      "allowed size";
  Finish(call, std::move(why));
}

void RestClient::OnWatchDone(Id id, const net::HttpError* error) {
  const CallPtr call = Find(id);
  if (!call) return;
  call->http = 0;
  if (!call->started) {
    return error != nullptr ? OnError(call, *error) : OnAnswer(call, std::move(call->refusal));
  }
  ApiResponse why;
  if (error != nullptr) {
    why.error = *error;
  } else if (call->framer.HasPartialFrame()) {
    why.error = {net::HttpError::Kind::kBroken, "unexpected EOF"};
  } else {
    why.code = 200;
  }
  why.message = why.error.message;
  Finish(call, std::move(why));
}

}  // namespace

Result<std::unique_ptr<ApiClient>> MakeRestClientOver(net::Loop& loop,
                                                      std::unique_ptr<net::HttpClient> http,
                                                      const ClientConfig& config,
                                                      std::shared_ptr<Credentials> credentials,
                                                      RestClientOptions options) {
  auto url = ParseServerUrl(config.server, false);
  if (!url) return Fail(url.error());
  if (options.qps > 0 && options.burst <= 0) {
    return Fail(
        "burst is required to be greater than 0 when RateLimiter is not set and QPS is set to "
        "greater than 0");
  }
  if (options.content_type.empty()) options.content_type = kJson;
  return std::make_unique<RestClient>(loop, std::move(http), std::move(*url),
                                      std::move(credentials), std::move(options));
}

Result<std::unique_ptr<ApiClient>> MakeRestClient(net::SystemLoop& loop, const ClientConfig& config,
                                                  std::shared_ptr<Credentials> credentials,
                                                  RestClientOptions options) {
  net::HttpClientOptions http_options;
  http_options.url = config.server;
  http_options.tls = credentials->Tls();
  http_options.proxy_url = config.proxy_url;
  http_options.max_connections = options.max_connections;
  // A server that takes many requests over one connection needs no more of them.
  if (options.pipeline == 1) http_options.http1_connections = options.http1_connections;
  http_options.pipeline = options.pipeline;
  http_options.body_size = &api::EnvelopeSize;
  http_options.kept_headers = {"content-type", "content-length", "retry-after", "warning"};
  const char* disable_http2 = std::getenv("DISABLE_HTTP2");
  http_options.http2 = disable_http2 == nullptr || *disable_http2 == '\0';
  auto http = net::MakeHttpClient(loop, std::move(http_options));
  if (!http) return Fail(http.error());
  return MakeRestClientOver(loop, std::move(*http), config, std::move(credentials),
                            std::move(options));
}

}  // namespace berth::kube
