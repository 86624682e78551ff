// Selector: a label selector ready to be matched, the AND of its requirements.
//
// Built from the API's LabelSelector or from the string form ("app=web,tier in (a,b),!old"), which
// checks every requirement, or from a plain map of labels, which checks nothing. Requirements are
// sorted by key.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/meta.h"
#include "api/string_map.h"
#include "base/error.h"

namespace berth::api {

enum class SelectorOperator : uint8_t {
  kIn,
  kNotIn,
  kEquals,
  kDoubleEquals,
  kNotEquals,
  kExists,
  kDoesNotExist,
  kGreaterThan,
  kLessThan,
};

// Key, operator and values of one requirement.
class Requirement {
 public:
  // Checks key, operator and values; what is wrong is appended to `errors`, each error naming its
  // place below `path` (which may be empty).
  static std::optional<Requirement> Make(std::string_view key, SelectorOperator op,
                                         std::vector<std::string> values, std::string_view path,
                                         std::vector<std::string>& errors);
  // KEY=VALUE, not checked.
  static Requirement Equal(std::string_view key, std::string_view value);

  const std::string& Key() const { return key_; }
  SelectorOperator Operator() const { return op_; }
  const std::vector<std::string>& Values() const { return values_; }

  // `value` is the label's, null if there is no such label: lets a caller evaluate each distinct
  // value once.
  bool MatchesValue(const std::string* value) const;
  bool Matches(const StringMap& labels) const { return MatchesValue(FindValue(labels, key_)); }

  std::string String() const;

  bool operator==(const Requirement&) const = default;

 private:
  Requirement(std::string_view key, SelectorOperator op, std::vector<std::string> values)
      : key_(key), op_(op), values_(std::move(values)) {}

  bool HasValue(const std::string& value) const;

  std::string key_;
  SelectorOperator op_;
  std::vector<std::string> values_;
  int64_t number_ = 0;  // the value of Gt and Lt
};

class Selector {
 public:
  // Matches everything.
  Selector() = default;

  static Selector Everything() { return Selector(); }
  static Selector Nothing();
  static Result<Selector> From(const LabelSelector& selector);
  // An absent selector matches nothing.
  static Result<Selector> From(const std::optional<LabelSelector>& selector);
  static Selector FromSet(const StringMap& labels);
  static Result<Selector> Parse(std::string_view text);

  void Add(Requirement requirement);

  bool Matches(const StringMap& labels) const {
    for (const Requirement& requirement : requirements_) {
      if (!requirement.Matches(labels)) return false;
    }
    return !nothing_;
  }

  // Restricts nothing.
  bool Empty() const { return !nothing_ && requirements_.empty(); }
  bool MatchesNothing() const { return nothing_; }
  const std::vector<Requirement>& Requirements() const { return requirements_; }
  std::string String() const;

  bool operator==(const Selector&) const = default;

 private:
  explicit Selector(std::vector<Requirement> requirements);

  std::vector<Requirement> requirements_;
  bool nothing_ = false;
};

}  // namespace berth::api
