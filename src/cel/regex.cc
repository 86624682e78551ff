#include "cel/regex.h"

#include <re2/re2.h>

namespace berth::cel {
namespace {

std::string ErrorWords(re2::RE2::ErrorCode code) {
  switch (code) {
    case re2::RE2::NoError:
      return "";
    case re2::RE2::ErrorInternal:
      return "regexp/syntax: internal error";
    case re2::RE2::ErrorBadEscape:
      return "invalid escape sequence";
    case re2::RE2::ErrorBadCharClass:
      return "invalid character class";
    case re2::RE2::ErrorBadCharRange:
      return "invalid character class range";
    case re2::RE2::ErrorMissingBracket:
      return "missing closing ]";
    case re2::RE2::ErrorMissingParen:
      return "missing closing )";
    case re2::RE2::ErrorUnexpectedParen:
      return "unexpected )";
    case re2::RE2::ErrorTrailingBackslash:
      return "trailing backslash at end of expression";
    case re2::RE2::ErrorRepeatArgument:
      return "missing argument to repetition operator";
    case re2::RE2::ErrorRepeatSize:
      return "invalid repeat count";
    case re2::RE2::ErrorRepeatOp:
      return "invalid nested repetition operator";
    case re2::RE2::ErrorBadPerlOp:
      return "invalid or unsupported Perl syntax";
    case re2::RE2::ErrorBadUTF8:
      return "invalid UTF-8";
    case re2::RE2::ErrorBadNamedCapture:
      return "invalid named capture";
    case re2::RE2::ErrorPatternTooLarge:
      return "expression too large";
  }
  return "invalid expression";
}

re2::StringPiece Piece(std::string_view text) { return {text.data(), text.size()}; }

}  // namespace

Regex::Regex(std::unique_ptr<re2::RE2> compiled) : compiled_(std::move(compiled)) {}
Regex::Regex(Regex&&) noexcept = default;
Regex& Regex::operator=(Regex&&) noexcept = default;
Regex::~Regex() = default;

Result<Regex> Regex::Compile(std::string_view pattern) {
  re2::RE2::Options options;
  options.set_log_errors(false);
  auto compiled = std::make_unique<re2::RE2>(Piece(pattern), options);
  if (!compiled->ok()) {
    return Fail("error parsing regexp: " + ErrorWords(compiled->error_code()) + ": `" +
                compiled->error_arg() + "`");
  }
  return Regex(std::move(compiled));
}

bool Regex::Matches(std::string_view text) const {
  return compiled_->Match(Piece(text), 0, text.size(), re2::RE2::UNANCHORED, nullptr, 0);
}

std::vector<std::string_view> Regex::FindAll(std::string_view text, int64_t limit) const {
  std::vector<std::string_view> found;
  size_t start = 0;
  size_t previous_end = std::string_view::npos;
  while (start <= text.size() && (limit < 0 || static_cast<int64_t>(found.size()) < limit)) {
    re2::StringPiece match;
    if (!compiled_->Match(Piece(text), start, text.size(), re2::RE2::UNANCHORED, &match, 1)) break;
    const auto begin = static_cast<size_t>(match.data() - text.data());
    const size_t end = begin + match.size();
    // An empty match right after the last one does not count.
    if (!(match.empty() && begin == previous_end))
      found.push_back(text.substr(begin, match.size()));
    previous_end = end;
    start = match.empty() ? end + 1 : end;
  }
  return found;
}

Result<const Regex*> RegexCache::Get(std::string_view pattern) {
  for (const auto& [known, regex] : patterns_) {
    if (known == pattern) return &regex;
  }
  Result<Regex> compiled = Regex::Compile(pattern);
  if (!compiled) return Fail(compiled.error());
  if (patterns_.size() >= kMaxPatterns) patterns_.erase(patterns_.begin());
  patterns_.emplace_back(std::string(pattern), std::move(*compiled));
  return &patterns_.back().second;
}

}  // namespace berth::cel
