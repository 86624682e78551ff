// Flags of a command line: --name VALUE, --name=VALUE, -x VALUE, switches, and positional
// arguments.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace berth::term {

class Flags {
 public:
  // `names` may give a short form too: "f,filename". `value` names the argument in the help (""
  // makes it a switch). `apply` receives the value and may return an error.
  void Add(std::string_view names, std::string_view value, std::string_view help,
           std::function<Result<void>(const std::string&)> apply);
  void AddText(std::string_view names, std::string_view value, std::string_view help,
               std::string* out);
  void AddList(std::string_view names, std::string_view value, std::string_view help,
               std::vector<std::string>* out);
  void AddNumber(std::string_view names, std::string_view value, std::string_view help, int64_t low,
                 int64_t high, int64_t* out);
  void AddSwitch(std::string_view names, std::string_view help, bool* out);
  // A value that must be one of `choices`.
  void AddChoice(std::string_view names, std::vector<std::string> choices, std::string_view help,
                 std::string* out);

  // Arguments that are not flags go to `rest`. Errors suggest a fix.
  Result<void> Parse(const std::vector<std::string>& args, std::vector<std::string>* rest);

  // One line per flag.
  std::string Help() const;

 private:
  struct Flag {
    std::string name;
    char short_name = 0;
    std::string value;
    std::string help;
    std::function<Result<void>(const std::string&)> apply;
  };
  const Flag* Find(std::string_view name) const;
  std::string Unknown(const std::string& shown) const;

  std::vector<Flag> flags_;
};

// The one of `words` that `word` was probably meant to be, "" if none is near: two letters missing,
// wrong or too many, one in short words.
std::string Nearest(std::string_view word, const std::vector<std::string>& words);

}  // namespace berth::term
