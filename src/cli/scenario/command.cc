#include "cli/scenario/command.h"

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "api/codec/json.h"
#include "api/codec/yaml_writer.h"
#include "cli/build_info.h"
#include "cli/config_file.h"
#include "cli/input.h"
#include "cli/plugins.h"
#include "cli/scenario/page.h"
#include "cli/scenario/text.h"
#include "files/read.h"
#include "files/write.h"
#include "record/directory.h"
#include "record/recorder.h"
#include "sim/scenario/run.h"
#include "sim/scenario/scenario.h"
#include "term/terminal.h"

namespace berth::cli {
namespace {

constexpr sim::Nanos kDefaultDuration = 60 * sim::kMinute;

// Paths in a scenario are relative to its file.
std::string Beside(const std::string& scenario, const std::string& path) {
  const std::filesystem::path given(path);
  if (given.is_absolute() || path.empty()) return path;
  return (std::filesystem::path(scenario).parent_path() / given).string();
}

Result<std::vector<api::Object>> ReadAll(const std::vector<std::string>& paths) {
  std::vector<api::Object> objects;
  const auto read = ReadObjects(paths, [&](api::Object object) -> Result<void> {
    objects.push_back(std::move(object));
    return {};
  });
  if (!read) return Fail(read.error());
  return objects;
}

Result<sim::Scenario> LoadScenario(const ScenarioCommand& command) {
  const auto text = files::ReadFile(command.scenario);
  if (!text) return Fail(text.error());
  auto scenario = sim::ParseScenario(
      *text, [&](const std::string& path) { return ReadAll({Beside(command.scenario, path)}); });
  if (!scenario) return Fail(scenario.error().In(command.scenario));
  auto more = ReadAll(command.files);
  if (!more) return Fail(more.error());
  if (auto ok = sim::AddObjects(std::move(*more), &scenario->objects); !ok) {
    return Fail(ok.error());
  }
  return scenario;
}

Result<void> Print(const sim::ScenarioReport& report, const ScenarioCommand& command,
                   double seconds) {
  if (command.output == "table") {
    ScenarioTextOptions text;
    text.colour = term::UsesColour(stdout);
    text.seconds = seconds;
    std::fputs(ScenarioText(report, text).c_str(), stdout);
    return {};
  }
  const std::string json = api::ToJson(report);
  if (command.output == "json") {
    fmt::print("{}\n", json);
    return {};
  }
  const auto yaml = api::JsonToYaml(json);
  if (!yaml) return Fail(yaml.error());
  fmt::print("{}", *yaml);
  return {};
}

// Every decision of the run, for berth replay. A simulation waits for the disk, so nothing is lost.
class ScenarioRecording {
 public:
  static Result<std::unique_ptr<ScenarioRecording>> Open(const ScenarioCommand& command) {
    std::unique_ptr<ScenarioRecording> recording(new ScenarioRecording());
    record::DirectoryOptions directory;
    directory.dir = command.record_dir;
    directory.max_bytes = uint64_t{1} << 40;
    directory.waiting_bytes = uint64_t{1} << 34;
    auto sink = record::DirectorySink::Open(directory, [](const std::string& reason) {
      fmt::print(stderr, "berth simulate: --record-dir: the recording has ended: {}\n", reason);
    });
    if (!sink) return Fail(sink.error());
    recording->sink_ = std::move(*sink);
    recording->recorder_ = std::make_unique<record::Recorder>(
        *recording->sink_, command.gates,
        record::RecorderOptions{.berth_version = std::string(BuildCommit())});
    return recording;
  }
  ~ScenarioRecording() {
    if (recorder_) recorder_->Close();
  }

  berth::scheduler::EngineTap& Tap() { return *recorder_; }

 private:
  ScenarioRecording() = default;

  std::unique_ptr<record::DirectorySink> sink_;
  std::unique_ptr<record::Recorder> recorder_;
};

// Null: nothing is to be recorded.
Result<std::unique_ptr<ScenarioRecording>> Record(const ScenarioCommand& command) {
  if (command.record_dir.empty()) return nullptr;
  return ScenarioRecording::Open(command);
}

}  // namespace

Result<int64_t> RunScenarioCommand(const ScenarioCommand& command) {
  auto scenario = LoadScenario(command);
  if (!scenario) return Fail(scenario.error());
  auto config = ReadConfig(
      command.config.empty() ? Beside(command.scenario, scenario->config) : command.config,
      command.behaviour, "berth simulate");
  if (!config) return Fail(config.error());
  if (!command.html.empty()) {
    // Better told before a long run than after it.
    if (auto ok = files::WriteFile(command.html, ""); !ok) return Fail(ok.error());
  }
  const auto plugins = LoadPlugins(command.plugin_paths, "berth simulate");
  if (!plugins) return Fail(plugins.error());
  sim::RunOptions options;
  options.extra_plugins = plugins->extra;
  options.duration = command.duration.value_or(scenario->duration.value_or(kDefaultDuration));
  options.sample_every = scenario->sample_every.value_or(0);
  options.seed = command.seed ? static_cast<uint64_t>(*command.seed) : scenario->seed;
  options.adaptive_sampling = command.adaptive_sampling;
  options.config = std::move(*config);
  options.behaviour = command.behaviour;
  const auto start = std::chrono::steady_clock::now();
  std::optional<term::Progress> progress;  // its line is cleared before the report is printed
  progress.emplace("virtual seconds", static_cast<size_t>(options.duration / sim::kSecond));
  options.progress = [&](sim::Nanos at) {
    progress->Update(static_cast<size_t>(at / sim::kSecond));
  };
  auto recording = Record(command);
  if (!recording) return Fail(recording.error().In("--record-dir"));
  if (*recording) options.tap = &(*recording)->Tap();
  const auto report = sim::RunScenario(*scenario, options);
  recording->reset();  // writes what waits
  progress.reset();
  if (!report) return Fail(report.error().In(command.scenario));
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (!command.html.empty()) {
    const std::string title = std::filesystem::path(command.scenario).stem().string();
    if (auto ok = files::WriteFile(command.html, ScenarioPage(*report, title)); !ok) {
      return Fail(ok.error());
    }
  }
  if (auto ok = Print(*report, command, seconds); !ok) return Fail(ok.error());
  return report->pods.pending + report->pods.lost;
}

}  // namespace berth::cli
