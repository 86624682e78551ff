#include "term/flags.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include <fmt/format.h>

namespace berth::term {

void Flags::Add(std::string_view names, std::string_view value, std::string_view help,
                std::function<Result<void>(const std::string&)> apply) {
  Flag flag;
  const size_t comma = names.find(',');
  if (comma != std::string_view::npos) {
    flag.short_name = names.front();
    names.remove_prefix(comma + 1);
  }
  flag.name = names;
  flag.value = value;
  flag.help = help;
  flag.apply = std::move(apply);
  flags_.push_back(std::move(flag));
}

void Flags::AddText(std::string_view names, std::string_view value, std::string_view help,
                    std::string* out) {
  Add(names, value, help, [out](const std::string& text) -> Result<void> {
    *out = text;
    return {};
  });
}

void Flags::AddList(std::string_view names, std::string_view value, std::string_view help,
                    std::vector<std::string>* out) {
  Add(names, value, help, [out](const std::string& text) -> Result<void> {
    out->push_back(text);
    return {};
  });
}

void Flags::AddNumber(std::string_view names, std::string_view value, std::string_view help,
                      int64_t low, int64_t high, int64_t* out) {
  Add(names, value, help, [=](const std::string& text) -> Result<void> {
    int64_t number = 0;
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, number);
    if (error != std::errc() || stop != end || number < low || number > high) {
      return Fail(fmt::format("\"{}\" is not a whole number from {} to {}", text, low, high));
    }
    *out = number;
    return {};
  });
}

void Flags::AddSwitch(std::string_view names, std::string_view help, bool* out) {
  Add(names, "", help, [out](const std::string& text) -> Result<void> {
    if (text != "true" && text != "false")
      return Fail(fmt::format("\"{}\" is not true or false", text));
    *out = text == "true";
    return {};
  });
}

void Flags::AddChoice(std::string_view names, std::vector<std::string> choices,
                      std::string_view help, std::string* out) {
  const std::string joined = fmt::format("{}", fmt::join(choices, "|"));
  Add(names, joined, help,
      [out, joined, choices = std::move(choices)](const std::string& text) -> Result<void> {
        if (std::find(choices.begin(), choices.end(), text) == choices.end()) {
          return Fail(fmt::format("\"{}\" is none of {}", text, joined));
        }
        *out = text;
        return {};
      });
}

const Flags::Flag* Flags::Find(std::string_view name) const {
  for (const Flag& flag : flags_) {
    if (flag.name == name || (name.size() == 1 && flag.short_name == name[0])) return &flag;
  }
  return nullptr;
}

// "unknown flag: --node; did you mean --nodes?"
std::string Flags::Unknown(const std::string& shown) const {
  std::vector<std::string> names;
  for (const Flag& flag : flags_) names.push_back("--" + flag.name);
  const std::string near = Nearest(shown, names);
  return near.empty() ? "unknown flag: " + shown
                      : fmt::format("unknown flag: {}; did you mean {}?", shown, near);
}

std::string Nearest(std::string_view word, const std::vector<std::string>& words) {
  std::string nearest;
  size_t least = word.size() < 6 ? 2 : 3;  // as far away as this is too far
  for (const std::string& other : words) {
    // Edit distance, a row of the table at a time.
    std::vector<size_t> row(other.size() + 1);
    for (size_t i = 0; i < row.size(); ++i) row[i] = i;
    for (size_t i = 1; i <= word.size(); ++i) {
      size_t diagonal = std::exchange(row[0], i);
      for (size_t j = 1; j < row.size(); ++j) {
        const size_t changed = diagonal + (word[i - 1] == other[j - 1] ? 0 : 1);
        diagonal = std::exchange(row[j], std::min({changed, row[j] + 1, row[j - 1] + 1}));
      }
    }
    if (row.back() >= least) continue;
    least = row.back();
    nearest = other;
  }
  return nearest;
}

Result<void> Flags::Parse(const std::vector<std::string>& args, std::vector<std::string>* rest) {
  for (size_t i = 0; i < args.size(); ++i) {
    const std::string& arg = args[i];
    if (arg == "--") {
      rest->insert(rest->end(), args.begin() + static_cast<std::ptrdiff_t>(i) + 1, args.end());
      break;
    }
    if (arg.size() < 2 || arg[0] != '-') {
      rest->push_back(arg);
      continue;
    }
    const bool is_long = arg[1] == '-';
    const size_t equals = arg.find('=');
    // -fFILE and -f=FILE are as good as -f FILE.
    const std::string name = is_long
                                 ? arg.substr(2, equals == std::string::npos ? equals : equals - 2)
                                 : arg.substr(1, 1);
    const std::string shown = (is_long ? "--" : "-") + name;
    const Flag* flag = Find(name);
    if (flag == nullptr || is_long != (name.size() > 1)) return Fail(Unknown(shown));
    std::string value;
    if (is_long && equals != std::string::npos) {
      value = arg.substr(equals + 1);
    } else if (!is_long && arg.size() > 2) {
      value = arg.substr(arg[2] == '=' ? 3 : 2);
    } else if (flag->value.empty()) {
      value = "true";
    } else if (i + 1 < args.size()) {
      value = args[++i];
    } else {
      return Fail(fmt::format("flag {} needs a value: {}", shown, flag->value));
    }
    if (auto ok = flag->apply(value); !ok) return Fail(ok.error().In(shown));
  }
  return {};
}

std::string Flags::Help() const {
  size_t width = 0;
  std::vector<std::string> left;
  for (const Flag& flag : flags_) {
    std::string text = flag.short_name != 0 ? fmt::format("-{}, ", flag.short_name) : "    ";
    text += "--" + flag.name;
    if (!flag.value.empty()) text += " " + flag.value;
    width = std::max(width, text.size());
    left.push_back(std::move(text));
  }
  std::string help;
  for (size_t i = 0; i < flags_.size(); ++i) {
    help += fmt::format("  {:<{}}  {}\n", left[i], width, flags_[i].help);
  }
  return help;
}

}  // namespace berth::term
