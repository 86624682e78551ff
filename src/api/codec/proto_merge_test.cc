#include "api/codec/proto_merge.h"

#include <random>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/codec/protozero.h"
#include "api/core/node.h"
#include "api/core/persistent_volume.h"
#include "api/core/pod.h"
#include "api/object.h"
#include "api/resource/resource_claim.h"
#include "api/testing/objects.h"

namespace berth::api {
namespace {

using protozero::pbf_reader;
using protozero::pbf_writer;
using ::testing::HasSubstr;
using ::testing::Not;

std::string Field(uint32_t number, std::string_view payload) {
  std::string out;
  pbf_writer(out).add_message(number, payload);
  return out;
}

// The message of an object in test data.
std::string Message(const std::string& name) {
  return std::string(UnwrapEnvelope(ReadTestData(name + ".pb"))->raw);
}

// Puts an unknown field into every message of `bytes` that the description knows of.
std::string WithUnknowns(const TypeInfo& type, std::string_view bytes, int& count) {
  std::string out = Field(100, "unknown" + std::to_string(count++));
  pbf_writer writer(out);
  pbf_reader reader(bytes);
  while (reader.next()) {
    const FieldInfo* field = type.FindNumber(reader.tag());
    const TypeInfo* inner = field ? field->type : nullptr;
    if (inner && inner->kind == Kind::kOptional) inner = inner->element;
    if (inner && inner->kind == Kind::kList) inner = inner->element;
    const uint32_t tag = reader.tag();
    switch (reader.wire_type()) {
      case protozero::pbf_wire_type::length_delimited:
        if (inner && inner->kind == Kind::kMessage) {
          writer.add_message(tag, WithUnknowns(*inner, reader.get_view(), count));
        } else {
          writer.add_bytes(tag, reader.get_view());
        }
        break;
      case protozero::pbf_wire_type::varint:
        writer.add_uint64(tag, reader.get_uint64());
        break;
      case protozero::pbf_wire_type::fixed64:
        writer.add_fixed64(tag, reader.get_fixed64());
        break;
      default:
        reader.skip();
    }
  }
  return out;
}

template <class T>
void ExpectUnchangedKeepsAll(const std::string& name) {
  const std::string original = Message(name);
  const auto value = FromProto<T>(original);
  ASSERT_TRUE(value) << name;
  int count = 0;
  const std::string old = WithUnknowns(TypeOf<T>(), original, count);
  EXPECT_GT(count, 2) << name;
  const auto merged = MergeProto(old, *value);
  ASSERT_TRUE(merged) << name << ": " << merged.error().Message();
  for (int i = 0; i < count; ++i) {
    EXPECT_THAT(*merged, HasSubstr("unknown" + std::to_string(i))) << name;
  }
  EXPECT_TRUE(*FromProto<T>(*merged) == *value) << name;
}

TEST(MergeProto, AnUnchangedObjectKeepsWhatIsUnknownAtEveryDepth) {
  ExpectUnchangedKeepsAll<Pod>("pod");
  ExpectUnchangedKeepsAll<Node>("node");
  ExpectUnchangedKeepsAll<PersistentVolume>("pv");
  ExpectUnchangedKeepsAll<PersistentVolumeClaim>("pvc");
  ExpectUnchangedKeepsAll<ResourceClaim>("resourceclaim");
  ExpectUnchangedKeepsAll<Lease>("lease");
}

TEST(MergeProto, FromNothingItIsTheEncoding) {
  const auto pod = FromProto<Pod>(Message("pod"));
  EXPECT_EQ(*MergeProto("", *pod), ToProto(*pod));
}

// Any value into any old object of the type: the value is what counts.
TEST(MergeProto, DecodingTheResultGivesTheNewValue) {
  std::mt19937 random(7);
  const std::string original = Message("pod");
  // Objects that differ in all kinds of ways: pieces of the encoding left out at random.
  std::vector<Pod> pods;
  while (pods.size() < 60) {
    std::string bytes;
    pbf_reader reader(original);
    while (reader.next()) {
      const uint32_t tag = reader.tag();
      std::string part;
      pbf_reader inner(reader.get_view());
      std::string_view rest = inner.data();
      while (inner.next()) {
        inner.skip();
        const std::string_view after = inner.data();
        if (random() % 4 != 0) part += rest.substr(0, rest.size() - after.size());
        rest = after;
      }
      bytes += Field(tag, part);
    }
    if (auto pod = FromProto<Pod>(bytes)) pods.push_back(std::move(*pod));
  }
  for (int i = 0; i < 400; ++i) {
    const Pod& from = pods[random() % pods.size()];
    const Pod& to = pods[random() % pods.size()];
    int count = 0;
    const std::string old = WithUnknowns(TypeOf<Pod>(), ToProto(from), count);
    const auto merged = MergeProto(old, to);
    ASSERT_TRUE(merged) << merged.error().Message();
    ASSERT_TRUE(*FromProto<Pod>(*merged) == to);
    EXPECT_THAT(*merged, HasSubstr("unknown0"));
  }
}

TEST(MergeProto, ChangedFieldsAreWrittenAndTheRestStays) {
  PersistentVolume volume;
  volume.metadata.name = "pv1";
  volume.metadata.annotations["a"] = "1";
  int count = 0;
  const std::string old =
      WithUnknowns(TypeOf<PersistentVolume>(), ToProto(volume), count) + Field(90, "tail");
  volume.metadata.annotations["b"] = "2";
  volume.metadata.name = "renamed";
  const auto merged = MergeProto(old, volume);
  ASSERT_TRUE(merged);
  EXPECT_TRUE(*FromProto<PersistentVolume>(*merged) == volume);
  EXPECT_THAT(*merged, HasSubstr("unknown1"));
  EXPECT_THAT(*merged, HasSubstr("tail"));
  EXPECT_THAT(*merged, Not(HasSubstr("pv1")));
}

TEST(MergeProto, EntriesOfListsAndMapsThatStayKeepTheirBytes) {
  Pod pod;
  pod.status.conditions.resize(2);
  pod.status.conditions[0].type = "First";
  pod.status.conditions[1].type = "Second";
  pod.metadata.labels["keep"] = "x";
  int count = 0;
  const std::string old = WithUnknowns(TypeOf<Pod>(), ToProto(pod), count);
  const auto condition_bytes = [&](std::string_view bytes, std::string_view type) {
    // The unknown field written right before the condition's type.
    const size_t at = bytes.find(type);
    return std::string(bytes.substr(at - 12, 12));
  };
  Pod changed = pod;
  changed.status.conditions.insert(changed.status.conditions.begin(), PodCondition{});
  changed.status.conditions[0].type = "New";
  changed.metadata.labels["new"] = "y";
  const auto merged = MergeProto(old, changed);
  ASSERT_TRUE(merged);
  EXPECT_TRUE(*FromProto<Pod>(*merged) == changed);
  EXPECT_EQ(condition_bytes(*merged, "First"), condition_bytes(old, "First"));
  EXPECT_EQ(condition_bytes(*merged, "Second"), condition_bytes(old, "Second"));
}

TEST(MergeProto, ManagedFieldsAreLeftOut) {
  Lease lease;
  lease.metadata.name = "l";
  std::string metadata = ToProto(lease.metadata) + Field(17, "managed") + Field(18, "other");
  const auto merged = MergeProto(Field(1, metadata), lease);
  ASSERT_TRUE(merged);
  EXPECT_THAT(*merged, Not(HasSubstr("managed")));
  EXPECT_THAT(*merged, HasSubstr("other"));
}

TEST(MergeProto, AMessageInPartsIsTheSumOfItsParts) {
  Lease lease;
  lease.metadata.name = "l";
  lease.metadata.uid = "u";
  const std::string old = Field(1, ToProto(lease.metadata)) + Field(1, Field(99, "later"));
  const auto merged = MergeProto(old, lease);
  ASSERT_TRUE(merged);
  EXPECT_THAT(*merged, HasSubstr("later"));
  EXPECT_TRUE(*FromProto<Lease>(*merged) == lease);
}

TEST(MergeProto, MalformedBytesAreAnErrorOrAnAnswer) {
  std::mt19937 random(3);
  const std::string original = Message("pv");
  const auto value = FromProto<PersistentVolume>(original);
  int failed = 0;
  for (int i = 0; i < 3000; ++i) {
    std::string bytes = original.substr(0, random() % (original.size() + 1));
    for (int flips = 0; flips < 3 && !bytes.empty(); ++flips) {
      bytes[random() % bytes.size()] = static_cast<char>(random());
    }
    const auto merged = MergeProto(bytes, *value);
    if (!merged) {
      ++failed;
      continue;
    }
    ASSERT_TRUE(*FromProto<PersistentVolume>(*merged) == *value);
    static_cast<void>(DropManagedFields(bytes));
  }
  EXPECT_GT(failed, 0);
}

TEST(DropManagedFields, LeavesTheRest) {
  Lease lease;
  lease.metadata.name = "l";
  lease.spec.holder_identity = "h";
  const std::string metadata = ToProto(lease.metadata);
  const std::string tail = Field(2, ToProto(lease.spec));
  const auto dropped = DropManagedFields(Field(1, metadata + Field(17, "managed")) + tail);
  ASSERT_TRUE(dropped);
  EXPECT_EQ(*dropped, Field(1, metadata) + tail);
  EXPECT_FALSE(DropManagedFields("\x0a\x05xx"));
}

}  // namespace
}  // namespace berth::api
