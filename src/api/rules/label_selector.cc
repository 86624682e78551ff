#include "api/rules/label_selector.h"

#include <algorithm>
#include <utility>

#include "api/go/error_list.h"
#include "api/go/go_int.h"
#include "api/go/go_text.h"
#include "api/rules/qualified_name.h"

namespace berth::api {
namespace {

std::string Child(std::string_view path, std::string_view name) {
  std::string out(path);
  if (!out.empty()) out += '.';
  return out.append(name);
}

std::string JoinReasons(const std::vector<std::string>& reasons) {
  std::string out;
  for (const std::string& reason : reasons) {
    if (!out.empty()) out += "; ";
    out += reason;
  }
  return out;
}

// The number of values against what the operator takes.
void CheckCount(SelectorOperator op, const std::vector<std::string>& values,
                const std::string& path, std::vector<std::string>& errors) {
  switch (op) {
    case SelectorOperator::kIn:
    case SelectorOperator::kNotIn:
      if (values.empty()) {
        errors.push_back(
            InvalidList(path, values, "for 'in', 'notin' operators, values set can't be empty"));
      }
      return;
    case SelectorOperator::kEquals:
    case SelectorOperator::kDoubleEquals:
    case SelectorOperator::kNotEquals:
      if (values.size() != 1) {
        errors.push_back(
            InvalidList(path, values, "exact-match compatibility requires one single value"));
      }
      return;
    case SelectorOperator::kExists:
    case SelectorOperator::kDoesNotExist:
      if (!values.empty()) {
        errors.push_back(
            InvalidList(path, values, "values set must be empty for exists and does not exist"));
      }
      return;
    case SelectorOperator::kGreaterThan:
    case SelectorOperator::kLessThan:
      if (values.size() != 1) {
        errors.push_back(
            InvalidList(path, values, "for 'Gt', 'Lt' operators, exactly one value is required"));
      }
      for (size_t i = 0; i < values.size(); ++i) {
        if (!ParseGoInt(values[i])) {
          errors.push_back(InvalidString(path + "[" + std::to_string(i) + "]", values[i],
                                         "for 'Gt', 'Lt' operators, the value must be an integer"));
        }
      }
      return;
  }
}

std::string_view Symbol(SelectorOperator op) {
  switch (op) {
    case SelectorOperator::kIn:
      return " in ";
    case SelectorOperator::kNotIn:
      return " notin ";
    case SelectorOperator::kEquals:
      return "=";
    case SelectorOperator::kDoubleEquals:
      return "==";
    case SelectorOperator::kNotEquals:
      return "!=";
    case SelectorOperator::kGreaterThan:
      return ">";
    case SelectorOperator::kLessThan:
      return "<";
    case SelectorOperator::kExists:
    case SelectorOperator::kDoesNotExist:
      return "";
  }
  return "";
}

std::optional<SelectorOperator> SetOperator(std::string_view name) {
  if (name == "In") return SelectorOperator::kIn;
  if (name == "NotIn") return SelectorOperator::kNotIn;
  if (name == "Exists") return SelectorOperator::kExists;
  if (name == "DoesNotExist") return SelectorOperator::kDoesNotExist;
  return std::nullopt;
}

bool KeyLess(const Requirement& a, const Requirement& b) { return a.Key() < b.Key(); }

}  // namespace

std::optional<Requirement> Requirement::Make(std::string_view key, SelectorOperator op,
                                             std::vector<std::string> values, std::string_view path,
                                             std::vector<std::string>& errors) {
  const size_t before = errors.size();
  if (!IsQualifiedName(key)) {
    errors.push_back(InvalidString(Child(path, "key"), key, JoinReasons(QualifiedNameErrors(key))));
  }
  const std::string values_path = Child(path, "values");
  CheckCount(op, values, values_path, errors);
  for (size_t i = 0; i < values.size(); ++i) {
    if (IsLabelValue(values[i])) continue;
    std::string at = values_path + "[" + std::to_string(i) + "][" + std::string(key) + "]";
    errors.push_back(InvalidString(at, values[i], JoinReasons(LabelValueErrors(values[i]))));
  }
  if (errors.size() != before) return std::nullopt;
  std::sort(values.begin(), values.end());
  Requirement r(key, op, std::move(values));
  if (op == SelectorOperator::kGreaterThan || op == SelectorOperator::kLessThan) {
    r.number_ = *ParseGoInt(r.values_[0]);
  }
  return r;
}

Requirement Requirement::Equal(std::string_view key, std::string_view value) {
  return Requirement(key, SelectorOperator::kEquals, {std::string(value)});
}

bool Requirement::HasValue(const std::string& value) const {
  return std::binary_search(values_.begin(), values_.end(), value);
}

bool Requirement::MatchesValue(const std::string* value) const {
  switch (op_) {
    case SelectorOperator::kIn:
    case SelectorOperator::kEquals:
    case SelectorOperator::kDoubleEquals:
      return value && HasValue(*value);
    case SelectorOperator::kNotIn:
    case SelectorOperator::kNotEquals:
      return !value || !HasValue(*value);
    case SelectorOperator::kExists:
      return value != nullptr;
    case SelectorOperator::kDoesNotExist:
      return value == nullptr;
    case SelectorOperator::kGreaterThan:
    case SelectorOperator::kLessThan: {
      if (!value) return false;
      const std::optional<int64_t> number = ParseGoInt(*value);
      if (!number) return false;
      return op_ == SelectorOperator::kGreaterThan ? *number > number_ : *number < number_;
    }
  }
  return false;
}

std::string Requirement::String() const {
  std::string out;
  if (op_ == SelectorOperator::kDoesNotExist) out += '!';
  out += key_;
  if (op_ == SelectorOperator::kExists || op_ == SelectorOperator::kDoesNotExist) return out;
  out += Symbol(op_);
  const bool set = op_ == SelectorOperator::kIn || op_ == SelectorOperator::kNotIn;
  if (set) out += '(';
  std::vector<std::string_view> sorted(values_.begin(), values_.end());
  std::sort(sorted.begin(), sorted.end());
  for (size_t i = 0; i < sorted.size(); ++i) {
    if (i > 0) out += ',';
    out += sorted[i];
  }
  if (set) out += ')';
  return out;
}

Selector::Selector(std::vector<Requirement> requirements) : requirements_(std::move(requirements)) {
  std::stable_sort(requirements_.begin(), requirements_.end(), KeyLess);
}

Selector Selector::Nothing() {
  Selector s;
  s.nothing_ = true;
  return s;
}

Result<Selector> Selector::From(const std::optional<LabelSelector>& selector) {
  if (!selector) return Nothing();
  return From(*selector);
}

Result<Selector> Selector::From(const LabelSelector& selector) {
  std::vector<Requirement> requirements;
  requirements.reserve(selector.match_labels.size() + selector.match_expressions.size());
  std::vector<std::string> errors;
  for (const auto& [key, value] : selector.match_labels) {
    auto r = Requirement::Make(key, SelectorOperator::kEquals, {value}, "", errors);
    if (!r) return Fail(JoinErrors(errors));
    requirements.push_back(std::move(*r));
  }
  for (const LabelSelectorRequirement& expression : selector.match_expressions) {
    const std::optional<SelectorOperator> op = SetOperator(expression.operator_);
    if (!op) return Fail(GoQuote(expression.operator_) + " is not a valid label selector operator");
    auto r = Requirement::Make(expression.key, *op, expression.values, "", errors);
    if (!r) return Fail(JoinErrors(errors));
    requirements.push_back(std::move(*r));
  }
  return Selector(std::move(requirements));
}

Selector Selector::FromSet(const StringMap& labels) {
  Selector s;
  s.requirements_.reserve(labels.size());
  for (const auto& [key, value] : labels) s.requirements_.push_back(Requirement::Equal(key, value));
  return s;
}

void Selector::Add(Requirement requirement) {
  if (nothing_) return;
  const auto at =
      std::upper_bound(requirements_.begin(), requirements_.end(), requirement, KeyLess);
  requirements_.insert(at, std::move(requirement));
}

std::string Selector::String() const {
  std::string out;
  for (const Requirement& requirement : requirements_) {
    if (!out.empty()) out += ',';
    out += requirement.String();
  }
  return out;
}

}  // namespace berth::api
