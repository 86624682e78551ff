#include "server/explain/explain_api.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "api/codec/json.h"
#include "explain/groups/view.h"
#include "explain/views.h"
#include "server/explain/event_stream.h"
#include "server/explain/suggest.h"
#include "server/http/json_api.h"

namespace berth::server {
namespace {

constexpr size_t kMaxJobs = 4;  // suggestions and what-ifs that wait or run
constexpr size_t kMaxWhatIfBytes = 1u << 20;
constexpr std::chrono::milliseconds kTick(250);
constexpr int kTicksPerQueue = 4;
constexpr size_t kDecisionsPerTick = 50;

explain::Index MakeIndex(const scheduler::Source& source) {
  explain::Index index;
  index.version = "v1";
  for (const char* path : {"", "/config", "/decisions", "/decisions/{namespace}/{name}", "/nodes",
                           "/nodes/{name}", "/pending", "/plan", "/podgroups",
                           "/podgroups/{namespace}/{name}", "/pods/{namespace}/{name}/suggestions",
                           "/queue", "/stream", "/whatif", "/whatif/podgroups"}) {
    index.paths.push_back(std::string(kExplainPrefix) + path);
  }
  for (const framework::Profile* profile : source.profiles) {
    index.profiles.push_back(profile->Name());
  }
  index.decisions_kept = static_cast<int64_t>(source.log->Capacity());
  return index;
}

int64_t WallNs() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

// With the pods that a workload of that name would have.
std::string NoSuchPod(const scheduler::Source& source, const std::string& namespace_,
                      const std::string& name) {
  constexpr size_t kNamed = 3;
  std::vector<std::string> near;
  const cluster::Cluster& cluster = *source.cluster;
  for (cluster::PodId id = 0; id < cluster.PodIdLimit() && near.size() < kNamed; ++id) {
    if (!cluster.PodExists(id)) continue;
    const cluster::Pod& pod = cluster.GetPod(id);
    if (pod.namespace_() == namespace_ && pod.name.starts_with(name + "-")) {
      near.push_back(pod.name);
    }
  }
  if (!near.empty()) {
    return fmt::format("no pod {}/{}; there are pods called {}", namespace_, name,
                       fmt::join(near, ", "));
  }
  return fmt::format(
      "no pod {}/{} here: it does not exist, has ended, or waits for another scheduler "
      "(spec.schedulerName)",
      namespace_, name);
}

explain::QueueState StateOf(const scheduler::Source& source, int64_t time_ns) {
  explain::QueueState state;
  const int64_t now = std::max(time_ns, source.now.UnixNano());
  state.time = api::MicroTime::FromUnixNano(now);
  state.counts = explain::CountQueues(source);
  state.totals = source.log->rates().Totals();
  state.last60s = source.log->rates().Lately(now);
  state.nodes = static_cast<int64_t>(source.cluster->NodeCount());
  state.pods = static_cast<int64_t>(source.cluster->PodCountTotal());
  return state;
}

}  // namespace

class ExplainApi::Impl : public std::enable_shared_from_this<Impl> {
 public:
  ~Impl() { Stop(); }

  void Attach(ExplainOptions options) {
    const std::lock_guard lock(mutex_);
    options_ = std::make_shared<const ExplainOptions>(std::move(options));
  }

  void Stop() {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    changed_.notify_one();
    if (thread_.joinable()) thread_.join();
    streams_.EndAll();
  }

  void Handle(const Request& request, const Respond& respond, const Post& post) {
    const std::vector<std::string> path =
        Split(std::string_view(request.path).substr(kExplainPrefix.size()));
    const bool groups = path == std::vector<std::string>{"whatif", "podgroups"};
    const bool what_if = groups || path == std::vector<std::string>{"whatif"};
    const bool plan = path == std::vector<std::string>{"plan"};
    const bool posts = what_if || plan;
    if (request.method != (posts ? "POST" : "GET") && !(request.method == "HEAD" && !posts)) {
      respond(ErrorResponse(
          405, posts ? "what-ifs and plans are asked with POST" : "only GET is served"));
      return;
    }
    const auto options = Options();
    if (!options->on_engine || (options->ready && !options->ready())) {
      respond(
          ErrorResponse(503, "this scheduler is not leading, or does not know the cluster yet"));
      return;
    }
    const Call call{request, respond, post};
    if (groups) return WhatIf(call, options->what_if_groups);
    if (what_if) return WhatIf(call, options->what_if);
    if (plan) return Plan(call);
    Read(call, path);
  }

 private:
  struct Call {
    Request request;
    Respond respond;
    Post post;

    void Answer(Response response) const {
      post([respond = respond, response = std::move(response)] { respond(response); });
    }
    void Refuse(int code, std::string_view message) const { Answer(ErrorResponse(code, message)); }
    // Text is made on the serving thread: the engine has better to do.
    template <class T>
    void Value(T value) const {
      const bool gzip = AcceptsGzip(request);
      auto shared = std::make_shared<const T>(std::move(value));
      post([respond = respond, shared, gzip] {
        respond(JsonResponse(explain::ToText(*shared), gzip));
      });
    }
    // Most errors say what does not exist.
    template <class T>
    void Outcome(Result<T> value) const {
      if (value) return Value(std::move(*value));
      Refuse(404, value.error().Message());
    }
  };
  using Engine = scheduler::Engine;

  std::shared_ptr<const ExplainOptions> Options() const {
    const std::lock_guard lock(mutex_);
    return options_;
  }

  int64_t Now() const {
    const auto options = Options();
    return options->now ? options->now() : WallNs();
  }

  void Read(const Call& call, const std::vector<std::string>& path) {
    const std::string first = path.empty() ? "" : path[0];
    const size_t size = path.size();
    if (size == 0) {
      return Ask(call, [](const Call& c, scheduler::Source s) { c.Value(MakeIndex(s)); });
    }
    if (first == "decisions" && size == 1) return Decisions(call);
    if (first == "decisions" && size == 3) return Decision(call, path[1], path[2]);
    if (first == "pods" && size == 4 && path[3] == "suggestions") {
      return Suggestions(call, path[1], path[2]);
    }
    if (first == "pending" && size == 1) {
      const std::string namespace_ = Query(call.request, "namespace");
      return Ask(call, [namespace_](const Call& c, scheduler::Source s) {
        c.Value(explain::ListPending(s, namespace_));
      });
    }
    if (first == "podgroups" && size == 1) {
      const std::string namespace_ = Query(call.request, "namespace");
      return Ask(call, [namespace_](const Call& c, scheduler::Source s) {
        c.Value(explain::ListGroups(s, namespace_));
      });
    }
    if (first == "podgroups" && size == 3) return PodGroup(call, path[1], path[2]);
    if (first == "nodes" && size == 1) {
      return Ask(call, [](const Call& c, scheduler::Source s) { c.Value(explain::ViewNodes(s)); });
    }
    if (first == "nodes" && size == 2) {
      return Ask(call, [name = path[1]](const Call& c, scheduler::Source s) {
        c.Outcome(explain::ViewNode(s, name));
      });
    }
    if (first == "queue" && size == 1) {
      return Ask(call,
                 [now = Now()](const Call& c, scheduler::Source s) { c.Value(StateOf(s, now)); });
    }
    if (first == "config" && size == 1) {
      return Ask(call, [](const Call& c, scheduler::Source s) { c.Value(explain::ViewConfig(s)); });
    }
    if (first == "stream" && size == 1) return Stream(call);
    call.respond(ErrorResponse(
        404, fmt::format("no path {}; GET {} lists them", call.request.path, kExplainPrefix)));
  }

  void Ask(const Call& call, std::function<void(const Call&, scheduler::Source)> answer) {
    Options()->on_engine(
        [call, answer = std::move(answer)](Engine& engine) { answer(call, engine.Explaining()); });
  }

  void Decisions(const Call& call) {
    explain::DecisionQuery query;
    query.namespace_ = Query(call.request, "namespace");
    query.search = Query(call.request, "search");
    for (char& c : query.search) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
    query.workload = Query(call.request, "workload");
    query.node = Query(call.request, "node");
    query.plugin = Query(call.request, "plugin");
    query.outcome = Query(call.request, "outcome");
    const auto limit = Number(call.request, "limit", 1, 1000, 100);
    const auto before = Number(call.request, "continue", 1, UINT64_MAX, 0);
    if (!limit) return call.respond(ErrorResponse(400, "limit is a number from 1 to 1000"));
    if (!before) return call.respond(ErrorResponse(400, "continue is what the list before said"));
    if (!query.outcome.empty() && query.outcome != "Scheduled" &&
        query.outcome != "Unschedulable" && query.outcome != "Error") {
      return call.respond(ErrorResponse(400, "outcome is Scheduled, Unschedulable or Error"));
    }
    query.limit = static_cast<size_t>(*limit);
    query.before = *before;
    Ask(call,
        [query](const Call& c, scheduler::Source s) { c.Value(explain::ListDecisions(s, query)); });
  }

  void Decision(const Call& call, const std::string& namespace_, const std::string& name) {
    const auto top = Number(call.request, "nodes", 1, 100, 10);
    if (!top) return call.respond(ErrorResponse(400, "nodes is a number from 1 to 100"));
    explain::ExplainOptions options;
    options.top = static_cast<size_t>(*top);
    options.node = Query(call.request, "node");
    Ask(call, [namespace_, name, options](const Call& c, scheduler::Source s) {
      const cluster::PodId pod = explain::FindPod(s, namespace_, name);
      if (pod == cluster::kNoPod) {
        return c.Refuse(404, NoSuchPod(s, namespace_, name));
      }
      c.Outcome(explain::Explain(s, pod, options));
    });
  }

  void Suggestions(const Call& call, const std::string& namespace_, const std::string& name) {
    if (!TakeTurn(call)) return;
    Ask(call, [self = shared_from_this(), namespace_, name](const Call& c, scheduler::Source s) {
      if (explain::FindPod(s, namespace_, name) == cluster::kNoPod) {
        self->turns_.fetch_sub(1);
        return c.Refuse(404, NoSuchPod(s, namespace_, name));
      }
      auto copy = std::make_shared<const explain::ClusterCopy>(explain::CopyCluster(s));
      self->Work([weak = self->weak_from_this(), c, copy, namespace_, name] {
        const auto api = weak.lock();
        if (!api) return;
        const auto options = api->Options();
        c.Outcome(SuggestOnCopy(*copy, options->config(), options->behaviour, options->plugins,
                                namespace_, name));
      });
    });
  }

  void PodGroup(const Call& call, const std::string& namespace_, const std::string& name) {
    if (!TakeTurn(call)) return;
    Ask(call, [self = shared_from_this(), namespace_, name](const Call& c, scheduler::Source s) {
      auto copy = std::make_shared<const explain::ClusterCopy>(explain::CopyCluster(s));
      self->Work([weak = self->weak_from_this(), c, copy, namespace_, name] {
        const auto api = weak.lock();
        if (!api) return;
        const auto options = api->Options();
        c.Outcome(ExplainGroupOnCopy(*copy, options->config(), options->behaviour, options->plugins,
                                     namespace_, name));
      });
    });
  }

  // `answer`: the function of the options that does.
  template <class T>
  void WhatIf(const Call& call,
              const std::function<Result<T>(const explain::ClusterCopy&,
                                            const config::KubeSchedulerConfiguration&,
                                            const explain::WhatIfRequest&)>& answer) {
    if (!answer) return call.respond(ErrorResponse(404, "no what-ifs here"));
    if (call.request.body.size() > kMaxWhatIfBytes) {
      return call.respond(ErrorResponse(413, "a what-if has at most 1 MiB"));
    }
    auto request = api::FromJson<explain::WhatIfRequest>(call.request.body);
    if (!request) return call.respond(ErrorResponse(400, request.error().Message()));
    if (!TakeTurn(call)) return;
    auto asked = std::make_shared<const explain::WhatIfRequest>(std::move(*request));
    Ask(call, [self = shared_from_this(), asked, answer](const Call& c, scheduler::Source s) {
      auto copy = std::make_shared<const explain::ClusterCopy>(explain::CopyCluster(s));
      self->Work([weak = self->weak_from_this(), c, copy, asked, answer] {
        const auto api = weak.lock();
        if (!api) return;
        auto result = answer(*copy, api->Options()->config(), *asked);
        if (result) {
          c.Value(std::move(*result));
        } else {
          c.Refuse(400, result.error().Message());
        }
      });
    });
  }

  void Plan(const Call& call) {
    if (!Options()->plan) return call.respond(ErrorResponse(404, "no plans here"));
    if (call.request.body.size() > kMaxWhatIfBytes) {
      return call.respond(ErrorResponse(413, "a question has at most 1 MiB"));
    }
    if (!TakeTurn(call)) return;
    Work([weak = weak_from_this(), call] {
      const auto api = weak.lock();
      if (!api) return;
      const auto options = api->Options();
      auto answer = options->plan(options->config(), call.request.body);
      if (!answer) return call.Refuse(400, answer.error().Message());
      call.Answer(JsonResponse(std::move(*answer), AcceptsGzip(call.request)));
    });
  }

  // --- Streams

  void Stream(const Call& call) {
    const auto stream = streams_.Open(Query(call.request, "namespace"), call.post);
    if (!stream) return call.respond(ErrorResponse(429, "too many streams are open"));
    Response response;
    response.Set("Content-Type", "text/event-stream");
    response.Set("Cache-Control", "no-store");
    response.stream = stream;
    call.respond(std::move(response));
    Ask(call, [self = shared_from_this()](const Call&, scheduler::Source s) {
      // Decisions are told from here on; who comes later joins in.
      if (self->streams_.Size() <= 1) self->last_sent_ = s.log->Newest();
      self->streams_.Queue(StateOf(s, self->Now()));
    });
    StartThread();
  }

  // What has happened since the last tick, on the engine's thread.
  void Collect(const scheduler::Source& source, bool queue) {
    const scheduler::DecisionLog& log = *source.log;
    const uint64_t newest = log.Newest();
    if (last_sent_ > newest) last_sent_ = 0;  // another engine starts anew
    const uint64_t news = newest - last_sent_;
    const uint64_t shown = std::min<uint64_t>({news, kDecisionsPerTick, log.Kept()});
    std::vector<explain::DecisionSummary> decisions;
    for (uint64_t id = newest - shown + 1; id <= newest; ++id) {
      decisions.push_back(explain::Summarize(source, *log.Find(id)));
    }
    last_sent_ = newest;
    if (!decisions.empty()) streams_.Decisions(decisions, news - shown);
    if (queue) streams_.Queue(StateOf(source, Now()));
  }

  void Tick() {
    const auto options = Options();
    if (streams_.Size() == 0 || !options->on_engine) return;
    if (asked_.exchange(true)) return;  // the engine has not answered the last one
    const bool queue = ++ticks_ % kTicksPerQueue == 0;
    options->on_engine([weak = weak_from_this(), queue](Engine& engine) {
      const auto self = weak.lock();
      if (!self) return;
      self->Collect(engine.Explaining(), queue);
      self->asked_.store(false);
    });
  }

  // --- The own thread

  bool TakeTurn(const Call& call) {
    if (turns_.fetch_add(1) < kMaxJobs) return true;
    turns_.fetch_sub(1);
    call.respond(ErrorResponse(429, "others are being thought about; try again in a moment"));
    return false;
  }

  void Work(std::function<void()> job) {
    {
      const std::lock_guard lock(mutex_);
      jobs_.push_back(std::move(job));
    }
    StartThread();
    changed_.notify_one();
  }

  void StartThread() {
    const std::lock_guard lock(mutex_);
    if (thread_.joinable() || stopping_) return;
    thread_ = std::thread([this] { Run(); });
  }

  void Run() {
    auto next_tick = std::chrono::steady_clock::now() + kTick;
    std::unique_lock lock(mutex_);
    while (!stopping_) {
      changed_.wait_until(lock, next_tick, [this] { return stopping_ || !jobs_.empty(); });
      if (stopping_) return;
      if (!jobs_.empty()) {
        const auto job = std::move(jobs_.front());
        jobs_.pop_front();
        lock.unlock();
        job();
        turns_.fetch_sub(1);
        lock.lock();
      }
      if (std::chrono::steady_clock::now() < next_tick) continue;
      lock.unlock();
      Tick();
      lock.lock();
      next_tick = std::chrono::steady_clock::now() + kTick;
    }
  }

  std::shared_ptr<const ExplainOptions> options_ = std::make_shared<const ExplainOptions>();
  EventStreams streams_;
  uint64_t last_sent_ = 0;  // of decisions; on the engine's thread
  std::atomic<bool> asked_ = false;
  int ticks_ = 0;
  std::atomic<size_t> turns_ = 0;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool stopping_ = false;
  std::deque<std::function<void()>> jobs_;
  std::thread thread_;
};

ExplainApi::ExplainApi() : impl_(std::make_shared<Impl>()) {}
ExplainApi::~ExplainApi() { Stop(); }
void ExplainApi::Attach(ExplainOptions options) { impl_->Attach(std::move(options)); }
void ExplainApi::Stop() { impl_->Stop(); }
void ExplainApi::Handle(Request request, Respond respond, const Post& post) {
  impl_->Handle(request, respond, post);
}
Mount ExplainApi::MakeMount() {
  return {std::string(kExplainPrefix),
          [impl = impl_](const Request& request, const Respond& respond, const Post& post) {
            impl->Handle(request, respond, post);
          },
          false};
}

}  // namespace berth::server
