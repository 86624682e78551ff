#include "term/terminal.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include <fmt/format.h>

#include "base/visible.h"

namespace berth::term {

bool UsesColour(FILE* stream) {
  const char* no_colour = std::getenv("NO_COLOR");
  return isatty(fileno(stream)) != 0 && (no_colour == nullptr || *no_colour == '\0');
}

std::string Toned(std::string_view text, Tone tone, bool colour) {
  if (!colour || tone == Tone::kPlain) return std::string(text);
  std::string_view code;
  switch (tone) {
    case Tone::kPlain:
      break;
    case Tone::kBold:
      code = "1";
      break;
    case Tone::kDim:
      code = "2";
      break;
    case Tone::kGood:
      code = "32";
      break;
    case Tone::kBad:
      code = "31";
      break;
    case Tone::kWarn:
      code = "33";
      break;
  }
  return fmt::format("\x1b[{}m{}\x1b[0m", code, text);
}

std::string Table::Text(bool colour) const {
  std::vector<std::vector<std::string>> rows = rows_;
  for (auto& row : rows) {
    for (std::string& cell : row) cell = Visible(cell);
  }
  std::vector<size_t> widths(header_.size(), 0);
  const auto widen = [&](const std::vector<std::string>& cells) {
    for (size_t i = 0; i < cells.size(); ++i) widths[i] = std::max(widths[i], cells[i].size());
  };
  widen(header_);
  for (const auto& row : rows) widen(row);
  const auto line = [&](const std::vector<std::string>& cells) {
    std::string out;
    for (size_t i = 0; i < cells.size(); ++i) {
      const bool right = std::find(right_.begin(), right_.end(), i) != right_.end();
      if (right) {
        out += fmt::format("{:>{}}", cells[i], widths[i]);
      } else if (i + 1 < cells.size()) {
        out += fmt::format("{:<{}}", cells[i], widths[i]);
      } else {
        out += cells[i];
      }
      if (i + 1 < cells.size()) out += "   ";
    }
    return out;
  };
  std::string text = Toned(line(header_), Tone::kBold, colour) + "\n";
  for (const auto& row : rows) text += line(row) + "\n";
  return text;
}

Progress::Progress(std::string_view what, size_t total)
    : what_(what),
      total_(total),
      enabled_(isatty(STDERR_FILENO) != 0),
      start_(std::chrono::steady_clock::now()),
      last_(start_) {}

void Progress::Update(size_t done) {
  if (!enabled_ || (done % 64 != 0 && done != total_)) return;
  const auto now = std::chrono::steady_clock::now();
  if (now - start_ < std::chrono::seconds(1) || now - last_ < std::chrono::milliseconds(100))
    return;
  last_ = now;
  shown_ = true;
  constexpr size_t kWidth = 30;
  if (total_ == 0) {
    fmt::print(stderr, "\r{} {}\x1b[K", what_, done);
    return;
  }
  const size_t filled = kWidth * std::min(done, total_) / total_;
  fmt::print(stderr, "\r{} [{}{}] {}/{}\x1b[K", what_, std::string(filled, '#'),
             std::string(kWidth - filled, '.'), done, total_);
}

Progress::~Progress() {
  if (shown_) fmt::print(stderr, "\r\x1b[K");
}

}  // namespace berth::term
