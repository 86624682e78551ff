// Log: see log.h.
#include "log/log.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <ctime>
#include <utility>
#include <vector>

#include "log/line.h"
#include "log/vmodule.h"

namespace berth::log {

namespace {

// Set before threads start, but for the verbosity.
struct State {
  const int pid = static_cast<int>(getpid());  // getpid is a system call
  std::atomic<int> verbosity{0};
  std::vector<ModuleLevel> modules;
  bool json = false;
  int fd = 2;
  int info_fd = 2;
};

// Never destroyed: lines may come from destructors.
State& Global() {
  static State& state = *new State;
  return state;
}

// What a line may keep of memory once it has been written.
constexpr size_t kKeptCapacity = 16 << 10;

std::string& Buffer() {
  thread_local std::string buffer;
  return buffer;
}

Head MakeHead(char severity, const Where& where) {
  timespec now = {};
  clock_gettime(CLOCK_REALTIME, &now);
  return {.severity = severity,
          .time = {now.tv_sec, static_cast<int32_t>(now.tv_nsec)},
          .pid = Global().pid,
          .file = where.file,
          .line = where.line};
}

// In one write, so that lines of several threads and processes do not mix.
void Emit(std::string& line, char severity) {
  line.push_back('\n');
  const int fd = severity == 'E' ? Global().fd : Global().info_fd;
  std::string_view rest = line;
  while (!rest.empty()) {
    const ssize_t written = write(fd, rest.data(), rest.size());
    if (written >= 0) {
      rest.remove_prefix(static_cast<size_t>(written));
    } else if (errno == EAGAIN) {
      pollfd ready = {fd, POLLOUT, 0};
      poll(&ready, 1, -1);
    } else if (errno != EINTR) {
      break;  // standard error is closed
    }
  }
  line.clear();
  if (line.capacity() > kKeptCapacity) std::string().swap(line);
}

// `level` below 0: an error, which has none.
void Structured(char severity, int level, std::string_view error, Logger logger,
                std::string_view message, Fields fields, const Where& where) {
  std::string& buffer = Buffer();
  Line line(buffer);
  Head head = MakeHead(severity, where);
  head.logger = logger.name;
  if (Global().json) {
    line.JsonHead(head, message);
    if (level >= 0) line.JsonField({"v", level});
    for (const Field& field : fields) line.JsonField(field);
    if (!error.empty()) line.JsonField({"err", error});
    line.Raw("}");
  } else {
    line.TextHead(head);
    line.Quote(message);
    if (!error.empty()) line.TextField({"err", error});
    if (!logger.name.empty()) line.TextField({"logger", logger.name});
    for (const Field& field : fields) line.TextField(field);
  }
  Emit(buffer, severity);
}

void Bare(char severity, int level, std::string_view text, const Where& where) {
  std::string& buffer = Buffer();
  Line line(buffer);
  const Head head = MakeHead(severity, where);
  if (Global().json) {
    line.JsonHead(head, text);
    line.JsonField({"v", level});
    line.Raw("}");
  } else {
    line.TextHead(head);
    line.Plain(text);
  }
  Emit(buffer, severity);
}

}  // namespace

Result<void> Configure(const Options& options) {
  auto modules = ParseVmodule(options.vmodule);
  if (!modules) return Fail(std::move(modules.error()));
  State& state = Global();
  state.modules = std::move(*modules);
  state.json = options.json;
  state.fd = options.fd;
  state.info_fd = options.info_fd < 0 ? options.fd : options.info_fd;
  SetVerbosity(options.verbosity);
  return {};
}

std::atomic<int> internal::most_verbose{0};

void SetVerbosity(int level) {
  State& state = Global();
  state.verbosity.store(level, std::memory_order_relaxed);
  for (const ModuleLevel& module : state.modules) level = std::max(level, module.level);
  internal::most_verbose.store(level, std::memory_order_relaxed);
}

int Verbosity() { return Global().verbosity.load(std::memory_order_relaxed); }

bool internal::Prints(int level, const Where& where) {
  const State& state = Global();
  if (level <= state.verbosity.load(std::memory_order_relaxed)) return true;
  return !state.modules.empty() && level <= LevelFor(state.modules, where.file);
}

void Info(int level, std::string_view message, Fields fields, Where where) {
  if (V(level, where)) Structured('I', level, {}, {}, message, fields, where);
}

void Info(int level, Logger logger, std::string_view message, Fields fields, Where where) {
  if (!V(level, where)) return;
  Structured('I', level, {}, V(4, where) ? logger : Logger{}, message, fields, where);
}

void Error(std::string_view error, std::string_view message, Fields fields, Where where) {
  Structured('E', -1, error, {}, message, fields, where);
}

void Error(std::string_view error, Logger logger, std::string_view message, Fields fields,
           Where where) {
  Structured('E', -1, error, logger, message, fields, where);
}

void WarningLine(std::string_view line, Where where) { Bare('W', 0, line, where); }

void InfoLine(int level, std::string_view line, Where where) {
  if (V(level, where)) Bare('I', level, line, where);
}

}  // namespace berth::log
