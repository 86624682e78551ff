#include "cli/scenario/page_table.h"

#include <fmt/format.h>

#include "cli/scenario/chart.h"

namespace berth::cli {

std::string ToHtml(const PageTable& table) {
  if (table.rows.empty()) return "";
  const auto line = [&](const std::vector<std::string>& cells, const char* tag) {
    std::string text = "<tr>";
    for (size_t i = 0; i < cells.size(); ++i) {
      text += fmt::format("<{0}{1}>{2}</{0}>", tag, i < table.text_columns ? " class=\"t\"" : "",
                          Escaped(cells[i]));
    }
    return text + "</tr>\n";
  };
  std::string text = fmt::format(
      "<section class=\"card\"><h3>{}</h3>\n<div class=\"scroll\"><table>"
      "<thead>{}</thead>\n<tbody>",
      Escaped(table.title), line(table.header, "th"));
  for (const auto& row : table.rows) text += line(row, "td");
  text += "</tbody></table></div>\n";
  if (!table.note.empty()) text += fmt::format("<p class=\"note\">{}</p>\n", Escaped(table.note));
  return text + "</section>\n";
}

}  // namespace berth::cli
