#include "conformance/lines.h"

#include <cstdio>
#include <map>

#include "files/read.h"

namespace berth::conformance {
namespace {

constexpr int kShownDifferences = 20;

struct Count {
  size_t matched = 0;
  size_t total = 0;
};

}  // namespace

int CheckLines(const std::string& file, FunctionRef<Checked(simdjson::dom::element line)> check) {
  const auto bytes = files::ReadFile(file);
  if (!bytes) {
    std::fprintf(stderr, "berth-conformance: %s\n", bytes.error().Message().c_str());
    return 2;
  }
  simdjson::dom::parser parser;
  simdjson::dom::document_stream lines;
  if (parser.parse_many(*bytes, bytes->size() + 1).get(lines) != simdjson::SUCCESS) {
    std::fprintf(stderr, "berth-conformance: %s: no JSON lines\n", file.c_str());
    return 2;
  }
  std::map<std::string, Count> groups;
  int differences = 0;
  size_t number = 0;
  for (auto line : lines) {
    ++number;
    simdjson::dom::element value;
    if (line.get(value) != simdjson::SUCCESS) {
      std::fprintf(stderr, "berth-conformance: %s:%zu: no JSON\n", file.c_str(), number);
      return 2;
    }
    const Checked checked = check(value);
    Count& count = groups[checked.group];
    ++count.total;
    if (checked.difference.empty()) {
      ++count.matched;
    } else if (++differences <= kShownDifferences) {
      std::printf("%s:%zu %s\n%s\n", file.c_str(), number, checked.group.c_str(),
                  checked.difference.c_str());
    }
  }
  for (const auto& [name, count] : groups) {
    std::printf("%s matched %zu/%zu\n", name.c_str(), count.matched, count.total);
  }
  return differences > 0 ? 1 : 0;
}

}  // namespace berth::conformance
