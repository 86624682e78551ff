// Types of CEL expressions as the checker sees them, before anything is evaluated.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace berth::cel {

enum class TypeKind : uint8_t {
  kDyn,    // known only when evaluated
  kAny,    // the same, for the value of a device attribute
  kError,  // an issue was reported; fits everywhere
  kNull,
  kBool,
  kInt,
  kUint,
  kDouble,
  kString,
  kBytes,
  kList,
  kMap,
  kType,
  kOptional,
  kDuration,
  kTimestamp,
  kQuantity,
  kSemver,
  kAddress,
  kNetwork,
  kDevice,
  kVariable,  // of a generic function, or not yet known
};

struct Type {
  TypeKind kind = TypeKind::kDyn;
  std::vector<Type> params;
  int variable = 0;

  Type() = default;
  Type(TypeKind k) : kind(k) {}  // NOLINT: a kind without parameters is a type
  Type(TypeKind k, std::vector<Type> p) : kind(k), params(std::move(p)) {}
  static Type Variable(int id) {
    Type type(TypeKind::kVariable);
    type.variable = id;
    return type;
  }
  static Type ListOf(Type element) { return {TypeKind::kList, {std::move(element)}}; }
  static Type MapOf(Type key, Type value) {
    return {TypeKind::kMap, {std::move(key), std::move(value)}};
  }
  static Type OptionalOf(Type inner) { return {TypeKind::kOptional, {std::move(inner)}}; }
  static Type TypeOf(Type inner) { return {TypeKind::kType, {std::move(inner)}}; }

  bool IsDynamic() const {
    return kind == TypeKind::kDyn || kind == TypeKind::kAny || kind == TypeKind::kError;
  }
  bool operator==(const Type&) const = default;
};

// As in messages about overloads: "list(int)", "any".
std::string TypeText(const Type& type);
// The same with the long names of protobuf's types.
std::string FullTypeText(const Type& type);

// What is known about type variables while one expression is checked.
class Substitution {
 public:
  Type Fresh() {
    bound_.emplace_back();
    return Type::Variable(static_cast<int>(bound_.size()) - 1);
  }
  // `type` with all that is known put in.
  Type Apply(const Type& type) const;
  // Can a value of `actual` be used where `formal` is wanted? Learns about variables if so.
  // REQUIRES: variables of both come from Fresh or Instantiate.
  bool Assign(const Type& actual, const Type& formal);
  // Copies of a generic signature get variables of their own.
  Type Instantiate(const Type& type, std::vector<std::pair<int, Type>>* renamed);

  // To try an overload and forget what was learned.
  size_t Mark() const { return trail_.size(); }
  void Rewind(size_t mark);

 private:
  const Type* Bound(int variable) const;
  void Bind(int variable, Type type);
  bool Occurs(int variable, const Type& type) const;

  std::vector<std::optional<Type>> bound_;  // by variable
  std::vector<std::pair<int, std::optional<Type>>> trail_;
};

}  // namespace berth::cel
