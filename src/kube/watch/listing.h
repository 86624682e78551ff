// Listing: a list on its way, page by page. Private to this folder.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "kube/watch/decode.h"
#include "kube/watch/raw_objects.h"

namespace berth::kube {

// Pages a list may have. At 500 objects each these are five million: a server that goes on and on
// would fill the memory.
inline constexpr int kMaxPages = 10000;
// A list this long is worth a line in the log, and so is every further one.
inline constexpr int kManyPages = 1000;

struct Listing {
  struct RawItem {
    std::string namespace_;
    std::string name;
    RawObjects::Entry entry;
  };

  std::string version;            // asked for
  int limit = 0;                  // 0: none
  bool fallback = false;          // the second try, after the version was not to be had
  int pages = 0;                  // that came
  std::string continue_;          // asked for last
  std::string body;               // the page at hand
  std::optional<ProtoList> page;  // taken apart
  size_t next = 0;                // of its objects
  bool parts = false;             // some have been handed over
  int parts_out = 0;              // not yet taken
  std::vector<api::Object> objects;
  std::vector<RawItem> raw;
  std::vector<std::string> json;  // of each object, if it is kept

  // The server wants to be asked for another page. Fails when that would never end.
  Result<void> Continue(std::string_view token) {
    if (token == continue_) return Fail("the server continues the list with the page it just sent");
    if (++pages >= kMaxPages)
      return Fail("the list has no end: " + std::to_string(pages) + " pages");
    continue_ = token;
    return {};
  }
};

}  // namespace berth::kube
