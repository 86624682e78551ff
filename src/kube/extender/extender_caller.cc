#include "kube/extender/extender_caller.h"

#include <utility>

#include <fmt/format.h>

#include "api/go/go_text.h"
#include "kube/auth/read_file.h"
#include "kube/extender/extender_wire.h"
#include "log/log.h"
#include "net/http/tls.h"
#include "net/http/url.h"

namespace berth::kube {
namespace {

using scheduler::CallExtender;
using scheduler::EffectResult;
using Verb = CallExtender::Verb;

// Bindings go on side by side; a slow one must not hold up a filter call.
constexpr size_t kMaxConnections = 64;

const std::string& VerbOf(const config::Extender& extender, Verb verb) {
  switch (verb) {
    case Verb::kFilter:
      return extender.filter_verb;
    case Verb::kPrioritize:
      return extender.prioritize_verb;
    case Verb::kPreempt:
      return extender.preempt_verb;
    case Verb::kBind:
      break;
  }
  return extender.bind_verb;
}

Result<std::string> DataOrFile(const std::string& data, const std::string& file) {
  if (!data.empty() || file.empty()) return data;
  return ReadFile(file);
}

// "/path" of "scheme://authority/path".
std::string_view PathOf(std::string_view url) {
  const size_t scheme = url.find("://");
  const size_t slash = url.find('/', scheme == std::string_view::npos ? 0 : scheme + 3);
  return slash == std::string_view::npos ? std::string_view() : url.substr(slash);
}

// An object that has gone since the call was asked for: what is known of it.
std::string Remains(std::string_view namespace_, std::string_view name, std::string_view uid) {
  std::string out = R"({"metadata":{"name":)";
  api::AppendJsonString(out, name);
  if (!namespace_.empty()) {
    out += R"(,"namespace":)";
    api::AppendJsonString(out, namespace_);
  }
  if (!uid.empty()) {
    out += R"(,"uid":)";
    api::AppendJsonString(out, uid);
  }
  return out += R"(},"spec":{},"status":{}})";
}

}  // namespace

Result<net::HttpClientOptions> ExtenderHttpOptions(const config::Extender& extender) {
  net::HttpClientOptions options;
  options.url = extender.url_prefix;
  options.max_connections = kMaxConnections;
  const config::ExtenderTLSConfig tls = extender.tls_config.value_or(config::ExtenderTLSConfig());
  auto ca = DataOrFile(tls.ca_data.data, tls.ca_file);
  if (!ca) return Fail(ca.error());
  auto cert = DataOrFile(tls.cert_data.data, tls.cert_file);
  if (!cert) return Fail(cert.error());
  auto key = DataOrFile(tls.key_data.data, tls.key_file);
  if (!key) return Fail(key.error());
  options.tls.insecure = tls.insecure || (extender.enable_https && ca->empty());
  options.tls.server_name = tls.server_name;
  options.tls.ca_pem = std::move(*ca);
  if (!cert->empty() && !key->empty()) {
    options.tls.client_cert_pem = std::move(*cert);
    options.tls.client_key_pem = std::move(*key);
  }
  return options;
}

Result<void> CheckExtenders(const std::vector<config::Extender>& extenders) {
  for (const config::Extender& extender : extenders) {
    auto options = ExtenderHttpOptions(extender);
    if (!options) return Fail(options.error().In("couldn't build extenders"));
    const auto tls = net::MakeTlsContext(options->tls);
    if (!tls) return Fail(tls.error().In("couldn't build extenders"));
  }
  return {};
}

KeptJson JsonFor(const std::vector<config::Extender>& extenders) {
  KeptJson kept;
  for (const config::Extender& extender : extenders) {
    const bool looks = !extender.filter_verb.empty() || !extender.prioritize_verb.empty();
    const bool preempts = !extender.preempt_verb.empty();
    kept.pending_pods |= looks || preempts;
    kept.nodes |= looks && !extender.node_cache_capable;
    kept.assigned_pods |= preempts && !extender.node_cache_capable;
  }
  return kept;
}

class ExtenderCaller::Impl {
 public:
  Impl(net::Loop& loop, const RawObjects& raw, HttpClientFactory make_client, Done done)
      : loop_(loop), raw_(raw), make_client_(std::move(make_client)), done_(std::move(done)) {
    objects_.pod = [this](const scheduler::PodRef& pod) {
      const std::string* json = raw_.FindJson("Pod", pod.namespace_, pod.name);
      return json != nullptr ? *json : Remains(pod.namespace_, pod.name, pod.uid);
    };
    objects_.node = [this](const std::string& name) {
      const std::string* json = raw_.FindJson("Node", "", name);
      return json != nullptr ? *json : Remains("", name, "");
    };
  }

  void Use(const std::vector<config::Extender>& extenders) {
    targets_.clear();
    for (const config::Extender& extender : extenders) targets_.push_back(MakeTarget(extender));
  }

  void Call(scheduler::EffectId id, const CallExtender& call) {
    if (call.extender >= targets_.size()) {
      return Later({.id = id, .code = EffectResult::Code::kError, .message = "no such extender"});
    }
    const Target& target = *targets_[call.extender];
    const config::Extender& extender = target.extender;
    const std::string& verb = VerbOf(extender, call.verb);
    const std::string url = target.url + "/" + verb;
    if (!target.client) {
      return Later({.id = id,
                    .code = EffectResult::Code::kError,
                    .message = fmt::format("Post {}: {}", api::GoQuote(url), target.broken)});
    }
    net::HttpRequest request;
    request.method = "POST";
    request.target = std::string(PathOf(url));
    std::vector<net::Header> headers = {{"user-agent", "Go-http-client/1.1"},
                                        {"content-type", "application/json"}};
    if (!target.authorization.empty()) headers.push_back({"authorization", target.authorization});
    request.headers = std::move(headers);
    request.body = ExtenderRequestBody(call, extender.node_cache_capable, objects_);
    target.client->Send(std::move(request), net::Nanoseconds(extender.http_timeout.ns),
                        [this, id, &target, verb, url, what = call.verb](
                            const tl::expected<net::HttpResponse, net::HttpError>& answer) {
                          Finish(id, target, what, verb, url, answer);
                        });
  }

 private:
  struct Target {
    config::Extender extender;
    std::string url;  // without a slash at its end
    std::string authorization;
    std::string broken;                       // why there is no client
    std::unique_ptr<net::HttpClient> client;  // the last: its callbacks look at the rest
  };

  std::unique_ptr<Target> MakeTarget(const config::Extender& extender) {
    auto target = std::make_unique<Target>();
    target->extender = extender;
    target->url = extender.url_prefix;
    while (target->url.ends_with('/')) target->url.pop_back();
    if (const auto url = net::ParseUrl(extender.url_prefix); url && url->has_user) {
      target->authorization = url->BasicAuthorization();
    }
    auto options = ExtenderHttpOptions(extender);
    if (!options) {
      target->broken = options.error().Message();
      return target;
    }
    auto client = make_client_(std::move(*options));
    if (client) {
      target->client = std::move(*client);
    } else {
      target->broken = client.error().Message();
    }
    return target;
  }

  void Finish(scheduler::EffectId id, const Target& target, Verb what, const std::string& verb,
              const std::string& url,
              const tl::expected<net::HttpResponse, net::HttpError>& answer) {
    EffectResult result;
    result.id = id;
    if (!answer) {
      const net::HttpError& error = answer.error();
      result.code =
          error.SurelyNotDone() ? EffectResult::Code::kError : EffectResult::Code::kUnknown;
      result.message = fmt::format("Post {}: {}", api::GoQuote(url), error.message);
      if (error.kind == net::HttpError::Kind::kTimeout) {
        result.message += " (Client.Timeout exceeded while awaiting headers)";
      }
    } else if (answer->status != 200) {
      result.code = EffectResult::Code::kError;
      result.message =
          fmt::format("failed {} with extender at URL {}, code {}", verb, url, answer->status);
    } else {
      auto read = ReadExtenderAnswer(what, target.extender.node_cache_capable, answer->body);
      if (read) {
        result.extender = std::make_shared<const scheduler::ExtenderAnswer>(std::move(*read));
      } else {
        result.code = EffectResult::Code::kError;
        result.message = read.error().Message();
      }
    }
    if (result.code != EffectResult::Code::kOk) LogFailure(target.extender, what, result.message);
    done_(std::move(result));
  }

  static void LogFailure(const config::Extender& extender, Verb what, const std::string& why) {
    if (what == Verb::kPrioritize) {
      log::Info(5, "Failed to run extender's priority function. No score given by this extender.",
                {{"error", why}, {"extender", extender.url_prefix}});
    } else if (extender.ignorable) {
      log::Info(0, "Skipping extender as it returned error and has ignorable flag set",
                {{"extender", extender.url_prefix}, {"err", why}});
    }
  }

  void Later(EffectResult result) {
    loop_.Post([this, result = std::move(result)] { done_(result); });
  }

  net::Loop& loop_;
  const RawObjects& raw_;
  const HttpClientFactory make_client_;
  const Done done_;
  ExtenderObjects objects_;
  std::vector<std::unique_ptr<Target>> targets_;
};

ExtenderCaller::ExtenderCaller(net::Loop& loop, const RawObjects& raw,
                               HttpClientFactory make_client, Done done)
    : impl_(std::make_unique<Impl>(loop, raw, std::move(make_client), std::move(done))) {}
ExtenderCaller::~ExtenderCaller() = default;

void ExtenderCaller::Use(const std::vector<config::Extender>& extenders) { impl_->Use(extenders); }
void ExtenderCaller::Call(scheduler::EffectId id, const CallExtender& call) {
  impl_->Call(id, call);
}

}  // namespace berth::kube
