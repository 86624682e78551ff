#include "cel/types.h"

#include <algorithm>

namespace berth::cel {
namespace {

std::string Text(const Type& type, bool full) {
  const auto with = [&](std::string name) {
    name += '(';
    for (size_t i = 0; i < type.params.size(); ++i) {
      if (i > 0) name += ", ";
      name += Text(type.params[i], full);
    }
    return name + ')';
  };
  switch (type.kind) {
    case TypeKind::kDyn:
      return "dyn";
    case TypeKind::kAny:
      return full ? "google.protobuf.Any" : "any";
    case TypeKind::kError:
      return "!error!";
    case TypeKind::kNull:
      return "null";
    case TypeKind::kBool:
      return "bool";
    case TypeKind::kInt:
      return "int";
    case TypeKind::kUint:
      return "uint";
    case TypeKind::kDouble:
      return "double";
    case TypeKind::kString:
      return "string";
    case TypeKind::kBytes:
      return "bytes";
    case TypeKind::kList:
      return with("list");
    case TypeKind::kMap:
      return with("map");
    case TypeKind::kType:
      return type.params.empty() ? "type" : with("type");
    case TypeKind::kOptional:
      return with("optional_type");
    case TypeKind::kDuration:
      return full ? "google.protobuf.Duration" : "duration";
    case TypeKind::kTimestamp:
      return full ? "google.protobuf.Timestamp" : "timestamp";
    case TypeKind::kQuantity:
      return "kubernetes.Quantity";
    case TypeKind::kSemver:
      return "kubernetes.Semver";
    case TypeKind::kAddress:
      return "net.IP";
    case TypeKind::kNetwork:
      return "net.CIDR";
    case TypeKind::kDevice:
      return "kubernetes.DRADevice";
    case TypeKind::kVariable:
      return "dyn";
  }
  return "";
}

// Null stands in for objects, not for plain values.
bool TakesNull(const Type& type) {
  switch (type.kind) {
    case TypeKind::kNull:
    case TypeKind::kDuration:
    case TypeKind::kTimestamp:
    case TypeKind::kQuantity:
    case TypeKind::kSemver:
    case TypeKind::kAddress:
    case TypeKind::kNetwork:
    case TypeKind::kDevice:
      return true;
    default:
      return false;
  }
}

}  // namespace

std::string TypeText(const Type& type) { return Text(type, false); }
std::string FullTypeText(const Type& type) { return Text(type, true); }

const Type* Substitution::Bound(int variable) const {
  const std::optional<Type>& bound = bound_[static_cast<size_t>(variable)];
  return bound ? &*bound : nullptr;
}

void Substitution::Bind(int variable, Type type) {
  std::optional<Type>& bound = bound_[static_cast<size_t>(variable)];
  trail_.emplace_back(variable, std::move(bound));
  bound = std::move(type);
}

void Substitution::Rewind(size_t mark) {
  while (trail_.size() > mark) {
    auto& [variable, before] = trail_.back();
    bound_[static_cast<size_t>(variable)] = std::move(before);
    trail_.pop_back();
  }
}

bool Substitution::Occurs(int variable, const Type& type) const {
  if (type.kind == TypeKind::kVariable) {
    if (type.variable == variable) return true;
    const Type* bound = Bound(type.variable);
    return bound != nullptr && Occurs(variable, *bound);
  }
  return std::any_of(type.params.begin(), type.params.end(),
                     [&](const Type& p) { return Occurs(variable, p); });
}

Type Substitution::Apply(const Type& type) const {
  if (type.kind == TypeKind::kVariable) {
    const Type* bound = Bound(type.variable);
    return bound == nullptr ? type : Apply(*bound);
  }
  if (type.params.empty()) return type;
  Type applied(type.kind);
  for (const Type& param : type.params) applied.params.push_back(Apply(param));
  return applied;
}

Type Substitution::Instantiate(const Type& type, std::vector<std::pair<int, Type>>* renamed) {
  if (type.kind == TypeKind::kVariable) {
    for (const auto& [id, fresh] : *renamed) {
      if (id == type.variable) return fresh;
    }
    renamed->emplace_back(type.variable, Fresh());
    return renamed->back().second;
  }
  Type copy(type.kind);
  for (const Type& param : type.params) copy.params.push_back(Instantiate(param, renamed));
  return copy;
}

bool Substitution::Assign(const Type& actual, const Type& formal) {
  if (formal.kind == TypeKind::kVariable) {
    if (actual.kind == TypeKind::kVariable && actual.variable == formal.variable) return true;
    const Type* bound = Bound(formal.variable);
    if (bound == nullptr) {
      if (Occurs(formal.variable, actual)) return false;
      Bind(formal.variable, actual);
      return true;
    }
    const Type known = *bound;
    if (!Assign(actual, known)) return false;
    // Of a known and an unknown type the variable stands for the unknown one.
    const Type now = Apply(actual);
    if (now.IsDynamic() && !Apply(known).IsDynamic()) Bind(formal.variable, now);
    return true;
  }
  if (actual.kind == TypeKind::kVariable) {
    const Type* bound = Bound(actual.variable);
    if (bound != nullptr) {
      const Type known = *bound;
      return Assign(known, formal);
    }
    if (Occurs(actual.variable, formal)) return false;
    Bind(actual.variable, formal);
    return true;
  }
  if (actual.IsDynamic() || formal.IsDynamic()) return true;
  if (actual.kind == TypeKind::kNull) return TakesNull(formal);
  if (formal.kind == TypeKind::kNull) return TakesNull(actual);
  if (actual.kind != formal.kind) return false;
  if (actual.kind == TypeKind::kType) return true;  // any two types may be compared
  if (actual.params.size() != formal.params.size()) return false;
  for (size_t i = 0; i < actual.params.size(); ++i) {
    if (!Assign(actual.params[i], formal.params[i])) return false;
  }
  return true;
}

}  // namespace berth::cel
