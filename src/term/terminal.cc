#include "term/terminal.h"

#include <sys/ioctl.h>
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

size_t Columns(FILE* stream) {
  winsize size{};
  if (isatty(fileno(stream)) == 0 || ioctl(fileno(stream), TIOCGWINSZ, &size) != 0) return 0;
  return size.ws_col;
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

std::string Wrapped(std::string_view text, size_t indent, size_t width) {
  const std::string margin(indent, ' ');
  std::string out;
  std::string line;
  const auto flush = [&] {
    if (!line.empty()) out += margin + line + "\n";
    line.clear();
  };
  while (!text.empty()) {
    const size_t blank = text.find(' ');
    const std::string_view word = text.substr(0, blank);
    if (!line.empty() && indent + line.size() + 1 + word.size() > width) flush();
    if (!line.empty()) line += ' ';
    line += word;
    if (blank == std::string_view::npos) break;
    text.remove_prefix(blank + 1);
  }
  flush();
  return out;
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
  size_t before_last = 0;  // where the last column begins
  for (size_t i = 0; i + 1 < widths.size(); ++i) before_last += widths[i] + 3;
  constexpr size_t kNarrowest = 20;  // a last column that is not worth wrapping any further
  const bool wraps = columns_ >= before_last + kNarrowest;
  const auto line = [&](const std::vector<std::string>& cells) {
    std::string out;
    for (size_t i = 0; i < cells.size(); ++i) {
      const bool right = std::find(right_.begin(), right_.end(), i) != right_.end();
      if (right) {
        out += fmt::format("{:>{}}", cells[i], widths[i]);
      } else if (i + 1 < cells.size()) {
        out += fmt::format("{:<{}}", cells[i], widths[i]);
      } else if (wraps && before_last + cells[i].size() > columns_) {
        const std::string lines = Wrapped(cells[i], before_last, columns_);
        out += lines.substr(before_last, lines.size() - before_last - 1);
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
