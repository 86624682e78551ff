// Texts of flags to values and back, with the words of Go's strconv, time, net and encoding/csv for
// what cannot be read. Private to the scheduler command.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "cli/scheduler/flags.h"

namespace berth::cli::scheduler {

std::string_view TrimSpace(std::string_view text);

Result<bool> ParseBool(std::string_view text);
// base 0: prefixes 0x, 0o, 0b and underscores between digits are allowed.
Result<int64_t> ParseInt(std::string_view text, int bits);
Result<uint64_t> ParseUint(std::string_view text, int bits);
Result<float> ParseFloat32(std::string_view text);
// As net.IP prints it: an IPv4 address in IPv6 is an IPv4 address.
Result<std::string> ParseIp(std::string_view text);
// "1000k" becomes "1M".
Result<std::string> ParseQuantity(std::string_view text);
Result<SniCertKey> ParseSniCertKey(std::string_view text);
std::string FormatSniCertKeys(const std::vector<SniCertKey>& keys);

// The first record of a text of comma-separated values.
Result<std::vector<std::string>> ReadCsv(std::string_view text);
std::string WriteCsv(const std::vector<std::string>& fields);

// "a=1,b=2", quoted like CSV when it holds several.
Result<std::map<std::string, std::string>> ParseStringToString(std::string_view text);
// "component:A=true,B=false" added to `out` by component, which may be left out.
void AddColonSeparated(std::string_view text, std::map<std::string, std::vector<std::string>>* out);

// "pattern=N,…" as it is kept: checked, empty parts dropped.
Result<std::string> ParseVmoduleFlag(std::string_view text);

// A version of numbers: "1.33", "v1.34.10-rc.1". `semantic` asks for exactly three of them.
struct ParsedVersion {
  std::vector<uint64_t> numbers;

  uint64_t At(size_t i) const { return i < numbers.size() ? numbers[i] : 0; }
  std::string Format() const;
};
Result<ParsedVersion> ParseVersion(std::string_view text, bool semantic);

}  // namespace berth::cli::scheduler
