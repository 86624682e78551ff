#include "cel/value.h"

#include <cmath>
#include <limits>

namespace berth::cel {
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

// Kubernetes' own types do, everything else is merely unequal to what is of another type.
bool RefusesStrangers(Kind kind) {
  switch (kind) {
    case Kind::kQuantity:
    case Kind::kSemver:
    case Kind::kAddress:
    case Kind::kNetwork:
      return true;
    default:
      return false;
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
    const Value* other = b.Find(key, budget);
    if (budget.Exhausted()) break;
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
Value Value::FromList(List list) { return Shared(Kind::kList, std::move(list)); }
Value Value::FromMap(Map map) { return Shared(Kind::kMap, std::move(map)); }
Value Value::Type(std::string_view static_name) {
  Value v;
  v.kind_ = Kind::kType;
  v.text_ = static_name;
  return v;
}
Value Value::Some(Value value) { return Shared(Kind::kOptional, std::move(value)); }
Value Value::None() {
  Value v;
  v.kind_ = Kind::kOptional;
  return v;
}
Value Value::FromDuration(api::Duration duration) {
  Value v = Int(duration.ns);
  v.kind_ = Kind::kDuration;
  return v;
}
Value Value::FromTimestamp(Timestamp time) { return Shared(Kind::kTimestamp, time); }
Value Value::FromQuantity(api::Quantity quantity) {
  return Shared(Kind::kQuantity, std::move(quantity));
}
Value Value::FromSemver(Semver version) { return Shared(Kind::kSemver, std::move(version)); }
Value Value::FromAddress(const Address& address) { return Shared(Kind::kAddress, address); }
Value Value::FromNetwork(const Network& network) { return Shared(Kind::kNetwork, network); }

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
    case Kind::kDuration:
      return "google.protobuf.Duration";
    case Kind::kTimestamp:
      return "google.protobuf.Timestamp";
    case Kind::kQuantity:
      return "kubernetes.Quantity";
    case Kind::kSemver:
      return "kubernetes.Semver";
    case Kind::kAddress:
      return "net.IP";
    case Kind::kNetwork:
      return "net.CIDR";
  }
  return "";
}

const Value* Map::Find(const Value& key, Budget& budget) const {
  if (key.kind() == Kind::kString) {  // the usual case
    if (!budget.Spend(static_cast<int64_t>(entries.size()) / 4)) return nullptr;
    for (const auto& [k, v] : entries) {
      if (k.kind() == Kind::kString && k.Text() == key.Text()) return &v;
    }
    return nullptr;
  }
  for (const auto& [k, v] : entries) {
    if (Equal(k, key, budget).IsTrue()) return &v;
    if (budget.Exhausted()) return nullptr;
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
    return RefusesStrangers(a.kind()) ? Value::NoSuchOverload() : Value::Bool(false);
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
    case Kind::kDuration:
      return Value::Bool(a.AsDuration() == b.AsDuration());
    case Kind::kTimestamp:
      return Value::Bool(a.AsTimestamp().at == b.AsTimestamp().at);
    case Kind::kQuantity:
      return Value::Bool(a.AsQuantity() == b.AsQuantity());
    case Kind::kSemver:
      return Value::Bool(a.AsSemver().Compare(b.AsSemver()) == 0);
    case Kind::kAddress:
      return Value::Bool(a.AsAddress() == b.AsAddress());
    case Kind::kNetwork:
      return Value::Bool(a.AsNetwork() == b.AsNetwork());
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
  if (a.kind() == Kind::kDuration) return Value::Int(Sign(a.AsDuration(), b.AsDuration()));
  if (a.kind() == Kind::kTimestamp) {
    return Value::Int(Sign(a.AsTimestamp().at, b.AsTimestamp().at));
  }
  return Value::NoSuchOverload();
}

}  // namespace berth::cel
