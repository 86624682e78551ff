// Functions on lists and sets.
#include <algorithm>
#include <string>

#include "cel/functions.h"

namespace berth::cel {
namespace {

Value Exceeded() { return Value::Error(std::string(kCostExceeded)); }

bool SpendList(CallContext& context, const List& list) {
  return context.budget.Spend(1 + static_cast<int64_t>(list.size()));
}

Value Sum(CallContext& context, Args a) {
  const List& list = a[0].AsList();
  if (!SpendList(context, list)) return Exceeded();
  if (list.empty()) return Value::Int(0);
  Value sum = list[0];
  for (size_t i = 1; i < list.size(); ++i) {
    const Value pair[] = {sum, list[i]};
    const Overload* add = nullptr;
    for (const Overload* overload : FindFunction("_+_")) {
      if (Accepts(*overload, Args(pair))) add = overload;
    }
    if (add == nullptr || !sum.IsNumber()) return Value::NoSuchOverload();
    sum = add->function(context, Args(pair));
    if (sum.IsError()) return sum;
  }
  return sum;
}

// The element before all others in the given direction.
Value Extreme(CallContext& context, Args a, const char* name, int64_t direction) {
  const List& list = a[0].AsList();
  if (!SpendList(context, list)) return Exceeded();
  if (list.empty()) return Value::Error(std::string(name) + " called on empty list");
  Value best = list[0];
  for (const Value& element : list) {
    const Value order = Compare(element, best);
    if (order.IsError()) return order;
    if (order.AsInt() == direction) best = element;
  }
  return best;
}
Value Min(CallContext& context, Args a) { return Extreme(context, a, "min", -1); }
Value Max(CallContext& context, Args a) { return Extreme(context, a, "max", 1); }

Value IsSorted(CallContext& context, Args a) {
  const List& list = a[0].AsList();
  if (!SpendList(context, list)) return Exceeded();
  for (size_t i = 1; i < list.size(); ++i) {
    const Value order = Compare(list[i - 1], list[i]);
    if (order.IsError()) return order;
    if (order.AsInt() > 0) return Value::Bool(false);
  }
  return Value::Bool(true);
}

Value IndexOf(CallContext& context, Args a) {
  const List& list = a[0].AsList();
  for (size_t i = 0; i < list.size(); ++i) {
    if (Equal(list[i], a[1], context.budget).IsTrue()) return Value::Int(static_cast<int64_t>(i));
    if (context.budget.Exhausted()) return Exceeded();
  }
  return Value::Int(-1);
}
Value LastIndexOf(CallContext& context, Args a) {
  const List& list = a[0].AsList();
  for (size_t i = list.size(); i-- > 0;) {
    if (Equal(list[i], a[1], context.budget).IsTrue()) return Value::Int(static_cast<int64_t>(i));
    if (context.budget.Exhausted()) return Exceeded();
  }
  return Value::Int(-1);
}

Value Slice(CallContext& context, Args a) {
  const List& list = a[0].AsList();
  const int64_t start = a[1].AsInt();
  const int64_t end = a[2].AsInt();
  const std::string call =
      "cannot slice(" + std::to_string(start) + ", " + std::to_string(end) + "), ";
  if (start < 0 || end < 0) return Value::Error(call + "negative indexes not supported");
  if (start > end) {
    return Value::Error(call + "start index must be less than or equal to end index");
  }
  if (static_cast<int64_t>(list.size()) < end) {
    return Value::Error(call + "list is length " + std::to_string(list.size()));
  }
  if (!SpendList(context, list)) return Exceeded();
  return Value::FromList(List(list.begin() + start, list.begin() + end));
}

bool FlattenInto(CallContext& context, const List& list, int64_t depth, List* out) {
  for (const Value& element : list) {
    if (!context.budget.Spend(1)) return false;
    if (element.kind() != Kind::kList || depth == 0) {
      out->push_back(element);
    } else if (!FlattenInto(context, element.AsList(), depth - 1, out)) {
      return false;
    }
  }
  return true;
}
Value Flatten(CallContext& context, Args a) {
  const int64_t depth = a.size() > 1 ? a[1].AsInt() : 1;
  if (depth < 0) return Value::Error("level must be non-negative");
  List flat;
  if (!FlattenInto(context, a[0].AsList(), depth, &flat)) return Exceeded();
  return Value::FromList(std::move(flat));
}

Value Sort(CallContext& context, Args a) {
  List list = a[0].AsList();
  if (!context.budget.Spend(1 + static_cast<int64_t>(list.size()) * 8)) return Exceeded();
  for (const Value& element : list) {
    if (element.kind() != list[0].kind()) {
      return Value::Error("list elements must have the same type");
    }
    if (Compare(element, list[0]).IsError()) {
      return Value::Error("list elements must be comparable");
    }
  }
  std::stable_sort(list.begin(), list.end(),
                   [](const Value& x, const Value& y) { return Compare(x, y).AsInt() < 0; });
  return Value::FromList(std::move(list));
}

Value Distinct(CallContext& context, Args a) {
  List unique;
  for (const Value& element : a[0].AsList()) {
    const bool seen = std::any_of(unique.begin(), unique.end(), [&](const Value& u) {
      return Equal(u, element, context.budget).IsTrue();
    });
    if (context.budget.Exhausted()) return Exceeded();
    if (!seen) unique.push_back(element);
  }
  return Value::FromList(std::move(unique));
}

Value Reverse(CallContext& context, Args a) {
  const List& list = a[0].AsList();
  if (!SpendList(context, list)) return Exceeded();
  return Value::FromList(List(list.rbegin(), list.rend()));
}

Value Range(CallContext& context, Args a) {
  List list;
  for (int64_t i = 0; i < a[0].AsInt(); ++i) {
    if (!context.budget.Spend(1)) return Exceeded();
    list.push_back(Value::Int(i));
  }
  return Value::FromList(std::move(list));
}

bool Has(CallContext& context, const List& list, const Value& wanted) {
  return std::any_of(list.begin(), list.end(), [&](const Value& element) {
    return Equal(element, wanted, context.budget).IsTrue();
  });
}
bool HasAll(CallContext& context, const List& list, const List& wanted) {
  return std::all_of(wanted.begin(), wanted.end(), [&](const Value& w) {
    return !context.budget.Exhausted() && Has(context, list, w);
  });
}
Value SetsContains(CallContext& context, Args a) {
  const bool contains = HasAll(context, a[0].AsList(), a[1].AsList());
  return context.budget.Exhausted() ? Exceeded() : Value::Bool(contains);
}
Value SetsEquivalent(CallContext& context, Args a) {
  const bool equal = HasAll(context, a[0].AsList(), a[1].AsList()) &&
                     HasAll(context, a[1].AsList(), a[0].AsList());
  return context.budget.Exhausted() ? Exceeded() : Value::Bool(equal);
}
Value SetsIntersects(CallContext& context, Args a) {
  const List& left = a[0].AsList();
  const bool some = std::any_of(left.begin(), left.end(), [&](const Value& v) {
    return !context.budget.Exhausted() && Has(context, a[1].AsList(), v);
  });
  return context.budget.Exhausted() ? Exceeded() : Value::Bool(some);
}

}  // namespace

void AddLists(std::vector<Overload>* table) {
  using enum TypeKind;
  const Type a = Type::Variable(1);
  const Type list = Type::ListOf(a);
  const auto add = [&](std::string_view name, bool member, std::vector<Type> params, Type result,
                       Function f) {
    table->push_back(
        {name, member, std::move(params), std::move(result), f, Mismatch::kSignature, false});
  };
  for (const TypeKind kind : {kInt, kUint, kDouble}) {
    add("sum", true, {Type::ListOf(kind)}, kind, Sum);
  }
  for (const TypeKind kind :
       {kInt, kUint, kDouble, kBool, kDuration, kTimestamp, kString, kBytes}) {
    add("min", true, {Type::ListOf(kind)}, kind, Min);
    add("max", true, {Type::ListOf(kind)}, kind, Max);
    add("isSorted", true, {Type::ListOf(kind)}, kBool, IsSorted);
    add("sort", true, {Type::ListOf(kind)}, Type::ListOf(kind), Sort);
  }
  add("indexOf", true, {list, a}, kInt, IndexOf);
  add("lastIndexOf", true, {list, a}, kInt, LastIndexOf);
  add("slice", true, {list, kInt, kInt}, list, Slice);
  add("flatten", true, {Type::ListOf(list)}, list, Flatten);
  add("flatten", true, {Type::ListOf(kDyn)}, Type::ListOf(kDyn), Flatten);
  add("flatten", true, {Type::ListOf(kDyn), kInt}, Type::ListOf(kDyn), Flatten);
  add("distinct", true, {list}, list, Distinct);
  add("reverse", true, {list}, list, Reverse);
  add("lists.range", false, {kInt}, Type::ListOf(kInt), Range);
  add("sets.contains", false, {list, list}, kBool, SetsContains);
  add("sets.equivalent", false, {list, list}, kBool, SetsEquivalent);
  add("sets.intersects", false, {list, list}, kBool, SetsIntersects);
}

}  // namespace berth::cel
