// Accept headers, as Kubernetes reads them.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace berth::server {

// One entry: a media type and its parameters but q, trimmed.
struct AcceptClause {
  std::string_view type;
  std::string_view subtype;
  std::vector<std::pair<std::string_view, std::string_view>> parameters = {};
  double q = 1;

  // "" if there is none.
  std::string_view Parameter(std::string_view name) const;
};

// The most wanted first; of equals, those without a wildcard. Malformed entries are left out.
std::vector<AcceptClause> ParseAccept(std::string_view header);

// Without blanks around it.
std::string_view TrimBlanks(std::string_view text);

}  // namespace berth::server
