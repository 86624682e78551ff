#include "apiserver/json/value.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include <simdjson.h>

#include "api/codec/json_scan.h"
#include "api/go/go_text.h"

namespace berth::apiserver {
namespace {

namespace dom = simdjson::dom;
using dom::element_type;

bool NameLess(const Json::Member& member, std::string_view name) { return member.name < name; }

Json FromElement(dom::element value) {
  switch (value.type()) {
    case element_type::ARRAY: {
      Json::Array items;
      const dom::array array = value.get_array().value_unsafe();
      items.reserve(array.size());
      for (dom::element item : array) items.push_back(FromElement(item));
      return items;
    }
    case element_type::OBJECT: {
      Json::Object members;
      const dom::object object = value.get_object().value_unsafe();
      members.reserve(object.size());
      for (auto [key, member] : object) members.push_back({std::string(key), FromElement(member)});
      SortMembers(members);
      return members;
    }
    case element_type::INT64:
      return value.get_int64().value_unsafe();
    case element_type::UINT64:
      return static_cast<double>(value.get_uint64().value_unsafe());
    case element_type::DOUBLE:
      return value.get_double().value_unsafe();
    case element_type::STRING:
      return value.get_string().value_unsafe();
    case element_type::BOOL:
      return value.get_bool().value_unsafe();
    case element_type::NULL_VALUE:
      break;
  }
  return {};
}

// Kept between calls: its buffers are large.
dom::parser& SharedParser() {
  thread_local dom::parser parser;
  return parser;
}

}  // namespace

void SortMembers(Json::Object& members) {
  const auto less = [](const auto& a, const auto& b) { return a.name < b.name; };
  const auto not_less = [](const auto& a, const auto& b) { return !(a.name < b.name); };
  if (std::adjacent_find(members.begin(), members.end(), not_less) == members.end()) return;
  std::stable_sort(members.begin(), members.end(), less);
  size_t kept = 0;
  for (size_t i = 0; i < members.size(); ++i) {
    if (i + 1 < members.size() && members[i].name == members[i + 1].name) continue;
    if (kept != i) members[kept] = std::move(members[i]);
    ++kept;
  }
  members.resize(kept);
}

Json Json::MakeObject(std::initializer_list<std::pair<std::string_view, Json>> members) {
  Object object;
  object.reserve(members.size());
  for (const auto& [name, value] : members) object.push_back({std::string(name), value});
  SortMembers(object);
  return object;
}

Result<Json> Json::Parse(std::string_view text) {
  dom::element root;
  auto& parser = SharedParser();
  auto error = parser.parse(text.data(), text.size()).get(root);
  if (error == simdjson::NUMBER_ERROR) {
    if (auto why = api::FindJsonError(text)) return Fail(std::move(*why));
    const std::string quoted = api::QuoteHugeNumbers(text);
    error = parser.parse(quoted).get(root);
  }
  if (error) {
    if (auto why = api::FindJsonError(text)) return Fail(std::move(*why));
    return Fail(simdjson::error_message(error));
  }
  return FromElement(root);
}

bool Json::Empty() const {
  if (IsString()) return Str().empty();
  if (IsArray()) return Items().empty();
  if (IsObject()) return Members().empty();
  return IsNull();
}

std::string_view Json::Str() const {
  const auto* text = std::get_if<std::string>(&value_);
  return text ? std::string_view(*text) : std::string_view();
}

int64_t Json::Int(int64_t fallback) const {
  if (const auto* number = std::get_if<int64_t>(&value_)) return *number;
  if (const auto* number = std::get_if<double>(&value_)) {
    if (std::abs(*number) < 9e18) return static_cast<int64_t>(*number);
  }
  return fallback;
}

double Json::Double(double fallback) const {
  if (const auto* number = std::get_if<int64_t>(&value_)) return static_cast<double>(*number);
  const auto* number = std::get_if<double>(&value_);
  return number ? *number : fallback;
}

bool Json::Bool(bool fallback) const {
  const auto* value = std::get_if<bool>(&value_);
  return value ? *value : fallback;
}

const Json::Array& Json::Items() const {
  static const Array kNone;
  const auto* items = std::get_if<Array>(&value_);
  return items ? *items : kNone;
}

const Json::Object& Json::Members() const {
  static const Object kNone;
  const auto* members = std::get_if<Object>(&value_);
  return members ? *members : kNone;
}

const Json* Json::Find(std::string_view name) const {
  const auto* members = std::get_if<Object>(&value_);
  if (!members) return nullptr;
  const auto it = std::lower_bound(members->begin(), members->end(), name, NameLess);
  return it != members->end() && it->name == name ? &it->value : nullptr;
}

Json* Json::Find(std::string_view name) {
  return const_cast<Json*>(static_cast<const Json*>(this)->Find(name));
}

const Json& Json::operator[](std::string_view name) const {
  static const Json kNull;
  const Json* member = Find(name);
  return member ? *member : kNull;
}

Json& Json::At(std::string_view name) {
  Object& members = MutableMembers();
  auto it = std::lower_bound(members.begin(), members.end(), name, NameLess);
  if (it == members.end() || it->name != name) {
    it = members.insert(it, Member{std::string(name), Json()});
  }
  return it->value;
}

Json& Json::Set(std::string_view name, Json value) { return At(name) = std::move(value); }

void Json::Default(std::string_view name, Json value) {
  Json& member = At(name);
  if (member.IsNull()) member = std::move(value);
}

bool Json::Erase(std::string_view name) {
  auto* members = std::get_if<Object>(&value_);
  if (!members) return false;
  const auto it = std::lower_bound(members->begin(), members->end(), name, NameLess);
  if (it == members->end() || it->name != name) return false;
  members->erase(it);
  return true;
}

Json::Array& Json::MutableItems() {
  if (!IsArray()) value_ = Array();
  return std::get<Array>(value_);
}

Json::Object& Json::MutableMembers() {
  if (!IsObject()) value_ = Object();
  return std::get<Object>(value_);
}

Json& Json::Append(Json item) {
  MutableItems().push_back(std::move(item));
  return MutableItems().back();
}

JsonExtent Measure(const Json& value) {
  JsonExtent extent{.bytes = value.Empty() ? size_t{2} : size_t{1}, .depth = 0, .values = 1};
  const auto add = [&extent](const Json& inner) {
    const JsonExtent one = Measure(inner);
    extent.bytes += one.bytes + 1;  // the comma
    extent.depth = std::max(extent.depth, one.depth);
    extent.values += one.values;
  };
  if (value.IsString()) {
    extent.bytes = value.Str().size() + 2;
  } else if (value.IsObject()) {
    for (const auto& [name, member] : value.Members()) {
      extent.bytes += name.size() + 3;
      add(member);
    }
    ++extent.depth;
  } else if (value.IsArray()) {
    for (const Json& item : value.Items()) add(item);
    ++extent.depth;
  }
  return extent;
}

void Json::AppendTo(std::string& out) const {
  if (const auto* text = std::get_if<std::string>(&value_)) {
    api::AppendJsonString(out, *text);
  } else if (const auto* members = std::get_if<Object>(&value_)) {
    out += '{';
    for (size_t i = 0; i < members->size(); ++i) {
      if (i > 0) out += ',';
      api::AppendJsonString(out, (*members)[i].name);
      out += ':';
      (*members)[i].value.AppendTo(out);
    }
    out += '}';
  } else if (const auto* items = std::get_if<Array>(&value_)) {
    out += '[';
    for (size_t i = 0; i < items->size(); ++i) {
      if (i > 0) out += ',';
      (*items)[i].AppendTo(out);
    }
    out += ']';
  } else if (const auto* integer = std::get_if<int64_t>(&value_)) {
    char digits[24];
    const auto end = std::to_chars(digits, digits + sizeof digits, *integer).ptr;
    out.append(digits, end);
  } else if (const auto* number = std::get_if<double>(&value_)) {
    api::AppendJsonNumber(out, *number);
  } else {
    out += IsNull() ? "null" : Bool() ? "true" : "false";
  }
}

std::string Json::Dump() const {
  std::string out;
  AppendTo(out);
  return out;
}

}  // namespace berth::apiserver
