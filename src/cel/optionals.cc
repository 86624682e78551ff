// Values that may be absent.
#include <string>

#include "cel/functions.h"

namespace berth::cel {
namespace {

bool IsZero(const Value& value) {
  switch (value.kind()) {
    case Kind::kNull:
      return true;
    case Kind::kBool:
      return !value.AsBool();
    case Kind::kInt:
      return value.AsInt() == 0;
    case Kind::kUint:
      return value.AsUint() == 0;
    case Kind::kDouble:
      return value.AsDouble() == 0;
    case Kind::kString:
    case Kind::kBytes:
      return value.Text().empty();
    case Kind::kList:
      return value.AsList().empty();
    case Kind::kMap:
      return value.AsMap().entries.empty();
    case Kind::kOptional:
      return !value.HasValue();
    case Kind::kDuration:
      return value.AsDuration().ns == 0;
    case Kind::kTimestamp:
      return value.AsTimestamp().at.IsZero();
    case Kind::kError:
    case Kind::kType:
    case Kind::kQuantity:
    case Kind::kSemver:
    case Kind::kAddress:
    case Kind::kNetwork:
      break;
  }
  return false;
}

Value Of(CallContext&, Args a) { return Value::Some(a[0]); }
Value OfNonZero(CallContext&, Args a) { return IsZero(a[0]) ? Value::None() : Value::Some(a[0]); }
Value MakeNone(CallContext&, Args) { return Value::None(); }
Value HasValue(CallContext&, Args a) { return Value::Bool(a[0].HasValue()); }
Value Get(CallContext&, Args a) {
  return a[0].HasValue() ? a[0].Inner() : Value::Error("optional.none() dereference");
}
Value Or(CallContext&, Args a) { return a[0].HasValue() ? a[0] : a[1]; }
Value OrValue(CallContext&, Args a) { return a[0].HasValue() ? a[0].Inner() : a[1]; }

}  // namespace

void AddOptionals(std::vector<Overload>* table) {
  using enum TypeKind;
  const Type a = Type::Variable(1);
  const Type optional = Type::OptionalOf(a);
  const auto add = [&](std::string_view name, bool member, std::vector<Type> params, Type result,
                       Function f) {
    table->push_back(
        {name, member, std::move(params), std::move(result), f, Mismatch::kSignature, false});
  };
  add("optional.of", false, {a}, optional, Of);
  add("optional.ofNonZeroValue", false, {a}, optional, OfNonZero);
  add("optional.none", false, {}, optional, MakeNone);
  add("hasValue", true, {optional}, kBool, HasValue);
  add("value", true, {optional}, a, Get);
  add("or", true, {optional, optional}, optional, Or);
  add("orValue", true, {optional, a}, a, OrValue);
}

}  // namespace berth::cel
