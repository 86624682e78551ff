// Selection: which objects of a resource a list or a watch is about.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "api/rules/label_selector.h"
#include "apiserver/resource.h"
#include "apiserver/status.h"
#include "apiserver/store/object.h"

namespace berth::apiserver {

class Selection {
 public:
  // Everything in all namespaces.
  Selection() = default;

  // `namespace_` "" is all; the selectors are those of the query, "" is everything. The resource is
  // the one asked for; its field names are translated to those of the form objects are kept in.
  static Answer<Selection> Parse(const Resource& asked, const Resource& kept,
                                 std::string_view namespace_, std::string_view label_selector,
                                 std::string_view field_selector);

  bool Matches(const StoredObject& object) const;
  const std::string& Namespace() const { return namespace_; }

 private:
  static constexpr size_t kName = SIZE_MAX;
  static constexpr size_t kNamespace = SIZE_MAX - 1;
  struct Field {
    size_t index;  // into StoredObject::fields, or one of the above
    bool equal;
    std::string value;
  };

  std::string namespace_;
  api::Selector labels_;
  std::vector<Field> fields_;
};

}  // namespace berth::apiserver
