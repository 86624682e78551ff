// Decoding of described types from a JSON tree as kube-scheduler's strict decoder does it, errors
// included: a value of the wrong type is reported with Go's type names, unknown and repeated fields
// are collected with their paths. Private to this room.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "api/codec/schema.h"
#include "config/json_tree.h"

namespace berth::config {

// A field of a described type, by the names of both.
struct TypeField {
  std::string_view type;
  std::string_view field;
};

class StrictDecoder {
 public:
  // `unknown` are fields to report as if the types did not have them. `names_embedded`: paths in
  // errors contain the structs that Go embeds.
  explicit StrictDecoder(std::span<const TypeField> unknown = {}, bool names_embedded = false)
      : unknown_(unknown), names_embedded_(names_embedded) {}

  // Fills `out`, which is of `type` and holds its defaults.
  void Decode(const JsonTree& tree, const api::TypeInfo& type, void* out);

  // What stopped decoding or would have: empty if nothing did.
  const std::string& Failure() const { return abort_.empty() ? first_mismatch_ : abort_; }
  // `unknown field "a.b[0].c"`, `duplicate field "x"`, in the order met. Meaningful without a
  // failure.
  const std::vector<std::string>& StrictErrors() const { return strict_errors_; }

 private:
  void Value(const JsonTree& tree, const api::TypeInfo& type, void* out, std::string_view go_type);
  void Message(const JsonTree& tree, const api::TypeInfo& type, void* out);
  void Member(const std::string& name, const JsonTree& tree, const api::TypeInfo& type, void* out,
              std::unordered_set<std::string_view>& seen);
  void List(const JsonTree& tree, const api::TypeInfo& type, void* out);
  void Map(const JsonTree& tree, const api::TypeInfo& type, void* out);
  void Number(const JsonTree& tree, const api::TypeInfo& type, void* out);
  void Duration(const JsonTree& tree, void* out);
  void Bytes(const JsonTree& tree, void* out);

  std::string MismatchText(std::string_view value, std::string_view go_type) const;
  void Mismatch(std::string_view value, std::string_view go_type);
  void Strict(std::string_view what, std::string_view field);
  bool IsUnknown(const api::TypeInfo& type, std::string_view field) const;

  std::span<const TypeField> unknown_;
  const bool names_embedded_;
  std::string abort_;           // an error that ends decoding at once and hides the others
  std::string first_mismatch_;  // the first value of a wrong type
  std::vector<std::string> strict_errors_;
  std::unordered_set<std::string> seen_strict_;
  std::string struct_name_;              // of the innermost struct
  std::vector<std::string> field_path_;  // to the current field
  std::string strict_path_;              // the same with indexes
};

}  // namespace berth::config
