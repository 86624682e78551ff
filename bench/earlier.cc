#include "bench/earlier.h"

#include <cstdlib>
#include <sstream>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace berth::bench {
namespace {

// What follows `"name":` in a line of our own making, up to the next comma.
std::optional<std::string> Field(std::string_view line, std::string_view name) {
  const std::string key = fmt::format("\"{}\":", name);
  const size_t at = line.find(key);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view rest = line.substr(at + key.size());
  return std::string(rest.substr(0, rest.find_first_of(",}")));
}

}  // namespace

Result<Earlier> Earlier::Parse(const std::string& text) {
  Earlier earlier;
  std::istringstream lines(text);
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number) {
    if (line.empty()) continue;
    const auto workload = Field(line, "workload");
    const auto nodes = Field(line, "nodes");
    const auto median = Field(line, "p50_us");
    if (!workload || workload->size() < 2 || !nodes || !median) {
      return Fail(fmt::format("line {}: not what berth-bench --json prints", number));
    }
    earlier.medians_[{workload->substr(1, workload->size() - 2),
                      std::strtoll(nodes->c_str(), nullptr, 10)}] =
        std::strtod(median->c_str(), nullptr);
  }
  return earlier;
}

std::optional<double> Earlier::Median(const std::string& workload, int64_t nodes) const {
  const auto it = medians_.find({workload, nodes});
  if (it == medians_.end()) return std::nullopt;
  return it->second;
}

}  // namespace berth::bench
