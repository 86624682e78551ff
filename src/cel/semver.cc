#include "cel/semver.h"

#include <algorithm>
#include <charconv>

#include "api/go/go_text.h"

namespace berth::cel {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsAlphanumeric(char c) {
  return IsDigit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-';
}
bool AllDigits(std::string_view s) { return std::all_of(s.begin(), s.end(), IsDigit); }
bool AllAlphanumeric(std::string_view s) { return std::all_of(s.begin(), s.end(), IsAlphanumeric); }
bool LeadingZeroes(std::string_view s) { return s.size() > 1 && s[0] == '0'; }

std::vector<std::string_view> Split(std::string_view s, size_t limit) {
  std::vector<std::string_view> parts;
  while (parts.size() + 1 < limit) {
    const size_t dot = s.find('.');
    if (dot == std::string_view::npos) break;
    parts.push_back(s.substr(0, dot));
    s.remove_prefix(dot + 1);
  }
  parts.push_back(s);
  return parts;
}

Result<uint64_t> ParseNumber(std::string_view s) {
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(s.data(), s.data() + s.size(), number);
  if (error == std::errc() && end == s.data() + s.size()) return number;
  const char* why =
      error == std::errc::result_out_of_range ? "value out of range" : "invalid syntax";
  return Fail("strconv.ParseUint: parsing " + api::GoQuote(s) + ": " + why);
}

// `name` and `capital` name the part in errors: "major", "Major".
Result<uint64_t> ParsePart(std::string_view s, const std::string& name,
                           const std::string& capital) {
  if (!AllDigits(s)) {
    return Fail("Invalid character(s) found in " + name + " number " + api::GoQuote(s));
  }
  if (LeadingZeroes(s)) {
    return Fail(capital + " number must not contain leading zeroes " + api::GoQuote(s));
  }
  return ParseNumber(s);
}

Result<Semver::PreRelease> ParsePreRelease(std::string_view s) {
  if (s.empty()) return Fail("Prerelease is empty");
  Semver::PreRelease pre;
  if (!AllDigits(s)) {
    if (!AllAlphanumeric(s)) {
      return Fail("Invalid character(s) found in prerelease " + api::GoQuote(s));
    }
    pre.text = s;
    return pre;
  }
  if (LeadingZeroes(s)) {
    return Fail("Numeric PreRelease version must not contain leading zeroes " + api::GoQuote(s));
  }
  const Result<uint64_t> number = ParseNumber(s);
  if (!number) return Fail(number.error());
  pre.is_number = true;
  pre.number = *number;
  return pre;
}

int Order(auto a, auto b) { return a < b ? -1 : (a > b ? 1 : 0); }

int ComparePre(const Semver::PreRelease& a, const Semver::PreRelease& b) {
  if (a.is_number != b.is_number) return a.is_number ? -1 : 1;
  if (a.is_number) return Order(a.number, b.number);
  return Order(a.text.compare(b.text), 0);
}

}  // namespace

Result<Semver> Semver::Parse(std::string_view text) {
  if (text.empty()) return Fail("Version string empty");
  const std::vector<std::string_view> parts = Split(text, 3);
  if (parts.size() != 3) return Fail("No Major.Minor.Patch elements found");
  Semver version;
  const Result<uint64_t> major = ParsePart(parts[0], "major", "Major");
  if (!major) return Fail(major.error());
  const Result<uint64_t> minor = ParsePart(parts[1], "minor", "Minor");
  if (!minor) return Fail(minor.error());
  version.major = *major;
  version.minor = *minor;

  std::string_view rest = parts[2];
  std::vector<std::string_view> build;
  std::vector<std::string_view> pre;
  if (const size_t plus = rest.find('+'); plus != std::string_view::npos) {
    build = Split(rest.substr(plus + 1), std::string_view::npos);
    rest = rest.substr(0, plus);
  }
  if (const size_t dash = rest.find('-'); dash != std::string_view::npos) {
    pre = Split(rest.substr(dash + 1), std::string_view::npos);
    rest = rest.substr(0, dash);
  }
  const Result<uint64_t> patch = ParsePart(rest, "patch", "Patch");
  if (!patch) return Fail(patch.error());
  version.patch = *patch;
  for (std::string_view part : pre) {
    Result<PreRelease> parsed = ParsePreRelease(part);
    if (!parsed) return Fail(parsed.error());
    version.pre.push_back(std::move(*parsed));
  }
  for (std::string_view part : build) {
    if (part.empty()) return Fail("Build meta data is empty");
    if (!AllAlphanumeric(part)) {
      return Fail("Invalid character(s) found in build meta data " + api::GoQuote(part));
    }
  }
  return version;
}

Result<Semver> Semver::ParseTolerant(std::string_view text) {
  if (text.starts_with('v')) text.remove_prefix(1);
  const std::vector<std::string_view> parts = Split(text, 3);
  std::string normalized;
  for (size_t i = 0; i < parts.size(); ++i) {
    std::string_view part = parts[i];
    if (i > 0) normalized += '.';
    if (part.size() > 1) {
      part.remove_prefix(std::min(part.find_first_not_of('0'), part.size()));
      if (part.empty() || !IsDigit(part[0])) normalized += '0';
    }
    normalized += part;
  }
  if (parts.size() < 3) {
    if (parts.back().find_first_of("+-") != std::string_view::npos) {
      return Fail("short version cannot contain PreRelease/Build meta data");
    }
    for (size_t i = parts.size(); i < 3; ++i) normalized += ".0";
  }
  return Parse(normalized);
}

int Semver::Compare(const Semver& other) const {
  if (const int c = Order(major, other.major); c != 0) return c;
  if (const int c = Order(minor, other.minor); c != 0) return c;
  if (const int c = Order(patch, other.patch); c != 0) return c;
  // A pre-release comes before its release.
  if (pre.empty() != other.pre.empty()) return pre.empty() ? 1 : -1;
  const size_t common = std::min(pre.size(), other.pre.size());
  for (size_t i = 0; i < common; ++i) {
    if (const int c = ComparePre(pre[i], other.pre[i]); c != 0) return c;
  }
  return Order(pre.size(), other.pre.size());
}

}  // namespace berth::cel
