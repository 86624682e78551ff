#include "cel/checker.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "cel/evaluator.h"
#include "cel/functions.h"
#include "cel/regex.h"

namespace berth::cel {
namespace {

class Checker {
 public:
  explicit Checker(Ast* ast) : ast_(*ast) { scope_.push_back({"device", TypeKind::kDevice}); }

  CheckResult Run() {
    result_.type = substitution_.Apply(Visit(ast_.root));
    if (result_.issues.empty()) result_.issues = std::move(literal_issues_);
    std::stable_sort(result_.issues.begin(), result_.issues.end(),
                     [](const Issue& a, const Issue& b) { return a.pos < b.pos; });
    return std::move(result_);
  }

 private:
  Node& At(NodeId id) { return ast_.nodes[static_cast<size_t>(id)]; }

  Type Report(size_t pos, std::string message) {
    result_.issues.push_back({pos, std::move(message)});
    return TypeKind::kError;
  }

  Type Visit(NodeId id) {
    Node& node = At(id);
    switch (node.kind) {
      case NodeKind::kLiteral:
        return LiteralType(node.literal);
      case NodeKind::kIdent:
        return Ident(node);
      case NodeKind::kSelect:
        return Select(node, false);
      case NodeKind::kOptSelect:
        return Select(node, true);
      case NodeKind::kHas:
        Select(node, false);
        return TypeKind::kBool;
      case NodeKind::kIndex:
        return Index(node, false);
      case NodeKind::kOptIndex:
        return Index(node, true);
      case NodeKind::kAnd:
      case NodeKind::kOr:
        return Logical(node);
      case NodeKind::kConditional:
        return Conditional(node);
      case NodeKind::kCall:
        return Call(node);
      case NodeKind::kList:
        return ListLiteral(node);
      case NodeKind::kMap:
        return MapLiteral(node);
      case NodeKind::kBind:
        return Bind(node);
      case NodeKind::kAll:
      case NodeKind::kExists:
      case NodeKind::kExistsOne:
      case NodeKind::kFilter:
      case NodeKind::kMapMacro:
      case NodeKind::kTransformList:
      case NodeKind::kTransformMap:
      case NodeKind::kSortBy:
        return Comprehension(node);
      case NodeKind::kOptMap:
      case NodeKind::kOptFlatMap:
        return OptMap(node);
    }
    return TypeKind::kError;
  }

  static Type LiteralType(const Value& value) {
    switch (value.kind()) {
      case Kind::kNull:
        return TypeKind::kNull;
      case Kind::kBool:
        return TypeKind::kBool;
      case Kind::kInt:
        return TypeKind::kInt;
      case Kind::kUint:
        return TypeKind::kUint;
      case Kind::kDouble:
        return TypeKind::kDouble;
      case Kind::kString:
        return TypeKind::kString;
      case Kind::kBytes:
        return TypeKind::kBytes;
      default:
        return TypeKind::kDyn;
    }
  }

  // --- names
  Type Ident(Node& node) {
    for (size_t i = scope_.size(); i-- > 0;) {
      if (scope_[i].first == node.text) {
        node.slot = static_cast<int>(i);
        return scope_[i].second;
      }
    }
    static const std::pair<std::string_view, Type> kTypes[] = {
        {"bool", TypeKind::kBool},
        {"int", TypeKind::kInt},
        {"uint", TypeKind::kUint},
        {"double", TypeKind::kDouble},
        {"string", TypeKind::kString},
        {"bytes", TypeKind::kBytes},
        {"null_type", TypeKind::kNull},
        {"list", Type::ListOf(TypeKind::kDyn)},
        {"map", Type::MapOf(TypeKind::kDyn, TypeKind::kDyn)},
        {"type", TypeKind::kType}};
    for (const auto& [name, type] : kTypes) {
      if (node.text != name) continue;
      node.kind = NodeKind::kLiteral;
      node.literal = Value::Type(name);
      return Type::TypeOf(type);
    }
    return Report(node.pos, "undeclared reference to '" + node.text + "' (in container '')");
  }

  // "google.protobuf.Duration" or "net.IP", which read like fields of something.
  std::optional<Type> QualifiedType(Node& node) {
    static const std::pair<std::string_view, Type> kTypes[] = {
        {"google.protobuf.Duration", TypeKind::kDuration},
        {"google.protobuf.Timestamp", TypeKind::kTimestamp},
        {"net.IP", TypeKind::kAddress},
        {"net.CIDR", TypeKind::kNetwork}};
    if (node.kind != NodeKind::kSelect) return std::nullopt;
    std::string name = node.text;
    const Node* part = &At(node.args[0]);
    for (; part->kind == NodeKind::kSelect; part = &At(part->args[0]))
      name = part->text + "." + name;
    if (part->kind != NodeKind::kIdent || InScope(part->text)) return std::nullopt;
    name = part->text + "." + name;
    for (const auto& [known, type] : kTypes) {
      if (known != name) continue;
      node.kind = NodeKind::kLiteral;
      node.literal = Value::Type(known);
      return Type::TypeOf(type);
    }
    return std::nullopt;
  }
  bool InScope(std::string_view name) const {
    return std::any_of(scope_.begin(), scope_.end(),
                       [&](const auto& variable) { return variable.first == name; });
  }

  // A variable alive for the nodes visited until Pop.
  void Push(const std::string& name, Type type) {
    scope_.push_back({name, std::move(type)});
    result_.slots = std::max(result_.slots, static_cast<int>(scope_.size()));
  }
  void Pop(size_t count) { scope_.resize(scope_.size() - count); }

  // --- access
  Type Select(Node& node, bool make_optional) {
    if (const std::optional<Type> type = QualifiedType(node)) return *type;
    Type operand = substitution_.Apply(Visit(node.args[0]));
    bool optional = make_optional;
    if (operand.kind == TypeKind::kOptional) {
      optional = true;
      operand = substitution_.Apply(operand.params[0]);
    }
    Type field = Field(node, operand);
    return optional && field.kind != TypeKind::kError ? Type::OptionalOf(std::move(field)) : field;
  }

  Type Field(const Node& node, const Type& operand) {
    switch (operand.kind) {
      case TypeKind::kDevice:
        if (node.text == "driver") return TypeKind::kString;
        if (node.text == "attributes") {
          return Type::MapOf(TypeKind::kString, Type::MapOf(TypeKind::kString, TypeKind::kAny));
        }
        if (node.text == "capacity") {
          return Type::MapOf(TypeKind::kString,
                             Type::MapOf(TypeKind::kString, TypeKind::kQuantity));
        }
        // Whatever the feature gates are: an expression that was stored once stays valid.
        if (node.text == "allowMultipleAllocations") return TypeKind::kBool;
        return Report(node.pos, "undefined field '" + node.text + "'");
      case TypeKind::kMap:
        return operand.params[1];
      case TypeKind::kError:
      case TypeKind::kDyn:
      case TypeKind::kAny:
      case TypeKind::kVariable:
        return TypeKind::kDyn;
      case TypeKind::kQuantity:
      case TypeKind::kSemver:
        return Report(node.pos, "undefined field '" + node.text + "'");
      default:
        return Report(node.pos,
                      "type '" + TypeText(operand) + "' does not support field selection");
    }
  }

  Type Index(Node& node, bool make_optional) {
    Type operand = substitution_.Apply(Visit(node.args[0]));
    const Type index = substitution_.Apply(Visit(node.args[1]));
    const Type given = operand;
    bool optional = make_optional;
    if (operand.kind == TypeKind::kOptional) {
      optional = true;
      operand = substitution_.Apply(operand.params[0]);
    }
    Type element = TypeKind::kDyn;
    bool fits = true;
    if (operand.kind == TypeKind::kList) {
      fits = substitution_.Assign(index, TypeKind::kInt);
      element = operand.params[0];
    } else if (operand.kind == TypeKind::kMap) {
      fits = substitution_.Assign(index, operand.params[0]);
      element = operand.params[1];
    } else {
      fits = operand.IsDynamic() || operand.kind == TypeKind::kVariable;
    }
    if (!fits) {
      return NoOverload(node.pos, make_optional ? "_[?_]" : "_[_]", false, {given, index});
    }
    element = substitution_.Apply(element);
    return optional ? Type::OptionalOf(std::move(element)) : element;
  }

  // --- operators
  Type Logical(Node& node) {
    for (const NodeId arg : node.args) WantBool(arg, Visit(arg));
    return TypeKind::kBool;
  }

  Type Conditional(Node& node) {
    std::vector<Type> types;
    for (NodeId arg : node.args) types.push_back(substitution_.Apply(Visit(arg)));
    const Type joined = substitution_.Fresh();
    if (!substitution_.Assign(types[0], TypeKind::kBool) ||
        !substitution_.Assign(types[1], joined) || !substitution_.Assign(types[2], joined)) {
      return NoOverload(node.pos, "_?_:_", false, types);
    }
    return substitution_.Apply(joined);
  }

  Type NoOverload(size_t pos, const std::string& name, bool member,
                  const std::vector<Type>& types) {
    std::string signature;
    for (size_t i = 0; i < types.size(); ++i) {
      if (types[i].kind == TypeKind::kError) return TypeKind::kError;  // reported already
      const std::string text = TypeText(substitution_.Apply(types[i]));
      if (member && i == 0) {
        signature = text + ".(";
        continue;
      }
      if (i == 0) signature = "(";
      if (i > (member ? 1u : 0u)) signature += ", ";
      signature += text;
    }
    if (types.empty()) signature = "(";
    return Report(pos,
                  "found no matching overload for '" + name + "' applied to '" + signature + ")'");
  }

  // sets.contains(x): a target that is no value but the first part of a function's name.
  bool Qualified(Node& node) {
    if (!node.has_target) return false;
    const Node& target = At(node.args[0]);
    if (target.kind != NodeKind::kIdent) return false;
    const std::string name = target.text + "." + node.text;
    if (FindFunction(name).empty()) return false;
    node.text = name;
    node.has_target = false;
    node.args.erase(node.args.begin());
    return true;
  }

  Type Call(Node& node) {
    Qualified(node);
    const std::span<const Overload* const> candidates = FindFunction(node.text);
    if (candidates.empty()) {
      const Type error =
          Report(node.pos, "undeclared reference to '" + node.text + "' (in container '')");
      for (NodeId arg : node.args) Visit(arg);
      return error;
    }
    std::vector<Type> types;
    if (node.text == "format" && node.args.size() == 2) mixed_list_ = &At(node.args[1]);
    for (NodeId arg : node.args) types.push_back(substitution_.Apply(Visit(arg)));
    const Type result = Resolve(node, candidates, types);
    if (node.overloads.empty()) return NoOverload(node.pos, node.text, node.has_target, types);
    CheckLiteral(node);
    return result;
  }

  // Keeps every overload that may apply; the result is known if they agree on it.
  Type Resolve(Node& node, std::span<const Overload* const> candidates,
               const std::vector<Type>& types) {
    Type result;
    size_t matches = 0;
    for (const Overload* overload : candidates) {
      if (overload->member != node.has_target || overload->params.size() != types.size()) continue;
      const size_t mark = substitution_.Mark();
      std::vector<std::pair<int, Type>> renamed;
      bool fits = true;
      for (size_t i = 0; i < types.size() && fits; ++i) {
        fits = substitution_.Assign(types[i],
                                    substitution_.Instantiate(overload->params[i], &renamed));
      }
      if (!fits) {
        substitution_.Rewind(mark);
        continue;
      }
      node.overloads.push_back(overload);
      const Type type = substitution_.Apply(substitution_.Instantiate(overload->result, &renamed));
      if (matches++ == 0) {
        result = type;
      } else if (!(result == type)) {
        result = TypeKind::kDyn;
      }
    }
    return result;
  }

  // A literal pattern, duration or time must be a valid one.
  void CheckLiteral(const Node& node) {
    const bool pattern = node.text == "matches";
    const bool time = !node.has_target && (node.text == "duration" || node.text == "timestamp");
    if (!pattern && !time) return;
    const Node& literal = At(node.args[pattern ? 1 : 0]);
    if (literal.kind != NodeKind::kLiteral) return;
    if (pattern && literal.literal.kind() != Kind::kString) return;
    const bool valid = pattern ? Regex::Compile(literal.literal.Text()).has_value()
                               : !EvaluateConstant(ast_, node, regexes_).IsError();
    if (!valid) literal_issues_.push_back({literal.pos, "invalid " + node.text + " argument"});
  }

  // --- literals
  // All elements of a literal have one type.
  void Unify(const Type& type, NodeId element, Type* common, bool* first) {
    const Type actual = substitution_.Apply(type);
    if (*first) {
      *common = actual;
      *first = actual.kind == TypeKind::kError;
      return;
    }
    const Type expected = substitution_.Apply(*common);
    const bool mixed = actual.IsDynamic() != expected.IsDynamic();
    if (actual.kind == TypeKind::kError) return;
    if (!mixed && substitution_.Assign(actual, expected)) return;
    (mixed ? literal_issues_ : result_.issues)
        .push_back({At(element).pos, "expected type '" + TypeText(expected) + "' but found '" +
                                         TypeText(actual) + "'"});
  }

  Type ElementType(NodeId element, bool optional) {
    Type type = substitution_.Apply(Visit(element));
    if (!optional || type.IsDynamic()) return type;
    if (type.kind == TypeKind::kOptional) return type.params[0];
    return Report(At(element).pos,
                  "expected type 'optional_type' but found '" + TypeText(type) + "'");
  }

  Type ListLiteral(Node& node) {
    if (&node == mixed_list_) {
      for (size_t i = 0; i < node.args.size(); ++i) ElementType(node.args[i], node.optional[i]);
      return Type::ListOf(TypeKind::kDyn);
    }
    Type common = substitution_.Fresh();
    bool first = true;
    for (size_t i = 0; i < node.args.size(); ++i) {
      Unify(ElementType(node.args[i], node.optional[i]), node.args[i], &common, &first);
    }
    return Type::ListOf(substitution_.Apply(common));
  }

  Type MapLiteral(Node& node) {
    Type key = substitution_.Fresh();
    Type value = substitution_.Fresh();
    bool first_key = true;
    bool first_value = true;
    for (size_t i = 0; i + 1 < node.args.size(); i += 2) {
      Unify(Visit(node.args[i]), node.args[i], &key, &first_key);
      Unify(ElementType(node.args[i + 1], node.optional[i / 2]), node.args[i + 1], &value,
            &first_value);
    }
    return Type::MapOf(substitution_.Apply(key), substitution_.Apply(value));
  }

  // --- macros
  Type Bind(Node& node) {
    Type value = Visit(node.args[0]);
    node.slot = static_cast<int>(scope_.size());
    Push(node.var, std::move(value));
    Type type = Visit(node.args[1]);
    Pop(1);
    return type;
  }

  void WantBool(NodeId id, const Type& type) {
    const Type actual = substitution_.Apply(type);
    if (!substitution_.Assign(actual, TypeKind::kBool)) {
      Report(At(id).pos, "expected type 'bool' but found '" + TypeText(actual) + "'");
    }
  }

  // The types of a macro's variables; false when there is nothing to run over.
  bool RangeTypes(const Node& node, const Type& range, Type* first, Type* second) {
    const bool two = !node.var2.empty();
    switch (range.kind) {
      case TypeKind::kList:
        *first = two ? Type(TypeKind::kInt) : range.params[0];
        *second = range.params[0];
        return true;
      case TypeKind::kMap:
        *first = range.params[0];
        *second = range.params[1];
        return true;
      case TypeKind::kDyn:
      case TypeKind::kError:
      case TypeKind::kVariable:
        *first = *second = TypeKind::kDyn;
        return true;
      default:
        *first = *second = TypeKind::kError;
        Report(At(node.args[0]).pos,
               "expression of type '" + TypeText(range) +
                   "' cannot be range of a comprehension (must be list, map, or dynamic)");
        return false;
    }
  }

  Type Comprehension(Node& node) {
    const Type range = substitution_.Apply(Visit(node.args[0]));
    Type first;
    Type second;
    RangeTypes(node, range, &first, &second);
    const size_t variables = node.var2.empty() ? 1 : 2;
    node.slot = static_cast<int>(scope_.size());
    Push(node.var, first);
    if (variables == 2) Push(node.var2, second);
    const Type body = Visit(node.args[1] == kNoNode ? node.args[2] : node.args[1]);
    Type type = TypeKind::kBool;
    switch (node.kind) {
      case NodeKind::kFilter:
        WantBool(node.args[1], body);
        type = Type::ListOf(first);
        break;
      case NodeKind::kMapMacro:
      case NodeKind::kTransformList:
      case NodeKind::kTransformMap: {
        Type element = body;
        if (node.args[1] != kNoNode) {
          WantBool(node.args[1], body);
          element = Visit(node.args[2]);
        }
        type = node.kind == NodeKind::kTransformMap ? Type::MapOf(first, element)
                                                    : Type::ListOf(element);
        break;
      }
      case NodeKind::kSortBy:
        type = Type::ListOf(first);
        break;
      default:
        WantBool(node.args[1], body);
        break;
    }
    Pop(variables);
    return substitution_.Apply(type);
  }

  Type OptMap(Node& node) {
    const Type target = substitution_.Apply(Visit(node.args[0]));
    Type inner = TypeKind::kDyn;
    if (target.kind == TypeKind::kOptional) {
      inner = target.params[0];
    } else if (!target.IsDynamic()) {
      NoOverload(node.pos, "hasValue", true, {target});
      inner = TypeKind::kError;
    }
    node.slot = static_cast<int>(scope_.size());
    Push(node.var, inner);
    Type body = substitution_.Apply(Visit(node.args[1]));
    Pop(1);
    if (node.kind == NodeKind::kOptMap) return Type::OptionalOf(std::move(body));
    return body;
  }

  Ast& ast_;
  Substitution substitution_;
  const Node* mixed_list_ = nullptr;  // the arguments of format() need not be of one type
  std::vector<std::pair<std::string, Type>> scope_;
  RegexCache regexes_;
  std::vector<Issue> literal_issues_;  // of literals, told only when nothing else is wrong
  CheckResult result_;
};

}  // namespace

CheckResult Check(Ast* ast) { return Checker(ast).Run(); }

}  // namespace berth::cel
