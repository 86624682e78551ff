#include "base/string_hash.h"

#include <bit>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "base/random.h"

namespace berth {
namespace {

TEST(StringHashTest, EveryByteOfEveryLengthCounts) {
  for (size_t size = 1; size <= 70; ++size) {
    const std::string text(size, 'x');
    const size_t hash = StringHash()(text);
    for (size_t i = 0; i < size; ++i) {
      std::string other = text;
      other[i] = 'y';
      EXPECT_NE(StringHash()(other), hash) << "byte " << i << " of " << size;
    }
    EXPECT_NE(StringHash()(text + '\0'), hash);
    EXPECT_NE(StringHash()(text.substr(1)), hash);
  }
}

TEST(StringHashTest, WhatIsBehindTheTextDoesNot) {
  const std::string text = "0123456789abcdefghijklmnopqrstuvwxyz";
  for (size_t size = 0; size <= text.size(); ++size) {
    const std::string own = text.substr(0, size);
    EXPECT_EQ(StringHash()(std::string_view(text).substr(0, size)), StringHash()(own));
  }
}

TEST(StringHashTest, NamesThatCountUpSpreadOverAllBits) {
  std::set<size_t> high;
  std::set<size_t> low;
  for (int i = 0; i < 10'000; ++i) {
    const size_t hash = StringHash()("default/pod-" + std::to_string(i));
    high.insert(hash >> 44);
    low.insert(hash & 0xfffff);
  }
  // 10,000 of 2^20 places, taken at random, are about 9,950 different ones.
  EXPECT_GT(high.size(), 9'800u);
  EXPECT_GT(low.size(), 9'800u);
}

TEST(StringHashTest, OneBitChangesAboutHalfOfTheHash) {
  Random random(7);
  int changed = 0;
  constexpr int kRounds = 2'000;
  for (int i = 0; i < kRounds; ++i) {
    std::string text(1 + random.Below(60), '\0');
    for (char& c : text) c = static_cast<char>(random.Below(256));
    const size_t hash = StringHash()(text);
    text[random.Below(text.size())] ^= static_cast<char>(1u << random.Below(8));
    changed += std::popcount(hash ^ StringHash()(text));
  }
  EXPECT_NEAR(static_cast<double>(changed) / kRounds, 32, 2);
}

TEST(StringHashTest, AViewFindsAString) {
  ByString<int> map;
  map["3f2504e0-4f89-41d3-9a0c-0305e82c3301"] = 7;
  EXPECT_EQ(map.find(std::string_view("3f2504e0-4f89-41d3-9a0c-0305e82c3301"))->second, 7);
  EXPECT_EQ(map.find(std::string_view("3f2504e0")), map.end());
}

TEST(KeyedHashTest, EveryByteTheKeyAndWhatCameBeforeCount) {
  const KeyedHash hash(0x1234567890abcdef);
  for (size_t size = 0; size <= 70; ++size) {
    const std::string text(size, 'x');
    for (size_t i = 0; i < size; ++i) {
      std::string other = text;
      other[i] = 'y';
      EXPECT_NE(hash(other), hash(text)) << "byte " << i << " of " << size;
    }
    EXPECT_EQ(hash(text), hash(std::string(text)));
    EXPECT_NE(hash(text), KeyedHash(0x1234567890abcdee)(text)) << size;
    EXPECT_NE(hash(text), hash(text, hash("before"))) << size;
  }
  EXPECT_NE(hash("b", hash("a")), hash("a", hash("b")));
}

}  // namespace
}  // namespace berth
