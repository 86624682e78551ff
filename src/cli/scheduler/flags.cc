// Flags: see flags.h.
#include "cli/scheduler/flags.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <utility>

#include "api/go/go_text.h"
#include "cli/scheduler/flags_table.h"
#include "cli/scheduler/usage.h"
#include "log/log.h"

namespace berth::cli::scheduler {

namespace {

// Go's %q of one byte.
std::string QuotedChar(char c) {
  if (c == '\'') return "'\\''";
  if (c == '"') return "'\"'";
  std::string quoted = api::GoQuote(std::string_view(&c, 1));
  if (static_cast<unsigned char>(c) >= 0x80) {
    std::string letter;
    api::AppendUtf8(letter, static_cast<unsigned char>(c));
    quoted = api::GoQuote(letter);
  }
  quoted.front() = quoted.back() = '\'';
  return quoted;
}

}  // namespace

Flags::Flags() {
  AddAllFlags(values_, flags_);
  for (Flag& flag : flags_) flag.default_value = flag.text();
}

Flag* Flags::Find(std::string_view name) {
  std::string normal(name);
  std::replace(normal.begin(), normal.end(), '_', '-');
  const auto it = std::find_if(flags_.begin(), flags_.end(),
                               [&](const Flag& flag) { return flag.name == normal; });
  return it == flags_.end() ? nullptr : &*it;
}

Flag* Flags::FindShorthand(char letter) {
  const auto it = std::find_if(flags_.begin(), flags_.end(), [&](const Flag& flag) {
    return flag.shorthand == letter && letter != 0;
  });
  return it == flags_.end() ? nullptr : &*it;
}

bool Flags::Changed(std::string_view name) const {
  const auto it = std::find_if(flags_.begin(), flags_.end(),
                               [&](const Flag& flag) { return flag.name == name; });
  return it != flags_.end() && it->changed;
}

std::vector<std::pair<std::string, std::string>> Flags::Dump() const {
  std::vector<std::pair<std::string, std::string>> dump;
  for (const Flag& flag : flags_) {
    if (flag.obsolete.empty()) dump.emplace_back(flag.name, flag.text());
  }
  std::sort(dump.begin(), dump.end());
  return dump;
}

Result<void> Flags::Set(Flag& flag, const std::string& value) {
  if (auto set = flag.set(value); !set) {
    const std::string shown =
        (flag.shorthand != 0 ? fmt::format("-{}, ", flag.shorthand) : "") + "--" + flag.name;
    return Fail(fmt::format("invalid argument {} for {} flag: {}", api::GoQuote(value),
                            api::GoQuote(shown), set.error().Message()));
  }
  flag.changed = true;
  return {};
}

Result<size_t> Flags::ParseLong(const std::string& arg, const std::string* next) {
  if (arg[2] == '-' || arg[2] == '=') return Fail("bad flag syntax: " + arg);
  const size_t equal = arg.find('=');
  const std::string name = arg.substr(2, equal == std::string::npos ? equal : equal - 2);
  Flag* flag = Find(name);
  if (flag == nullptr) return Fail("unknown flag: --" + name);
  size_t taken = 0;
  std::string value;
  if (equal != std::string::npos) {
    value = arg.substr(equal + 1);
  } else if (!flag->no_value.empty()) {
    value = flag->no_value;
  } else if (next != nullptr) {
    value = *next;
    taken = 1;
  } else {
    return Fail("flag needs an argument: " + arg);
  }
  if (auto set = Set(*flag, value); !set) return Fail(std::move(set.error()));
  return taken;
}

// Letters may be joined: -hv4 is -h -v 4.
Result<size_t> Flags::ParseShort(const std::string& arg, const std::string* next) {
  std::string letters = arg.substr(1);
  size_t taken = 0;
  while (!letters.empty()) {
    Flag* flag = FindShorthand(letters[0]);
    if (flag == nullptr) {
      return Fail(
          fmt::format("unknown shorthand flag: {} in -{}", QuotedChar(letters[0]), letters));
    }
    std::string value;
    std::string rest;
    if (letters.size() > 2 && letters[1] == '=') {
      value = letters.substr(2);
    } else if (!flag->no_value.empty()) {
      value = flag->no_value;
      rest = letters.substr(1);
    } else if (letters.size() > 1) {
      value = letters.substr(1);
    } else if (next != nullptr) {
      value = *next;
      taken = 1;
    } else {
      return Fail(
          fmt::format("flag needs an argument: {} in -{}", QuotedChar(letters[0]), letters));
    }
    if (auto set = Set(*flag, value); !set) return Fail(std::move(set.error()));
    letters = std::move(rest);
  }
  return taken;
}

Result<void> Flags::Parse(const std::vector<std::string>& args) {
  for (size_t i = 0; i < args.size(); ++i) {
    const std::string& arg = args[i];
    if (arg.size() < 2 || arg[0] != '-') {
      positional_.push_back(arg);
      continue;
    }
    if (arg == "--") {
      positional_.insert(positional_.end(), args.begin() + static_cast<ptrdiff_t>(i) + 1,
                         args.end());
      break;
    }
    const std::string* next = i + 1 < args.size() ? &args[i + 1] : nullptr;
    auto taken = arg[1] == '-' ? ParseLong(arg, next) : ParseShort(arg, next);
    if (!taken) return Fail(std::move(taken.error()));
    i += *taken;
  }
  return {};
}

OrExit<std::unique_ptr<Flags>> ParseFlags(const std::vector<std::string>& args) {
  auto flags = std::make_unique<Flags>();
  if (auto parsed = flags->Parse(args); !parsed) {
    return tl::unexpected(
        Exit{.code = 1, .err = UsageText(*flags) + "\nError: " + parsed.error().Message() + "\n"});
  }
  if (flags->Values().help) return tl::unexpected(Exit{.code = 0, .out = HelpText(*flags)});
  const std::vector<std::string>& rest = flags->Positional();
  if (std::any_of(rest.begin(), rest.end(), [](const std::string& arg) { return !arg.empty(); })) {
    std::string list;
    for (const std::string& arg : rest) list += (list.empty() ? "" : " ") + api::GoQuote(arg);
    return tl::unexpected(
        Exit{.code = 1,
             .err = "Error: \"kube-scheduler\" does not take any arguments, got [" + list + "]\n"});
  }
  return flags;
}

int Report(const Exit& exit) {
  std::fputs(exit.out.c_str(), stdout);
  std::fflush(stdout);
  std::fputs(exit.err.c_str(), stderr);
  if (!exit.failure.empty()) log::Error(exit.failure, "command failed");
  return exit.code;
}

}  // namespace berth::cli::scheduler
