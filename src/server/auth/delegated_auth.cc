#include "server/auth/delegated_auth.h"

#include <algorithm>
#include <cctype>
#include <utility>

#include <boost/unordered/unordered_flat_map.hpp>

#include "api/codec/json.h"
#include "log/log.h"
#include "server/auth/auth_metrics.h"
#include "server/auth/client_certificate.h"
#include "server/auth/cluster_trust.h"
#include "server/auth/review_cache.h"
#include "server/auth/reviews.h"
#include "server/http/tls.h"

namespace berth::server {
namespace {

constexpr net::Nanoseconds kReviewTimeout = std::chrono::seconds(10);
constexpr net::Nanoseconds kFirstRetry = std::chrono::milliseconds(500);
constexpr int kTries = 5;

std::string Lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return lower;
}

std::string_view TrimSpace(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return "";
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

// The token of "Authorization: Bearer TOKEN", or "".
std::string BearerToken(const Request& request) {
  const std::string_view header = TrimSpace(request.Header("authorization"));
  const size_t space = header.find(' ');
  if (space == std::string_view::npos || Lower(header.substr(0, space)) != "bearer") return "";
  std::string_view token = header.substr(space + 1);
  token = token.substr(0, token.find(' '));
  return std::string(token);
}

// What a front proxy says of the user; nothing: it names none.
std::optional<UserInfo> UserOfHeaders(const Request& request, const RequestHeaderOptions& options) {
  UserInfo user;
  const auto first_of = [&](const std::vector<std::string>& names) -> std::string_view {
    for (const std::string& name : names) {
      const std::string_view value = request.Header(Lower(name));
      if (!value.empty()) return value;
    }
    return "";
  };
  user.name = first_of(options.username_headers);
  if (user.name.empty()) return std::nullopt;
  user.uid = first_of(options.uid_headers);
  for (const std::string& name : options.group_headers) {
    const std::string lower = Lower(name);
    for (const auto& [key, value] : request.headers) {
      if (key == lower && !value.empty()) user.groups.push_back(value);
    }
  }
  for (const std::string& prefix : options.extra_prefixes) {
    const std::string lower = Lower(prefix);
    for (const auto& [key, value] : request.headers) {
      if (!key.starts_with(lower)) continue;
      std::string name;
      if (!PercentDecode(std::string_view(key).substr(lower.size()), false, &name)) {
        name = key.substr(lower.size());
      }
      user.extra[name].push_back(value);
    }
  }
  return user;
}

// Everybody who is known is in one group more.
void AddAuthenticatedGroup(UserInfo& user) {
  if (user.name == kAnonymousUser) return;
  for (const std::string& group : user.groups) {
    if (group == kAllAuthenticated || group == kAllUnauthenticated) return;
  }
  user.groups.emplace_back(kAllAuthenticated);
}

UserInfo Anonymous() {
  UserInfo user;
  user.name = kAnonymousUser;
  user.groups.emplace_back(kAllUnauthenticated);
  return user;
}

// Worth asking again?
bool IsPassing(const kube::ApiResponse& response) {
  if (response.code == 0) return response.error.kind != net::HttpError::Kind::kTimeout;
  return response.code == 500 || response.code == 504 || response.code == 429 ||
         response.retry_after > net::Nanoseconds(0);
}

// What came of a token.
struct TokenAnswer {
  bool ok = false;
  UserInfo user = {};
  std::string error = {};  // not kept
};
// What came of a question about access.
struct AccessAnswer {
  SubjectAccessReviewStatus status = {};
  std::string error = {};  // not kept
};

class Delegated final : public DelegatedAuth {
 public:
  Delegated(const AuthOptions& options, Registry* registry)
      : options_(options), metrics_(registry), tokens_(kTokensKept), accesses_(kAccessesKept) {
    trust_.request_header = options.request_header;
  }
  ~Delegated() override { Delegated::Stop(); }

  Result<void> ReadFiles() {
    if (!options_.client_ca_file.empty()) {
      auto pem = ReadFile(options_.client_ca_file);
      if (!pem) return Fail("unable to load client CA provider: " + pem.error().Message());
      trust_.client_ca_pem = std::move(*pem);
    }
    if (!options_.request_header.client_ca_file.empty()) {
      auto pem = ReadFile(options_.request_header.client_ca_file);
      if (!pem)
        return Fail("unable to create request header authentication config: " +
                    pem.error().Message());
      trust_.request_header_ca_pem = std::move(*pem);
    }
    return {};
  }

  void ReloadFiles() override {
    if (auto ok = ReadFiles(); !ok) log::Error(ok.error().Message(), "Unable to reload");
  }

  void Start() override {
    stopped_ = false;
    if (options_.authentication == nullptr || options_.skip_lookup || options_.loop == nullptr) {
      return;
    }
    if (!options_.client_ca_file.empty() && !options_.request_header.client_ca_file.empty()) return;
    cluster_ = std::make_unique<ClusterTrust>(
        *options_.loop, *options_.authentication, [this](const Trust& trust) {
          // Files go before what the cluster says.
          if (options_.client_ca_file.empty()) trust_.client_ca_pem = trust.client_ca_pem;
          if (!options_.request_header.client_ca_file.empty()) return;
          trust_.request_header_ca_pem = trust.request_header_ca_pem;
          trust_.request_header = trust.request_header;
        });
    cluster_->Start();
  }

  void Stop() override {
    stopped_ = true;
    cluster_.reset();
    for (const auto& [id, call] : calls_) {
      if (call.id != 0) call.client->Cancel(call.id);
      if (call.timer != 0) options_.loop->Cancel(call.timer);
    }
    calls_.clear();
    tokens_.Clear();
    accesses_.Clear();
  }

  void Check(const Request& request, Callback done) override {
    const net::Nanoseconds began = Now();
    std::vector<std::string> errors;
    if (request.peer != nullptr) {
      if (auto user = ByCertificate(request, &errors)) {
        AddAuthenticatedGroup(*user);
        metrics_.Authenticated(*user, Now() - began);
        Authorize(std::move(*user), request, std::move(done));
        return;
      }
    }
    const std::string token =
        options_.authentication == nullptr ? std::string() : BearerToken(request);
    if (token.empty()) {
      if (!errors.empty()) return Unauthorized(errors, began, done);
      UserInfo user = Anonymous();
      metrics_.Authenticated(user, Now() - began);
      Authorize(std::move(user), request, std::move(done));
      return;
    }
    Request asked = WithoutBody(request);
    AskToken(token, [this, began, errors = std::move(errors), asked = std::move(asked),
                     done = std::move(done)](const TokenAnswer& answer) mutable {
      if (answer.ok) {
        UserInfo user = answer.user;
        AddAuthenticatedGroup(user);
        metrics_.Authenticated(user, Now() - began);
        Authorize(std::move(user), asked, std::move(done));
        return;
      }
      errors.push_back(answer.error.empty() ? "invalid bearer token" : answer.error);
      Unauthorized(errors, began, done);
    });
  }

 private:
  static constexpr size_t kTokensKept = 32768;
  static constexpr size_t kAccessesKept = 8192;

  // A request to the API server that may be repeated.
  struct Call {
    kube::ApiClient* client = nullptr;
    kube::ApiRequest request = {};
    kube::ApiClient::Callback done = {};
    bool token = false;
    int tries = 0;
    net::Nanoseconds began{0};
    net::Nanoseconds pause = kFirstRetry;
    kube::ApiClient::Id id = 0;
    net::Loop::TimerId timer = 0;
  };

  static Request WithoutBody(const Request& request) {
    Request copy;
    copy.method = request.method;
    copy.target = request.target;
    copy.path = request.path;
    return copy;
  }

  std::optional<UserInfo> ByCertificate(const Request& request, std::vector<std::string>* errors) {
    if (!trust_.request_header_ca_pem.empty()) {
      const auto proxy = VerifyClientCertificate(*request.peer, trust_.request_header_ca_pem);
      if (!proxy) {
        errors->push_back(proxy.error().Message());
      } else if (!AllowedProxy(proxy->common_name)) {
        errors->push_back("x509: subject with cn=" + proxy->common_name +
                          " is not in the allowed list");
      } else if (auto user = UserOfHeaders(request, trust_.request_header)) {
        return user;
      }
    }
    if (trust_.client_ca_pem.empty()) return std::nullopt;
    const auto subject = VerifyClientCertificate(*request.peer, trust_.client_ca_pem);
    if (!subject) {
      errors->push_back("verifying certificate failed: " + subject.error().Message());
      return std::nullopt;
    }
    if (subject->common_name.empty()) return std::nullopt;
    return UserOf(*subject);
  }

  bool AllowedProxy(const std::string& common_name) const {
    const std::vector<std::string>& names = trust_.request_header.allowed_names;
    return names.empty() || std::find(names.begin(), names.end(), common_name) != names.end();
  }

  void Unauthorized(const std::vector<std::string>& errors, net::Nanoseconds began,
                    const Callback& done) {
    metrics_.NotAuthenticated(Now() - began);
    std::string text = errors.empty() ? "" : errors[0];
    for (size_t i = 1; i < errors.size(); ++i) text += ", " + errors[i];
    if (errors.size() > 1) text = "[" + text + "]";
    log::Error(text, "Unable to authenticate the request");
    AuthDecision decision;
    decision.kind = AuthDecision::Kind::kUnauthorized;
    decision.reason = text;
    done(std::move(decision));
  }

  void AskToken(const std::string& token, std::function<void(const TokenAnswer&)> done) {
    const std::string key = tokens_.Hashed(token);
    const net::Nanoseconds began = Now();
    const bool kept = tokens_.Keeps(key, began);
    if (!kept) metrics_.WaitsForToken(1);
    const bool first = tokens_.Ask(
        key, began, [this, kept, began, done = std::move(done)](const TokenAnswer& answer) {
          metrics_.AskedToken(kept, Now() - began);
          if (!kept) metrics_.WaitsForToken(-1);
          done(answer);
        });
    if (!first) return;
    metrics_.FetchesToken(1);
    TokenReview review;
    review.spec.token = token;
    kube::ApiRequest request;
    request.method = "POST";
    request.path = TokenReview::kPath;
    request.content_type = kube::kJson;
    request.body = api::ToJson(review);
    request.timeout = kReviewTimeout;
    Send(options_.authentication, std::move(request), true,
         [this, key](const kube::ApiResponse& response) {
           TokenAnswer answer = TokenAnswerOf(response);
           const bool keep = answer.error.empty();
           metrics_.FetchesToken(-1);
           metrics_.FetchedToken(keep);
           tokens_.Tell(key, std::move(answer), Now(),
                        keep ? options_.token_ttl : net::Nanoseconds(0));
         });
  }

  static TokenAnswer TokenAnswerOf(const kube::ApiResponse& response) {
    TokenAnswer answer;
    if (!response.Ok()) {
      answer.error = response.message.empty() ? "token review failed" : response.message;
      return answer;
    }
    auto review = DecodeAnswer<TokenReview>(response.content_type, response.body);
    if (!review) {
      answer.error = review.error().Message();
      return answer;
    }
    answer.ok = review->status.authenticated;
    if (!answer.ok) answer.error = review->status.error;
    ReviewedUser& user = review->status.user;
    answer.user = {std::move(user.username), std::move(user.uid), std::move(user.groups), {}};
    for (auto& [name, values] : user.extra) answer.user.extra[name] = values;
    return answer;
  }

  void Authorize(UserInfo user, const Request& request, Callback done) {
    const net::Nanoseconds began = Now();
    AuthDecision decision;
    decision.user = std::move(user);
    const auto privileged = [&](const std::string& group) {
      const auto& groups = options_.always_allow_groups;
      return std::find(groups.begin(), groups.end(), group) != groups.end();
    };
    const std::vector<std::string>& groups = decision.user.groups;
    if (std::any_of(groups.begin(), groups.end(), privileged) ||
        IsOpenPath(options_.always_allow_paths, request.path)) {
      decision.kind = AuthDecision::Kind::kAllowed;
    }
    if (decision.kind == AuthDecision::Kind::kAllowed || options_.authorization == nullptr) {
      metrics_.Authorized(decision.kind == AuthDecision::Kind::kAllowed ? "allowed" : "no-opinion",
                          Now() - began);
      done(std::move(decision));
      return;
    }
    AskAccess(request, began, std::move(decision), std::move(done));
  }

  void AskAccess(const Request& request, net::Nanoseconds began, AuthDecision decision,
                 Callback done) {
    SubjectAccessReview review;
    review.spec.non_resource_attributes.emplace();
    review.spec.non_resource_attributes->path = request.path;
    review.spec.non_resource_attributes->verb = Lower(request.method);
    review.spec.user = decision.user.name;
    review.spec.uid = decision.user.uid;
    review.spec.groups = decision.user.groups;
    for (const auto& [name, values] : decision.user.extra) review.spec.extra[name] = values;
    std::string key;
    api::EncodeJson(SubjectAccessReviewSpec::Type(), &review.spec, key);
    const auto told = [this, began, decision = std::move(decision),
                       done = std::move(done)](const AccessAnswer& answer) mutable {
      decision.reason = answer.error.empty() ? answer.status.reason : answer.error;
      decision.kind = KindOf(answer);
      metrics_.Authorized(ResultOf(answer), Now() - began);
      done(std::move(decision));
    };
    if (!accesses_.Ask(key, Now(), told)) return;
    kube::ApiRequest ask;
    ask.method = "POST";
    ask.path = SubjectAccessReview::kPath;
    ask.query = "timeout=10s";
    ask.content_type = kube::kJson;
    ask.body = api::ToJson(review);
    ask.timeout = kReviewTimeout;
    Send(options_.authorization, std::move(ask), false,
         [this, key](const kube::ApiResponse& response) {
           AccessAnswer answer = AccessAnswerOf(response);
           net::Nanoseconds ttl{0};
           if (answer.error.empty()) {
             ttl = answer.status.allowed ? options_.authorized_ttl : options_.unauthorized_ttl;
           }
           accesses_.Tell(key, std::move(answer), Now(), ttl);
         });
  }

  static AuthDecision::Kind KindOf(const AccessAnswer& answer) {
    if (!answer.error.empty()) return AuthDecision::Kind::kError;
    if (answer.status.allowed && answer.status.denied) return AuthDecision::Kind::kError;
    return answer.status.allowed ? AuthDecision::Kind::kAllowed : AuthDecision::Kind::kForbidden;
  }
  static std::string_view ResultOf(const AccessAnswer& answer) {
    if (KindOf(answer) == AuthDecision::Kind::kError) return "error";
    if (answer.status.denied) return "denied";
    return answer.status.allowed ? "allowed" : "no-opinion";
  }

  static AccessAnswer AccessAnswerOf(const kube::ApiResponse& response) {
    AccessAnswer answer;
    if (!response.Ok()) {
      answer.error = response.message.empty() ? "subject access review failed" : response.message;
      log::Error(answer.error, "Failed to make webhook authorizer request");
      return answer;
    }
    auto review = DecodeAnswer<SubjectAccessReview>(response.content_type, response.body);
    if (!review) {
      answer.error = review.error().Message();
      return answer;
    }
    answer.status = std::move(review->status);
    if (answer.status.allowed && answer.status.denied) {
      answer.error = "webhook subject access review returned both allow and deny response";
    }
    return answer;
  }

  net::Nanoseconds Now() const {
    return options_.loop == nullptr ? net::Nanoseconds(0) : options_.loop->Steady();
  }

  void Send(kube::ApiClient* client, kube::ApiRequest request, bool token,
            kube::ApiClient::Callback done) {
    const uint64_t number = next_call_++;
    Call& call = calls_[number];
    call.client = client;
    call.request = std::move(request);
    call.done = std::move(done);
    call.token = token;
    Try(number);
  }

  void Try(uint64_t number) {
    Call& call = calls_.at(number);
    ++call.tries;
    call.timer = 0;
    call.began = Now();
    call.id = call.client->Send(call.request, [this, number](kube::ApiResponse response) {
      OnAnswer(number, std::move(response));
    });
  }

  void OnAnswer(uint64_t number, kube::ApiResponse response) {
    const auto it = calls_.find(number);
    if (it == calls_.end()) return;
    Call& call = it->second;
    call.id = 0;
    metrics_.Reviewed(call.token, response, Now() - call.began);
    if (!response.Ok() && IsPassing(response) && call.tries < kTries) {
      const double jitter = 1 + 0.2 * options_.loop->Random();
      const auto pause =
          net::Nanoseconds(static_cast<int64_t>(static_cast<double>(call.pause.count()) * jitter));
      call.pause = call.pause * 3 / 2;
      call.timer = options_.loop->After(std::max(pause, response.retry_after),
                                        [this, number] { Try(number); });
      return;
    }
    const auto done = std::move(call.done);
    calls_.erase(it);
    done(std::move(response));
  }

  AuthOptions options_;
  AuthMetrics metrics_;
  Trust trust_;
  std::unique_ptr<ClusterTrust> cluster_;
  ReviewCache<TokenAnswer> tokens_;
  ReviewCache<AccessAnswer> accesses_;
  std::map<uint64_t, Call> calls_;
  uint64_t next_call_ = 1;
  bool stopped_ = true;
};

}  // namespace

Result<std::unique_ptr<DelegatedAuth>> DelegatedAuth::Make(const AuthOptions& options,
                                                           Registry* registry) {
  if (auto ok = ValidateOpenPaths(options.always_allow_paths); !ok) return Fail(ok.error());
  auto auth = std::make_unique<Delegated>(options, registry);
  if (auto ok = auth->ReadFiles(); !ok) return Fail(ok.error());
  return std::unique_ptr<DelegatedAuth>(std::move(auth));
}

}  // namespace berth::server
