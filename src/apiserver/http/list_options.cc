#include "apiserver/http/list_options.h"

#include <string>
#include <vector>

#include "api/go/go_text.h"

namespace berth::apiserver {
namespace {

constexpr const char* kMatch = "resourceVersionMatch";
constexpr const char* kInitial = "sendInitialEvents";

std::string Value(const server::Request& request, std::string_view key) {
  const auto values = server::QueryValues(request.query, key);
  return values.empty() ? "" : values.front();
}

void CheckWatch(const std::string& match, bool initial, bool continues,
                std::vector<FieldError>& errors) {
  if (initial && match != "NotOlderThan") {
    errors.push_back(ForbiddenField(
        kMatch, "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"));
  }
  if (match.empty()) return;
  if (!initial) {
    errors.push_back(ForbiddenField(
        kMatch,
        "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided"));
  }
  if (match != "NotOlderThan") {
    errors.push_back(UnsupportedField(kMatch, api::GoQuote(match), {"NotOlderThan"}));
  }
  if (continues) {
    errors.push_back(
        ForbiddenField(kMatch, "resourceVersionMatch is forbidden when continue is provided"));
  }
}

void CheckList(const std::string& match, const std::string& version, bool initial, bool continues,
               std::vector<FieldError>& errors) {
  if (!match.empty()) {
    if (version.empty()) {
      errors.push_back(ForbiddenField(
          kMatch, "resourceVersionMatch is forbidden unless resourceVersion is provided"));
    }
    if (continues) {
      errors.push_back(
          ForbiddenField(kMatch, "resourceVersionMatch is forbidden when continue is provided"));
    }
    if (match != "Exact" && match != "NotOlderThan") {
      errors.push_back(
          UnsupportedField(kMatch, api::GoQuote(match), {"Exact", "NotOlderThan", ""}));
    }
    if (match == "Exact" && version == "0") {
      errors.push_back(ForbiddenField(
          kMatch, "resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\""));
    }
  }
  if (initial) {
    errors.push_back(ForbiddenField(kInitial, "sendInitialEvents is forbidden for list"));
  }
}

}  // namespace

Answer<void> CheckListOptions(const server::Request& request, bool watch) {
  const std::string match = Value(request, kMatch);
  const bool initial = server::QueryHas(request.query, kInitial);
  const bool continues = !Value(request, "continue").empty();
  std::vector<FieldError> errors;
  if (watch) {
    CheckWatch(match, initial, continues, errors);
  } else {
    CheckList(match, Value(request, "resourceVersion"), initial, continues, errors);
  }
  if (errors.empty()) return {};
  static const Resource kOptions{.group = "meta.k8s.io", .version = "v1", .kind = "ListOptions"};
  return Refuse(Invalid(kOptions, "", errors));
}

}  // namespace berth::apiserver
