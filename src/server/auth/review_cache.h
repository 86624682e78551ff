// ReviewCache: answers to questions that cost a request, kept until they expire.
//
// A second caller with the same question waits for the request that is already in flight. The cache
// is bounded: when it is full, expired answers are dropped first, then all of them.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "net/loop.h"

namespace berth::server {

// SHA-256 of `text` under a key of this process: secrets are not kept, and nobody can make keys
// collide.
class SecretHash {
 public:
  SecretHash();
  std::string Of(const std::string& text) const;

 private:
  std::string key_;
};

template <class Answer>
class ReviewCache {
 public:
  using Callback = std::function<void(const Answer&)>;

  explicit ReviewCache(size_t limit) : limit_(limit) {}

  // True: the caller has to find the answer and Tell it. False: `done` is called now or then.
  bool Ask(const std::string& key, net::Nanoseconds now, Callback done) {
    const auto kept = kept_.find(key);
    if (kept != kept_.end()) {
      if (kept->second.until > now) {
        const Answer answer = kept->second.answer;
        done(answer);
        return false;
      }
      kept_.erase(kept);
    }
    std::vector<Callback>& waiting = waiting_[key];
    waiting.push_back(std::move(done));
    return waiting.size() == 1;
  }

  // Would Ask answer at once?
  bool Keeps(const std::string& key, net::Nanoseconds now) const {
    const auto kept = kept_.find(key);
    return kept != kept_.end() && kept->second.until > now;
  }

  // Keeps the answer for `ttl` (0: not at all), and calls everybody who waits for it.
  void Tell(const std::string& key, Answer answer, net::Nanoseconds now, net::Nanoseconds ttl) {
    const auto it = waiting_.find(key);
    if (it == waiting_.end()) return;
    const std::vector<Callback> waiting = std::move(it->second);
    waiting_.erase(it);
    if (ttl > net::Nanoseconds(0)) {
      if (kept_.size() >= limit_) {
        erase_if(kept_, [&](const auto& entry) { return entry.second.until <= now; });
        if (kept_.size() >= limit_) kept_.clear();
      }
      kept_.insert_or_assign(key, Kept{answer, now + ttl});
    }
    for (const Callback& done : waiting) done(answer);
  }

  // Nobody is called.
  void Clear() {
    kept_.clear();
    waiting_.clear();
  }
  std::string Hashed(const std::string& text) const { return hash_.Of(text); }

 private:
  struct Kept {
    Answer answer;
    net::Nanoseconds until{0};
  };
  size_t limit_;
  SecretHash hash_;
  boost::unordered_flat_map<std::string, Kept> kept_;
  boost::unordered_flat_map<std::string, std::vector<Callback>> waiting_;
};

}  // namespace berth::server
