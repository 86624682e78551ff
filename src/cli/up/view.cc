#include "cli/up/view.h"

#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cli/terminal.h"

namespace berth::cli::up {
namespace {

constexpr size_t kLastDecisions = 8;
constexpr size_t kWidth = 110;

}  // namespace

void Decisions::Note(std::string line) {
  if (line.size() > kWidth) line = line.substr(0, kWidth - 1) + "…";
  state_.last.push_back(std::move(line));
  if (state_.last.size() > kLastDecisions) state_.last.pop_front();
}

void Decisions::Attempted(const cluster::Pod& pod, berth::scheduler::Outcome outcome,
                          std::string_view, std::string_view message) {
  if (outcome == berth::scheduler::Outcome::kScheduled) return;
  const std::lock_guard lock(mutex_);
  ++state_.failed;
  Note(fmt::format("{}/{}  waits: {}", pod.namespace_(), pod.name, message));
}

void Decisions::Bound(const berth::scheduler::PodRef& pod, std::string_view node,
                      const queue::QueuedPod&, const api::Time&) {
  const std::lock_guard lock(mutex_);
  ++state_.bound;
  Note(fmt::format("{}/{}  →  {}", pod.namespace_, pod.name, node));
}

Decisions::State Decisions::Take() const {
  const std::lock_guard lock(mutex_);
  return state_;
}

void View::Show(const Snapshot& now, const Decisions::State& decisions, double seconds) {
  const double rate =
      seconds > 0 ? static_cast<double>(decisions.bound - bound_before_) / seconds : 0;
  bound_before_ = decisions.bound;
  if (!terminal_) {
    Snapshot comparable = now;
    comparable.requests = before_.requests;
    if (!first_ && comparable == before_) return;
    fmt::print(out_, "nodes {}/{}  pods {}  pending {}  running {}  bound {} ({:.0f}/s)\n",
               now.ready_nodes, now.nodes, now.pods, now.pending, now.running, decisions.bound,
               rate);
  } else {
    std::string text;
    for (size_t i = 0; i < lines_; ++i) text += "\x1b[1A\x1b[2K";
    std::vector<std::string> lines;
    lines.push_back(fmt::format(
        "{}  {}   {}  {}   {}  {}   {}  {}", Toned("nodes", Tone::kDim, true),
        fmt::format("{}/{}", now.ready_nodes, now.nodes), Toned("pods", Tone::kDim, true), now.pods,
        Toned("running", Tone::kDim, true), now.running, Toned("pending", Tone::kDim, true),
        Toned(std::to_string(now.pending), now.pending > 0 ? Tone::kWarn : Tone::kPlain, true)));
    lines.push_back(fmt::format("{}  {}   {:.0f}/s   {}  {}", Toned("bound", Tone::kDim, true),
                                decisions.bound, rate, Toned("requests", Tone::kDim, true),
                                now.requests));
    for (const std::string& line : decisions.last) {
      lines.push_back("  " + Toned(line, Tone::kPlain, true));
    }
    for (const std::string& line : lines) text += line + "\n";
    lines_ = lines.size();
    std::fputs(text.c_str(), out_);
  }
  std::fflush(out_);
  before_ = now;
  first_ = false;
}

}  // namespace berth::cli::up
