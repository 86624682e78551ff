// The tree of a CEL expression. Nodes live in one vector and name each other by index, so that a
// tree of any shape is freed without recursion.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "cel/value.h"

namespace berth::cel {

using NodeId = int32_t;
inline constexpr NodeId kNoNode = -1;

struct Overload;

enum class NodeKind : uint8_t {
  kLiteral,
  kIdent,        // text; args empty
  kSelect,       // args[0].text
  kHas,          // has(args[0].text)
  kOptSelect,    // args[0].?text
  kIndex,        // args[0][args[1]]
  kOptIndex,     // args[0][?args[1]]
  kAnd,          // all args
  kOr,           // all args
  kConditional,  // args[0] ? args[1] : args[2]
  kCall,         // text(args...), or args[0].text(args[1]...) when has_target
  kList,         // args; optional[i] marks [?x]
  kMap,          // key, value, key, value...; optional[i] marks {?k: v}
  kBind,         // cel.bind(var, args[0], args[1])
  kAll,          // args[0].all(var[, var2], args[1])
  kExists,
  kExistsOne,
  kFilter,
  kMapMacro,  // args[0].map(var, [filter,] transform): args = range, filter or kNoNode, transform
  kTransformList,  // args as kMapMacro, two variables
  kTransformMap,   // args as kMapMacro, two variables
  kOptMap,         // args[0].optMap(var, args[1])
  kOptFlatMap,
  kSortBy,  // args[0].sortBy(var, args[1])
};

struct Node {
  NodeKind kind = NodeKind::kLiteral;
  bool has_target = false;
  size_t pos = 0;
  std::string text;
  std::string var;
  std::string var2;
  Value literal;
  std::vector<NodeId> args;
  std::vector<bool> optional;

  // Filled in by the checker.
  int slot = -1;                           // kIdent, and macros: the first variable of its own
  std::vector<const Overload*> overloads;  // kCall: those that may apply, never empty
};

struct Ast {
  std::vector<Node> nodes;
  NodeId root = kNoNode;
};

}  // namespace berth::cel
