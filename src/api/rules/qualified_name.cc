#include "api/rules/qualified_name.h"

#include <algorithm>
#include <utility>

namespace berth::api {
namespace {

constexpr size_t kMaxName = 63;
constexpr size_t kMaxSubdomain = 253;

constexpr std::string_view kNameRule =
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an "
    "alphanumeric character "
    "(e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
    "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
constexpr std::string_view kValueRule =
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', "
    "and must start and "
    "end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used "
    "for validation is "
    "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";
constexpr std::string_view kSubdomainRule =
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or "
    "'.', and must start and "
    "end with an alphanumeric character (e.g. 'example.com', regex used for validation is "
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";

bool IsLowerAlnum(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }
bool IsAlnum(char c) { return IsLowerAlnum(c) || (c >= 'A' && c <= 'Z'); }
bool IsNameChar(char c) { return IsAlnum(c) || c == '-' || c == '_' || c == '.'; }

bool HasNameForm(std::string_view s) {
  return !s.empty() && IsAlnum(s.front()) && IsAlnum(s.back()) &&
         std::all_of(s.begin(), s.end(), IsNameChar);
}

bool HasSubdomainForm(std::string_view s) {
  char previous = '.';
  for (const char c : s) {
    if (c == '.' ? !IsLowerAlnum(previous) : c == '-' ? previous == '.' : !IsLowerAlnum(c))
      return false;
    previous = c;
  }
  return IsLowerAlnum(previous);
}

std::string TooLong(size_t limit) {
  return "must be no more than " + std::to_string(limit) + " characters";
}

}  // namespace

bool IsQualifiedName(std::string_view text) {
  const size_t slash = text.find('/');
  if (slash != std::string_view::npos) {
    const std::string_view prefix = text.substr(0, slash);
    if (prefix.empty() || prefix.size() > kMaxSubdomain || !HasSubdomainForm(prefix)) return false;
    text.remove_prefix(slash + 1);
  }
  return text.size() <= kMaxName && HasNameForm(text);
}

bool IsLabelValue(std::string_view text) {
  return text.empty() || (text.size() <= kMaxName && HasNameForm(text));
}

std::vector<std::string> QualifiedNameErrors(std::string_view text) {
  std::vector<std::string> errors;
  if (std::count(text.begin(), text.end(), '/') > 1) {
    errors.push_back("a qualified name " + std::string(kNameRule) +
                     " with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')");
    return errors;
  }
  const size_t slash = text.find('/');
  if (slash != std::string_view::npos) {
    const std::string_view prefix = text.substr(0, slash);
    if (prefix.empty()) {
      errors.emplace_back("prefix part must be non-empty");
    } else {
      if (prefix.size() > kMaxSubdomain) errors.push_back("prefix part " + TooLong(kMaxSubdomain));
      if (!HasSubdomainForm(prefix)) errors.push_back("prefix part " + std::string(kSubdomainRule));
    }
    text.remove_prefix(slash + 1);
  }
  if (text.empty()) {
    errors.emplace_back("name part must be non-empty");
  } else if (text.size() > kMaxName) {
    errors.push_back("name part " + TooLong(kMaxName));
  }
  if (!HasNameForm(text)) errors.push_back("name part " + std::string(kNameRule));
  return errors;
}

std::vector<std::string> LabelValueErrors(std::string_view text) {
  std::vector<std::string> errors;
  if (text.size() > kMaxName) errors.push_back(TooLong(kMaxName));
  if (!text.empty() && !HasNameForm(text)) errors.emplace_back(kValueRule);
  return errors;
}

std::string InLaterWords(std::string message) {
  constexpr std::pair<std::string_view, std::string_view> kWords[] = {
      {"a qualified name must consist", "a valid label key must consist"},
      {"must be no more than 63 characters", "must be no more than 63 bytes"},
      {"must be no more than 253 characters", "must be no more than 253 bytes"},
  };
  for (const auto& [old_words, new_words] : kWords) {
    for (size_t at = 0; (at = message.find(old_words, at)) != std::string::npos;) {
      message.replace(at, old_words.size(), new_words);
    }
  }
  return message;
}

}  // namespace berth::api
