// berth simulate --trace-nodes --trace-pods: fills the cluster of a trace under several
// configurations and compares how full it gets (sim/trace/inflation.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "config/behaviour.h"

namespace berth::cli {

struct TraceCommand {
  std::string nodes;                 // CSV
  std::string pods;                  // CSV
  std::vector<std::string> configs;  // files, and folders of files
  std::vector<std::string> plugin_paths;
  std::string output = "table";  // table, json or yaml
  std::string html;              // a page to write; empty: none
  int64_t load_percent = 130;
  int64_t runs = 1;  // with as many seeds
  bool all_nodes = false;
  std::optional<int64_t> seed;
  bool adaptive_sampling = false;
  config::Behaviour behaviour = {};
};

Result<void> RunTraceCommand(const TraceCommand& command);

}  // namespace berth::cli
