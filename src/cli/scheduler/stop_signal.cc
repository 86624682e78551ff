// StopSignal: see stop_signal.h.
#include "cli/scheduler/stop_signal.h"

#include <csignal>
#include <cstdint>
#include <thread>
#include <utility>

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

namespace berth::cli::scheduler {
StopSignal::StopSignal() : told_(eventfd(0, EFD_CLOEXEC)) {
  std::signal(SIGPIPE, SIG_IGN);
  On(SIGTERM, nullptr);
  On(SIGINT, nullptr);
}

StopSignal::~StopSignal() {
  close(signals_);
  close(told_);
}

void StopSignal::On(int signal, std::function<void()> handler) {
  handlers_[signal] = std::move(handler);
  sigset_t set;
  sigemptyset(&set);
  for (const auto& [number, unused] : handlers_) sigaddset(&set, number);
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  signals_ = signalfd(signals_, &set, SFD_CLOEXEC);
}

StopSignal::Reason StopSignal::Wait() {
  const Reason reason = Read();
  if (reason == Reason::kAsked) {
    std::thread([this] {
      if (Read() == Reason::kAsked) _exit(1);
    }).detach();
  }
  return reason;
}

StopSignal::Reason StopSignal::Read() {
  for (;;) {
    pollfd ready[2] = {{signals_, POLLIN, 0}, {told_, POLLIN, 0}};
    if (poll(ready, 2, -1) < 0) continue;
    if (ready[1].revents != 0) return Reason::kTold;
    signalfd_siginfo info;
    if (read(signals_, &info, sizeof info) != sizeof info) continue;
    const auto handler = handlers_.find(static_cast<int>(info.ssi_signo));
    if (handler == handlers_.end() || !handler->second) return Reason::kAsked;
    handler->second();
  }
}

void StopSignal::Tell() {
  const uint64_t one = 1;
  static_cast<void>(!write(told_, &one, sizeof one));
}

}  // namespace berth::cli::scheduler
