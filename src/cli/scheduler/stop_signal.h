// StopSignal: waits for the first reason to end: a signal, or the program itself.
#pragma once

#include <functional>
#include <map>

namespace berth::cli::scheduler {

class StopSignal {
 public:
  // Blocks SIGTERM, SIGINT and the signals of `handlers` for this thread and those it starts later;
  // so it is made before any other thread. SIGPIPE is ignored.
  StopSignal();
  ~StopSignal();
  StopSignal(const StopSignal&) = delete;
  StopSignal& operator=(const StopSignal&) = delete;

  // `handler` runs in Wait when the signal comes. Before Wait.
  void On(int signal, std::function<void()> handler);

  enum class Reason { kAsked, kTold };
  // Returns kAsked when SIGTERM or SIGINT has come, kTold after Tell. A second SIGTERM or SIGINT
  // ends the process at once, with exit code 1.
  Reason Wait();
  // From any thread.
  void Tell();

 private:
  Reason Read();

  int signals_ = -1;  // signalfd
  int told_ = -1;     // eventfd
  std::map<int, std::function<void()>> handlers_;
};

}  // namespace berth::cli::scheduler
