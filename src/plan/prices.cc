#include "plan/prices.h"

#include <cmath>
#include <string>

#include <fmt/format.h>

#include "api/codec/json.h"
#include "api/codec/schema.h"
#include "api/codec/yaml.h"

namespace berth::plan {
namespace {

using api::Describe;
using api::TypeInfo;

struct Entry {
  std::string selector;
  std::optional<double> hourly;

  static const TypeInfo& Type() {
    static const TypeInfo type = Describe<Entry>("Entry")
                                     .Field(1, "selector", &Entry::selector)
                                     .Field(2, "hourly", &Entry::hourly)
                                     .Build();
    return type;
  }
};

struct File {
  std::vector<Entry> prices;

  static const TypeInfo& Type() {
    static const TypeInfo type = Describe<File>("File").Field(1, "prices", &File::prices).Build();
    return type;
  }
};

}  // namespace

Result<PriceList> PriceList::Parse(std::string_view text) {
  const auto json = api::YamlToJson(text, {.strict = true});
  if (!json) return Fail(json.error());
  const auto file = api::FromJson<File>(*json, {.strict = true});
  if (!file) return Fail(file.error());
  if (file->prices.empty()) return Fail("no prices: the file needs a list `prices`");
  PriceList list;
  for (size_t i = 0; i < file->prices.size(); ++i) {
    const Entry& entry = file->prices[i];
    const std::string where = fmt::format("prices[{}]", i);
    auto selector = api::Selector::Parse(entry.selector);
    if (!selector) return Fail(selector.error().In(where + ".selector"));
    if (!entry.hourly) return Fail(where + ".hourly: missing");
    if (!std::isfinite(*entry.hourly) || *entry.hourly < 0) {
      return Fail(where + ".hourly: must be a number that is not negative");
    }
    list.entries_.emplace_back(std::move(*selector), *entry.hourly);
  }
  return list;
}

std::optional<double> PriceList::Hourly(const api::Node& node) const {
  for (const auto& [selector, hourly] : entries_) {
    if (selector.Matches(node.metadata.labels)) return hourly;
  }
  return std::nullopt;
}

}  // namespace berth::plan
