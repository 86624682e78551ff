#include "apiserver/store/selection.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace berth::apiserver {
namespace {

// Events of events.k8s.io are kept in the core form.
std::string KeptFieldName(const Resource& asked, std::string_view field) {
  if (asked.group != "events.k8s.io") return std::string(field);
  if (field.starts_with("regarding.")) {
    return fmt::format("involvedObject.{}", field.substr(sizeof("regarding.") - 1));
  }
  if (field == "reportingController") return "reportingComponent";
  return std::string(field);
}

struct Term {
  std::string field;
  bool equal = true;
  std::string value;
};

// "a=b,c!=d" with \\ , \= and \, escapes in values.
Answer<std::vector<Term>> SplitTerms(std::string_view text) {
  std::vector<Term> terms;
  size_t pos = 0;
  while (pos < text.size()) {
    std::string term;
    std::string* part = &term;
    Term result;
    bool seen_operator = false;
    for (; pos < text.size() && text[pos] != ','; ++pos) {
      const char c = text[pos];
      if (c == '\\' && pos + 1 < text.size()) {
        *part += text[++pos];
      } else if (!seen_operator && c == '=') {
        seen_operator = true;
        if (pos + 1 < text.size() && text[pos + 1] == '=') ++pos;
        part = &result.value;
      } else if (!seen_operator && c == '!' && pos + 1 < text.size() && text[pos + 1] == '=') {
        seen_operator = true;
        result.equal = false;
        ++pos;
        part = &result.value;
      } else {
        *part += c;
      }
    }
    ++pos;
    if (term.empty() && !seen_operator) continue;
    if (!seen_operator) {
      return Refuse(BadRequest(fmt::format(
          "Unable to find \"{}\" that match label selector \"\", field selector \"{}\": invalid "
          "selector: '{}'; can't understand '{}'",
          term, text, text, term)));
    }
    result.field = std::move(term);
    terms.push_back(std::move(result));
  }
  return terms;
}

}  // namespace

Answer<Selection> Selection::Parse(const Resource& asked, const Resource& kept,
                                   std::string_view namespace_, std::string_view label_selector,
                                   std::string_view field_selector) {
  Selection selection;
  selection.namespace_ = namespace_;
  auto labels = api::Selector::Parse(label_selector);
  if (!labels) {
    return Refuse(BadRequest(labels.error().Message()));
  }
  selection.labels_ = std::move(*labels);
  auto terms = SplitTerms(field_selector);
  if (!terms) return Refuse(std::move(terms.error()));
  for (Term& term : *terms) {
    Field field{kName, term.equal, std::move(term.value)};
    if (term.field == "metadata.namespace" && asked.namespaced) {
      field.index = kNamespace;
    } else if (term.field != "metadata.name") {
      const auto it = std::find(kept.selectable.begin(), kept.selectable.end(),
                                KeptFieldName(asked, term.field));
      if (it == kept.selectable.end()) {
        return Refuse(BadRequest(fmt::format("field label not supported: {}", term.field)));
      }
      field.index = static_cast<size_t>(it - kept.selectable.begin());
    }
    selection.fields_.push_back(std::move(field));
  }
  return selection;
}

bool Selection::Matches(const StoredObject& object) const {
  if (!namespace_.empty() && object.namespace_ != namespace_) return false;
  for (const Field& field : fields_) {
    std::string_view value;
    if (field.index == kName) {
      value = object.name;
    } else if (field.index == kNamespace) {
      value = object.namespace_;
    } else if (field.index < object.fields.size()) {
      value = object.fields[field.index];
    }
    if ((value == field.value) != field.equal) return false;
  }
  return labels_.Matches(object.labels);
}

}  // namespace berth::apiserver
