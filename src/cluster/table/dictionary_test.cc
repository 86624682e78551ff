#include "cluster/table/dictionary.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "cluster/table/amounts.h"
#include "cluster/table/resources.h"

namespace berth::cluster {
namespace {

TEST(Dictionary, EqualTextsHaveEqualIdsForever) {
  Dictionary dictionary;
  EXPECT_EQ(dictionary.Find("a"), kNoString);
  std::vector<StringId> ids;
  for (int i = 0; i < 1000; ++i) ids.push_back(dictionary.Intern("text-" + std::to_string(i)));
  const std::string& first = dictionary.Text(ids[0]);
  for (int i = 0; i < 1000; ++i) {
    const std::string text = "text-" + std::to_string(i);
    EXPECT_EQ(dictionary.Intern(text), ids[i]);
    EXPECT_EQ(dictionary.Find(text), ids[i]);
    EXPECT_EQ(dictionary.Text(ids[i]), text);
  }
  EXPECT_EQ(dictionary.Size(), 1000u);
  EXPECT_EQ(&dictionary.Text(ids[0]), &first) << "texts do not move";
}

TEST(Dictionary, TellsTextsApartByEveryByte) {
  Dictionary dictionary;
  const StringId empty = dictionary.Intern("");
  const StringId zero = dictionary.Intern(std::string_view("\0", 1));
  EXPECT_NE(empty, zero);
  EXPECT_EQ(dictionary.Text(zero).size(), 1u);
  EXPECT_EQ(dictionary.Find(""), empty);
}

TEST(ResourceNames, TheFixedOnesComeFirst) {
  ResourceNames names;
  EXPECT_EQ(names.Find("cpu"), kCpu);
  EXPECT_EQ(names.Find("memory"), kMemory);
  EXPECT_EQ(names.Find("ephemeral-storage"), kEphemeralStorage);
  EXPECT_EQ(names.Find("example.com/gpu"), kNoResource);
  EXPECT_EQ(names.Intern("example.com/gpu"), kFirstScalar);
  EXPECT_EQ(names.Name(kFirstScalar), "example.com/gpu");
}

TEST(Amounts, GetIsZeroForWhatIsNotMentioned) {
  Amounts amounts;
  amounts.cpu = 1;
  amounts.memory = 2;
  amounts.ephemeral_storage = 3;
  amounts.scalars.emplace_back(7, 4);
  amounts.scalars.emplace_back(5, 0);
  EXPECT_EQ(amounts.Get(kCpu), 1);
  EXPECT_EQ(amounts.Get(kMemory), 2);
  EXPECT_EQ(amounts.Get(kEphemeralStorage), 3);
  EXPECT_EQ(amounts.Get(7), 4);
  EXPECT_EQ(amounts.Get(5), 0);
  EXPECT_EQ(amounts.Get(6), 0);
}

}  // namespace
}  // namespace berth::cluster
