#include "cli/up/view.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "term/terminal.h"

namespace berth::cli::up {
namespace {

constexpr size_t kLastDecisions = 8;
constexpr size_t kMostText = 300;  // of a decision that is kept
constexpr size_t kMostBinding = 100'000;

int64_t SteadyNs() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

// The first `width` letters, with a mark where something was cut off.
std::string Fit(const std::string& text, size_t width) {
  size_t letters = 0;
  size_t cut = 0;  // where the last letter that leaves room for the mark ends
  for (size_t i = 0; i < text.size(); ++i) {
    if ((static_cast<unsigned char>(text[i]) & 0xc0) == 0x80) continue;  // inside a letter
    if (letters + 1 == width) cut = i;
    if (++letters > width) return text.substr(0, cut) + "…";
  }
  return text;
}

// Letters that take a place on the screen: colours do not.
size_t Letters(std::string_view text) {
  size_t letters = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\x1b') {
      i = std::min(text.find('m', i), text.size());
    } else if ((static_cast<unsigned char>(text[i]) & 0xc0) != 0x80) {
      ++letters;
    }
  }
  return letters;
}

struct Figure {
  std::string name;
  std::string value;
  term::Tone tone = term::Tone::kPlain;
};

// As many figures as the width holds, the first ones first.
std::string Line(const std::vector<Figure>& figures, size_t width) {
  std::string line;
  size_t used = 0;
  for (const Figure& figure : figures) {
    const size_t size = figure.name.size() + figure.value.size() + 1 + (used > 0 ? 3 : 0);
    if (used + size > width) break;
    if (used > 0) line += "   ";
    line += term::Toned(figure.name, term::Tone::kDim, true) + " " +
            term::Toned(figure.value, figure.tone, true);
    used += size;
  }
  return line;
}

}  // namespace

void Decisions::Note(std::string line) {
  line = Fit(line, kMostText);
  state_.last.push_back(std::move(line));
  if (state_.last.size() > kLastDecisions) state_.last.pop_front();
}

void Decisions::Attempted(const cluster::Pod& pod, berth::scheduler::Outcome outcome,
                          std::string_view, std::string_view message) {
  if (outcome == berth::scheduler::Outcome::kScheduled) return;
  binding_.erase(pod.uid);
  const std::lock_guard lock(mutex_);
  ++state_.failed;
  Note(fmt::format("{}/{}  waits: {}", pod.namespace_(), pod.name, message));
}

void Decisions::Bound(const berth::scheduler::PodRef& pod, std::string_view node,
                      const queue::QueuedPod&, const api::Time&, bool) {
  binding_.erase(pod.uid);
  const std::lock_guard lock(mutex_);
  ++state_.bound;
  Note(fmt::format("{}/{}  →  {}", pod.namespace_, pod.name, node));
}

berth::scheduler::CycleInterest Decisions::CycleBegan(const cluster::Pod&, std::string_view,
                                                      uint8_t) {
  times_.Clear();
  return {.points = true};
}

void Decisions::PointBegan(Point) { began_ns_ = SteadyNs(); }

void Decisions::PointEnded(Point point, framework::Code) {
  times_.Add(point, SteadyNs() - began_ns_);
}

void Decisions::BindingPointBegan(const PodRef& pod, Point) {
  if (binding_.size() >= kMostBinding) binding_.clear();  // pods may vanish while they are bound
  binding_[pod.uid].began_ns = SteadyNs();
}

void Decisions::BindingPointEnded(const PodRef& pod, Point point, framework::Code) {
  const auto it = binding_.find(pod.uid);
  if (it != binding_.end()) it->second.times.Add(point, SteadyNs() - it->second.began_ns);
}

const berth::scheduler::PointTimes* Decisions::BindingTimes(const PodRef& pod) {
  const auto it = binding_.find(pod.uid);
  return it == binding_.end() ? nullptr : &it->second.times;
}

Decisions::State Decisions::Take() const {
  const std::lock_guard lock(mutex_);
  return state_;
}

size_t View::Width() const {
  winsize size{};
  constexpr size_t kUsual = 80;
  if (ioctl(fileno(out_), TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return kUsual;
  // A letter in the last column makes some terminals begin a new line.
  return std::max<size_t>(20, size.ws_col) - 1;
}

bool View::Background() const {
  const pid_t foreground = tcgetpgrp(fileno(out_));
  return foreground >= 0 && foreground != getpgrp();
}

void View::Show(const Snapshot& now, const Decisions::State& decisions, double seconds) {
  const double rate =
      seconds > 0 ? static_cast<double>(decisions.bound - bound_before_) / seconds : 0;
  bound_before_ = decisions.bound;
  if (terminal_ && Background()) {
    // Others write here: the lines above are no longer this program's.
    drawn_.clear();
    return;
  }
  if (!terminal_) {
    Snapshot comparable = now;
    comparable.requests = before_.requests;
    if (!first_ && comparable == before_) return;
    fmt::print(out_, "nodes {}/{}  pods {}  pending {}  running {}  bound {} ({:.0f}/s)\n",
               now.ready_nodes, now.nodes, now.pods, now.pending, now.running, decisions.bound,
               rate);
  } else {
    std::string text;
    const size_t width = Width();
    // Up to where the last picture began, and away with all below. A terminal that has become
    // narrower has broken long lines into several.
    size_t rows = 0;
    for (const size_t letters : drawn_) rows += 1 + (letters > 0 ? (letters - 1) / (width + 1) : 0);
    if (rows > 0) text += fmt::format("\x1b[{}A\r\x1b[J", rows);
    std::vector<std::string> lines;
    lines.push_back(Line({{"nodes", fmt::format("{}/{}", now.ready_nodes, now.nodes)},
                          {"pods", std::to_string(now.pods)},
                          {"running", std::to_string(now.running)},
                          {"pending", std::to_string(now.pending),
                           now.pending > 0 ? term::Tone::kWarn : term::Tone::kPlain}},
                         width));
    lines.push_back(Line({{"bound", fmt::format("{} ({:.0f}/s)", decisions.bound, rate)},
                          {"failed attempts", std::to_string(decisions.failed)},
                          {"requests", std::to_string(now.requests)}},
                         width));
    for (const std::string& line : decisions.last) lines.push_back(Fit("  " + line, width));
    drawn_.clear();
    for (const std::string& line : lines) {
      text += line + "\n";
      drawn_.push_back(Letters(line));
    }
    std::fputs(text.c_str(), out_);
  }
  std::fflush(out_);
  before_ = now;
  first_ = false;
}

}  // namespace berth::cli::up
