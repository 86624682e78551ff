// Kubernetes' own types: quantities and semantic versions.
#include <string>

#include "cel/functions.h"

namespace berth::cel {
namespace {

// Quantities are decimal numbers of any length: an operation on them takes some ten times as long
// as one on integers.
constexpr int64_t kQuantityCost = 10;

bool SpendQuantity(CallContext& context, std::string_view text) {
  return context.budget.Spend(kQuantityCost) && context.budget.SpendText(text.size() * 10);
}

Value ToQuantity(CallContext& context, Args a) {
  if (!SpendQuantity(context, a[0].Text())) return Value::Error(std::string(kCostExceeded));
  Result<api::Quantity> quantity = api::Quantity::Parse(a[0].Text());
  if (!quantity) return Value::Error(quantity.error().Message());
  return Value::FromQuantity(std::move(*quantity));
}
Value IsQuantity(CallContext& context, Args a) {
  if (!SpendQuantity(context, a[0].Text())) return Value::Error(std::string(kCostExceeded));
  return Value::Bool(api::Quantity::Parse(a[0].Text()).has_value());
}
Value Sign(CallContext&, Args a) { return Value::Int(a[0].AsQuantity().Sign()); }
Value QuantityGreater(CallContext&, Args a) {
  return Value::Bool(a[0].AsQuantity() > a[1].AsQuantity());
}
Value QuantityLess(CallContext&, Args a) {
  return Value::Bool(a[0].AsQuantity() < a[1].AsQuantity());
}
Value QuantityCompare(CallContext& context, Args a) {
  context.budget.Spend(kQuantityCost);
  const int order = a[0].AsQuantity().Compare(a[1].AsQuantity());
  return Value::Int(order < 0 ? -1 : (order > 0 ? 1 : 0));
}
Value AsFloat(CallContext&, Args a) { return Value::Double(a[0].AsQuantity().AsApproxDouble()); }
Value AsInteger(CallContext&, Args a) {
  int64_t value = 0;
  if (!a[0].AsQuantity().AsInt64(&value)) return Value::Error("cannot convert value to integer");
  return Value::Int(value);
}
Value IsInteger(CallContext&, Args a) {
  int64_t value = 0;
  return Value::Bool(a[0].AsQuantity().AsInt64(&value));
}
Value QuantityAdd(CallContext& context, Args a) {
  context.budget.Spend(kQuantityCost);
  api::Quantity sum = a[0].AsQuantity();
  sum.Add(a[1].kind() == Kind::kInt ? api::Quantity::FromInt(a[1].AsInt()) : a[1].AsQuantity());
  return Value::FromQuantity(std::move(sum));
}
Value QuantitySub(CallContext& context, Args a) {
  context.budget.Spend(kQuantityCost);
  api::Quantity difference = a[0].AsQuantity();
  difference.Sub(a[1].kind() == Kind::kInt ? api::Quantity::FromInt(a[1].AsInt())
                                           : a[1].AsQuantity());
  return Value::FromQuantity(std::move(difference));
}

Result<Semver> ParseVersion(Args a) {
  const bool normalize = a.size() > 1 && a[1].AsBool();
  return normalize ? Semver::ParseTolerant(a[0].Text()) : Semver::Parse(a[0].Text());
}
Value ToSemver(CallContext&, Args a) {
  Result<Semver> version = ParseVersion(a);
  if (!version) return Value::Error(version.error().Message());
  return Value::FromSemver(std::move(*version));
}
Value IsSemver(CallContext&, Args a) { return Value::Bool(ParseVersion(a).has_value()); }
int Order(Args a) { return a[0].AsSemver().Compare(a[1].AsSemver()); }
Value SemverGreater(CallContext&, Args a) { return Value::Bool(Order(a) > 0); }
Value SemverLess(CallContext&, Args a) { return Value::Bool(Order(a) < 0); }
Value SemverCompare(CallContext&, Args a) { return Value::Int(Order(a)); }
Value Major(CallContext&, Args a) {
  return Value::Int(static_cast<int64_t>(a[0].AsSemver().major));
}
Value Minor(CallContext&, Args a) {
  return Value::Int(static_cast<int64_t>(a[0].AsSemver().minor));
}
Value Patch(CallContext&, Args a) {
  return Value::Int(static_cast<int64_t>(a[0].AsSemver().patch));
}

}  // namespace

void AddKubernetes(std::vector<Overload>* table) {
  using enum TypeKind;
  const auto add = [&](std::string_view name, bool member, std::vector<Type> params, Type result,
                       Function f) {
    table->push_back(
        {name, member, std::move(params), std::move(result), f, Mismatch::kSignature, false});
  };
  add("quantity", false, {kString}, kQuantity, ToQuantity);
  add("isQuantity", false, {kString}, kBool, IsQuantity);
  add("sign", false, {kQuantity}, kInt, Sign);
  add("isGreaterThan", true, {kQuantity, kQuantity}, kBool, QuantityGreater);
  add("isLessThan", true, {kQuantity, kQuantity}, kBool, QuantityLess);
  add("compareTo", true, {kQuantity, kQuantity}, kInt, QuantityCompare);
  add("asApproximateFloat", true, {kQuantity}, kDouble, AsFloat);
  add("asInteger", true, {kQuantity}, kInt, AsInteger);
  add("isInteger", true, {kQuantity}, kBool, IsInteger);
  add("add", true, {kQuantity, kQuantity}, kQuantity, QuantityAdd);
  add("add", true, {kQuantity, kInt}, kQuantity, QuantityAdd);
  add("sub", true, {kQuantity, kQuantity}, kQuantity, QuantitySub);
  add("sub", true, {kQuantity, kInt}, kQuantity, QuantitySub);
  add("semver", false, {kString}, kSemver, ToSemver);
  add("semver", false, {kString, kBool}, kSemver, ToSemver);
  add("isSemver", false, {kString}, kBool, IsSemver);
  add("isSemver", false, {kString, kBool}, kBool, IsSemver);
  add("isGreaterThan", true, {kSemver, kSemver}, kBool, SemverGreater);
  add("isLessThan", true, {kSemver, kSemver}, kBool, SemverLess);
  add("compareTo", true, {kSemver, kSemver}, kInt, SemverCompare);
  add("major", true, {kSemver}, kInt, Major);
  add("minor", true, {kSemver}, kInt, Minor);
  add("patch", true, {kSemver}, kInt, Patch);
}

}  // namespace berth::cel
