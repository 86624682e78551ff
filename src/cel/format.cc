// "text %s".format([...]): the clauses %s %d %x %X %o %b %f and %%.
#include <algorithm>
#include <cmath>
#include <string>

#include <fmt/format.h>

#include "api/go/go_text.h"
#include "cel/functions.h"

namespace berth::cel {
namespace {

constexpr int kMaxFormatDepth = 32;

Value Exceeded() { return Value::Error(std::string(kCostExceeded)); }
Value Failed(const std::string& why) { return Value::Error("error during formatting: " + why); }

// %s of anything that has such a form. False when it has none; `what` then names the type.
bool AppendText(CallContext& context, const Value& value, bool nested, int depth, std::string* out,
                std::string* what) {
  if (depth > kMaxFormatDepth) {
    *what = "a value nested too deeply";
    return false;
  }
  if (!context.budget.Spend(1)) return false;
  switch (value.kind()) {
    case Kind::kNull:
      *out += "null";
      return true;
    case Kind::kBool:
      *out += value.AsBool() ? "true" : "false";
      return true;
    case Kind::kInt:
      *out += std::to_string(value.AsInt());
      return true;
    case Kind::kUint:
      *out += std::to_string(value.AsUint());
      return true;
    case Kind::kDouble:
      *out += api::FormatGoFloat(value.AsDouble());
      return true;
    case Kind::kString:
    case Kind::kBytes:
      context.budget.SpendText(value.Text().size());
      *out += nested ? api::GoQuote(value.Text()) : std::string(value.Text());
      return !context.budget.Exhausted();
    case Kind::kType:
      *out += value.Text();
      return true;
    case Kind::kList: {
      *out += '[';
      bool first = true;
      for (const Value& element : value.AsList()) {
        if (!first) *out += ", ";
        first = false;
        if (!AppendText(context, element, true, depth + 1, out, what)) return false;
      }
      *out += ']';
      return true;
    }
    case Kind::kMap: {
      std::vector<std::string> entries;
      for (const auto& [key, element] : value.AsMap().entries) {
        std::string entry;
        if (!AppendText(context, key, true, depth + 1, &entry, what)) return false;
        entry += ':';
        if (!AppendText(context, element, true, depth + 1, &entry, what)) return false;
        entries.push_back(std::move(entry));
      }
      std::sort(entries.begin(), entries.end());
      *out += '{';
      for (size_t i = 0; i < entries.size(); ++i) {
        if (i > 0) *out += ", ";
        *out += entries[i];
      }
      *out += '}';
      return true;
    }
    case Kind::kDuration:
      *out += nested ? fmt::format("duration(\"{}\")", DurationText(value)) : DurationText(value);
      return true;
    case Kind::kTimestamp:
      *out +=
          nested ? fmt::format("timestamp(\"{}\")", TimestampText(value)) : TimestampText(value);
      return true;
    case Kind::kError:
    case Kind::kOptional:
    case Kind::kQuantity:
    case Kind::kSemver:
    case Kind::kAddress:
    case Kind::kNetwork:
      break;
  }
  *what = value.TypeName();
  return false;
}

std::string Radix(const Value& value, char clause) {
  const bool negative = value.kind() == Kind::kInt && value.AsInt() < 0;
  const uint64_t magnitude = value.kind() == Kind::kUint
                                 ? value.AsUint()
                                 : (negative ? uint64_t{0} - static_cast<uint64_t>(value.AsInt())
                                             : static_cast<uint64_t>(value.AsInt()));
  const std::string sign = negative ? "-" : "";
  switch (clause) {
    case 'x':
      return sign + fmt::format("{:x}", magnitude);
    case 'X':
      return sign + fmt::format("{:X}", magnitude);
    case 'o':
      return sign + fmt::format("{:o}", magnitude);
    case 'b':
      return sign + fmt::format("{:b}", magnitude);
    default:
      return sign + fmt::format("{}", magnitude);
  }
}

// English notation: thousands are grouped.
std::string Fixed(double value, int precision) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "∞" : "-∞";
  std::string text = fmt::format("{:.{}f}", value, precision);
  const size_t first = text[0] == '-' ? 1 : 0;
  for (size_t i = std::min(text.find('.'), text.size()); i > first + 3;) {
    i -= 3;
    text.insert(i, 1, ',');
  }
  return text;
}

std::string Hex(std::string_view text, bool upper) {
  std::string out;
  for (const char c : text) {
    out += fmt::format(fmt::runtime(upper ? "{:02X}" : "{:02x}"), static_cast<unsigned char>(c));
  }
  return out;
}

// One clause with its argument.
Value Clause(CallContext& context, char clause, int precision, const Value& arg) {
  const bool whole = arg.kind() == Kind::kInt || arg.kind() == Kind::kUint;
  switch (clause) {
    case 's': {
      std::string out;
      std::string what;
      if (AppendText(context, arg, false, 0, &out, &what)) return Value::String(std::move(out));
      if (context.budget.Exhausted()) return Exceeded();
      return Failed(
          "string clause can only be used on strings, bools, bytes, ints, doubles, maps, "
          "lists, types, durations, and timestamps, was given " +
          what);
    }
    case 'd':
      if (whole) return Value::String(Radix(arg, 'd'));
      return Failed("decimal clause can only be used on integers, was given " +
                    std::string(arg.TypeName()));
    case 'x':
    case 'X':
      if (whole) return Value::String(Radix(arg, clause));
      if (arg.kind() == Kind::kString || arg.kind() == Kind::kBytes) {
        return Value::String(Hex(arg.Text(), clause == 'X'));
      }
      return Failed("only integers, byte buffers, and strings can be formatted as hex, was given " +
                    std::string(arg.TypeName()));
    case 'o':
      if (whole) return Value::String(Radix(arg, 'o'));
      return Failed("octal clause can only be used on integers, was given " +
                    std::string(arg.TypeName()));
    case 'b':
      if (whole) return Value::String(Radix(arg, 'b'));
      if (arg.kind() == Kind::kBool) return Value::String(arg.AsBool() ? "1" : "0");
      return Failed("only integers and bools can be formatted as binary, was given " +
                    std::string(arg.TypeName()));
    case 'f':
      if (arg.kind() == Kind::kDouble) return Value::String(Fixed(arg.AsDouble(), precision));
      return Failed("fixed-point clause can only be used on doubles, was given " +
                    std::string(arg.TypeName()));
    default:
      return Value::Error("could not parse formatting clause: unrecognized formatting clause \"" +
                          std::string(1, clause) + "\"");
  }
}

Value Format(CallContext& context, Args a) {
  const std::string_view text = a[0].Text();
  const List& args = a[1].AsList();
  if (!context.budget.SpendText(text.size())) return Exceeded();
  std::string out;
  size_t next = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += text[i];
      continue;
    }
    if (++i >= text.size()) return Value::Error("unexpected end of string");
    if (text[i] == '%') {
      out += '%';
      continue;
    }
    int precision = 6;
    if (text[i] == '.') {
      precision = 0;
      for (++i; i < text.size() && text[i] >= '0' && text[i] <= '9'; ++i) {
        precision = std::min(precision * 10 + (text[i] - '0'), 1000);
      }
      if (i >= text.size()) return Value::Error("could not find end of precision specifier");
    }
    if (next >= args.size()) {
      return Value::Error("index " + std::to_string(next) + " out of range");
    }
    const Value formatted = Clause(context, text[i], precision, args[next++]);
    if (formatted.IsError()) return formatted;
    if (!context.budget.SpendText(formatted.Text().size())) return Exceeded();
    out += formatted.Text();
  }
  return Value::String(std::move(out));
}

}  // namespace

void AddFormat(std::vector<Overload>* table) {
  using enum TypeKind;
  table->push_back({"format",
                    true,
                    {kString, Type::ListOf(kDyn)},
                    kString,
                    Format,
                    Mismatch::kSignature,
                    false});
}

}  // namespace berth::cel
