#include "cli/replay/replay.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <thread>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "api/codec/json.h"
#include "api/time.h"
#include "apiserver/json/value.h"
#include "base/visible.h"
#include "cli/plugins.h"
#include "cli/replay/choose_run.h"
#include "cli/replay/observed.h"
#include "cli/replay/other_rules.h"
#include "cli/replay/serve.h"
#include "cli/shadow/report.h"
#include "record/player.h"
#include "term/flags.h"
#include "term/terminal.h"

namespace berth::cli {
namespace {

constexpr std::string_view kUsage =
    "Plays a recording of 'berth scheduler --record-dir DIR' again: an equal engine gets every\n"
    "recorded input, and each of its decisions is compared with the one that was made. In one of\n"
    "'berth record', the decisions of the other scheduler are compared with berth's, as 'berth\n"
    "shadow' does.\n"
    "\n"
    "usage: berth replay DIR                 the newest run: are all decisions the same?\n"
    "       berth replay DIR --all           the same of all runs\n"
    "       berth replay DIR --list          which runs are there?\n"
    "       berth replay DIR --pod NS/NAME   what was decided about this pod, and when\n"
    "       berth replay DIR --config FILE   what another configuration would have changed\n"
    "       berth replay DIR --serve         the dashboard, at any moment of the recording\n"
    "\n"
    "With --config, --kubernetes-version, --feature-gates, --nodes-add or --drain the same "
    "history\n"
    "is decided twice in virtual time, by the recorded rules and by the others, and the report "
    "says\n"
    "what differs. A model of the API server answers then; extenders are not called.\n"
    "\n"
    "Exit code: 0 every decision is as recorded (of 'berth record': none is unexplained), 1 one\n"
    "differs or the recording is damaged, 2 bad flags or nothing to play.\n"
    "\n"
    "flags:\n";

struct Options {
  RunChoice run;
  std::string pod;
  double speed = 0;  // times that of the recording; 0: as fast as possible
  std::string output = "text";
  bool list = false;
  bool all = false;
  bool serve = false;
  int64_t port = 8002;
};

std::string At(int64_t time_ns) { return api::Time::FromUnixNano(time_ns).FormatNano(); }

// "default/web" of the pod that an effect is about; empty: none.
std::string PodOf(const scheduler::Effect& effect) {
  const auto name = [](const scheduler::PodRef& pod) { return pod.namespace_ + "/" + pod.name; };
  return std::visit(
      [&]<class T>(const T& action) -> std::string {
        if constexpr (std::is_same_v<T, scheduler::WriteObject>) {
          return "";
        } else if constexpr (std::is_same_v<T, scheduler::RecordEvent>) {
          return name(action.regarding);
        } else if constexpr (std::is_same_v<T, scheduler::PatchPodGroupStatus>) {
          return name(action.group);
        } else {
          return name(action.pod);
        }
      },
      effect.action);
}

// Lets the time of a recording pass `speed` times as fast as it did.
class Pace {
 public:
  explicit Pace(double speed) : speed_(speed) {}

  void WaitFor(int64_t time_ns) {
    if (speed_ <= 0) return;
    if (!first_ns_) first_ns_ = time_ns;
    const auto passed = static_cast<double>(time_ns - *first_ns_) / speed_;
    std::this_thread::sleep_until(start_ + std::chrono::nanoseconds(static_cast<int64_t>(passed)));
  }

 private:
  const double speed_;
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::optional<int64_t> first_ns_;
};

// Follows the bar, and the story of one pod.
class Watcher final : public record::PlayObserver {
 public:
  Watcher(const record::RunReader& reader, const Options& options)
      : reader_(reader),
        options_(options),
        pace_(options.speed),
        progress_("replaying", reader.TotalBytes()) {}

  bool Playing(const record::Moment& moment, const record::Record& record,
               scheduler::Engine*) override {
    if (moment.sequence % 1024 == 0 || options_.speed > 0) progress_.Update(reader_.BytesRead());
    pace_.WaitFor(moment.time_ns);
    last_ = moment;
    if (!options_.pod.empty()) Follow(moment, record);
    return true;
  }

  void Decided(const record::Moment& moment, const scheduler::Effect& effect) override {
    if (!options_.pod.empty() && PodOf(effect) == options_.pod) {
      Tell(moment, record::Describe(effect));
    }
  }

  // Of a recording without scheduling.
  void Compared(const shadow::Comparison& comparison) {
    if (!options_.pod.empty()) {
      if (comparison.Pod() == options_.pod) {
        Tell(last_, fmt::format("compared: {}", Line(comparison)));
      }
    } else if (options_.output == "text" && !IsExplained(comparison.outcome)) {
      fmt::print("{}\n", Line(comparison));
    }
  }

  bool Seen() const { return seen_; }
  apiserver::Json TakeStory() { return std::move(story_); }

 private:
  void Follow(const record::Moment& moment, const record::Record& record) {
    if (const auto* upsert = std::get_if<record::Upsert>(&record)) {
      See(moment, upsert->object, seen_ ? "changed" : "first seen");
    } else if (const auto* replace = std::get_if<record::Replace>(&record)) {
      for (const api::Object& object : replace->objects) See(moment, object, "listed");
    } else if (const auto* gone = std::get_if<record::Delete>(&record)) {
      See(moment, gone->object, "deleted");
    }
  }

  void See(const record::Moment& moment, const api::Object& object, std::string_view what) {
    const auto* pod = std::get_if<api::Pod>(&object);
    if (pod == nullptr || pod->metadata.namespace_ + "/" + pod->metadata.name != options_.pod) {
      return;
    }
    seen_ = true;
    std::string text(what);
    if (!pod->spec.node_name.empty()) text += " on " + pod->spec.node_name;
    Tell(moment, text);
  }

  void Tell(const record::Moment& moment, const std::string& text) {
    if (options_.output == "json") {
      story_.Append(
          apiserver::Json::MakeObject({{"time", At(moment.time_ns)},
                                       {"sequence", static_cast<int64_t>(moment.sequence)},
                                       {"what", text}}));
    } else {
      fmt::print("{}  #{:<8} {}\n", At(moment.time_ns), moment.sequence, Visible(text, ""));
    }
  }

  const record::RunReader& reader_;
  const Options& options_;
  Pace pace_;
  term::Progress progress_;
  record::Moment last_;
  bool seen_ = false;
  apiserver::Json story_ = apiserver::Json::MakeArray();
};

int Complain(const std::string& what) {
  fmt::print(stderr, "berth replay: {}\n", Visible(what, ""));
  return 2;
}

int List(const std::vector<record::RunFiles>& runs, const std::string& output) {
  apiserver::Json list = apiserver::Json::MakeArray();
  term::Table table({"RUN", "BEGAN", "SEGMENTS", "BYTES"});
  for (const record::RunFiles& run : runs) {
    int64_t bytes = 0;
    for (const record::SegmentFile& file : run.segments) bytes += static_cast<int64_t>(file.size);
    const auto segments = static_cast<int64_t>(run.segments.size());
    const auto began = record::BeginOf(run);
    const std::string from = began ? At(*began) : "";
    list.Append(apiserver::Json::MakeObject({{"run", static_cast<int64_t>(run.number)},
                                             {"began", from},
                                             {"segments", segments},
                                             {"bytes", bytes}}));
    table.Row({std::to_string(run.number), began ? from : "its beginning is damaged",
               std::to_string(segments), std::to_string(bytes)});
  }
  if (output == "json") {
    fmt::print("{}\n", list.Dump());
  } else {
    fmt::print("{}", table.Text(term::UsesColour(stdout)));
  }
  return 0;
}

apiserver::Json ToJson(const record::PlayOutcome& outcome, int64_t run, double seconds) {
  return apiserver::Json::MakeObject({{"run", run},
                                      {"same", outcome.Same()},
                                      {"records", static_cast<int64_t>(outcome.records)},
                                      {"engines", static_cast<int64_t>(outcome.engines)},
                                      {"cycles", static_cast<int64_t>(outcome.steps)},
                                      {"decisions", static_cast<int64_t>(outcome.decisions)},
                                      {"bindings", static_cast<int64_t>(outcome.bindings)},
                                      {"from", At(outcome.first_time_ns)},
                                      {"to", At(outcome.last_time_ns)},
                                      {"closed", outcome.closed},
                                      {"redacted", outcome.redacted},
                                      {"differs", outcome.divergence},
                                      {"damage", outcome.trouble},
                                      {"seconds", seconds}});
}

void Print(const record::PlayOutcome& outcome, int64_t run, double seconds) {
  fmt::print("run {}: {} to {}\n", run, At(outcome.first_time_ns), At(outcome.last_time_ns));
  fmt::print("{} records, {} engine{}, {} scheduling cycles, {} bindings, played in {:.1f} s\n",
             outcome.records, outcome.engines, outcome.engines == 1 ? "" : "s", outcome.steps,
             outcome.bindings, seconds);
  if (outcome.redacted) fmt::print("redacted: names, labels and images are pseudonyms\n");
  if (!outcome.divergence.empty()) {
    fmt::print("DIFFERS at record {}, {}: {}\n", outcome.stopped.sequence,
               At(outcome.stopped.time_ns), Visible(outcome.divergence, "\n"));
  } else {
    fmt::print("all {} decisions are as recorded\n", outcome.decisions);
  }
  if (!outcome.trouble.empty()) {
    fmt::print("played up to the damage: {}\n", Visible(outcome.trouble, "\n"));
  } else if (!outcome.closed && !outcome.reached_until && outcome.divergence.empty()) {
    fmt::print("the recording was not closed: the scheduler still runs, or was killed\n");
  }
}

void Print(const ObservedOutcome& outcome, int64_t run, double seconds) {
  const record::PlayOutcome& played = outcome.played;
  fmt::print("run {}: {} to {}, recorded without scheduling\n", run, At(played.first_time_ns),
             At(played.last_time_ns));
  fmt::print("{} records, played in {:.1f} s\n", played.records, seconds);
  if (played.redacted) fmt::print("redacted: names, labels and images are pseudonyms\n");
  fmt::print("{}", Conclusion(outcome.summary, term::UsesColour(stdout)));
  if (!played.trouble.empty()) {
    fmt::print("played up to the damage: {}\n", Visible(played.trouble, "\n"));
  } else if (!played.closed && !played.reached_until) {
    fmt::print("the recording was not closed: the recorder still runs, or was killed\n");
  }
}

apiserver::Json ToJson(const ObservedOutcome& outcome, int64_t run, double seconds) {
  apiserver::Json json = ToJson(outcome.played, run, seconds);
  json.Default("observed", true);
  auto summary = apiserver::Json::Parse(api::ToJson(outcome.summary));
  if (summary) json.Default("summary", std::move(*summary));
  return json;
}

// `play` plays the run to its end and returns the outcome.
template <class Play>
int PlayOne(const record::RunFiles& files, const Options& options, const Plugins& plugins,
            Play play) {
  record::RunReader reader(files);
  Watcher watcher(reader, options);
  record::PlayOptions how;
  how.extra_plugins = plugins.extra;
  how.until_ns = options.run.time_ns;
  how.observer = &watcher;
  const auto before = std::chrono::steady_clock::now();
  const auto outcome = play(reader, how, watcher);
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - before).count();
  const auto run = static_cast<int64_t>(files.number);
  if (options.output == "json") {
    apiserver::Json json = ToJson(outcome, run, seconds);
    if (!options.pod.empty()) json.Default("pod", watcher.TakeStory());
    fmt::print("{}\n", json.Dump());
  } else {
    Print(outcome, run, seconds);
    if (!options.pod.empty() && !watcher.Seen()) {
      fmt::print("there is no pod {} in this run\n", Visible(options.pod, ""));
    }
  }
  return outcome.Same() ? 0 : 1;
}

// A run of another scheduler: its decisions are compared with ours.
int PlayObservedRun(const record::RunFiles& files, const Options& options, const Plugins& plugins) {
  return PlayOne(files, options, plugins, [](auto& reader, const auto& how, Watcher& watcher) {
    return PlayObserved(reader, how, [&](const auto& c) { watcher.Compared(c); });
  });
}

// A run of berth: its decisions are made again.
int PlayRun(const record::RunFiles& files, const Options& options, const Plugins& plugins) {
  return PlayOne(files, options, plugins,
                 [](auto& reader, const auto& how, Watcher&) { return record::Play(reader, how); });
}

// Every run by itself: one line for each that is not as recorded, and the sum.
int PlayAll(const std::vector<record::RunFiles>& runs, const Options& options,
            const Plugins& plugins) {
  size_t bytes = 0;
  for (const record::RunFiles& run : runs) {
    for (const record::SegmentFile& file : run.segments) bytes += file.size;
  }
  apiserver::Json list = apiserver::Json::MakeArray();
  record::PlayOutcome sum;
  size_t same = 0;
  {
    term::Progress progress("replaying", bytes);
    size_t done = 0;
    for (const record::RunFiles& run : runs) {
      record::RunReader reader(run);
      const auto before = std::chrono::steady_clock::now();
      const record::PlayOptions play{
          .extra_plugins = plugins.extra, .until_ns = {}, .observer = {}};
      const bool observed = IsObserved(run);
      ObservedOutcome compared;
      if (observed) compared = PlayObserved(reader, play);
      const record::PlayOutcome outcome = observed ? compared.played : record::Play(reader, play);
      const bool is_same = observed ? compared.Same() : outcome.Same();
      const double seconds =
          std::chrono::duration<double>(std::chrono::steady_clock::now() - before).count();
      done += reader.TotalBytes();
      progress.Update(done);
      same += is_same ? 1 : 0;
      sum.records += outcome.records;
      sum.decisions += outcome.decisions;
      sum.bindings += outcome.bindings;
      const auto number = static_cast<int64_t>(run.number);
      if (options.output == "json") {
        list.Append(observed ? ToJson(compared, number, seconds)
                             : ToJson(outcome, number, seconds));
      } else if (!is_same) {
        observed ? Print(compared, number, seconds) : Print(outcome, number, seconds);
      }
    }
  }
  if (options.output == "json") {
    fmt::print("{}\n", list.Dump());
  } else {
    fmt::print("{} of {} runs are as recorded: {} records, {} decisions, {} bindings\n", same,
               runs.size(), sum.records, sum.decisions, sum.bindings);
  }
  return same == runs.size() ? 0 : 1;
}

Result<void> ParseSpeed(const std::string& text, double* speed) {
  if (text == "max") {
    *speed = 0;
    return {};
  }
  char* end = nullptr;
  *speed = std::strtod(text.c_str(), &end);
  if (end == text.c_str() || std::string_view(end) != "x" || !(*speed > 0)) {
    return Fail(fmt::format("\"{}\" is not a speed such as 1x, 60x or max", text));
  }
  return {};
}

}  // namespace

int Replay(const std::vector<std::string>& args) {
  Options options;
  bool help = false;
  std::vector<std::string> plugin_paths;
  term::Flags flags;
  flags.AddSwitch("list", "list the runs in DIR", &options.list);
  flags.AddNumber("run", "N", "the run to play (default: the newest, or the one at --until)", 1,
                  999'999, &options.run.number);
  flags.AddSwitch("all", "play all runs in DIR", &options.all);
  flags.Add("until", "TIME", "stop before what came later, e.g. 2026-05-01T12:00:00Z",
            [&](const std::string& text) -> Result<void> {
              const auto time = ParseTime(text);
              if (!time) return Fail(time.error());
              options.run.time_ns = *time;
              return {};
            });
  flags.AddText("pod", "NS/NAME", "print what happened to this pod and what was decided about it",
                &options.pod);
  flags.Add("speed", "FACTOR", "1x as recorded, 60x a minute per second, max (default)",
            [&](const std::string& text) { return ParseSpeed(text, &options.speed); });
  flags.AddSwitch("serve", "serve the dashboard on 127.0.0.1, with a slider for the moment",
                  &options.serve);
  flags.AddNumber("port", "PORT", "with --serve: the port; 0: any free one (8002)", 0, 65535,
                  &options.port);
  OtherRules other;
  other.Add(flags);
  flags.AddList("plugin-path", "FILE|DIR",
                "shared objects with the plugins that were loaded; may be repeated", &plugin_paths);
  flags.AddChoice("o,output", {"text", "json"}, "format of the result (default text)",
                  &options.output);
  flags.AddSwitch("h,help", "print this help", &help);
  std::vector<std::string> rest;
  const auto parsed = flags.Parse(args, &rest);
  if (help) {
    fmt::print("{}{}", kUsage, flags.Help());
    return 0;
  }
  if (!parsed || rest.size() != 1) {
    fmt::print(stderr, "berth replay: {}\n\n{}{}",
               !parsed ? parsed.error().Message() : "give one directory", kUsage, flags.Help());
    return 2;
  }
  if (!options.pod.empty() && options.pod.find('/') == std::string::npos) {
    return Complain(fmt::format("--pod {}: give it as NAMESPACE/NAME", options.pod));
  }
  if ((!other.html.empty() || !other.prices.empty()) && !other.Any()) {
    return Complain("--html and --prices are about what other rules change; give --config or so");
  }
  if (other.Any() && (!options.pod.empty() || options.list || options.speed > 0)) {
    return Complain("--pod, --list and --speed are about the recorded decisions, not other rules");
  }
  if (options.all && (options.run.number != 0 || options.run.time_ns || !options.pod.empty() ||
                      options.speed > 0 || other.Any())) {
    return Complain("--all plays all runs; only -o and --plugin-path go with it");
  }
  if (options.serve && (options.all || options.list || !options.pod.empty() || options.speed > 0 ||
                        other.Any() || options.output != "text")) {
    return Complain(
        "--serve shows the recording; only --run, --until, --port and --plugin-path "
        "go with it");
  }
  options.run.dir = rest[0];
  auto plugins = LoadPlugins(plugin_paths);
  if (!plugins) return Complain(plugins.error().Message());
  if (options.list || options.all) {
    const auto runs = record::ListRuns(rest[0]);
    if (!runs) return Complain(runs.error().Message());
    if (runs->empty()) return Complain("there is no recording in " + rest[0]);
    return options.list ? List(*runs, options.output) : PlayAll(*runs, options, *plugins);
  }
  if (options.serve) return ServeRecording(options.run, static_cast<int>(options.port), *plugins);
  if (other.Any()) {
    const auto code = ReplayUnderOtherRules(options.run, other, options.output, *plugins);
    return code ? *code : Complain(code.error().Message());
  }
  const auto run = ChooseRun(options.run);
  if (!run) return Complain(run.error().Message());
  return IsObserved(*run) ? PlayObservedRun(*run, options, *plugins)
                          : PlayRun(*run, options, *plugins);
}

}  // namespace berth::cli
