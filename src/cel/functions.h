// The functions an expression may call, each with its signature and what it does.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cel/regex.h"
#include "cel/types.h"
#include "cel/value.h"

namespace berth::cel {

// What a function may use besides its arguments.
struct CallContext {
  Budget& budget;
  RegexCache& regexes;
};

using Args = std::span<const Value>;
using Function = Value (*)(CallContext&, Args);

// How a call whose arguments turn out to have the wrong types is reported.
enum class Mismatch : uint8_t {
  kPlain,      // "no such overload"
  kName,       // "no such overload: size"
  kSignature,  // "no such overload: major(int)"
};

struct Overload {
  std::string_view name;
  bool member = false;
  std::vector<Type> params;  // the target first
  Type result;
  Function function = nullptr;
  Mismatch mismatch = Mismatch::kSignature;
  bool folds = false;  // a call with a literal is computed when the expression is compiled
};

// All overloads of a function; empty when there is no such function. Qualified names are whole:
// "sets.contains".
std::span<const Overload* const> FindFunction(std::string_view name);

// Do the values have the types the overload wants? Elements of lists and maps are not looked at.
bool Accepts(const Overload& overload, Args args);

// The tables, by library.
void AddOperators(std::vector<Overload>* table);
void AddConversions(std::vector<Overload>* table);
void AddStrings(std::vector<Overload>* table);
void AddRegexes(std::vector<Overload>* table);
void AddFormat(std::vector<Overload>* table);
void AddLists(std::vector<Overload>* table);
void AddKubernetes(std::vector<Overload>* table);  // quantities and versions
void AddOptionals(std::vector<Overload>* table);
void AddTimes(std::vector<Overload>* table);
void AddAddresses(std::vector<Overload>* table);

// What string() makes of them. REQUIRES: the kind.
std::string DurationText(const Value& duration);
std::string TimestampText(const Value& timestamp);

}  // namespace berth::cel
