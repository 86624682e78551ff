// Functions on text. Positions count code points, as in CEL.
#include <algorithm>
#include <string>

#include "api/go/go_text.h"
#include "api/go/unicode_space.h"
#include "cel/functions.h"

namespace berth::cel {
namespace {

Value Exceeded() { return Value::Error(std::string(kCostExceeded)); }
Value OutOfRange(int64_t index) {
  return Value::Error("index out of range: " + std::to_string(index));
}

// Where every code point begins, and the end.
std::vector<size_t> Starts(std::string_view text) {
  std::vector<size_t> starts;
  for (size_t pos = 0; pos < text.size();) {
    starts.push_back(pos);
    bool valid = true;
    api::DecodeUtf8(text, &pos, &valid);
  }
  starts.push_back(text.size());
  return starts;
}

Value StartsWith(CallContext&, Args a) { return Value::Bool(a[0].Text().starts_with(a[1].Text())); }
Value EndsWith(CallContext&, Args a) { return Value::Bool(a[0].Text().ends_with(a[1].Text())); }
Value Contains(CallContext& context, Args a) {
  if (!context.budget.SpendSearch(a[0].Text(), a[1].Text())) return Exceeded();
  return Value::Bool(a[0].Text().find(a[1].Text()) != std::string_view::npos);
}

Value CharAt(CallContext& context, Args a) {
  context.budget.SpendText(a[0].Text().size());
  const std::vector<size_t> starts = Starts(a[0].Text());
  const int64_t index = a[1].AsInt();
  const auto length = static_cast<int64_t>(starts.size()) - 1;
  if (index < 0 || index > length) return OutOfRange(index);
  if (index == length) return Value::BorrowedString("");
  const auto i = static_cast<size_t>(index);
  return Value::String(std::string(a[0].Text().substr(starts[i], starts[i + 1] - starts[i])));
}

// The index of the code point at byte `pos`.
int64_t CodePointIndex(const std::vector<size_t>& starts, size_t pos) {
  return std::lower_bound(starts.begin(), starts.end(), pos) - starts.begin();
}

Value IndexOf(CallContext& context, Args a) {
  if (!context.budget.SpendSearch(a[0].Text(), a[1].Text())) return Exceeded();
  const int64_t offset = a.size() > 2 ? a[2].AsInt() : 0;
  if (a[1].Text().empty()) return Value::Int(offset);
  if (offset < 0) return OutOfRange(offset);
  const std::vector<size_t> starts = Starts(a[0].Text());
  if (offset >= static_cast<int64_t>(starts.size()) - 1) return Value::Int(-1);
  const size_t found = a[0].Text().find(a[1].Text(), starts[static_cast<size_t>(offset)]);
  return Value::Int(found == std::string_view::npos ? -1 : CodePointIndex(starts, found));
}

Value LastIndexOf(CallContext& context, Args a) {
  if (!context.budget.SpendSearch(a[0].Text(), a[1].Text())) return Exceeded();
  const std::vector<size_t> starts = Starts(a[0].Text());
  const auto length = static_cast<int64_t>(starts.size()) - 1;
  const bool has_offset = a.size() > 2;
  if (a[1].Text().empty()) return Value::Int(has_offset ? a[2].AsInt() : length);
  if (!has_offset && a[0].Text().size() < a[1].Text().size()) return Value::Int(-1);
  const int64_t offset = has_offset ? a[2].AsInt() : length - 1;
  if (offset < 0) return OutOfRange(offset);
  if (offset >= length) return Value::Int(-1);
  const size_t found = a[0].Text().rfind(a[1].Text(), starts[static_cast<size_t>(offset)]);
  return Value::Int(found == std::string_view::npos ? -1 : CodePointIndex(starts, found));
}

template <class Change>
Value ChangeCase(CallContext& context, Args a, Change change) {
  context.budget.SpendText(a[0].Text().size());
  std::string text(a[0].Text());
  std::transform(text.begin(), text.end(), text.begin(), change);
  return Value::String(std::move(text));
}
Value LowerAscii(CallContext& context, Args a) {
  return ChangeCase(context, a, [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
}
Value UpperAscii(CallContext& context, Args a) {
  return ChangeCase(context, a, [](char c) {
    return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  });
}

Value Replace(CallContext& context, Args a) {
  const std::string_view text = a[0].Text();
  const std::string_view from = a[1].Text();
  const std::string_view to = a[2].Text();
  int64_t left = a.size() > 3 ? a[3].AsInt() : -1;
  if (!context.budget.SpendSearch(text, from)) return Exceeded();
  if (!context.budget.SpendText(text.size() + from.size() + to.size())) return Exceeded();
  std::string out;
  size_t pos = 0;
  bool at_start = true;
  while (left != 0) {
    size_t found = pos;
    if (!from.empty()) {
      found = text.find(from, pos);
    } else if (!at_start) {  // between all code points, and at both ends
      if (pos >= text.size()) break;
      bool valid = true;
      api::DecodeUtf8(text, &found, &valid);
    }
    if (found == std::string_view::npos) break;
    at_start = false;
    out += text.substr(pos, found - pos);
    out += to;
    pos = found + from.size();
    if (left > 0) --left;
    if (!context.budget.SpendText(to.size())) return Exceeded();
  }
  out += text.substr(pos);
  return Value::String(std::move(out));
}

Value Split(CallContext& context, Args a) {
  const std::string_view text = a[0].Text();
  const std::string_view separator = a[1].Text();
  const int64_t limit = a.size() > 2 ? a[2].AsInt() : -1;
  if (!context.budget.SpendSearch(text, separator)) return Exceeded();
  if (!context.budget.SpendText(text.size() * 10)) return Exceeded();
  List parts;
  if (limit == 0) return Value::FromList({});
  size_t pos = 0;
  while (limit < 0 || static_cast<int64_t>(parts.size()) + 1 < limit) {
    size_t end = 0;
    size_t next = 0;
    if (separator.empty()) {  // into code points
      if (pos >= text.size()) break;
      end = pos;
      bool valid = true;
      api::DecodeUtf8(text, &end, &valid);
      next = end;
      if (end >= text.size()) break;
    } else {
      end = text.find(separator, pos);
      if (end == std::string_view::npos) break;
      next = end + separator.size();
    }
    parts.push_back(Value::String(std::string(text.substr(pos, end - pos))));
    pos = next;
  }
  if (!(separator.empty() && text.empty())) {
    parts.push_back(Value::String(std::string(text.substr(pos))));
  }
  return Value::FromList(std::move(parts));
}

Value Substring(CallContext& context, Args a) {
  context.budget.SpendText(a[0].Text().size());
  const std::vector<size_t> starts = Starts(a[0].Text());
  const auto length = static_cast<int64_t>(starts.size()) - 1;
  const int64_t start = a[1].AsInt();
  const int64_t end = a.size() > 2 ? a[2].AsInt() : length;
  if (a.size() > 2 && start > end) {
    return Value::Error("invalid substring range. start: " + std::to_string(start) +
                        ", end: " + std::to_string(end));
  }
  if (start < 0 || start > length) return OutOfRange(start);
  if (end < 0 || end > length) return OutOfRange(end);
  const size_t from = starts[static_cast<size_t>(start)];
  const size_t to = starts[static_cast<size_t>(end)];
  return Value::String(std::string(a[0].Text().substr(from, to - from)));
}

Value Trim(CallContext& context, Args a) {
  context.budget.SpendText(a[0].Text().size());
  return Value::String(std::string(api::TrimUnicodeSpace(a[0].Text())));
}

Value Join(CallContext& context, Args a) {
  const std::string_view separator = a.size() > 1 ? a[1].Text() : std::string_view();
  std::string out;
  bool first = true;
  for (const Value& element : a[0].AsList()) {
    if (!first) out += separator;
    first = false;
    if (element.kind() != Kind::kString) {
      return Value::Error("join: invalid input: " + std::string(element.TypeName()));
    }
    if (!context.budget.SpendText(element.Text().size() + separator.size())) return Exceeded();
    out += element.Text();
  }
  return Value::String(std::move(out));
}

Value Quote(CallContext& context, Args a) {
  if (!context.budget.SpendText(a[0].Text().size())) return Exceeded();
  std::string out = "\"";
  for (const char c : a[0].Text()) {
    static constexpr std::string_view kEscaped = "\a\b\f\n\r\t\v\\\"";
    static constexpr std::string_view kLetters = "abfnrtv\\\"";
    const size_t i = kEscaped.find(c);
    if (i != std::string_view::npos) {
      out += '\\';
      out += kLetters[i];
    } else {
      out += c;
    }
  }
  return Value::String(out + "\"");
}

}  // namespace

void AddStrings(std::vector<Overload>* table) {
  using enum TypeKind;
  const auto member = [&](std::string_view name, std::vector<Type> params, Type result, Function f,
                          Mismatch mismatch = Mismatch::kSignature) {
    table->push_back({name, true, std::move(params), std::move(result), f, mismatch, false});
  };
  member("startsWith", {kString, kString}, kBool, StartsWith, Mismatch::kPlain);
  member("endsWith", {kString, kString}, kBool, EndsWith, Mismatch::kPlain);
  member("contains", {kString, kString}, kBool, Contains, Mismatch::kPlain);
  member("charAt", {kString, kInt}, kString, CharAt);
  member("indexOf", {kString, kString}, kInt, IndexOf);
  member("indexOf", {kString, kString, kInt}, kInt, IndexOf);
  member("lastIndexOf", {kString, kString}, kInt, LastIndexOf);
  member("lastIndexOf", {kString, kString, kInt}, kInt, LastIndexOf);
  member("lowerAscii", {kString}, kString, LowerAscii);
  member("upperAscii", {kString}, kString, UpperAscii);
  member("replace", {kString, kString, kString}, kString, Replace);
  member("replace", {kString, kString, kString, kInt}, kString, Replace);
  member("split", {kString, kString}, Type::ListOf(kString), Split);
  member("split", {kString, kString, kInt}, Type::ListOf(kString), Split);
  member("substring", {kString, kInt}, kString, Substring);
  member("substring", {kString, kInt, kInt}, kString, Substring);
  member("trim", {kString}, kString, Trim);
  member("join", {Type::ListOf(kString)}, kString, Join);
  member("join", {Type::ListOf(kString), kString}, kString, Join);
  table->push_back(
      {"strings.quote", false, {kString}, kString, Quote, Mismatch::kSignature, false});
}

}  // namespace berth::cel
