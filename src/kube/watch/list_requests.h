// What a reflector asks for and how it reads refusals. Private to this folder.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "api/time.h"
#include "kube/kinds.h"
#include "kube/watch/listing.h"
#include "net/loop.h"

namespace berth::kube {

// "*v1.Pod", as logs name the type.
inline std::string TypeName(const Kind& kind) {
  const std::string_view version = kind.api_version.substr(kind.api_version.find('/') + 1);
  return fmt::format("*{}.{}", version, kind.kind);
}

inline void AddParameter(std::string& query, std::string_view name, std::string_view value) {
  if (!query.empty()) query += '&';
  query.append(name).append("=").append(value);
}

// Of one page of a list.
inline std::string PageQuery(const Kind& kind, const Listing& list, std::string_view continue_) {
  std::string query;
  if (!continue_.empty()) AddParameter(query, "continue", QueryEscape(continue_));
  if (!kind.field_selector.empty()) AddParameter(query, "fieldSelector", kind.field_selector);
  if (list.limit > 0) AddParameter(query, "limit", std::to_string(list.limit));
  if (continue_.empty() && !list.version.empty()) {
    AddParameter(query, "resourceVersion", QueryEscape(list.version));
  }
  return query;
}

// Of a watch from `version` on; `lists`: what there is comes first.
inline std::string WatchQuery(const Kind& kind, std::string_view version,
                              std::chrono::seconds timeout, bool lists) {
  std::string query = "allowWatchBookmarks=true";
  if (!kind.field_selector.empty()) AddParameter(query, "fieldSelector", kind.field_selector);
  if (!version.empty()) AddParameter(query, "resourceVersion", QueryEscape(version));
  if (lists) {
    AddParameter(query, "resourceVersionMatch", "NotOlderThan");
    AddParameter(query, "sendInitialEvents", "true");
  }
  AddParameter(query, "timeout", api::Duration{net::Nanoseconds(timeout).count()}.Format());
  AddParameter(query, "timeoutSeconds", std::to_string(timeout.count()));
  AddParameter(query, "watch", "true");
  return query;
}

inline bool IsExpired(int code, std::string_view reason) {
  return code == 410 || reason == "Expired" || reason == "Gone";
}

inline bool IsTooLargeVersion(std::string_view message) {
  return message.find("Too large resource version") != std::string_view::npos;
}

}  // namespace berth::kube
