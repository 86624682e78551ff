// matches(), find() and findAll().
#include <string>

#include "cel/functions.h"

namespace berth::cel {
namespace {

bool SpendMatch(CallContext& context, Args a) {
  const auto text = static_cast<int64_t>(a[0].Text().size());
  const auto pattern = static_cast<int64_t>(a[1].Text().size());
  return context.budget.Spend(1 + (text / 10 + 1) * (pattern / 4 + 1));
}

Value Matches(CallContext& context, Args a) {
  if (!SpendMatch(context, a)) return Value::Error(std::string(kCostExceeded));
  const Result<const Regex*> regex = context.regexes.Get(a[1].Text());
  if (!regex) return Value::Error(regex.error().Message());
  return Value::Bool((*regex)->Matches(a[0].Text()));
}

Value Find(CallContext& context, Args a) {
  if (!SpendMatch(context, a)) return Value::Error(std::string(kCostExceeded));
  const Result<const Regex*> regex = context.regexes.Get(a[1].Text());
  if (!regex) return Value::Error("Illegal regex: " + regex.error().Message());
  const auto found = (*regex)->FindAll(a[0].Text(), 1);
  return Value::String(found.empty() ? std::string() : std::string(found[0]));
}

Value FindAll(CallContext& context, Args a) {
  if (!SpendMatch(context, a)) return Value::Error(std::string(kCostExceeded));
  const Result<const Regex*> regex = context.regexes.Get(a[1].Text());
  if (!regex) return Value::Error("Illegal regex: " + regex.error().Message());
  List found;
  for (std::string_view match : (*regex)->FindAll(a[0].Text(), a.size() > 2 ? a[2].AsInt() : -1)) {
    found.push_back(Value::String(std::string(match)));
  }
  return Value::FromList(std::move(found));
}

}  // namespace

void AddRegexes(std::vector<Overload>* table) {
  using enum TypeKind;
  for (const bool member : {false, true}) {
    table->push_back(
        {"matches", member, {kString, kString}, kBool, Matches, Mismatch::kPlain, false});
  }
  const Type strings = Type::ListOf(kString);
  const auto add = [&](std::string_view name, std::vector<Type> params, Type result, Function f) {
    table->push_back(
        {name, true, std::move(params), std::move(result), f, Mismatch::kSignature, false});
  };
  add("find", {kString, kString}, kString, Find);
  add("findAll", {kString, kString}, strings, FindAll);
  add("findAll", {kString, kString, kInt}, strings, FindAll);
}

}  // namespace berth::cel
