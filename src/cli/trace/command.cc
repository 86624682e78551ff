#include "cli/trace/command.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "api/codec/json.h"
#include "api/codec/yaml_writer.h"
#include "cli/config_file.h"
#include "cli/plugins.h"
#include "cli/trace/page.h"
#include "files/read.h"
#include "files/write.h"
#include "sim/trace/inflation.h"
#include "term/terminal.h"

namespace berth::cli {
namespace {

constexpr uint64_t kFirstSeed = 42;  // as the studies

struct Report {
  std::vector<sim::LoadCurve> configurations;

  static const api::TypeInfo& Type() {
    static const api::TypeInfo type = api::Describe<Report>("TraceReport")
                                          .Field(0, "configurations", &Report::configurations)
                                          .Build();
    return type;
  }
};

// The YAML and JSON files of folders, in order of path.
Result<std::vector<std::string>> FilesOf(const std::vector<std::string>& paths) {
  std::vector<std::string> files;
  for (const std::string& path : paths) {
    std::error_code error;
    if (!std::filesystem::is_directory(path, error)) {
      files.push_back(path);
      continue;
    }
    std::vector<std::string> inside;
    for (const auto& entry : std::filesystem::directory_iterator(path, error)) {
      const std::string extension = entry.path().extension().string();
      if (extension == ".yaml" || extension == ".yml" || extension == ".json") {
        inside.push_back(entry.path().string());
      }
    }
    if (error) return Fail(path + ": " + error.message());
    if (inside.empty()) return Fail(path + ": it has no .yaml, .yml or .json files");
    std::sort(inside.begin(), inside.end());
    files.insert(files.end(), inside.begin(), inside.end());
  }
  if (files.size() > kMaxCurves) {
    return Fail(
        fmt::format("{} configurations; at most {} can be compared", files.size(), kMaxCurves));
  }
  return files;
}

Result<sim::Trace> LoadTrace(const TraceCommand& command) {
  const auto nodes = files::ReadFile(command.nodes);
  if (!nodes) return Fail(nodes.error());
  const auto pods = files::ReadFile(command.pods);
  if (!pods) return Fail(pods.error());
  auto trace = sim::ReadOpenb(*nodes, *pods);
  if (!trace) {
    const bool of_nodes = trace.error().Message().starts_with("nodes");
    return Fail(trace.error().In(of_nodes ? command.nodes : command.pods));
  }
  return trace;
}

Result<sim::LoadCurve> CurveOf(const sim::Trace& trace, const std::string& file,
                               const TraceCommand& command, const Plugins& plugins) {
  const std::string name = file.empty() ? "default" : std::filesystem::path(file).stem().string();
  auto config = ReadConfig(file, command.behaviour, "berth simulate");
  if (!config) return Fail(config.error());
  std::vector<sim::LoadCurve> runs;
  const uint64_t first = command.seed ? static_cast<uint64_t>(*command.seed) : kFirstSeed;
  for (int64_t run = 0; run < command.runs; ++run) {
    term::Progress progress(fmt::format("{} {}/{}", name, run + 1, command.runs), 0);
    sim::InflationOptions options;
    options.load = static_cast<double>(command.load_percent) / 100;
    options.seed = first + static_cast<uint64_t>(run);
    options.all_nodes = command.all_nodes;
    options.adaptive_sampling = command.adaptive_sampling;
    options.behaviour = command.behaviour;
    options.extra_plugins = plugins.extra;
    options.progress = [&](size_t done, size_t) { progress.Update(done); };
    auto curve = sim::RunInflation(trace, *config, options);
    if (!curve) return Fail(file.empty() ? curve.error() : curve.error().In(file));
    runs.push_back(std::move(*curve));
  }
  sim::LoadCurve mean = sim::MeanOf(runs);
  mean.profile = name;
  return mean;
}

Result<void> Print(const Report& report, const TraceCommand& command) {
  if (command.output == "table") {
    std::fputs(TraceText(report.configurations).c_str(), stdout);
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

}  // namespace

Result<void> RunTraceCommand(const TraceCommand& command) {
  auto files = FilesOf(command.configs);
  if (!files) return Fail(files.error());
  if (files->empty()) files->emplace_back();  // the default configuration
  const auto trace = LoadTrace(command);
  if (!trace) return Fail(trace.error());
  if (!command.html.empty()) {
    // A path that cannot be written is reported before a long run.
    if (auto ok = files::WriteFile(command.html, ""); !ok) return Fail(ok.error());
  }
  const auto plugins = LoadPlugins(command.plugin_paths, "berth simulate");
  if (!plugins) return Fail(plugins.error());
  Report report;
  for (const std::string& file : *files) {
    auto curve = CurveOf(*trace, file, command, *plugins);
    if (!curve) return Fail(curve.error());
    report.configurations.push_back(std::move(*curve));
  }
  if (!command.html.empty()) {
    const auto nodes =
        std::count_if(trace->nodes.begin(), trace->nodes.end(), [&](const api::Node& node) {
          return command.all_nodes ||
                 node.status.allocatable.contains(std::string(sim::kGpuResource));
        });
    const TraceSummary summary{std::filesystem::path(command.pods).stem().string(),
                               static_cast<size_t>(nodes), trace->pods.size(), command.runs};
    if (auto ok = files::WriteFile(command.html, TracePage(report.configurations, summary)); !ok) {
      return Fail(ok.error());
    }
  }
  return Print(report, command);
}

}  // namespace berth::cli
