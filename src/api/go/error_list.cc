#include "api/go/error_list.h"

#include <unordered_set>

#include "api/go/go_text.h"

namespace berth::api {
namespace {

std::string Subject(std::string_view path, std::string_view kind) {
  std::string out(path.empty() ? "<nil>" : path);
  out += ": ";
  out += kind;
  out += ": ";
  return out;
}

}  // namespace

std::string JoinErrors(const std::vector<std::string>& errors) {
  if (errors.size() == 1) return errors[0];
  std::unordered_set<std::string_view> seen;
  std::string out;
  for (const std::string& error : errors) {
    if (!seen.insert(error).second) continue;
    if (seen.size() > 1) out += ", ";
    out += error;
  }
  return seen.size() > 1 ? "[" + out + "]" : out;
}

std::string InvalidString(std::string_view path, std::string_view value, std::string_view detail) {
  std::string out = Subject(path, "Invalid value") + GoQuote(value);
  return out.append(": ").append(detail);
}

std::string InvalidList(std::string_view path, const std::vector<std::string>& values,
                        std::string_view detail) {
  std::string out = Subject(path, "Invalid value");
  if (values.empty()) {
    out += "null";
  } else {
    for (size_t i = 0; i < values.size(); ++i) {
      out += i == 0 ? '[' : ',';
      AppendJsonString(out, values[i]);
    }
    out += ']';
  }
  return out.append(": ").append(detail);
}

std::string UnsupportedValue(std::string_view path, std::string_view value,
                             const std::vector<std::string_view>& supported) {
  std::string out = Subject(path, "Unsupported value");
  AppendJsonString(out, value);
  out += ": supported values: ";
  for (size_t i = 0; i < supported.size(); ++i) {
    if (i > 0) out += ", ";
    out += GoQuote(supported[i]);
  }
  return out;
}

}  // namespace berth::api
