#include "plugins/dynamic_resources/cel/value.h"

#include <cmath>
#include <limits>

namespace berth::plugins::dynamic_resources::cel {
namespace {

int Sign(auto a, auto b) { return a < b ? -1 : (a > b ? 1 : 0); }

Value CompareIntDouble(int64_t i, double d) {
  if (std::isnan(d)) return Value::Error("NaN values cannot be ordered");
  if (d < -9223372036854775808.0) return Value::Int(1);
  if (d >= 9223372036854775808.0) return Value::Int(-1);
  return Value::Int(Sign(static_cast<double>(i), d));
}

Value CompareUintDouble(uint64_t u, double d) {
  if (std::isnan(d)) return Value::Error("NaN values cannot be ordered");
  if (d < 0) return Value::Int(1);
  if (d >= 18446744073709551616.0) return Value::Int(-1);
  return Value::Int(Sign(static_cast<double>(u), d));
}

int CompareIntUint(int64_t i, uint64_t u) { return i < 0 ? -1 : Sign(static_cast<uint64_t>(i), u); }

Value Negate(Value order) { return order.IsError() ? order : Value::Int(-order.AsInt()); }

Value CompareNumbers(const Value& a, const Value& b) {
  switch (a.kind()) {
    case Kind::kInt:
      if (b.kind() == Kind::kInt) return Value::Int(Sign(a.AsInt(), b.AsInt()));
      if (b.kind() == Kind::kUint) return Value::Int(CompareIntUint(a.AsInt(), b.AsUint()));
      return CompareIntDouble(a.AsInt(), b.AsDouble());
    case Kind::kUint:
      if (b.kind() == Kind::kUint) return Value::Int(Sign(a.AsUint(), b.AsUint()));
      if (b.kind() == Kind::kInt) return Value::Int(-CompareIntUint(b.AsInt(), a.AsUint()));
      return CompareUintDouble(a.AsUint(), b.AsDouble());
    default:
      if (b.kind() == Kind::kInt) return Negate(CompareIntDouble(b.AsInt(), a.AsDouble()));
      if (b.kind() == Kind::kUint) return Negate(CompareUintDouble(b.AsUint(), a.AsDouble()));
      if (std::isnan(a.AsDouble()) || std::isnan(b.AsDouble())) {
        return Value::Error("NaN values cannot be ordered");
      }
      return Value::Int(Sign(a.AsDouble(), b.AsDouble()));
  }
}

bool EqualNumbers(const Value& a, const Value& b) {
  const Value order = CompareNumbers(a, b);
  return !order.IsError() && order.AsInt() == 0;
}

// Of two lists: unequal when some pair is; a pair that cannot be compared does not count.
Value EqualLists(const List& a, const List& b, Budget& budget) {
  if (a.size() != b.size()) return Value::Bool(false);
  for (size_t i = 0; i < a.size(); ++i) {
    if (Equal(a[i], b[i], budget).IsFalse()) return Value::Bool(false);
    if (budget.Exhausted()) return Value::Error(std::string(kCostExceeded));
  }
  return Value::Bool(true);
}

Value EqualMaps(const Map& a, const Map& b, Budget& budget) {
  if (a.entries.size() != b.entries.size()) return Value::Bool(false);
  for (const auto& [key, value] : a.entries) {
    const Value* other = b.Find(key);
    if (!budget.Spend(static_cast<int64_t>(b.entries.size()))) break;
    if (other == nullptr || Equal(value, *other, budget).IsFalse()) return Value::Bool(false);
  }
  if (budget.Exhausted()) return Value::Error(std::string(kCostExceeded));
  return Value::Bool(true);
}

}  // namespace

Value Value::Bool(bool b) {
  Value v;
  v.kind_ = Kind::kBool;
  v.bool_ = b;
  return v;
}
Value Value::Int(int64_t i) {
  Value v;
  v.kind_ = Kind::kInt;
  v.int_ = i;
  return v;
}
Value Value::Uint(uint64_t u) {
  Value v;
  v.kind_ = Kind::kUint;
  v.uint_ = u;
  return v;
}
Value Value::Double(double d) {
  Value v;
  v.kind_ = Kind::kDouble;
  v.double_ = d;
  return v;
}
Value Value::OfText(Kind kind, std::string text) {
  auto owned = std::make_shared<const std::string>(std::move(text));
  Value v;
  v.kind_ = kind;
  v.text_ = *owned;
  v.ref_ = std::move(owned);
  return v;
}
Value Value::String(std::string text) { return OfText(Kind::kString, std::move(text)); }
Value Value::Bytes(std::string bytes) { return OfText(Kind::kBytes, std::move(bytes)); }
Value Value::Error(std::string message) { return OfText(Kind::kError, std::move(message)); }
Value Value::BorrowedString(std::string_view text) {
  Value v;
  v.kind_ = Kind::kString;
  v.text_ = text;
  return v;
}
Value Value::FromList(List list) {
  Value v;
  v.kind_ = Kind::kList;
  v.ref_ = std::make_shared<const List>(std::move(list));
  return v;
}
Value Value::FromMap(Map map) {
  Value v;
  v.kind_ = Kind::kMap;
  v.ref_ = std::make_shared<const Map>(std::move(map));
  return v;
}
Value Value::Type(std::string_view static_name) {
  Value v;
  v.kind_ = Kind::kType;
  v.text_ = static_name;
  return v;
}
Value Value::Some(Value value) {
  Value v;
  v.kind_ = Kind::kOptional;
  v.ref_ = std::make_shared<const Value>(std::move(value));
  return v;
}
Value Value::None() {
  Value v;
  v.kind_ = Kind::kOptional;
  return v;
}
Value Value::FromQuantity(api::Quantity quantity) {
  Value v;
  v.kind_ = Kind::kQuantity;
  v.ref_ = std::make_shared<const api::Quantity>(std::move(quantity));
  return v;
}
Value Value::FromSemver(Semver version) {
  Value v;
  v.kind_ = Kind::kSemver;
  v.ref_ = std::make_shared<const Semver>(std::move(version));
  return v;
}

std::string_view Value::TypeName() const {
  switch (kind_) {
    case Kind::kError:
      return "error";
    case Kind::kNull:
      return "null_type";
    case Kind::kBool:
      return "bool";
    case Kind::kInt:
      return "int";
    case Kind::kUint:
      return "uint";
    case Kind::kDouble:
      return "double";
    case Kind::kString:
      return "string";
    case Kind::kBytes:
      return "bytes";
    case Kind::kList:
      return "list";
    case Kind::kMap:
      return "map";
    case Kind::kType:
      return "type";
    case Kind::kOptional:
      return "optional_type";
    case Kind::kQuantity:
      return "kubernetes.Quantity";
    case Kind::kSemver:
      return "kubernetes.Semver";
  }
  return "";
}

const Value* Map::Find(const Value& key) const {
  if (key.kind() == Kind::kString) {  // the usual case, without a budget
    for (const auto& [k, v] : entries) {
      if (k.kind() == Kind::kString && k.Text() == key.Text()) return &v;
    }
    return nullptr;
  }
  Budget budget(10000);
  for (const auto& [k, v] : entries) {
    if (Equal(k, key, budget).IsTrue()) return &v;
  }
  return nullptr;
}

Value Equal(const Value& a, const Value& b, Budget& budget) {
  if (a.IsError()) return a;
  if (b.IsError()) return b;
  if (!budget.Spend(1)) return Value::Error(std::string(kCostExceeded));
  if (a.IsNumber() && b.IsNumber()) return Value::Bool(EqualNumbers(a, b));
  if (a.kind() == Kind::kNull || b.kind() == Kind::kNull) return Value::Bool(a.kind() == b.kind());
  if (a.kind() != b.kind()) {
    // A quantity or version refuses strangers, everything else is merely unequal to them.
    const bool strict = a.kind() == Kind::kQuantity || a.kind() == Kind::kSemver;
    return strict ? Value::NoSuchOverload() : Value::Bool(false);
  }
  switch (a.kind()) {
    case Kind::kBool:
      return Value::Bool(a.AsBool() == b.AsBool());
    case Kind::kString:
    case Kind::kBytes:
    case Kind::kType:
      return Value::Bool(a.Text() == b.Text());
    case Kind::kList:
      return EqualLists(a.AsList(), b.AsList(), budget);
    case Kind::kMap:
      return EqualMaps(a.AsMap(), b.AsMap(), budget);
    case Kind::kOptional:
      if (!a.HasValue() || !b.HasValue()) return Value::Bool(a.HasValue() == b.HasValue());
      return Equal(a.Inner(), b.Inner(), budget);
    case Kind::kQuantity:
      return Value::Bool(a.AsQuantity() == b.AsQuantity());
    case Kind::kSemver:
      return Value::Bool(a.AsSemver().Compare(b.AsSemver()) == 0);
    case Kind::kError:
    case Kind::kNull:
    case Kind::kInt:
    case Kind::kUint:
    case Kind::kDouble:
      break;
  }
  return Value::NoSuchOverload();
}

Value Compare(const Value& a, const Value& b) {
  if (a.IsError()) return a;
  if (b.IsError()) return b;
  if (a.IsNumber() && b.IsNumber()) return CompareNumbers(a, b);
  if (a.kind() != b.kind()) return Value::NoSuchOverload();
  if (a.kind() == Kind::kString || a.kind() == Kind::kBytes) {
    return Value::Int(Sign(a.Text().compare(b.Text()), 0));
  }
  if (a.kind() == Kind::kBool) return Value::Int(Sign(a.AsBool(), b.AsBool()));
  return Value::NoSuchOverload();
}

}  // namespace berth::plugins::dynamic_resources::cel
