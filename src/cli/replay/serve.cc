#include "cli/replay/serve.h"

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <deque>
#include <future>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "api/codec/json.h"
#include "api/time.h"
#include "base/visible.h"
#include "cli/explain/recorded.h"
#include "cli/explain/what_if.h"
#include "cli/replay/time_machine.h"
#include "cli/scheduler/stop_signal.h"
#include "net/loop.h"
#include "server/dashboard/dashboard.h"
#include "server/explain/explain_api.h"
#include "server/http/host_guard.h"
#include "server/http/json_api.h"
#include "server/http/listener.h"

namespace berth::cli {
namespace {

using server::ErrorResponse;
using server::Request;
using server::Respond;
using server::Response;

constexpr std::string_view kPrefix = "/apis/replay/v1";
constexpr size_t kMostJobs = 4;  // decisions that are being looked for, or wait

struct MomentRequest {
  std::string time;
  bool next_cycle = false;

  static const api::TypeInfo& Type() {
    static const api::TypeInfo type = api::Describe<MomentRequest>("Moment")
                                          .Field(1, "time", &MomentRequest::time)
                                          .Field(2, "nextCycle", &MomentRequest::next_cycle)
                                          .Build();
    return type;
  }
};

// Explains decisions on a thread of its own, as they were made: each time another engine plays up
// to the decision.
class Historian {
 public:
  using Answer = std::function<void(Result<RecordedDecision>)>;

  Historian(std::string dir, const Plugins& plugins) : dir_(std::move(dir)), plugins_(plugins) {}
  ~Historian() {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    changed_.notify_all();
    if (thread_.joinable()) thread_.join();
  }

  // False: too many wait.
  bool Ask(uint32_t run, std::optional<int64_t> until_ns, std::string namespace_, std::string name,
           explain::ExplainOptions options, Answer answer) {
    {
      const std::lock_guard lock(mutex_);
      if (jobs_.size() >= kMostJobs) return false;
      jobs_.push_back([=, this, answer = std::move(answer)] {
        answer(ExplainRecorded({dir_, run, until_ns}, namespace_, name, options, plugins_));
      });
      if (!thread_.joinable()) thread_ = std::thread([this] { Work(); });
    }
    changed_.notify_all();
    return true;
  }

 private:
  void Work() {
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [this] { return stopping_ || !jobs_.empty(); });
      if (stopping_) return;
      const auto job = std::move(jobs_.front());
      jobs_.pop_front();
      lock.unlock();
      job();
      lock.lock();
    }
  }

  const std::string dir_;
  const Plugins& plugins_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool stopping_ = false;
  std::deque<std::function<void()>> jobs_;
  std::thread thread_;
};

class Serving final : public ReplayServer {
 public:
  Serving(RunChoice choice, const Plugins& plugins)
      : choice_(std::move(choice)), plugins_(plugins), historian_(choice_.dir, plugins) {}
  ~Serving() override { Stop(); }

  Result<void> Init(int port) {
    auto runs = record::ListRuns(choice_.dir);
    if (!runs) return Fail(runs.error());
    if (choice_.number != 0) {
      std::erase_if(*runs, [this](const auto& run) { return run.number != choice_.number; });
    }
    if (runs->empty()) return Fail("there is no such recording in " + choice_.dir);
    auto machine = TimeMachine::Make(std::move(*runs), plugins_);
    if (!machine) return Fail(machine.error());
    machine_ = std::move(*machine);
    loop_ = net::MakeSystemLoop();
    door_ = std::make_shared<server::Door>(*loop_);
    server::ServingOptions serving;
    serving.bind_address = "127.0.0.1";
    serving.port = port;
    serving.any_port = port == 0;
    auto listener =
        server::Listener::MakePlain(*loop_, serving, [this](Request request, Respond respond) {
          Handle(std::move(request), std::move(respond));
        });
    if (!listener) return Fail(listener.error());
    listener_ = std::move(*listener);
    Attach();
    return {};
  }

  void Start() override {
    machine_->MoveTo(choice_.time_ns.value_or(machine_->End()));
    loop_->Post([this] { listener_->Start(); });
    thread_ = std::thread([this] { loop_->Run(); });
  }

  void Stop() override {
    if (!thread_.joinable()) return;
    explain_.Stop();
    // Shared: the last connection may end after we have stopped waiting for it.
    const auto stopped = std::make_shared<std::promise<void>>();
    loop_->Post([this, stopped] { listener_->Stop([stopped] { stopped->set_value(); }); });
    stopped->get_future().wait_for(std::chrono::seconds(3));
    door_->Close();
    loop_->Stop();
    thread_.join();
  }

  int Port() const override { return listener_->Port(); }

 private:
  void Attach() {
    server::ExplainOptions options;
    options.on_engine = [this](auto task) { machine_->Do(std::move(task)); };
    options.ready = [this] { return machine_->Ready(); };
    options.now = [this] { return machine_->Now(); };
    options.config = [this] { return machine_->Config(); };
    options.behaviour = machine_->Behaviour();
    options.plugins = plugins_.extra;
    options.what_if = [this](const auto& copy, const auto& config, const auto& request) {
      return AnswerWhatIf(copy, config, machine_->Behaviour(), request, plugins_.extra);
    };
    explain_.Attach(std::move(options));
  }

  void Handle(Request request, Respond respond) {
    if (const auto why = guard_.Refuse(request)) return respond(ErrorResponse(403, *why));
    const server::Post post = [door = door_](std::function<void()> task) {
      door->Post(std::move(task));
    };
    const std::string_view path = request.path;
    const auto below = [path](std::string_view prefix) {
      return path == prefix || path.starts_with(std::string(prefix) + "/");
    };
    if (below(kPrefix)) return respond(Replay(request));
    if (below(server::kExplainPrefix)) {
      if (AsksDecision(request)) return Decision(std::move(request), std::move(respond), post);
      return explain_.Handle(std::move(request), std::move(respond), post);
    }
    if (below("/dashboard")) return respond(server::ServeDashboard(request, {"explain", "replay"}));
    respond(server::TextError(404, "404 page not found"));
  }

  Response Replay(const Request& request) {
    const std::string path = request.path.substr(kPrefix.size());
    const bool gzip = server::AcceptsGzip(request);
    if (path == "/timeline" && (request.method == "GET" || request.method == "HEAD")) {
      return server::JsonResponse(api::ToJson(machine_->Look()), gzip);
    }
    if (path == "/moment" && request.method == "PUT") {
      const auto moment = api::FromJson<MomentRequest>(request.body);
      if (!moment) return ErrorResponse(400, moment.error().Message());
      if (moment->next_cycle) {
        machine_->MoveToNextCycle();
      } else {
        const auto time = ParseTime(moment->time);
        if (!time) return ErrorResponse(400, time.error().Message());
        machine_->MoveTo(*time);
      }
      return server::JsonResponse(api::ToJson(machine_->Look()), gzip);
    }
    if (path == "/timeline" || path == "/moment") {
      return ErrorResponse(405, "timeline is read with GET, moment is set with PUT");
    }
    return ErrorResponse(404, fmt::format("no path {}; there are {}/timeline and {}/moment",
                                          request.path, kPrefix, kPrefix));
  }

  static bool AsksDecision(const Request& request) {
    const auto path =
        server::Split(std::string_view(request.path).substr(server::kExplainPrefix.size()));
    return request.method == "GET" && path.size() == 3 && path[0] == "decisions";
  }

  // The decision as it was made. A pod about which nothing was decided by then is explained as it
  // is at the moment.
  void Decision(Request request, Respond respond, const server::Post& post) {
    const auto path =
        server::Split(std::string_view(request.path).substr(server::kExplainPrefix.size()));
    const auto top = server::Number(request, "nodes", 1, 100, 10);
    if (!top) return respond(ErrorResponse(400, "nodes is a number from 1 to 100"));
    explain::ExplainOptions options;
    options.top = static_cast<size_t>(*top);
    options.node = server::Query(request, "node");
    const Timeline now = machine_->Look();
    const auto answer = [this, request, respond, post](Result<RecordedDecision> decision) {
      if (!decision) {
        return post([this, request, respond, post] { explain_.Handle(request, respond, post); });
      }
      post([respond, gzip = server::AcceptsGzip(request), text = explain::ToText(decision->view)] {
        respond(server::JsonResponse(text, gzip));
      });
    };
    const auto run = static_cast<uint32_t>(now.run);
    if (run == 0) return explain_.Handle(std::move(request), std::move(respond), post);
    // At the end all that is recorded has been played.
    std::optional<int64_t> until;
    if (machine_->Now() < machine_->End()) until = machine_->Now();
    if (!historian_.Ask(run, until, path[1], path[2], options, answer)) {
      respond(ErrorResponse(429, "other decisions are being looked for; try again in a moment"));
    }
  }

  const RunChoice choice_;
  const Plugins& plugins_;
  const server::HostGuard guard_;
  std::unique_ptr<TimeMachine> machine_;
  std::unique_ptr<net::SystemLoop> loop_;
  std::shared_ptr<server::Door> door_;
  std::unique_ptr<server::Listener> listener_;
  server::ExplainApi explain_;
  Historian historian_;
  std::thread thread_;
};

}  // namespace

Result<std::unique_ptr<ReplayServer>> ReplayServer::Make(const RunChoice& choice, int port,
                                                         const Plugins& plugins) {
  auto serving = std::make_unique<Serving>(choice, plugins);
  if (auto made = serving->Init(port); !made) return Fail(made.error());
  return serving;
}

int ServeRecording(const RunChoice& choice, int port, const Plugins& plugins) {
  scheduler::StopSignal stop;  // before any thread
  auto server = ReplayServer::Make(choice, port, plugins);
  if (!server) {
    fmt::print(stderr, "berth replay: {}\n", Visible(server.error().Message(), "\n"));
    return 2;
  }
  (*server)->Start();
  fmt::print("berth replay: http://127.0.0.1:{}/dashboard/  Stop with Ctrl-C.\n",
             (*server)->Port());
  std::fflush(stdout);
  stop.Wait();
  (*server)->Stop();
  return 0;
}

}  // namespace berth::cli
