// A table of an HTML page, as a card with a title.
#pragma once

#include <string>
#include <vector>

namespace berth::cli {

struct PageTable {
  std::string title;
  std::vector<std::string> header;
  std::vector<std::vector<std::string>> rows;  // without any, nothing is shown
  size_t text_columns = 1;                     // the first ones; the others are numbers
  std::string note = "";                       // below the table
};

// Everything is escaped.
std::string ToHtml(const PageTable& table);

}  // namespace berth::cli
