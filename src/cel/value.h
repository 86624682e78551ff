// Value: what a CEL expression computes with. Small, copied by value; text, lists and maps are
// shared and immutable.
//
// An error is a value too: CEL's logical operators may discard one, so it must travel like any
// other result.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/rules/quantity.h"
#include "api/time.h"
#include "cel/address.h"
#include "cel/semver.h"

namespace berth::cel {

enum class Kind : uint8_t {
  kError,
  kNull,
  kBool,
  kInt,
  kUint,
  kDouble,
  kString,
  kBytes,
  kList,
  kMap,
  kType,
  kOptional,
  kDuration,
  kTimestamp,
  kQuantity,
  kSemver,
  kAddress,
  kNetwork,
};

// A point in time and the zone it was written in, in seconds east of UTC.
struct Timestamp {
  api::Instant at;
  int offset = 0;
};

class Value;
using List = std::vector<Value>;

// Entries in order of insertion; keys are unique.
struct Map;

// What one evaluation may still spend. One unit is about one operation, or ten bytes of text.
class Budget {
 public:
  explicit Budget(int64_t units) : left_(units) {}
  // False when the budget is used up.
  bool Spend(int64_t units) {
    left_ -= units;
    return left_ >= 0;
  }
  bool SpendText(size_t bytes) { return Spend(1 + static_cast<int64_t>(bytes / 10)); }
  // For a search that may compare the whole `wanted` at every byte of `text`.
  bool SpendSearch(std::string_view text, std::string_view wanted) {
    const size_t passes = wanted.size() / 64 + 1;
    return Spend(1 + static_cast<int64_t>((text.size() / 10 + 1) * passes));
  }
  bool Exhausted() const { return left_ < 0; }

 private:
  int64_t left_;
};

class Value {
 public:
  Value() = default;  // null

  static Value Null() { return {}; }
  static Value Bool(bool b);
  static Value Int(int64_t i);
  static Value Uint(uint64_t u);
  static Value Double(double d);
  // Keeps the text alive.
  static Value String(std::string text);
  // The caller keeps the text alive for as long as the value is used.
  static Value BorrowedString(std::string_view text);
  static Value Bytes(std::string bytes);
  static Value FromList(List list);
  static Value FromMap(Map map);
  static Value Type(std::string_view static_name);
  static Value Some(Value value);
  static Value None();
  static Value FromDuration(api::Duration duration);
  static Value FromTimestamp(Timestamp time);
  static Value FromQuantity(api::Quantity quantity);
  static Value FromSemver(Semver version);
  static Value FromAddress(const Address& address);
  static Value FromNetwork(const Network& network);
  static Value Error(std::string message);
  static Value NoSuchOverload() { return Error("no such overload"); }

  Kind kind() const { return kind_; }
  bool IsError() const { return kind_ == Kind::kError; }
  bool IsTrue() const { return kind_ == Kind::kBool && bool_; }
  bool IsFalse() const { return kind_ == Kind::kBool && !bool_; }
  bool IsNumber() const {
    return kind_ == Kind::kInt || kind_ == Kind::kUint || kind_ == Kind::kDouble;
  }

  // REQUIRES: the matching kind.
  bool AsBool() const { return bool_; }
  int64_t AsInt() const { return int_; }
  uint64_t AsUint() const { return uint_; }
  double AsDouble() const { return double_; }
  std::string_view Text() const { return text_; }  // string, bytes, type name, error message
  const List& AsList() const { return As<List>(); }
  const Map& AsMap() const { return As<Map>(); }
  bool HasValue() const { return ref_ != nullptr; }
  const Value& Inner() const { return As<Value>(); }
  api::Duration AsDuration() const { return {int_}; }
  const Timestamp& AsTimestamp() const { return As<Timestamp>(); }
  const api::Quantity& AsQuantity() const { return As<api::Quantity>(); }
  const Semver& AsSemver() const { return As<Semver>(); }
  const Address& AsAddress() const { return As<Address>(); }
  const Network& AsNetwork() const { return As<Network>(); }

  // CEL's name of the value's type, e.g. "int" or "kubernetes.Quantity".
  std::string_view TypeName() const;

 private:
  static Value OfText(Kind kind, std::string text);
  template <class T>
  static Value Shared(Kind kind, T value) {
    Value v;
    v.kind_ = kind;
    v.ref_ = std::make_shared<const T>(std::move(value));
    return v;
  }
  template <class T>
  const T& As() const {
    return *static_cast<const T*>(ref_.get());
  }

  Kind kind_ = Kind::kNull;
  union {
    bool bool_;
    int64_t int_ = 0;
    uint64_t uint_;
    double double_;
  };
  std::string_view text_;
  std::shared_ptr<const void> ref_;
};

struct Map {
  std::vector<std::pair<Value, Value>> entries;
  // Reading a key that is not there gives an empty map. `in` is not affected.
  bool missing_is_empty = false;

  // Null when there is none, or when the budget ran out on the way. Numbers are equal across their
  // types. Costs a unit per four entries where the key is text, one per entry where it is not.
  const Value* Find(const Value& key, Budget& budget) const;
};

// A bool, or an error where the two cannot be compared. Text and numbers of different types are
// just unequal.
Value Equal(const Value& a, const Value& b, Budget& budget);

// The order of two values of comparable types as an int below, at or above zero; else an error.
Value Compare(const Value& a, const Value& b);

inline constexpr std::string_view kCostExceeded = "operation cancelled: actual cost limit exceeded";

}  // namespace berth::cel
