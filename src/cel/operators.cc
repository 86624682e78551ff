// Arithmetic, comparison, membership and size.
#include <cmath>
#include <limits>
#include <string>

#include "base/wrap.h"
#include "cel/functions.h"

namespace berth::cel {
namespace {

constexpr int64_t kMin = std::numeric_limits<int64_t>::min();

Value Overflow() { return Value::Error("integer overflow"); }
Value UnsignedOverflow() { return Value::Error("unsigned integer overflow"); }

// --- int
Value AddInt(CallContext&, Args a) {
  int64_t r = 0;
  return __builtin_add_overflow(a[0].AsInt(), a[1].AsInt(), &r) ? Overflow() : Value::Int(r);
}
Value SubInt(CallContext&, Args a) {
  int64_t r = 0;
  return __builtin_sub_overflow(a[0].AsInt(), a[1].AsInt(), &r) ? Overflow() : Value::Int(r);
}
Value MulInt(CallContext&, Args a) {
  int64_t r = 0;
  return __builtin_mul_overflow(a[0].AsInt(), a[1].AsInt(), &r) ? Overflow() : Value::Int(r);
}
Value DivInt(CallContext&, Args a) {
  if (a[1].AsInt() == 0) return Value::Error("division by zero");
  if (a[0].AsInt() == kMin && a[1].AsInt() == -1) return Overflow();
  return Value::Int(a[0].AsInt() / a[1].AsInt());
}
Value ModInt(CallContext&, Args a) {
  if (a[1].AsInt() == 0) return Value::Error("modulus by zero");
  if (a[0].AsInt() == kMin && a[1].AsInt() == -1) return Overflow();
  return Value::Int(a[0].AsInt() % a[1].AsInt());
}
Value NegInt(CallContext&, Args a) {
  return a[0].AsInt() == kMin ? Overflow() : Value::Int(-a[0].AsInt());
}

// --- uint
Value AddUint(CallContext&, Args a) {
  uint64_t r = 0;
  return __builtin_add_overflow(a[0].AsUint(), a[1].AsUint(), &r) ? UnsignedOverflow()
                                                                  : Value::Uint(r);
}
Value SubUint(CallContext&, Args a) {
  uint64_t r = 0;
  return __builtin_sub_overflow(a[0].AsUint(), a[1].AsUint(), &r) ? UnsignedOverflow()
                                                                  : Value::Uint(r);
}
Value MulUint(CallContext&, Args a) {
  uint64_t r = 0;
  return __builtin_mul_overflow(a[0].AsUint(), a[1].AsUint(), &r) ? UnsignedOverflow()
                                                                  : Value::Uint(r);
}
Value DivUint(CallContext&, Args a) {
  if (a[1].AsUint() == 0) return Value::Error("division by zero");
  return Value::Uint(a[0].AsUint() / a[1].AsUint());
}
Value ModUint(CallContext&, Args a) {
  if (a[1].AsUint() == 0) return Value::Error("modulus by zero");
  return Value::Uint(a[0].AsUint() % a[1].AsUint());
}

// --- double
Value AddDouble(CallContext&, Args a) { return Value::Double(a[0].AsDouble() + a[1].AsDouble()); }
Value SubDouble(CallContext&, Args a) { return Value::Double(a[0].AsDouble() - a[1].AsDouble()); }
Value MulDouble(CallContext&, Args a) { return Value::Double(a[0].AsDouble() * a[1].AsDouble()); }
Value DivDouble(CallContext&, Args a) {
  const double divisor = a[1].AsDouble();
  if (divisor != 0) return Value::Double(a[0].AsDouble() / divisor);
  // IEEE 754, spelled out: division by a zero double is no error in CEL.
  const double dividend = a[0].AsDouble();
  if (dividend == 0 || std::isnan(dividend)) {
    return Value::Double(std::numeric_limits<double>::quiet_NaN());
  }
  const bool negative = std::signbit(dividend) != std::signbit(divisor);
  const double infinity = std::numeric_limits<double>::infinity();
  return Value::Double(negative ? -infinity : infinity);
}
Value NegDouble(CallContext&, Args a) { return Value::Double(-a[0].AsDouble()); }

// --- text and lists
Value Concat(CallContext& context, Args a) {
  if (!context.budget.SpendText(a[0].Text().size() + a[1].Text().size())) {
    return Value::Error(std::string(kCostExceeded));
  }
  std::string text(a[0].Text());
  text += a[1].Text();
  return a[0].kind() == Kind::kBytes ? Value::Bytes(std::move(text))
                                     : Value::String(std::move(text));
}
Value ConcatLists(CallContext& context, Args a) {
  const List& left = a[0].AsList();
  const List& right = a[1].AsList();
  if (!context.budget.Spend(static_cast<int64_t>(left.size() + right.size()))) {
    return Value::Error(std::string(kCostExceeded));
  }
  List list = left;
  list.insert(list.end(), right.begin(), right.end());
  return Value::FromList(std::move(list));
}

// --- comparison
Value EqualTo(CallContext& context, Args a) { return Equal(a[0], a[1], context.budget); }
Value NotEqualTo(CallContext& context, Args a) {
  const Value equal = Equal(a[0], a[1], context.budget);
  return equal.IsError() ? equal : Value::Bool(!equal.AsBool());
}
template <class Test>
Value Ordered(Args a, Test test) {
  const Value order = Compare(a[0], a[1]);
  return order.IsError() ? order : Value::Bool(test(order.AsInt()));
}
Value Less(CallContext&, Args a) {
  return Ordered(a, [](int64_t o) { return o < 0; });
}
Value LessOrEqual(CallContext&, Args a) {
  return Ordered(a, [](int64_t o) { return o <= 0; });
}
Value Greater(CallContext&, Args a) {
  return Ordered(a, [](int64_t o) { return o > 0; });
}
Value GreaterOrEqual(CallContext&, Args a) {
  return Ordered(a, [](int64_t o) { return o >= 0; });
}
Value InList(CallContext& context, Args a) {
  for (const Value& element : a[1].AsList()) {
    if (Equal(element, a[0], context.budget).IsTrue()) return Value::Bool(true);
    if (context.budget.Exhausted()) return Value::Error(std::string(kCostExceeded));
  }
  return Value::Bool(false);
}
Value InMap(CallContext& context, Args a) {
  const bool found = a[1].AsMap().Find(a[0], context.budget) != nullptr;
  if (context.budget.Exhausted()) return Value::Error(std::string(kCostExceeded));
  return Value::Bool(found);
}
Value Not(CallContext&, Args a) { return Value::Bool(!a[0].AsBool()); }

// --- size
Value SizeOfString(CallContext& context, Args a) {
  context.budget.SpendText(a[0].Text().size());
  int64_t count = 0;
  for (const char c : a[0].Text()) count += (static_cast<unsigned char>(c) & 0xc0) != 0x80;
  return Value::Int(count);
}
Value SizeOfBytes(CallContext&, Args a) {
  return Value::Int(static_cast<int64_t>(a[0].Text().size()));
}
Value SizeOfList(CallContext&, Args a) {
  return Value::Int(static_cast<int64_t>(a[0].AsList().size()));
}
Value SizeOfMap(CallContext&, Args a) {
  return Value::Int(static_cast<int64_t>(a[0].AsMap().entries.size()));
}

}  // namespace

void AddOperators(std::vector<Overload>* table) {
  using enum TypeKind;
  const Type a = Type::Variable(1);
  const Type b = Type::Variable(2);
  const auto op = [&](std::string_view name, std::vector<Type> params, Type result, Function f) {
    table->push_back(
        {name, false, std::move(params), std::move(result), f, Mismatch::kPlain, false});
  };
  op("_+_", {kInt, kInt}, kInt, AddInt);
  op("_+_", {kUint, kUint}, kUint, AddUint);
  op("_+_", {kDouble, kDouble}, kDouble, AddDouble);
  op("_+_", {kString, kString}, kString, Concat);
  op("_+_", {kBytes, kBytes}, kBytes, Concat);
  op("_+_", {Type::ListOf(a), Type::ListOf(a)}, Type::ListOf(a), ConcatLists);
  op("_-_", {kInt, kInt}, kInt, SubInt);
  op("_-_", {kUint, kUint}, kUint, SubUint);
  op("_-_", {kDouble, kDouble}, kDouble, SubDouble);
  op("_*_", {kInt, kInt}, kInt, MulInt);
  op("_*_", {kUint, kUint}, kUint, MulUint);
  op("_*_", {kDouble, kDouble}, kDouble, MulDouble);
  op("_/_", {kInt, kInt}, kInt, DivInt);
  op("_/_", {kUint, kUint}, kUint, DivUint);
  op("_/_", {kDouble, kDouble}, kDouble, DivDouble);
  op("_%_", {kInt, kInt}, kInt, ModInt);
  op("_%_", {kUint, kUint}, kUint, ModUint);
  op("-_", {kInt}, kInt, NegInt);
  op("-_", {kDouble}, kDouble, NegDouble);
  op("!_", {kBool}, kBool, Not);
  op("_==_", {a, a}, kBool, EqualTo);
  op("_!=_", {a, a}, kBool, NotEqualTo);
  const std::pair<std::string_view, Function> orders[] = {
      {"_<_", Less}, {"_<=_", LessOrEqual}, {"_>_", Greater}, {"_>=_", GreaterOrEqual}};
  for (const auto& [name, f] : orders) {
    for (const TypeKind kind : {kBool, kString, kBytes, kDuration, kTimestamp}) {
      op(name, {kind, kind}, kBool, f);
    }
    for (const TypeKind left : {kInt, kUint, kDouble}) {
      for (const TypeKind right : {kInt, kUint, kDouble}) op(name, {left, right}, kBool, f);
    }
  }
  op("@in", {a, Type::ListOf(a)}, kBool, InList);
  op("@in", {a, Type::MapOf(a, b)}, kBool, InMap);
  for (const bool member : {false, true}) {
    const auto size = [&](Type type, Function f) {
      table->push_back({"size", member, {std::move(type)}, kInt, f, Mismatch::kName, false});
    };
    size(kString, SizeOfString);
    size(kBytes, SizeOfBytes);
    size(Type::ListOf(a), SizeOfList);
    size(Type::MapOf(a, b), SizeOfMap);
  }
}

}  // namespace berth::cel
