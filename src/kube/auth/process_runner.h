// ProcessRunner: runs a program and hands back what it printed, without holding up the loop.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "net/loop.h"

namespace berth::kube {

struct ProcessSpec {
  std::string command;  // a path, or a name to look for in $PATH
  std::vector<std::string> args;
  std::vector<std::string> env;  // "NAME=value", all of it
  bool inherit_stdin = false;    // else /dev/null
  net::Nanoseconds timeout = std::chrono::minutes(1);
  size_t max_output = 1u << 20;
};

struct ProcessResult {
  enum class Kind {
    kExited,
    kNotFound,  // no such program
    kFailed,    // it could not be run or did not end in time: see error
  };
  Kind kind = Kind::kFailed;
  int exit_code = 0;  // -1: ended by a signal
  std::string output;
  std::string error;
};

class ProcessRunner {
 public:
  using Callback = std::function<void(ProcessResult)>;

  // Ends programs that still run; their callbacks do not come.
  virtual ~ProcessRunner() = default;
  // On the loop's thread; the callback comes from the loop. One at a time: a second call before the
  // first one's callback ends the first.
  virtual void Run(ProcessSpec spec, Callback done) = 0;
};

// `loop` outlives the runner. The program's standard error is ours.
std::unique_ptr<ProcessRunner> MakeProcessRunner(net::Loop& loop);

}  // namespace berth::kube
