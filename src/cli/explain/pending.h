// berth pending: the pending pods of a running berth, by workload and cause.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "explain/report.h"

namespace berth::cli {

int Pending(const std::vector<std::string>& args);

struct PendingTextOptions {
  bool colour = false;
  int64_t now_unix_ns = 0;  // ages are relative to it
  size_t columns = 0;       // of the terminal, to which causes are wrapped; 0: none
};

// Pods of one workload that wait for the same reasons share a line; the longest wait comes first.
std::string PendingText(const explain::PendingList& list, const PendingTextOptions& options);

// What the pods of a workload have in common in their names: "web-5d4f-*" of "web-5d4f-x2k4p",
// "db-*" of "db-0"; "web" of "web".
std::string NameStem(const std::string& pod);

}  // namespace berth::cli
