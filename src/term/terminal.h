// What the commands print: colour on a terminal and plain text in a pipe, columns, a progress bar.
#pragma once

#include <chrono>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

namespace berth::term {

// Colour is used on a terminal unless NO_COLOR is set.
bool UsesColour(FILE* stream);

enum class Tone : uint8_t { kPlain, kBold, kDim, kGood, kBad, kWarn };
// `text` in `tone`, or as it is when `colour` is off.
std::string Toned(std::string_view text, Tone tone, bool colour);

// How many columns the terminal has that `stream` goes to; 0: it is no terminal.
size_t Columns(FILE* stream);

// `text` in lines of at most `width`, each behind `indent` blanks and ended. A word longer than
// that stands alone.
std::string Wrapped(std::string_view text, size_t indent, size_t width = 80);

// Rows of cells in columns as wide as their widest cell; the last column is not padded. What cells
// hold comes from outside: control characters in them are shown as escapes. Numbers
// (cells that start with a digit, in columns marked right) are aligned to the right.
class Table {
 public:
  explicit Table(std::vector<std::string> header) : header_(std::move(header)) {}
  void Right(size_t column) { right_.push_back(column); }
  void Row(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
  bool Empty() const { return rows_.empty(); }
  // Lines are at most that long, if wrapping the last column at words can do it; 0: however long.
  void Fit(size_t columns) { columns_ = columns; }
  std::string Text(bool colour) const;

 private:
  std::vector<std::string> header_;
  std::vector<size_t> right_;
  std::vector<std::vector<std::string>> rows_;
  size_t columns_ = 0;
};

// A bar on standard error, shown once work has taken a second, and only on a terminal.
class Progress {
 public:
  Progress(std::string_view what, size_t total);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void Update(size_t done);

 private:
  std::string what_;
  size_t total_;
  bool enabled_;
  bool shown_ = false;
  std::chrono::steady_clock::time_point start_;
  std::chrono::steady_clock::time_point last_;
};

}  // namespace berth::term
