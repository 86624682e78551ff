#include "kube/metrics/load_poller.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "log/log.h"
#include "net/http/url.h"

namespace berth::kube {
namespace {

constexpr std::string_view kMetricsPath = "/apis/metrics.k8s.io/v1beta1/nodes";

// "/path" of "scheme://authority/path", without a slash at its end.
std::string PathOf(std::string_view url) {
  const size_t scheme = url.find("://");
  const size_t slash = url.find('/', scheme == std::string_view::npos ? 0 : scheme + 3);
  std::string path(slash == std::string_view::npos ? std::string_view() : url.substr(slash));
  while (path.ends_with('/')) path.pop_back();
  return path;
}

std::string QueryEscape(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '-' || c == '_' || c == '.' || c == '~';
    if (plain) {
      out += c;
    } else {
      out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return out;
}

}  // namespace

struct LoadPoller::Polled {
  config::MetricsSource source;
  std::string broken;  // why there is no client
  std::string path;
  net::RequestHeaders headers;
  ApiClient::Id request = 0;  // to the API server
  net::Loop::TimerId timer = 0;
  int64_t asked = 0;        // Unix seconds
  LoadByNode answers = {};  // of the queries so far
  LoadByNode loads = {};    // of the last poll that succeeded
  net::Nanoseconds succeeded{0};
  std::string error;                        // of the last poll; empty: it succeeded
  std::unique_ptr<net::HttpClient> client;  // the last: its callbacks look at the rest
};

LoadPoller::LoadPoller(net::Loop& loop, ApiClient& client, HttpClientFactory make_client,
                       const NodeCapacities& nodes, Taken taken, LoadPolled polled)
    : loop_(loop),
      client_(client),
      make_client_(std::move(make_client)),
      nodes_(nodes),
      taken_(std::move(taken)),
      polled_(std::move(polled)) {}

LoadPoller::~LoadPoller() { Use({}); }

void LoadPoller::Use(std::vector<config::MetricsSource> sources) {
  std::vector<std::unique_ptr<Polled>> before = std::move(sources_);
  sources_.clear();
  for (config::MetricsSource& source : sources) {
    auto polled = std::make_unique<Polled>();
    for (const auto& old : before) {
      if (!(old->source == source)) continue;
      polled->loads = old->loads;
      polled->succeeded = old->succeeded;
      polled->error = old->error;
    }
    polled->source = std::move(source);
    sources_.push_back(std::move(polled));
  }
  for (const auto& old : before) {
    client_.Cancel(old->request);
    loop_.Cancel(old->timer);
  }
  before.clear();
  published_.clear();
  for (auto& polled : sources_) {
    if (polled->source.type != config::MetricsSource::Type::kMetricsServer) {
      polled->path = PathOf(polled->source.address);
      std::vector<net::Header> headers = {{"accept", "application/json"}};
      if (!polled->source.token.empty()) {
        headers.push_back({"authorization", "Bearer " + polled->source.token});
      }
      polled->headers = std::move(headers);
      net::HttpClientOptions options;
      options.url = polled->source.address;
      options.tls.insecure = polled->source.insecure_skip_verify;
      options.max_response_bytes = kMaxAnswerBytes;
      auto client =
          make_client_
              ? make_client_(std::move(options))
              : Result<std::unique_ptr<net::HttpClient>>(Fail("there is no client for it"));
      if (client) {
        polled->client = std::move(*client);
      } else {
        polled->broken = client.error().Message();
      }
    }
    Poll(*polled);
  }
  if (!sources_.empty()) Publish();
}

void LoadPoller::Poll(Polled& source) {
  source.timer = 0;
  source.asked = loop_.Now().seconds;
  source.answers.clear();
  if (source.source.type == config::MetricsSource::Type::kMetricsServer) {
    return AskApiServer(source);
  }
  if (!source.client) return Finish(source, Fail(source.broken));
  if (source.source.type == config::MetricsSource::Type::kPrometheus) {
    return AskPrometheus(source, 0);
  }
  AskHttp(source, source.path + "/watcher",
          [this, &source](const std::string& body) { Finish(source, ReadLoadWatcher(body)); });
}

void LoadPoller::AskApiServer(Polled& source) {
  ApiRequest request;
  request.path = kMetricsPath;
  request.accept = kJson;
  request.timeout = kTimeout;
  source.request = client_.Send(std::move(request), [this, &source](const ApiResponse& response) {
    source.request = 0;
    if (!response.Ok()) return Finish(source, Fail(response.message));
    Finish(source, ReadMetricsServer(response.body, nodes_, source.asked));
  });
}

void LoadPoller::AskHttp(Polled& source, const std::string& path,
                         std::function<void(const std::string& body)> read) {
  net::HttpRequest request;
  request.method = "GET";
  request.target = path;
  request.headers = source.headers;
  source.client->Send(
      std::move(request), kTimeout,
      [this, &source,
       read = std::move(read)](const tl::expected<net::HttpResponse, net::HttpError>& answer) {
        if (!answer) return Finish(source, Fail(answer.error().message));
        if (answer->status != 200) {
          return Finish(source, Fail(fmt::format("HTTP status {}", answer->status)));
        }
        read(answer->body);
      });
}

// One query after the other.
void LoadPoller::AskPrometheus(Polled& source, size_t query) {
  if (query == source.source.queries.size()) {
    return Finish(source, std::exchange(source.answers, {}));
  }
  const config::MetricsQuery& asked = source.source.queries[query];
  AskHttp(source, source.path + "/api/v1/query?query=" + QueryEscape(asked.query),
          [this, &source, &asked, query](const std::string& body) {
            auto read = ReadPrometheus(body, asked, source.source.node_label, source.asked,
                                       &source.answers);
            if (!read) return Finish(source, Fail(read.error()));
            AskPrometheus(source, query + 1);
          });
}

void LoadPoller::Finish(Polled& source, Result<LoadByNode> loads) {
  const std::string error = loads ? std::string() : loads.error().Message();
  if (polled_) polled_(source.source.name, error);
  if (error != source.error) Log(source, error);
  source.error = error;
  source.timer = loop_.After(std::chrono::seconds(source.source.period_seconds),
                             [this, &source] { Poll(source); });
  if (loads) {
    source.loads = std::move(*loads);
    // A source may still name nodes that it has not measured for long.
    const int64_t oldest = loop_.Now().UnixNano() - source.source.max_age_seconds * 1'000'000'000;
    std::erase_if(source.loads, [oldest](const auto& entry) {
      return entry.second.measured_ns != 0 && entry.second.measured_ns < oldest;
    });
    source.succeeded = loop_.Steady();
    Publish();
  } else if (!source.loads.empty() && loop_.Steady() - source.succeeded >=
                                          std::chrono::seconds(source.source.max_age_seconds)) {
    log::Info(0, "Load of nodes is too old, it does not count any more",
              {{"source", source.source.name}});
    source.loads.clear();
    Publish();
  }
}

void LoadPoller::Log(Polled& source, const std::string& error) {
  if (error.empty()) {
    log::Info(0, "Load of nodes is read again", {{"source", source.source.name}});
  } else {
    log::Error(error, "Could not read the load of nodes", {{"source", source.source.name}});
  }
}

void LoadPoller::Publish() {
  std::map<std::string, cluster::NodeMetrics, std::less<>> all;
  for (const auto& source : sources_) {
    for (const auto& [node, load] : source->loads) {
      if (nodes_.Find(node) == nullptr) continue;
      cluster::NodeMetrics& metrics = all[node];
      cluster::AddLoad(source->source.name, load, &metrics);
      const int64_t measured =
          load.measured_ns != 0 ? load.measured_ns : load.window_end * 1'000'000'000;
      const api::Time time = api::Time::FromUnixNano(measured);
      if (metrics.measured.IsZero() || metrics.measured.UnixNano() < measured) {
        metrics.measured = time;
      }
    }
  }
  MeasuredNodes changed;
  for (const auto& [node, metrics] : published_) {
    if (!all.contains(node)) changed.emplace_back(node, cluster::NodeMetrics{});
  }
  for (const auto& [node, metrics] : all) {
    const auto before = published_.find(node);
    if (before == published_.end() || before->second != metrics) {
      changed.emplace_back(node, metrics);
    }
  }
  published_ = std::move(all);
  if (!changed.empty()) taken_(std::move(changed));
}

Result<void> CheckMetricsSources(const std::vector<config::MetricsSource>& sources) {
  for (const config::MetricsSource& source : sources) {
    if (source.type == config::MetricsSource::Type::kMetricsServer) continue;
    const auto url = net::ParseUrl(source.address);
    if (!url) return Fail(url.error().In("source of metrics \"" + source.name + "\""));
  }
  return {};
}

}  // namespace berth::kube
