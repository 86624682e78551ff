// Json: any JSON value, to be read and changed in place.
//
// The embedded API server keeps fields it does not know, so it works on values rather than on
// described types. Members of an object are sorted by name and unique, so equal values give equal
// text and finding a member takes logarithmic time. Numbers are int64 or double, as in Kubernetes'
// own unstructured objects.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/error.h"

namespace berth::apiserver {

class Json {
 public:
  struct Member;
  using Array = std::vector<Json>;
  using Object = std::vector<Member>;  // sorted by name, no name twice

  Json();
  Json(std::nullptr_t);
  Json(bool value);
  Json(int value);
  Json(int64_t value);
  Json(double value);
  Json(std::string value);
  Json(std::string_view value);
  Json(const char* value);
  Json(Array value);
  Json(Object value);

  static Json MakeObject(std::initializer_list<std::pair<std::string_view, Json>> members = {});
  static Json MakeArray(std::initializer_list<Json> items = {});

  // Reads one value; of equal names the last counts. The error says where the text is wrong.
  static Result<Json> Parse(std::string_view text);

  bool IsNull() const { return std::holds_alternative<std::monostate>(value_); }
  bool IsBool() const { return std::holds_alternative<bool>(value_); }
  bool IsInt() const { return std::holds_alternative<int64_t>(value_); }
  bool IsNumber() const { return IsInt() || std::holds_alternative<double>(value_); }
  bool IsString() const { return std::holds_alternative<std::string>(value_); }
  bool IsArray() const { return std::holds_alternative<Array>(value_); }
  bool IsObject() const { return std::holds_alternative<Object>(value_); }
  // null, "", {}, []: what an omitted field reads as.
  bool Empty() const;

  // Readers answer for values of another kind with the empty value of theirs.
  std::string_view Str() const;
  int64_t Int(int64_t fallback = 0) const;
  double Double(double fallback = 0) const;
  bool Bool(bool fallback = false) const;
  const Array& Items() const;
  const Object& Members() const;

  // The member of that name, null for other kinds of values and absent members.
  const Json* Find(std::string_view name) const;
  Json* Find(std::string_view name);
  // The same, with an absent member reading as a JSON null: obj["spec"]["nodeName"].
  const Json& operator[](std::string_view name) const;
  bool Has(std::string_view name) const { return Find(name) != nullptr; }

  // Writers turn a value of another kind into an object (an array) first.
  Json& At(std::string_view name);  // made when absent
  Json& Set(std::string_view name, Json value);
  // Sets the member unless there is one (that is not null).
  void Default(std::string_view name, Json value);
  bool Erase(std::string_view name);
  Array& MutableItems();
  Object& MutableMembers();
  Json& Append(Json item);

  void AppendTo(std::string& out) const;
  std::string Dump() const;

  bool operator==(const Json& other) const;

 private:
  std::variant<std::monostate, bool, int64_t, double, std::string, Array, Object> value_;
};

struct Json::Member {
  std::string name;
  Json value;

  bool operator==(const Member&) const = default;
};

// Members are complete only here, and clang needs them to be wherever the variant is made.
inline Json::Json() = default;
inline Json::Json(std::nullptr_t) {}
inline Json::Json(bool value) : value_(value) {}
inline Json::Json(int value) : value_(static_cast<int64_t>(value)) {}
inline Json::Json(int64_t value) : value_(value) {}
inline Json::Json(double value) : value_(value) {}
inline Json::Json(std::string value) : value_(std::move(value)) {}
inline Json::Json(std::string_view value) : value_(std::string(value)) {}
inline Json::Json(const char* value) : value_(std::string(value)) {}
inline Json::Json(Array value) : value_(std::move(value)) {}
inline Json::Json(Object value) : value_(std::move(value)) {}
inline Json Json::MakeArray(std::initializer_list<Json> items) { return Json(Array(items)); }

inline bool Json::operator==(const Json& other) const { return value_ == other.value_; }

// The size of a value.
struct JsonExtent {
  size_t bytes = 0;   // of names, strings and punctuation, without escapes
  size_t depth = 0;   // levels of objects and arrays; 0 for a string or a number
  size_t values = 0;  // itself and everything in it
};
JsonExtent Measure(const Json& value);

// Sorts members read in any order; of equal names the last stays.
void SortMembers(Json::Object& members);

}  // namespace berth::apiserver
