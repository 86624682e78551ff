#include "shadow/history.h"

#include <algorithm>
#include <string>
#include <string_view>

#include <fmt/format.h>

namespace berth::shadow {

std::string Change::Text() const {
  const api::Object& shown = after ? *after : *before;
  const api::ObjectMeta* metadata = api::MetadataOf(shown);
  std::string name = metadata == nullptr ? "" : metadata->name;
  if (metadata != nullptr && !metadata->namespace_.empty()) {
    name = metadata->namespace_ + "/" + name;
  }
  const std::string_view what = placement ? "placed"
                                : !before ? "added"
                                : after   ? "changed"
                                          : "gone";
  return fmt::format("{} {} {}", api::KindOf(shown), name, what);
}

uint64_t History::Add(Change change) {
  change.object = NumberOf(change.after ? *change.after : *change.before);
  changes_.push_back(std::move(change));
  return End() - 1;
}

void History::Forget(int64_t time_ns, size_t most) {
  while (!changes_.empty() && (changes_.front().time_ns < time_ns || changes_.size() > most)) {
    changes_.pop_front();
    ++begin_;
  }
}

uint64_t History::FirstSince(int64_t time_ns) const {
  const auto it = std::lower_bound(changes_.begin(), changes_.end(), time_ns,
                                   [](const Change& c, int64_t t) { return c.time_ns < t; });
  return begin_ + static_cast<uint64_t>(it - changes_.begin());
}

View::~View() {
  for (auto it = shown_.rbegin(); it != shown_.rend(); ++it) Swap(it->second, it->first);
}

void View::Show(const ObjectPtr& shown, const ObjectPtr& hidden) {
  Swap(shown, hidden);
  shown_.emplace_back(shown, hidden);
}

void View::Swap(const ObjectPtr& shown, const ObjectPtr& hidden) {
  if (shown) {
    state_.Put(shown);
  } else {
    state_.Remove(*hidden);
  }
}

}  // namespace berth::shadow
