#include "cel/program.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "cel/checker.h"
#include "cel/evaluator.h"
#include "cel/parser.h"

namespace berth::cel {
namespace {

constexpr size_t kMaxReportedIssues = 10;

size_t CountCodePoints(std::string_view text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xc0) != 0x80;
  }));
}

// "ERROR: <input>:1:7: message", the line, and a mark below it.
std::string IssueText(std::string_view expression, const Issue& issue) {
  const size_t pos = std::min(issue.pos, expression.size());
  const std::string_view before = expression.substr(0, pos);
  const auto line = std::count(before.begin(), before.end(), '\n') + 1;
  const size_t line_start =
      before.rfind('\n') == std::string_view::npos ? 0 : before.rfind('\n') + 1;
  const size_t column = CountCodePoints(before.substr(line_start));
  std::string text(expression.substr(line_start));
  text.resize(std::min(text.find('\n'), text.size()));
  std::replace(text.begin(), text.end(), '\t', ' ');
  return "ERROR: <input>:" + std::to_string(line) + ":" + std::to_string(column + 1) + ": " +
         issue.message + "\n | " + text + "\n | " + std::string(column, '.') + "^";
}

std::string IssuesText(std::string_view expression, const std::vector<Issue>& issues) {
  std::string text = "compilation failed: ";
  for (size_t i = 0; i < std::min(issues.size(), kMaxReportedIssues); ++i) {
    if (i > 0) text += '\n';
    text += IssueText(expression, issues[i]);
  }
  return text;
}

// Conversions of literals are done once. Fails when one cannot be done at all.
Result<void> FoldConstants(Ast* ast, RegexCache& regexes) {
  for (Node& node : ast->nodes) {
    if (node.kind != NodeKind::kCall || node.overloads.empty() || !node.overloads[0]->folds) {
      continue;
    }
    const bool constant = std::all_of(node.args.begin(), node.args.end(), [&](NodeId arg) {
      return ast->nodes[static_cast<size_t>(arg)].kind == NodeKind::kLiteral;
    });
    if (!constant) continue;
    Value value = EvaluateConstant(*ast, node, regexes);
    if (value.IsError()) {
      return Fail("program instantiation failed: " + std::string(value.Text()));
    }
    node.kind = NodeKind::kLiteral;
    node.literal = std::move(value);
    node.args.clear();
  }
  return {};
}

Result<Value> AttributeValue(const api::DeviceAttribute& attribute) {
  if (attribute.int_) return Value::Int(*attribute.int_);
  if (attribute.bool_) return Value::Bool(*attribute.bool_);
  if (attribute.string) return Value::BorrowedString(*attribute.string);
  if (attribute.version) {
    Result<Semver> version = Semver::Parse(*attribute.version);
    if (!version) return Fail(version.error().In("parse semantic version"));
    return Value::FromSemver(std::move(*version));
  }
  return Fail("unsupported attribute value");
}

// Each type has its own words for this.
std::string NotABool(const Value& value) {
  const std::string type(value.TypeName());
  switch (value.kind()) {
    case Kind::kInt:
    case Kind::kUint:
      return "unsupported type conversion from '" + type + "' to bool";
    case Kind::kSemver:
      return "type conversion error from 'Semver' to 'bool'";
    default:
      return "unsupported native conversion from " + type + " to 'bool'";
  }
}

// A map of maps: by domain, then by name. Names without a domain belong to the driver's.
class ByDomain {
 public:
  explicit ByDomain(std::string_view driver) : driver_(driver) {}

  void Add(std::string_view qualified_name, Value value) {
    const size_t slash = qualified_name.find('/');
    const bool has_domain = slash != std::string_view::npos;
    const std::string_view domain = has_domain ? qualified_name.substr(0, slash) : driver_;
    const std::string_view name = has_domain ? qualified_name.substr(slash + 1) : qualified_name;
    auto it = std::find_if(domains_.begin(), domains_.end(),
                           [&](const auto& d) { return d.first == domain; });
    if (it == domains_.end()) it = domains_.insert(it, {domain, Map{}});
    it->second.entries.emplace_back(Value::BorrowedString(name), std::move(value));
  }

  Value Take() {
    Map outer;
    outer.missing_is_empty = true;
    for (auto& [domain, inner] : domains_) {
      outer.entries.emplace_back(Value::BorrowedString(domain), Value::FromMap(std::move(inner)));
    }
    return Value::FromMap(std::move(outer));
  }

 private:
  std::string_view driver_;
  std::vector<std::pair<std::string_view, Map>> domains_;
};

}  // namespace

Result<Value> MakeDevice(std::string_view driver, const api::Device& device) {
  ByDomain attributes(driver);
  for (const auto& [name, attribute] : device.attributes) {
    Result<Value> value = AttributeValue(attribute);
    if (!value) return Fail(value.error().In("attribute " + name));
    attributes.Add(name, std::move(*value));
  }
  ByDomain capacity(driver);
  for (const auto& [name, amount] : device.capacity) {
    capacity.Add(name, Value::FromQuantity(amount.value));
  }
  Map map;
  map.entries.reserve(4);
  map.entries.emplace_back(Value::BorrowedString("driver"), Value::BorrowedString(driver));
  map.entries.emplace_back(Value::BorrowedString("attributes"), attributes.Take());
  map.entries.emplace_back(Value::BorrowedString("capacity"), capacity.Take());
  map.entries.emplace_back(Value::BorrowedString("allowMultipleAllocations"),
                           Value::Bool(device.allow_multiple_allocations.value_or(false)));
  return Value::FromMap(std::move(map));
}

Result<std::unique_ptr<Program>> Program::Compile(std::string_view expression) {
  if (expression.size() > kMaxExpressionBytes) {
    return Fail("compilation failed: expression is longer than " +
                std::to_string(kMaxExpressionBytes) + " bytes");
  }
  ParseResult parsed = Parse(expression);
  if (!parsed.issues.empty()) return Fail(IssuesText(expression, parsed.issues));
  const CheckResult checked = Check(&parsed.ast);
  if (!checked.issues.empty()) return Fail(IssuesText(expression, checked.issues));
  if (checked.type.kind != TypeKind::kBool && checked.type.kind != TypeKind::kAny) {
    return Fail("must evaluate to bool or the unknown type, not " + FullTypeText(checked.type));
  }
  std::unique_ptr<Program> program(new Program());
  program->ast_ = std::move(parsed.ast);
  program->slots_ = checked.slots;
  if (Result<void> folded = FoldConstants(&program->ast_, program->regexes_); !folded) {
    return Fail(folded.error());
  }
  return program;
}

Result<bool> Program::Matches(const Value& device) {
  const Value value = Evaluate(ast_, slots_, device, regexes_);
  if (value.IsError()) return Fail(std::string(value.Text()));
  if (value.kind() == Kind::kBool) return value.AsBool();
  return Fail("CEL result of type " + std::string(value.TypeName()) +
              " could not be converted to bool: " + NotABool(value));
}

}  // namespace berth::cel
