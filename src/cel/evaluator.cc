#include "cel/evaluator.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <string>

#include <boost/container/small_vector.hpp>

#include "api/go/go_text.h"
#include "cel/checker.h"

namespace berth::cel {
namespace {

std::string KeyText(const Value& key) {
  switch (key.kind()) {
    case Kind::kString:
      return std::string(key.Text());
    case Kind::kInt:
      return std::to_string(key.AsInt());
    case Kind::kUint:
      return std::to_string(key.AsUint());
    case Kind::kDouble:
      return api::FormatGoFloat(key.AsDouble());
    case Kind::kBool:
      return key.AsBool() ? "true" : "false";
    default:
      return std::string(key.TypeName());
  }
}

Value NoSuchKey(const Value& key) { return Value::Error("no such key: " + KeyText(key)); }

Value Mismatched(const Overload& overload, Args args) {
  std::string message = "no such overload";
  switch (overload.mismatch) {
    case Mismatch::kPlain:
      break;
    case Mismatch::kName:
      message += ": " + std::string(overload.name);
      break;
    case Mismatch::kSignature:
      message += ": " + std::string(overload.name) + "(";
      for (size_t i = 0; i < args.size(); ++i) {
        if (i > 0) message += ", ";
        message += args[i].TypeName();
      }
      message += ")";
      break;
  }
  return Value::Error(std::move(message));
}

Value Apply(CallContext& context, const std::vector<const Overload*>& overloads, Args args) {
  for (const Value& arg : args) {
    if (arg.IsError()) return arg;
  }
  for (const Overload* overload : overloads) {
    if (Accepts(*overload, args)) return overload->function(context, args);
  }
  return Mismatched(*overloads.front(), args);
}

class Evaluator {
 public:
  Evaluator(const Ast& ast, int slots, const Value& device, RegexCache& regexes)
      : ast_(ast), slots_(static_cast<size_t>(slots)), context_{budget_, regexes} {
    slots_[kDeviceSlot] = device;
  }

  Value Run() {
    Value value = Eval(ast_.root);
    return budget_.Exhausted() ? Exceeded() : value;
  }

 private:
  const Node& At(NodeId id) const { return ast_.nodes[static_cast<size_t>(id)]; }
  Value& Slot(const Node& node, int offset = 0) {
    return slots_[static_cast<size_t>(node.slot + offset)];
  }
  static Value Exceeded() { return Value::Error(std::string(kCostExceeded)); }

  Value Eval(NodeId id) {
    if (!budget_.Spend(1)) return Exceeded();
    const Node& node = At(id);
    switch (node.kind) {
      case NodeKind::kLiteral:
        return node.literal;
      case NodeKind::kIdent:
        return slots_[static_cast<size_t>(node.slot)];
      case NodeKind::kSelect:
        return Select(Eval(node.args[0]), Value::BorrowedString(node.text));
      case NodeKind::kOptSelect:
        return OptionalGet(Eval(node.args[0]), Value::BorrowedString(node.text));
      case NodeKind::kHas:
        return Has(Eval(node.args[0]), node.text);
      case NodeKind::kIndex:
        return Index(node);
      case NodeKind::kOptIndex:
        return OptIndex(node);
      case NodeKind::kAnd:
        return Logical(node, false);
      case NodeKind::kOr:
        return Logical(node, true);
      case NodeKind::kConditional:
        return Conditional(node);
      case NodeKind::kCall:
        return Call(node);
      case NodeKind::kList:
        return ListLiteral(node);
      case NodeKind::kMap:
        return MapLiteral(node);
      case NodeKind::kBind:
        Slot(node) = Eval(node.args[0]);
        return Eval(node.args[1]);
      case NodeKind::kAll:
        return Quantified(node, false);
      case NodeKind::kExists:
        return Quantified(node, true);
      case NodeKind::kExistsOne:
        return ExistsOne(node);
      case NodeKind::kFilter:
        return Filter(node);
      case NodeKind::kMapMacro:
      case NodeKind::kTransformList:
      case NodeKind::kTransformMap:
        return Transform(node);
      case NodeKind::kSortBy:
        return SortBy(node);
      case NodeKind::kOptMap:
      case NodeKind::kOptFlatMap:
        return OptMap(node);
    }
    return Value::Error("unknown operation");
  }

  // --- access
  // The element, or nothing. An error when the operand has no elements of such a key.
  std::optional<Value> Find(const Value& operand, const Value& key, Value* error) {
    if (operand.kind() == Kind::kMap) {
      const Map& map = operand.AsMap();
      if (const Value* found = map.Find(key, budget_)) return *found;
      if (budget_.Exhausted()) {
        *error = Exceeded();
        return std::nullopt;
      }
      if (map.missing_is_empty) return Value::FromMap({});
      return std::nullopt;
    }
    if (operand.kind() == Kind::kList) return FindInList(operand.AsList(), key, error);
    *error = NoSuchKey(key);
    return std::nullopt;
  }

  static std::optional<Value> FindInList(const List& list, const Value& key, Value* error) {
    int64_t index = 0;
    if (key.kind() == Kind::kInt) {
      index = key.AsInt();
    } else if (key.kind() == Kind::kUint && key.AsUint() < list.size()) {
      index = static_cast<int64_t>(key.AsUint());
    } else if (key.kind() == Kind::kDouble && key.AsDouble() >= 0 &&
               key.AsDouble() < static_cast<double>(list.size()) &&
               static_cast<double>(static_cast<int64_t>(key.AsDouble())) == key.AsDouble()) {
      index = static_cast<int64_t>(key.AsDouble());
    } else {
      *error = Value::Error("unsupported index type '" + std::string(key.TypeName()) + "' in list");
      return std::nullopt;
    }
    if (index < 0 || index >= static_cast<int64_t>(list.size())) {
      *error = Value::Error("index out of bounds: " + std::to_string(index));
      return std::nullopt;
    }
    return list[static_cast<size_t>(index)];
  }

  Value Select(const Value& operand, const Value& key) {
    if (operand.IsError()) return operand;
    if (operand.kind() == Kind::kOptional) return OptionalGet(operand, key);
    Value error;
    std::optional<Value> found = Find(operand, key, &error);
    if (found) return std::move(*found);
    return error.IsError() ? error : NoSuchKey(key);
  }

  // operand.?key: none when the key is missing.
  Value OptionalGet(const Value& operand, const Value& key) {
    if (operand.IsError()) return operand;
    if (operand.kind() == Kind::kOptional) {
      return operand.HasValue() ? OptionalGet(operand.Inner(), key) : Value::None();
    }
    Value error;
    std::optional<Value> found = Find(operand, key, &error);
    if (budget_.Exhausted()) return Exceeded();
    return found ? Value::Some(std::move(*found)) : Value::None();
  }

  Value Has(const Value& operand, const std::string& field) {
    if (operand.IsError()) return operand;
    if (operand.kind() == Kind::kOptional) {
      return operand.HasValue() ? Has(operand.Inner(), field) : Value::Bool(false);
    }
    if (operand.kind() != Kind::kMap) return Value::Bool(false);
    const Map& map = operand.AsMap();
    if (map.missing_is_empty) return Value::Bool(true);
    const bool found = map.Find(Value::BorrowedString(field), budget_) != nullptr;
    return budget_.Exhausted() ? Exceeded() : Value::Bool(found);
  }

  Value Index(const Node& node) {
    const Value operand = Eval(node.args[0]);
    const Value key = Eval(node.args[1]);
    if (operand.IsError()) return operand;
    return key.IsError() ? key : Select(operand, key);
  }

  Value OptIndex(const Node& node) {
    const Value operand = Eval(node.args[0]);
    const Value key = Eval(node.args[1]);
    if (operand.IsError()) return operand;
    return key.IsError() ? key : OptionalGet(operand, key);
  }

  // --- operators
  // && and ||: a value that decides wins over any error.
  Value Logical(const Node& node, bool decisive) {
    std::optional<Value> error;
    for (NodeId arg : node.args) {
      const Value value = Eval(arg);
      if (value.kind() == Kind::kBool) {
        if (value.AsBool() == decisive) return value;
      } else if (!error) {
        error = value.IsError() ? value : Value::NoSuchOverload();
      }
      if (budget_.Exhausted()) return Exceeded();
    }
    return error ? *error : Value::Bool(!decisive);
  }

  Value Conditional(const Node& node) {
    const Value condition = Eval(node.args[0]);
    if (condition.IsError()) return condition;
    if (condition.kind() != Kind::kBool) return Value::NoSuchOverload();
    return Eval(condition.AsBool() ? node.args[1] : node.args[2]);
  }

  Value Call(const Node& node) {
    boost::container::small_vector<Value, 4> args;
    for (NodeId arg : node.args) args.push_back(Eval(arg));
    return Apply(context_, node.overloads, {args.data(), args.size()});
  }

  // --- literals
  Value ListLiteral(const Node& node) {
    List list;
    for (size_t i = 0; i < node.args.size(); ++i) {
      Value value = Eval(node.args[i]);
      if (value.IsError()) return value;
      if (node.optional[i]) {
        if (value.kind() != Kind::kOptional) return NotOptional(value);
        if (!value.HasValue()) continue;
        value = Value(value.Inner());
      }
      list.push_back(std::move(value));
    }
    return Value::FromList(std::move(list));
  }

  static Value NotOptional(const Value& value) {
    return Value::Error("cannot initialize optional list element from non-optional value " +
                        KeyText(value));
  }

  Value MapLiteral(const Node& node) {
    Map map;
    for (size_t i = 0; i + 1 < node.args.size(); i += 2) {
      Value key = Eval(node.args[i]);
      if (key.IsError()) return key;
      Value value = Eval(node.args[i + 1]);
      if (value.IsError()) return value;
      if (node.optional[i / 2]) {
        if (value.kind() != Kind::kOptional) return NotOptional(value);
        if (!value.HasValue()) continue;
        value = Value(value.Inner());
      }
      Put(&map, std::move(key), std::move(value));
      if (budget_.Exhausted()) return Exceeded();
    }
    return Value::FromMap(std::move(map));
  }

  // The last of several equal keys counts.
  void Put(Map* map, Value key, Value value) {
    budget_.Spend(static_cast<int64_t>(map->entries.size()) / 16);
    for (auto& [known, old] : map->entries) {
      if (Equal(known, key, budget_).IsTrue()) {
        old = std::move(value);
        return;
      }
    }
    map->entries.emplace_back(std::move(key), std::move(value));
  }

  // --- macros
  // Calls body(key or index, value) for every element until it returns false; an error when there
  // are no elements.
  template <class Body>
  Value ForEach(const Node& node, const Value& range, Body body) {
    if (range.IsError()) return range;
    const bool two = !node.var2.empty();
    const auto run = [&](const Value& key, const Value& value) {
      Slot(node) = key;
      if (two) Slot(node, 1) = value;
      return body(key, value) && !budget_.Exhausted();
    };
    if (range.kind() == Kind::kList) {
      const List& list = range.AsList();
      for (size_t i = 0; i < list.size(); ++i) {
        const Value index = Value::Int(static_cast<int64_t>(i));
        if (!run(two ? index : list[i], list[i])) break;
      }
    } else if (range.kind() == Kind::kMap) {
      for (const auto& [key, value] : range.AsMap().entries) {
        if (!run(key, value)) break;
      }
    } else {
      return Value::NoSuchOverload();
    }
    return budget_.Exhausted() ? Exceeded() : Value::Null();
  }

  // all (decisive false) and exists (decisive true).
  Value Quantified(const Node& node, bool decisive) {
    Value result = Value::Bool(!decisive);
    const Value range = Eval(node.args[0]);
    const Value ran = ForEach(node, range, [&](const Value&, const Value&) {
      const Value value = Eval(node.args[1]);
      if (value.kind() == Kind::kBool) {
        if (value.AsBool() != decisive) return true;
        result = value;
        return false;
      }
      if (!result.IsError()) result = value.IsError() ? value : Value::NoSuchOverload();
      return true;
    });
    return ran.IsError() ? ran : result;
  }

  Value ExistsOne(const Node& node) {
    Value error;
    int64_t count = 0;
    const Value range = Eval(node.args[0]);
    const Value ran = ForEach(node, range, [&](const Value&, const Value&) {
      return Test(node.args[1], &error, [&] { ++count; });
    });
    if (ran.IsError()) return ran;
    return error.IsError() ? error : Value::Bool(count == 1);
  }

  // Runs `then` if the condition holds; false (and an error) if it is no condition.
  template <class Then>
  bool Test(NodeId condition, Value* error, Then then) {
    const Value value = Eval(condition);
    if (value.kind() != Kind::kBool) {
      *error = value.IsError() ? value : Value::NoSuchOverload();
      return false;
    }
    if (value.AsBool()) then();
    return !error->IsError();
  }

  Value Filter(const Node& node) {
    Value error;
    List kept;
    const Value range = Eval(node.args[0]);
    const Value ran = ForEach(node, range, [&](const Value& key, const Value&) {
      return Test(node.args[1], &error, [&] { kept.push_back(key); });
    });
    if (ran.IsError()) return ran;
    return error.IsError() ? error : Value::FromList(std::move(kept));
  }

  Value Transform(const Node& node) {
    Value error;
    List list;
    Map map;
    const Value range = Eval(node.args[0]);
    const Value ran = ForEach(node, range, [&](const Value& key, const Value&) {
      const auto add = [&] {
        Value value = Eval(node.args[2]);
        if (value.IsError()) {
          error = value;
        } else if (node.kind == NodeKind::kTransformMap) {
          map.entries.emplace_back(key, std::move(value));
        } else {
          list.push_back(std::move(value));
        }
      };
      if (node.args[1] != kNoNode) return Test(node.args[1], &error, add);
      add();
      return !error.IsError();
    });
    if (ran.IsError()) return ran;
    if (error.IsError()) return error;
    return node.kind == NodeKind::kTransformMap ? Value::FromMap(std::move(map))
                                                : Value::FromList(std::move(list));
  }

  Value SortBy(const Node& node) {
    List keys;
    const Value range = Eval(node.args[0]);
    if (!range.IsError() && range.kind() != Kind::kList) return Value::NoSuchOverload();
    Value error;
    const Value ran = ForEach(node, range, [&](const Value&, const Value&) {
      keys.push_back(Eval(node.args[1]));
      if (keys.back().IsError() || Compare(keys.back(), keys.front()).IsError()) {
        error = keys.back().IsError() ? keys.back()
                                      : Value::Error("list elements must have the same type");
      }
      return !error.IsError();
    });
    if (ran.IsError()) return ran;
    if (error.IsError()) return error;
    std::vector<size_t> order(keys.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t a, size_t b) { return Compare(keys[a], keys[b]).AsInt() < 0; });
    List sorted;
    for (size_t i : order) sorted.push_back(range.AsList()[i]);
    return Value::FromList(std::move(sorted));
  }

  Value OptMap(const Node& node) {
    const Value target = Eval(node.args[0]);
    if (target.IsError()) return target;
    if (target.kind() != Kind::kOptional) return Value::NoSuchOverload();
    if (!target.HasValue()) return Value::None();
    Slot(node) = target.Inner();
    Value value = Eval(node.args[1]);
    if (value.IsError() || node.kind == NodeKind::kOptFlatMap) return value;
    return Value::Some(std::move(value));
  }

  const Ast& ast_;
  std::vector<Value> slots_;
  Budget budget_{kCostLimit};
  CallContext context_;
};

}  // namespace

Value Evaluate(const Ast& ast, int slots, const Value& device, RegexCache& regexes) {
  return Evaluator(ast, slots, device, regexes).Run();
}

Value EvaluateConstant(const Ast& ast, const Node& call, RegexCache& regexes) {
  Budget budget(kCostLimit);
  CallContext context{budget, regexes};
  std::vector<Value> args;
  for (NodeId arg : call.args) args.push_back(ast.nodes[static_cast<size_t>(arg)].literal);
  return Apply(context, call.overloads, args);
}

}  // namespace berth::cel
