// int(), uint(), double(), string(), bytes(), bool(), type() and dyn().
#include <charconv>
#include <cmath>
#include <string>

#include "api/go/go_text.h"
#include "cel/functions.h"

namespace berth::cel {
namespace {

Value BadConversion(std::string_view to) {
  return Value::Error("type conversion error from 'string' to '" + std::string(to) + "'");
}

Value Same(CallContext&, Args a) { return a[0]; }

Value IntFromUint(CallContext&, Args a) {
  if (a[0].AsUint() > static_cast<uint64_t>(INT64_MAX)) return Value::Error("integer overflow");
  return Value::Int(static_cast<int64_t>(a[0].AsUint()));
}
Value IntFromDouble(CallContext&, Args a) {
  const double d = a[0].AsDouble();
  if (!(d > -9223372036854775808.0 && d < 9223372036854775808.0)) {
    return Value::Error("integer overflow");
  }
  return Value::Int(static_cast<int64_t>(d));
}
Value IntFromString(CallContext&, Args a) {
  std::string_view text = a[0].Text();
  if (text.size() > 1 && text[0] == '+' && text[1] != '-') text.remove_prefix(1);
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return BadConversion("int");
  return Value::Int(value);
}
Value UintFromInt(CallContext&, Args a) {
  if (a[0].AsInt() < 0) return Value::Error("unsigned integer overflow");
  return Value::Uint(static_cast<uint64_t>(a[0].AsInt()));
}
Value UintFromDouble(CallContext&, Args a) {
  const double d = a[0].AsDouble();
  if (!(d >= 0 && d < 18446744073709551616.0)) return Value::Error("unsigned integer overflow");
  return Value::Uint(static_cast<uint64_t>(d));
}
Value UintFromString(CallContext&, Args a) {
  const std::string_view text = a[0].Text();
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return BadConversion("uint");
  return Value::Uint(value);
}
Value DoubleFromInt(CallContext&, Args a) {
  return Value::Double(static_cast<double>(a[0].AsInt()));
}
Value DoubleFromUint(CallContext&, Args a) {
  return Value::Double(static_cast<double>(a[0].AsUint()));
}
Value DoubleFromString(CallContext&, Args a) {
  std::string_view text = a[0].Text();
  if (text.size() > 1 && text[0] == '+' && text[1] != '-') text.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  // Out of range is an error too: no double is meant.
  if (error != std::errc() || end != text.data() + text.size()) return BadConversion("double");
  return Value::Double(value);
}
Value StringFromBool(CallContext&, Args a) {
  return Value::BorrowedString(a[0].AsBool() ? "true" : "false");
}
Value StringFromInt(CallContext&, Args a) { return Value::String(std::to_string(a[0].AsInt())); }
Value StringFromUint(CallContext&, Args a) { return Value::String(std::to_string(a[0].AsUint())); }
Value StringFromDouble(CallContext&, Args a) {
  return Value::String(api::FormatGoFloat(a[0].AsDouble()));
}
Value StringFromBytes(CallContext& context, Args a) {
  const std::string_view text = a[0].Text();
  context.budget.SpendText(text.size());
  for (size_t pos = 0; pos < text.size();) {
    bool valid = true;
    api::DecodeUtf8(text, &pos, &valid);
    if (!valid) {
      return Value::Error("invalid UTF-8 in bytes, cannot convert to string");
    }
  }
  return Value::String(std::string(text));
}
Value BytesFromString(CallContext& context, Args a) {
  context.budget.SpendText(a[0].Text().size());
  return Value::Bytes(std::string(a[0].Text()));
}
Value BoolFromString(CallContext&, Args a) {
  const std::string_view text = a[0].Text();
  for (std::string_view yes : {"1", "t", "T", "true", "TRUE", "True"}) {
    if (text == yes) return Value::Bool(true);
  }
  for (std::string_view no : {"0", "f", "F", "false", "FALSE", "False"}) {
    if (text == no) return Value::Bool(false);
  }
  return BadConversion("bool");
}
Value TypeOfValue(CallContext&, Args a) { return Value::Type(a[0].TypeName()); }

}  // namespace

void AddConversions(std::vector<Overload>* table) {
  using enum TypeKind;
  const Type a = Type::Variable(1);
  const auto convert = [&](std::string_view name, Type from, Type to, Function f) {
    table->push_back(
        {name, false, {std::move(from)}, std::move(to), f, Mismatch::kSignature, true});
  };
  convert("int", kInt, kInt, Same);
  convert("int", kUint, kInt, IntFromUint);
  convert("int", kDouble, kInt, IntFromDouble);
  convert("int", kString, kInt, IntFromString);
  convert("uint", kUint, kUint, Same);
  convert("uint", kInt, kUint, UintFromInt);
  convert("uint", kDouble, kUint, UintFromDouble);
  convert("uint", kString, kUint, UintFromString);
  convert("double", kDouble, kDouble, Same);
  convert("double", kInt, kDouble, DoubleFromInt);
  convert("double", kUint, kDouble, DoubleFromUint);
  convert("double", kString, kDouble, DoubleFromString);
  convert("string", kString, kString, Same);
  convert("string", kBool, kString, StringFromBool);
  convert("string", kInt, kString, StringFromInt);
  convert("string", kUint, kString, StringFromUint);
  convert("string", kDouble, kString, StringFromDouble);
  convert("string", kBytes, kString, StringFromBytes);
  convert("bytes", kBytes, kBytes, Same);
  convert("bytes", kString, kBytes, BytesFromString);
  convert("bool", kBool, kBool, Same);
  convert("bool", kString, kBool, BoolFromString);
  convert("dyn", a, kDyn, Same);
  convert("type", a, Type::TypeOf(a), TypeOfValue);
}

}  // namespace berth::cel
