#include "apiserver/http/table.h"

#include <string>
#include <utility>

#include <fmt/format.h>

#include "apiserver/http/columns.h"

namespace berth::apiserver {
namespace {

std::string HumanDuration(int64_t seconds) {
  if (seconds < 0) return seconds < -1 ? "<invalid>" : "0s";
  if (seconds < 60 * 2) return fmt::format("{}s", seconds);
  const int64_t minutes = seconds / 60;
  if (minutes < 10) {
    const int64_t rest = seconds % 60;
    return rest == 0 ? fmt::format("{}m", minutes) : fmt::format("{}m{}s", minutes, rest);
  }
  if (minutes < 60 * 3) return fmt::format("{}m", minutes);
  const int64_t hours = minutes / 60;
  if (hours < 8) {
    const int64_t rest = minutes % 60;
    return rest == 0 ? fmt::format("{}h", hours) : fmt::format("{}h{}m", hours, rest);
  }
  if (hours < 48) return fmt::format("{}h", hours);
  if (hours < 24 * 8) {
    const int64_t rest = hours % 24;
    return rest == 0 ? fmt::format("{}d", hours / 24) : fmt::format("{}d{}h", hours / 24, rest);
  }
  if (hours < 24 * 365 * 2) return fmt::format("{}d", hours / 24);
  if (hours < 24 * 365 * 8) {
    const int64_t rest = hours / 24 % 365;
    return rest == 0 ? fmt::format("{}y", hours / 24 / 365)
                     : fmt::format("{}y{}d", hours / 24 / 365, rest);
  }
  return fmt::format("{}y", hours / 24 / 365);
}

Json Definition(const Column& column) {
  return Json::MakeObject({{"name", column.name},
                           {"type", column.type},
                           {"format", column.name == "Name" ? "name" : ""},
                           {"description", ""},
                           {"priority", column.wide ? 1 : 0}});
}

}  // namespace

std::string Age(std::string_view when, const api::Time& now) {
  if (when.empty()) return "<unknown>";
  const auto time = api::Time::Parse(when);
  if (!time) return "<unknown>";
  return HumanDuration(now.seconds - time->seconds);
}

Json MakeTable(const Resource& resource, const std::vector<Json>& objects, std::string_view include,
               bool headers, const api::Time& now) {
  const std::vector<Column>& columns = ColumnsOf(resource);
  Json table = Json::MakeObject(
      {{"kind", "Table"}, {"apiVersion", "meta.k8s.io/v1"}, {"metadata", Json::MakeObject()}});
  Json definitions = Json::MakeArray();
  if (headers) {
    for (const Column& column : columns) definitions.Append(Definition(column));
  }
  table.Set("columnDefinitions", std::move(definitions));
  Json::Array rows;
  rows.reserve(objects.size());
  for (const Json& object : objects) {
    Json::Array cells;
    cells.reserve(columns.size());
    for (const Column& column : columns) cells.push_back(column.cell(object, now));
    Json row = Json::MakeObject({{"cells", Json(std::move(cells))}});
    if (include == "Object") {
      row.Set("object", object);
    } else if (include != "None") {
      row.Set("object", Json::MakeObject({{"kind", "PartialObjectMetadata"},
                                          {"apiVersion", "meta.k8s.io/v1"},
                                          {"metadata", object["metadata"]}}));
    }
    rows.push_back(std::move(row));
  }
  table.Set("rows", Json(std::move(rows)));
  return table;
}

}  // namespace berth::apiserver
