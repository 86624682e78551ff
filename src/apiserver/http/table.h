// Tables: objects as rows of cells, which is what `kubectl get` shows.
#pragma once

#include <string_view>
#include <vector>

#include "api/time.h"
#include "apiserver/json/value.h"
#include "apiserver/resource.h"

namespace berth::apiserver {

// `objects` are in the form of `resource`. `include` is the query's includeObject: "Metadata" (or
// ""), "Object" or "None". With `headers` the columns are described: watches do that once.
Json MakeTable(const Resource& resource, const std::vector<Json>& objects, std::string_view include,
               bool headers, const api::Time& now);

// "5m", "3h2m", "12d": how long ago `when` was.
std::string Age(std::string_view when, const api::Time& now);

}  // namespace berth::apiserver
