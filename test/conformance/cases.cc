// Scheduling decisions: recorded cases against berth's own.
#include <algorithm>
#include <cstdio>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "api/codec/json.h"
#include "conformance/groups.h"
#include "conformance/replay.h"
#include "conformance/results.h"
#include "conformance/runner.h"
#include "files/read.h"

namespace berth::conformance {
namespace {

constexpr size_t kShownDifferences = 10;
constexpr size_t kLinesPerPod = 6;

std::vector<std::string_view> Lines(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    if (end > 0) lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

// "resources-12" belongs to profile "resources".
std::string ProfileOf(const std::string& name) { return name.substr(0, name.rfind('-')); }

struct Tally {
  size_t matched = 0;
  size_t total = 0;
};

class Comparer {
 public:
  void Compare(const CaseResult& expected, const CaseResult& actual) {
    Tally& tally = tallies_[ProfileOf(expected.name)];
    const size_t pods = std::max(expected.results.size(), actual.results.size());
    for (size_t i = 0; i < pods; ++i) {
      ++tally.total;
      std::vector<std::string> lines;
      if (i >= actual.results.size()) {
        lines.push_back(actual.error.empty() ? "berth gave no result" : actual.error);
      } else if (i >= expected.results.size()) {
        lines.push_back("no result was recorded");
      } else {
        lines = Differences(expected.results[i], actual.results[i]);
      }
      if (lines.empty()) {
        ++tally.matched;
      } else {
        const auto& named = i < expected.results.size() ? expected.results[i] : actual.results[i];
        Show(fmt::format("{} {} attempt {}", expected.name, named.pod, named.attempt), lines);
      }
    }
    CompareEntities(expected, actual, tally);
  }

  // The exit code.
  int Finish() const {
    bool all = true;
    for (const auto& [profile, tally] : tallies_) {
      fmt::print("{} matched {}/{}\n", profile, tally.matched, tally.total);
      all = all && tally.matched == tally.total;
    }
    return all ? 0 : 1;
  }

 private:
  void CompareEntities(const CaseResult& expected, const CaseResult& actual, Tally& tally) {
    for (size_t i = 0; i < std::max(expected.entities.size(), actual.entities.size()); ++i) {
      ++tally.total;
      std::vector<std::string> lines;
      if (i >= actual.entities.size()) {
        lines.push_back(actual.error.empty() ? "berth gave no result" : actual.error);
      } else if (i >= expected.entities.size()) {
        lines.push_back("no result was recorded");
      } else {
        lines = Differences(expected.entities[i], actual.entities[i]);
      }
      tally.matched += lines.empty() ? 1 : 0;
      if (!lines.empty()) Show(fmt::format("{} entity {}", expected.name, i), lines);
    }
  }

  void Show(const std::string& title, const std::vector<std::string>& lines) {
    if (++shown_ > kShownDifferences) return;
    fmt::print("{}\n", title);
    for (size_t i = 0; i < std::min(lines.size(), kLinesPerPod); ++i)
      fmt::print("  {}\n", lines[i]);
    if (lines.size() > kLinesPerPod) fmt::print("  and {} more\n", lines.size() - kLinesPerPod);
  }

  std::map<std::string, Tally> tallies_;
  size_t shown_ = 0;
};

CaseResult RunCase(int minor, simdjson::dom::element scenario, const std::string& name) {
  CaseResult result;
  result.name = name;
  auto replay = Replay::Make(minor, scenario);
  if (!replay) {
    result.error = replay.error().Message();
    return result;
  }
  if ((*replay)->GetBehaviour().pod_groups) {
    result.entities = GroupReplay(**replay).Run();
    return result;
  }
  std::vector<cluster::PodId> again;
  for (const cluster::PodId pod : (*replay)->Pods()) {
    result.results.push_back((*replay)->Schedule(pod, 1));
    const auto& preemption = result.results.back().preemption;
    if (preemption && !preemption->nominated_node.empty()) again.push_back(pod);
  }
  for (const cluster::PodId pod : again) {
    result.results.push_back((*replay)->Schedule(pod, 2));
  }
  return result;
}

int Complain(const Error& error) {
  fmt::print(stderr, "berth-conformance: {}\n", error.Message());
  return 2;
}

}  // namespace

int RunCases(int minor, const std::string& cases, const std::string& expected,
             const std::string& results) {
  const auto case_text = files::ReadFile(cases);
  if (!case_text) return Complain(case_text.error());
  const auto expected_text = files::ReadFile(expected);
  if (!expected_text) return Complain(expected_text.error());
  const auto case_lines = Lines(*case_text);
  const auto expected_lines = Lines(*expected_text);
  if (case_lines.size() != expected_lines.size()) {
    return Complain(Error(fmt::format("{} has {} cases, {} has {} results", cases,
                                      case_lines.size(), expected, expected_lines.size())));
  }
  FILE* out = results.empty() ? nullptr : std::fopen(results.c_str(), "w");
  if (!results.empty() && out == nullptr) return Complain(Error("cannot write " + results));

  Comparer comparer;
  simdjson::dom::parser parser;
  for (size_t i = 0; i < case_lines.size(); ++i) {
    auto recorded = api::FromJson<CaseResult>(expected_lines[i]);
    if (!recorded) return Complain(recorded.error().In(fmt::format("{}:{}", expected, i + 1)));
    simdjson::dom::element scenario;
    const auto code = parser.parse(case_lines[i].data(), case_lines[i].size()).get(scenario);
    if (code != simdjson::SUCCESS) {
      return Complain(Error(fmt::format("{}:{}: {}", cases, i + 1, simdjson::error_message(code))));
    }
    const CaseResult actual = RunCase(minor, scenario, recorded->name);
    if (out != nullptr) fmt::print(out, "{}\n", api::ToJson(actual));
    comparer.Compare(*recorded, actual);
  }
  if (out != nullptr) std::fclose(out);
  return comparer.Finish();
}

}  // namespace berth::conformance
