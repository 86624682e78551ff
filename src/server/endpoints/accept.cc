#include "server/endpoints/accept.h"

#include <algorithm>
#include <cstdlib>

namespace berth::server {
namespace {

// Cuts `rest` behind the next separator and returns what is before it.
std::string_view Next(std::string_view& rest, char separator) {
  const size_t end = rest.find(separator);
  const std::string_view part = rest.substr(0, end);
  rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
  return part;
}

// False: malformed.
bool ParseMedia(std::string_view text, AcceptClause& clause) {
  std::string_view rest = text;
  clause.type = TrimBlanks(Next(rest, '/'));
  if (rest.empty()) {  // "*" alone stands for "*/*"
    clause.subtype = "*";
    return clause.type == "*";
  }
  clause.subtype = TrimBlanks(Next(rest, '/'));
  return rest.empty();
}

void AddParameter(std::string_view text, AcceptClause& clause) {
  std::string_view rest = text;
  const std::string_view name = TrimBlanks(Next(rest, '='));
  const std::string_view value = Next(rest, '=');
  if (value.empty() || !rest.empty()) return;
  if (name == "q") {
    clause.q = std::strtod(std::string(value).c_str(), nullptr);
  } else {
    clause.parameters.emplace_back(name, TrimBlanks(value));
  }
}

bool Before(const AcceptClause& a, const AcceptClause& b) {
  if (a.q != b.q) return a.q > b.q;
  if ((a.type == "*") != (b.type == "*")) return b.type == "*";
  return a.subtype != "*" && b.subtype == "*";
}

}  // namespace

std::string_view TrimBlanks(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return "";
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

std::string_view AcceptClause::Parameter(std::string_view name) const {
  for (const auto& [key, value] : parameters) {
    if (key == name) return value;
  }
  return "";
}

std::vector<AcceptClause> ParseAccept(std::string_view header) {
  std::vector<AcceptClause> clauses;
  while (!header.empty()) {
    std::string_view entry = TrimBlanks(Next(header, ','));
    AcceptClause clause;
    if (!ParseMedia(Next(entry, ';'), clause)) continue;
    while (!entry.empty()) AddParameter(Next(entry, ';'), clause);
    clauses.push_back(std::move(clause));
  }
  std::stable_sort(clauses.begin(), clauses.end(), Before);
  return clauses;
}

}  // namespace berth::server
