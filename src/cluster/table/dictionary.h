// Dictionary: strings to small integers and back. One per cluster; grows only.
#pragma once

#include <deque>
#include <string>
#include <string_view>

#include "base/check.h"
#include "base/string_hash.h"
#include "cluster/ids.h"

namespace berth::cluster {

class Dictionary {
 public:
  Dictionary() = default;
  Dictionary(const Dictionary&) = delete;
  Dictionary& operator=(const Dictionary&) = delete;

  // The id of `text`, given out on first sight.
  StringId Intern(std::string_view text) {
    const auto it = ids_.find(text);
    if (it != ids_.end()) return it->second;
    const auto id = static_cast<StringId>(texts_.size());
    texts_.emplace_back(text);
    ids_.emplace(texts_.back(), id);
    return id;
  }

  // The id of `text`, or kNoString if it was never seen: then nothing in the cluster equals it.
  StringId Find(std::string_view text) const {
    const auto it = ids_.find(text);
    return it == ids_.end() ? kNoString : it->second;
  }

  // REQUIRES: id came from this dictionary.
  const std::string& Text(StringId id) const {
    BERTH_DCHECK(id < texts_.size());
    return texts_[id];
  }
  size_t Size() const { return texts_.size(); }

 private:
  std::deque<std::string> texts_;  // a deque: views into it stay valid
  ByStringView<StringId> ids_;
};

}  // namespace berth::cluster
