#include "cel/parser.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <string>
#include <utility>

namespace berth::cel {
namespace {

constexpr std::string_view kOperand =
    "{'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, "
    "BYTES, IDENTIFIER}";

bool IsReserved(std::string_view word) {
  static constexpr std::string_view kReserved[] = {
      "as",  "break", "const",   "continue",  "else",   "for", "function", "if",   "import",
      "let", "loop",  "package", "namespace", "return", "var", "void",     "while"};
  return std::find(std::begin(kReserved), std::end(kReserved), word) != std::end(kReserved);
}

class Parser {
 public:
  explicit Parser(std::string_view expression) {
    LexResult lexed = Lex(expression);
    tokens_ = std::move(lexed.tokens);
    result_.issues = std::move(lexed.issues);
  }

  ParseResult Run() {
    if (!result_.issues.empty()) return std::move(result_);
    const NodeId root = Expression();
    if (!failed_ && Peek().kind != TokenKind::kEnd) {
      Fail(Peek().pos,
           "Syntax error: extraneous input '" + std::string(Peek().text) + "' expecting <EOF>");
    }
    result_.ast.root = root;
    return std::move(result_);
  }

 private:
  // --- tokens
  const Token& Peek() const { return tokens_[next_]; }
  const Token& Take() {
    const Token& token = tokens_[next_];
    if (token.kind != TokenKind::kEnd) ++next_;
    return token;
  }
  bool Is(std::string_view punctuation) const {
    return Peek().kind == TokenKind::kPunctuation && Peek().text == punctuation;
  }
  bool Accept(std::string_view punctuation) {
    if (!Is(punctuation)) return false;
    ++next_;
    return true;
  }
  bool Expect(std::string_view punctuation) {
    if (Accept(punctuation)) return true;
    Unexpected("'" + std::string(punctuation) + "'");
    return false;
  }

  // --- failures: the first one ends parsing
  NodeId Fail(size_t pos, std::string message) {
    if (!failed_) result_.issues.push_back({pos, std::move(message)});
    failed_ = true;
    return kNoNode;
  }
  NodeId Unexpected(const std::string& expected) {
    const Token& token = Peek();
    const std::string seen = token.kind == TokenKind::kEnd ? "<EOF>" : std::string(token.text);
    return Fail(token.pos, "Syntax error: mismatched input '" + seen + "' expecting " + expected);
  }

  // --- nodes
  NodeId Add(Node node) {
    int depth = 0;
    for (NodeId arg : node.args) {
      if (arg != kNoNode) depth = std::max(depth, depth_[static_cast<size_t>(arg)]);
    }
    if (depth + 1 > kMaxTreeDepth) {
      return Fail(node.pos, "expression is too complex: more than " +
                                std::to_string(kMaxTreeDepth) + " nested operations");
    }
    depth_.push_back(depth + 1);
    result_.ast.nodes.push_back(std::move(node));
    return static_cast<NodeId>(result_.ast.nodes.size() - 1);
  }
  Node& At(NodeId id) { return result_.ast.nodes[static_cast<size_t>(id)]; }
  static Node Make(NodeKind kind, size_t pos, std::vector<NodeId> args, std::string text = {}) {
    Node node;
    node.kind = kind;
    node.pos = pos;
    node.args = std::move(args);
    node.text = std::move(text);
    return node;
  }
  NodeId AddCall(size_t pos, std::string function, std::vector<NodeId> args) {
    return Add(Make(NodeKind::kCall, pos, std::move(args), std::move(function)));
  }
  NodeId AddLiteral(size_t pos, Value value) {
    Node node = Make(NodeKind::kLiteral, pos, {});
    node.literal = std::move(value);
    return Add(std::move(node));
  }

  // --- grammar
  struct Nested {
    explicit Nested(Parser& parser) : parser_(parser) { ++parser_.nesting_; }
    ~Nested() { --parser_.nesting_; }
    bool TooDeep() const { return parser_.nesting_ > kMaxParseDepth; }
    Parser& parser_;
  };

  NodeId Expression() {
    const Nested nested(*this);
    if (nested.TooDeep()) {
      return Fail(Peek().pos,
                  "expression recursion limit exceeded: " + std::to_string(kMaxParseDepth));
    }
    const NodeId condition = Logical("||", NodeKind::kOr);
    if (failed_ || !Is("?")) return condition;
    const size_t pos = Take().pos;
    const NodeId yes = Logical("||", NodeKind::kOr);
    if (failed_ || !Expect(":")) return kNoNode;
    const NodeId no = Expression();
    if (failed_) return kNoNode;
    return Add(Make(NodeKind::kConditional, pos, {condition, yes, no}));
  }

  NodeId Logical(std::string_view op, NodeKind kind) {
    const auto term = [&] {
      return kind == NodeKind::kOr ? Logical("&&", NodeKind::kAnd) : Relation();
    };
    const NodeId first = term();
    if (failed_ || !Is(op)) return first;
    Node node = Make(kind, Peek().pos, {first});
    while (!failed_ && Accept(op)) node.args.push_back(term());
    return failed_ ? kNoNode : Add(std::move(node));
  }

  NodeId Relation() {
    static constexpr std::pair<std::string_view, std::string_view> kOperators[] = {
        {"<", "_<_"},   {"<=", "_<=_"}, {">", "_>_"}, {">=", "_>=_"},
        {"==", "_==_"}, {"!=", "_!=_"}, {"in", "@in"}};
    NodeId left = Sum();
    while (!failed_) {
      const auto* found = std::find_if(std::begin(kOperators), std::end(kOperators),
                                       [&](const auto& op) { return Is(op.first); });
      if (found == std::end(kOperators)) break;
      const size_t pos = Take().pos;
      const NodeId right = Sum();
      if (!failed_) left = AddCall(pos, std::string(found->second), {left, right});
    }
    return left;
  }

  NodeId Sum() {
    NodeId left = Product();
    while (!failed_ && (Is("+") || Is("-"))) {
      const Token& op = Take();
      const NodeId right = Product();
      if (!failed_) left = AddCall(op.pos, op.text == "+" ? "_+_" : "_-_", {left, right});
    }
    return left;
  }

  NodeId Product() {
    NodeId left = Unary();
    while (!failed_ && (Is("*") || Is("/") || Is("%"))) {
      const Token& op = Take();
      const NodeId right = Unary();
      if (!failed_) left = AddCall(op.pos, "_" + std::string(op.text) + "_", {left, right});
    }
    return left;
  }

  // An even number of signs cancels out.
  NodeId Unary() {
    if (!Is("!") && !Is("-")) return Member();
    const std::string op(Peek().text);
    const size_t pos = Peek().pos;
    size_t count = 0;
    while (Accept(op)) ++count;
    if (op == "-" && count % 2 == 1 &&
        (Peek().kind == TokenKind::kInt || Peek().kind == TokenKind::kDouble)) {
      return MemberTail(Number(Take(), true, pos));
    }
    const NodeId operand = Member();
    if (failed_ || count % 2 == 0) return operand;
    return AddCall(pos, op == "!" ? "!_" : "-_", {operand});
  }

  NodeId Member() { return MemberTail(Primary()); }

  NodeId MemberTail(NodeId operand) {
    while (!failed_) {
      if (Is(".")) {
        operand = Select(operand);
      } else if (Is("[")) {
        const size_t pos = Take().pos;
        const bool optional = Accept("?");
        const NodeId index = Expression();
        if (failed_ || !Expect("]")) return kNoNode;
        operand =
            Add(Make(optional ? NodeKind::kOptIndex : NodeKind::kIndex, pos, {operand, index}));
      } else {
        break;
      }
    }
    return operand;
  }

  NodeId Select(NodeId operand) {
    const size_t dot = Take().pos;
    const bool optional = Accept("?");
    if (Peek().kind != TokenKind::kIdent) {
      return Fail(Peek().pos, "Syntax error: no viable alternative at input '" +
                                  std::string(Peek().text) + "'");
    }
    const Token& name = Take();
    if (optional || !Is("(")) {
      return Add(Make(optional ? NodeKind::kOptSelect : NodeKind::kSelect, dot, {operand},
                      std::string(name.text)));
    }
    const size_t open = Take().pos;
    std::vector<NodeId> args = Arguments(")");
    if (failed_) return kNoNode;
    return MemberCall(operand, name.text, open, std::move(args));
  }

  std::vector<NodeId> Arguments(std::string_view close) {
    std::vector<NodeId> args;
    if (Accept(close)) return args;
    while (!failed_) {
      args.push_back(Expression());
      if (failed_ || Accept(close)) break;
      if (!Expect(",")) break;
    }
    return args;
  }

  NodeId Primary() {
    const Token& token = Peek();
    switch (token.kind) {
      case TokenKind::kInt:
      case TokenKind::kUint:
      case TokenKind::kDouble:
        return Number(Take(), false, token.pos);
      case TokenKind::kString:
        Take();
        return AddLiteral(token.pos, Value::String(token.value));
      case TokenKind::kBytes:
        Take();
        return AddLiteral(token.pos, Value::Bytes(token.value));
      case TokenKind::kTrue:
        Take();
        return AddLiteral(token.pos, Value::Bool(true));
      case TokenKind::kFalse:
        Take();
        return AddLiteral(token.pos, Value::Bool(false));
      case TokenKind::kNull:
        Take();
        return AddLiteral(token.pos, Value::Null());
      case TokenKind::kIdent:
        return IdentOrCall();
      case TokenKind::kEnd:
        return Unexpected(std::string(kOperand));
      case TokenKind::kPunctuation:
        break;
    }
    if (Accept("(")) {
      const NodeId inner = Expression();
      if (failed_ || !Expect(")")) return kNoNode;
      return inner;
    }
    if (Is("[")) return ListLiteral();
    if (Is("{")) return MapLiteral();
    if (Is(".")) {  // a leading dot names the root scope, which is the only one
      Take();
      if (Peek().kind == TokenKind::kIdent) return IdentOrCall();
    }
    return Unexpected(std::string(kOperand));
  }

  NodeId Number(const Token& token, bool negative, size_t pos) {
    std::string text = (negative ? "-" : "") + std::string(token.text);
    if (token.kind == TokenKind::kDouble) {
      const double value = std::strtod(text.c_str(), nullptr);
      if (!std::isfinite(value)) return Fail(pos, "invalid double literal");
      return AddLiteral(pos, Value::Double(value));
    }
    const bool is_uint = token.kind == TokenKind::kUint;
    if (is_uint) text.pop_back();
    int base = 10;
    if (const size_t x = text.find("0x"); x <= 1) {
      base = 16;
      text.erase(x, 2);
    }
    const char* end = text.data() + text.size();
    if (is_uint) {
      uint64_t value = 0;
      const auto parsed = std::from_chars(text.data(), end, value, base);
      if (parsed.ec != std::errc()) return Fail(pos, "invalid uint literal");
      return AddLiteral(pos, Value::Uint(value));
    }
    int64_t value = 0;
    const auto parsed = std::from_chars(text.data(), end, value, base);
    if (parsed.ec != std::errc()) return Fail(pos, "invalid int literal");
    return AddLiteral(pos, Value::Int(value));
  }

  NodeId IdentOrCall() {
    const Token& name = Take();
    if (!Is("(")) {
      if (IsReserved(name.text)) {
        return Fail(name.pos, "reserved identifier: " + std::string(name.text));
      }
      return Add(Make(NodeKind::kIdent, name.pos, {}, std::string(name.text)));
    }
    const size_t open = Take().pos;
    std::vector<NodeId> args = Arguments(")");
    if (failed_) return kNoNode;
    if (name.text == "has" && args.size() == 1) {
      if (At(args[0]).kind != NodeKind::kSelect) {
        return Fail(At(args[0]).pos, "invalid argument to has() macro");
      }
      Node has = Make(NodeKind::kHas, open, At(args[0]).args, At(args[0]).text);
      return Add(std::move(has));
    }
    return AddCall(open, std::string(name.text), std::move(args));
  }

  NodeId ListLiteral() {
    Node node = Make(NodeKind::kList, Take().pos, {});
    while (!failed_ && !Accept("]")) {
      node.optional.push_back(Accept("?"));
      node.args.push_back(Expression());
      if (failed_ || Accept("]")) break;
      if (!Expect(",")) break;
    }
    return failed_ ? kNoNode : Add(std::move(node));
  }

  NodeId MapLiteral() {
    Node node = Make(NodeKind::kMap, Take().pos, {});
    while (!failed_ && !Accept("}")) {
      node.optional.push_back(Accept("?"));
      node.args.push_back(Expression());
      if (failed_ || !Expect(":")) break;
      node.args.push_back(Expression());
      if (failed_ || Accept("}")) break;
      if (!Expect(",")) break;
    }
    return failed_ ? kNoNode : Add(std::move(node));
  }

  // --- macros
  struct Macro {
    std::string_view name;
    size_t args;
    int vars;
    NodeKind kind;
  };

  NodeId MemberCall(NodeId target, std::string_view name, size_t open, std::vector<NodeId> args) {
    static constexpr Macro kMacros[] = {
        {"all", 2, 1, NodeKind::kAll},
        {"exists", 2, 1, NodeKind::kExists},
        {"exists_one", 2, 1, NodeKind::kExistsOne},
        {"filter", 2, 1, NodeKind::kFilter},
        {"map", 2, 1, NodeKind::kMapMacro},
        {"map", 3, 1, NodeKind::kMapMacro},
        {"optMap", 2, 1, NodeKind::kOptMap},
        {"optFlatMap", 2, 1, NodeKind::kOptFlatMap},
        {"sortBy", 2, 1, NodeKind::kSortBy},
        {"all", 3, 2, NodeKind::kAll},
        {"exists", 3, 2, NodeKind::kExists},
        {"existsOne", 3, 2, NodeKind::kExistsOne},
        {"transformList", 3, 2, NodeKind::kTransformList},
        {"transformList", 4, 2, NodeKind::kTransformList},
        {"transformMap", 3, 2, NodeKind::kTransformMap},
        {"transformMap", 4, 2, NodeKind::kTransformMap},
    };
    if (name == "bind" && args.size() == 3 && At(target).kind == NodeKind::kIdent &&
        At(target).text == "cel") {
      return Bind(open, args);
    }
    for (const Macro& macro : kMacros) {
      if (macro.name == name && macro.args == args.size()) {
        return ExpandMacro(macro, target, open, args);
      }
    }
    Node call = Make(NodeKind::kCall, open, {target}, std::string(name));
    call.has_target = true;
    call.args.insert(call.args.end(), args.begin(), args.end());
    return Add(std::move(call));
  }

  bool TakeVariable(NodeId arg, std::string* name) {
    if (At(arg).kind != NodeKind::kIdent) {
      Fail(At(arg).pos, "argument is not an identifier");
      return false;
    }
    *name = At(arg).text;
    return true;
  }

  NodeId Bind(size_t open, const std::vector<NodeId>& args) {
    Node node = Make(NodeKind::kBind, open, {args[1], args[2]});
    if (At(args[0]).kind != NodeKind::kIdent) {
      return Fail(At(args[0]).pos, "cel.bind() variable names must be simple identifiers");
    }
    node.var = At(args[0]).text;
    return Add(std::move(node));
  }

  NodeId ExpandMacro(const Macro& macro, NodeId range, size_t open,
                     const std::vector<NodeId>& args) {
    Node node = Make(macro.kind, open, {range});
    if (!TakeVariable(args[0], &node.var)) return kNoNode;
    if (macro.vars == 2 && !TakeVariable(args[1], &node.var2)) return kNoNode;
    const auto first = static_cast<size_t>(macro.vars);
    const bool transforms = macro.kind == NodeKind::kMapMacro ||
                            macro.kind == NodeKind::kTransformList ||
                            macro.kind == NodeKind::kTransformMap;
    if (transforms && args.size() == first + 1) node.args.push_back(kNoNode);
    node.args.insert(node.args.end(), args.begin() + macro.vars, args.end());
    return Add(std::move(node));
  }

  std::vector<Token> tokens_;
  size_t next_ = 0;
  int nesting_ = 0;
  bool failed_ = false;
  std::vector<int> depth_;  // of the tree below each node
  ParseResult result_;
};

}  // namespace

ParseResult Parse(std::string_view expression) { return Parser(expression).Run(); }

}  // namespace berth::cel
