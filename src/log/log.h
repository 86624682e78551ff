// Log: lines in klog's format, text or JSON, on standard error.
//
//   I1116 04:10:53.123456    4711 watch.cc:88] "Caches populated" type="Pod"
//
// Safe to call from any thread. What is at a level above the verbosity costs one comparison, so
// callers that would have to build text first ask V(). No secret belongs in a line: tokens, keys
// and bodies of requests are never logged.
#pragma once

#include <atomic>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>

#include "base/error.h"

namespace berth::log {

// An object by name: text "ns/name", JSON {"name":…,"namespace":…}.
struct ObjectName {
  std::string_view namespace_;
  std::string_view name;
};

// Printed as it is: JSON in JSON lines, plain in text.
struct Raw {
  std::string_view json;
};

using Value = std::variant<std::string_view, int64_t, double, bool, ObjectName, Raw>;

struct Field {
  std::string_view key;
  Value value;

  Field(std::string_view k, std::string_view v) : key(k), value(v) {}
  Field(std::string_view k, const char* v) : key(k), value(std::string_view(v)) {}
  Field(std::string_view k, const std::string& v) : key(k), value(std::string_view(v)) {}
  Field(std::string_view k, bool v) : key(k), value(v) {}
  Field(std::string_view k, double v) : key(k), value(v) {}
  Field(std::string_view k, ObjectName v) : key(k), value(v) {}
  Field(std::string_view k, Raw v) : key(k), value(v) {}
  template <class I>
  requires std::is_integral_v<I> Field(std::string_view k, I v)
      : key(k), value(static_cast<int64_t>(v)) {}
};
using Fields = std::initializer_list<Field>;

// The place in the source a line comes from. (std::source_location, for compilers without it.)
struct Where {
  const char* file;
  uint32_t line;

  static constexpr Where Here(const char* path = __builtin_FILE(),
                              uint32_t number = __builtin_LINE()) {
    return {path, number};
  }
};

struct Options {
  int verbosity = 0;
  std::string vmodule = {};  // "pattern=N,…": verbosity by file name without its ending
  bool json = false;
  int fd = 2;
  int info_fd = -1;  // for all lines but errors; -1: fd
};

// Called before threads start. Refuses a malformed vmodule.
Result<void> Configure(const Options& options);
// The verbosity can be changed while running (PUT /debug/flags/v).
void SetVerbosity(int level);
int Verbosity();

namespace internal {
extern std::atomic<int> most_verbose;  // of the verbosity and what vmodule says of any file
bool Prints(int level, const Where& where);
}  // namespace internal

// Would Info(level, …) print?
inline bool V(int level, Where where = Where::Here()) {
  return level <= internal::most_verbose.load(std::memory_order_relaxed) &&
         internal::Prints(level, where);
}

// Who speaks, when it is not the program as such: "PostFilter.DefaultPreemption".
struct Logger {
  std::string_view name;
};

// Structured: the message is quoted, fields follow.
void Info(int level, std::string_view message, Fields fields = {}, Where where = Where::Here());
// As kube-scheduler's plugins do: the line names its logger from -v=4 on.
void Info(int level, Logger logger, std::string_view message, Fields fields = {},
          Where where = Where::Here());
// `error` becomes the field err; leave it empty for none.
void Error(std::string_view error, std::string_view message, Fields fields = {},
           Where where = Where::Here());
void Error(std::string_view error, Logger logger, std::string_view message, Fields fields = {},
           Where where = Where::Here());
// A bare line, as klog's Warningf and Infof print.
void WarningLine(std::string_view line, Where where = Where::Here());
void InfoLine(int level, std::string_view line, Where where = Where::Here());

}  // namespace berth::log
