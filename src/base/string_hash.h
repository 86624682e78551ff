// StringHash: the hash of string maps on hot paths.
//
// Sixteen bytes at a time: the uid of a pod takes a few nanoseconds, where boost::hash takes one
// multiplication per byte. All bits of the result are good, and it is the same in every run.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include <boost/unordered/unordered_flat_map.hpp>

namespace berth {

class StringHash {
 public:
  using is_transparent = void;  // a string_view finds a string
  using is_avalanching = void;  // for Boost: no further mixing needed

  size_t operator()(std::string_view text) const { return Run(text, 0, kOdd[1], kOdd[2]); }

 protected:
  static uint64_t Run(std::string_view text, uint64_t state, uint64_t key, uint64_t last_key) {
    const char* at = text.data();
    size_t left = text.size();
    state ^= kOdd[0] * (left + 1);
    for (; left > 16; at += 16, left -= 16) {
      state = Mix(Load<uint64_t>(at) ^ key, Load<uint64_t>(at + 8) ^ state);
    }
    // The last 1 to 16 bytes, as two words that may overlap.
    uint64_t first = 0;
    uint64_t second = 0;
    if (left >= 8) {
      first = Load<uint64_t>(at);
      second = Load<uint64_t>(at + left - 8);
    } else if (left >= 4) {
      first = Load<uint32_t>(at);
      second = Load<uint32_t>(at + left - 4);
    } else if (left > 0) {
      first = Load<uint8_t>(at);
      second = Load<uint8_t>(at + left / 2) | uint64_t{Load<uint8_t>(at + left - 1)} << 8;
    }
    return Mix(first ^ last_key, second ^ state);
  }

 private:
  static constexpr uint64_t kOdd[] = {0x9e3779b97f4a7c15, 0xc2b2ae3d27d4eb4f, 0x165667b19e3779f9};

  template <class T>
  static T Load(const char* from) {
    T value;
    std::memcpy(&value, from, sizeof value);
    return value;
  }
  // Both halves of the product, so that every bit of both counts.
  static uint64_t Mix(uint64_t a, uint64_t b) {
    __extension__ using Wide = unsigned __int128;
    const Wide product = static_cast<Wide>(a) * b;
    return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
  }
};

// The same with a secret per-process key, so that an attacker cannot construct collisions. Several
// strings are hashed into one number, one after the other.
class KeyedHash : private StringHash {
 public:
  explicit KeyedHash(uint64_t key) : key_(key) {}

  // `so_far` is the hash of the previous strings.
  uint64_t operator()(std::string_view text, uint64_t so_far = 0) const {
    return Run(text, so_far ^ key_, key_, ~key_);
  }

 private:
  uint64_t key_;
};

template <class T>
using ByString = boost::unordered_flat_map<std::string, T, StringHash, std::equal_to<>>;
// The same over strings that are owned elsewhere and outlive their entries.
template <class T>
using ByStringView = boost::unordered_flat_map<std::string_view, T, StringHash>;

}  // namespace berth
