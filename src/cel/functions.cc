#include "cel/functions.h"

#include <algorithm>
#include <string>

#include <boost/unordered/unordered_flat_map.hpp>

namespace berth::cel {
namespace {

struct Table {
  std::vector<Overload> overloads;
  boost::unordered_flat_map<std::string_view, std::vector<const Overload*>> by_name;

  Table() {
    AddOperators(&overloads);
    AddConversions(&overloads);
    AddStrings(&overloads);
    AddRegexes(&overloads);
    AddFormat(&overloads);
    AddLists(&overloads);
    AddKubernetes(&overloads);
    AddOptionals(&overloads);
    AddTimes(&overloads);
    AddAddresses(&overloads);
    for (const Overload& overload : overloads) by_name[overload.name].push_back(&overload);
  }
};

bool AcceptsOne(const Type& type, const Value& value) {
  switch (type.kind) {
    case TypeKind::kDyn:
    case TypeKind::kAny:
    case TypeKind::kError:
    case TypeKind::kVariable:
      return true;
    case TypeKind::kNull:
      return value.kind() == Kind::kNull;
    case TypeKind::kBool:
      return value.kind() == Kind::kBool;
    case TypeKind::kInt:
      return value.kind() == Kind::kInt;
    case TypeKind::kUint:
      return value.kind() == Kind::kUint;
    case TypeKind::kDouble:
      return value.kind() == Kind::kDouble;
    case TypeKind::kString:
      return value.kind() == Kind::kString;
    case TypeKind::kBytes:
      return value.kind() == Kind::kBytes;
    case TypeKind::kList:
      return value.kind() == Kind::kList;
    case TypeKind::kMap:
    case TypeKind::kDevice:
      return value.kind() == Kind::kMap;
    case TypeKind::kType:
      return value.kind() == Kind::kType;
    case TypeKind::kOptional:
      return value.kind() == Kind::kOptional;
    case TypeKind::kDuration:
      return value.kind() == Kind::kDuration;
    case TypeKind::kTimestamp:
      return value.kind() == Kind::kTimestamp;
    case TypeKind::kQuantity:
      return value.kind() == Kind::kQuantity;
    case TypeKind::kSemver:
      return value.kind() == Kind::kSemver;
    case TypeKind::kAddress:
      return value.kind() == Kind::kAddress;
    case TypeKind::kNetwork:
      return value.kind() == Kind::kNetwork;
  }
  return false;
}

}  // namespace

std::span<const Overload* const> FindFunction(std::string_view name) {
  static const Table table;
  const auto it = table.by_name.find(name);
  if (it == table.by_name.end()) return {};
  return it->second;
}

bool Accepts(const Overload& overload, Args args) {
  if (overload.params.size() != args.size()) return false;
  for (size_t i = 0; i < args.size(); ++i) {
    if (!AcceptsOne(overload.params[i], args[i])) return false;
  }
  return true;
}

}  // namespace berth::cel
