// Regular expressions in linear time, compiled once per pattern.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace re2 {
class RE2;
}

namespace berth::cel {

class Regex {
 public:
  // Fails with the words Go's regexp package has for it.
  static Result<Regex> Compile(std::string_view pattern);

  Regex(Regex&&) noexcept;
  Regex& operator=(Regex&&) noexcept;
  ~Regex();

  // Does some part of the text match?
  bool Matches(std::string_view text) const;
  // The matches from left to right, at most `limit` of them (all when negative).
  std::vector<std::string_view> FindAll(std::string_view text, int64_t limit) const;

 private:
  explicit Regex(std::unique_ptr<re2::RE2> compiled);
  std::unique_ptr<re2::RE2> compiled_;
};

// A few patterns. Not for several threads at once.
class RegexCache {
 public:
  // Valid until the next call.
  Result<const Regex*> Get(std::string_view pattern);

 private:
  static constexpr size_t kMaxPatterns = 16;
  std::vector<std::pair<std::string, Regex>> patterns_;
};

}  // namespace berth::cel
