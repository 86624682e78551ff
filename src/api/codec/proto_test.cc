#include "api/codec/proto.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/codec/json.h"
#include "api/core/node.h"
#include "api/core/pod.h"
#include "api/object.h"
#include "api/testing/objects.h"

namespace berth::api {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

const std::vector<std::string> kObjects = {"pod",
                                           "node",
                                           "pvc",
                                           "pv",
                                           "storageclass",
                                           "csinode",
                                           "csistoragecapacity",
                                           "pdb",
                                           "priorityclass",
                                           "podgroup",
                                           "resourceslice",
                                           "resourceclaim",
                                           "deviceclass",
                                           "statefulset",
                                           "cronjob",
                                           "lease",
                                           "event",
                                           "binding",
                                           "status"};

TEST(ProtoDecode, SameValueAsJson) {
  for (const std::string& name : kObjects) {
    auto json = DecodeObject(ReadTestData(name + ".json"));
    ASSERT_TRUE(json) << name << ": " << json.error().Message();
    auto proto = DecodeObjectProto(ReadTestData(name + ".pb"));
    ASSERT_TRUE(proto) << name << ": " << proto.error().Message();
    EXPECT_NE(KindOf(*proto), "") << name;
    EXPECT_FALSE(std::holds_alternative<UnknownObject>(*proto)) << name;
    EXPECT_TRUE(*proto == *json) << name;
  }
}

std::string Reencode(const Object& object) {
  return std::visit(
      [](const auto& value) -> std::string {
        if constexpr (requires { value.Type(); }) {
          return ToEnvelope(value);
        } else {
          return "unknown kind";
        }
      },
      object);
}

// Specs of which every field is described: their bytes must be Go's.
TEST(ProtoEncode, SameBytesAsTheGoTypes) {
  for (std::string name : {"lease", "csinode", "resourceslice", "resourceclaim", "deviceclass"}) {
    const std::string bytes = ReadTestData(name + ".pb");
    auto object = DecodeObjectProto(bytes);
    ASSERT_TRUE(object) << name << ": " << object.error().Message();
    const std::string spec = std::visit(
        [](const auto& value) -> std::string {
          if constexpr (requires { value.spec.Type(); }) {
            return ToProto(value.spec);
          } else {
            return {};
          }
        },
        *object);
    EXPECT_GT(spec.size(), 10u) << name;
    EXPECT_NE(bytes.find(spec), std::string::npos) << name;
  }
}

TEST(ProtoEncode, EmptyFieldsThatAreNotDescribedAreWritten) {
  auto binding = DecodeObjectProto(ReadTestData("binding.pb"));
  ASSERT_TRUE(binding);
  EXPECT_EQ(Reencode(*binding), ReadTestData("binding.pb")) << "metadata.selfLink";
  const std::string event = ToProto(Event());
  EXPECT_NE(event.find(std::string("\x62\x04\x0a\x00\x12\x00", 6)), std::string::npos)
      << "deprecatedSource";
}

TEST(ProtoEncode, AnEmptyMessageIsNotAnAbsentOne) {
  PodAffinityTerm term;
  term.namespace_selector.emplace();
  auto again = FromProto<PodAffinityTerm>(ToProto(term));
  ASSERT_TRUE(again);
  EXPECT_TRUE(again->namespace_selector);
  EXPECT_FALSE(again->label_selector);
}

TEST(ProtoEncode, DecodesToTheSameValue) {
  for (const std::string& name : kObjects) {
    auto object = DecodeObjectProto(ReadTestData(name + ".pb"));
    ASSERT_TRUE(object) << name;
    auto again = DecodeObjectProto(Reencode(*object));
    ASSERT_TRUE(again) << name << ": " << again.error().Message();
    EXPECT_TRUE(*again == *object) << name;
  }
}

TEST(ProtoDecode, HandWrittenBytes) {
  // metadata{name: "a", labels{"z": "1"}, labels{"b": "2"}, labels{"z": "3"}}
  const std::string meta = std::string(
                               "\x0a\x01"
                               "a") +
                           "\x5a\x06\x0a\x01z\x12\x01"
                           "1" +
                           "\x5a\x06\x0a\x01"
                           "b\x12\x01"
                           "2" +
                           "\x5a\x06\x0a\x01z\x12\x01"
                           "3";
  auto decoded = FromProto<ObjectMeta>(meta);
  ASSERT_TRUE(decoded) << decoded.error().Message();
  EXPECT_EQ(decoded->name, "a");
  EXPECT_THAT(decoded->labels, ElementsAre(Pair("b", "2"), Pair("z", "3")))
      << "any order, the last of equal keys";
}

TEST(ProtoDecode, EntriesOfAListNeedNotStandTogether) {
  // finalizers "a", name "n", finalizers "b" and "c"
  auto decoded = FromProto<ObjectMeta>(
      "\x72\x01"
      "a\x0a\x01n\x72\x01"
      "b\x72\x01"
      "c");
  ASSERT_TRUE(decoded) << decoded.error().Message();
  EXPECT_EQ(decoded->name, "n");
  EXPECT_THAT(decoded->finalizers, ElementsAre("a", "b", "c"));
}

TEST(ProtoDecode, EveryTruncationIsAnErrorOrAValue) {
  for (const std::string& name : kObjects) {
    const std::string bytes = ReadTestData(name + ".pb");
    for (size_t size = 0; size < bytes.size(); ++size) {
      auto object = DecodeObjectProto(std::string_view(bytes).substr(0, size));
      EXPECT_TRUE(object.has_value() || !object.error().Message().empty());
    }
  }
}

TEST(ProtoDecode, EveryFlippedByteIsAnErrorOrAValue) {
  const std::string bytes = ReadTestData("pod.pb");
  for (size_t i = 0; i < bytes.size(); ++i) {
    for (int delta : {1, 7, 128}) {
      std::string broken = bytes;
      broken[i] = static_cast<char>(broken[i] ^ delta);
      auto object = DecodeObjectProto(broken);
      EXPECT_TRUE(object.has_value() || !object.error().Message().empty());
    }
  }
}

struct Bad {
  std::string what;
  std::string bytes;
  std::string error;
};

TEST(ProtoDecode, ErrorsNameTheTypeAndTheField) {
  const std::vector<Bad> cases = {
      {"a string where a message is expected to end", std::string("\x12\x05\x0a", 3),
       "Pod spec: malformed protobuf: "},
      {"a number for the name", std::string("\x0a\x02\x08\x01", 4),
       "Pod metadata.name: malformed protobuf: wrong wire type"},
      {"a quantity that is none",
       std::string("\x12\x10\x82\x02\x0d\x0a\x03"
                   "cpu\x12\x06\x0a\x04nope",
                   19),
       "Pod spec.overhead: cannot parse \"nope\" as a quantity: "},
  };
  for (const Bad& test : cases) {
    auto pod = FromProto<Pod>(test.bytes);
    ASSERT_FALSE(pod) << test.what;
    EXPECT_THAT(pod.error().Message(), HasSubstr(test.error)) << test.what;
  }
}

TEST(Envelope, ReadsAndWritesTheMagicNumber) {
  EXPECT_FALSE(UnwrapEnvelope(""));
  EXPECT_FALSE(UnwrapEnvelope("k8s"));
  EXPECT_FALSE(UnwrapEnvelope("{}"));
  const std::string bytes = WrapEnvelope("v1", "Pod", "raw");
  auto envelope = UnwrapEnvelope(bytes);
  ASSERT_TRUE(envelope);
  EXPECT_EQ(envelope->api_version, "v1");
  EXPECT_EQ(envelope->kind, "Pod");
  EXPECT_EQ(envelope->raw, "raw");
  EXPECT_FALSE(UnwrapEnvelope(std::string("k8s\0\x0a\x7f", 6))) << "cut short";
}

TEST(ListItems, OneByOne) {
  const std::string bytes = ReadTestData("podlist.pb");
  auto envelope = UnwrapEnvelope(bytes);
  ASSERT_TRUE(envelope);
  std::vector<std::string> names;
  auto meta = ForEachListItem(envelope->raw, [&](std::string_view item) -> Result<void> {
    auto pod = FromProto<Pod>(item);
    if (!pod) return Fail(pod.error());
    names.push_back(pod->metadata.name + "@" + pod->spec.node_name);
    return {};
  });
  ASSERT_TRUE(meta) << meta.error().Message();
  EXPECT_THAT(names, ElementsAre("a@", "b@n1"));
  EXPECT_EQ(meta->resource_version, "99");
  EXPECT_EQ(meta->continue_, "tok");
  EXPECT_EQ(meta->remaining_item_count, 5);
  auto stopped = ForEachListItem(envelope->raw,
                                 [](std::string_view) -> Result<void> { return Fail("enough"); });
  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.error().Message(), "enough");
}

TEST(WatchFrame, TypeAndObject) {
  const std::string bytes = std::string("\x0a\x05") + "ADDED" + "\x12\x05\x0a\x03xyz";
  auto frame = DecodeWatchFrame(bytes);
  ASSERT_TRUE(frame);
  EXPECT_EQ(frame->type, "ADDED");
  EXPECT_EQ(frame->object, "xyz");
  EXPECT_FALSE(DecodeWatchFrame("\x0a\x09short"));
}

TEST(Proto, TheFirstBytesOfAnEnvelopeTellItsSize) {
  const std::string whole = WrapEnvelope("v1", "PodList", std::string(70'000, 'x'));
  for (const size_t seen : {size_t{30}, size_t{500}, whole.size()}) {
    const size_t size = EnvelopeSize(std::string_view(whole).substr(0, seen));
    EXPECT_GE(size, whole.size()) << seen;
    EXPECT_LT(size, whole.size() + 100) << seen;
  }
  for (size_t seen = 0; seen < 15; ++seen) {
    EXPECT_EQ(EnvelopeSize(std::string_view(whole).substr(0, seen)), 0u) << seen;
  }
  EXPECT_EQ(EnvelopeSize("{\"kind\":\"PodList\"}"), 0u);
  EXPECT_LT(EnvelopeSize(std::string("k8s\0\x12\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 15)),
            size_t{1} << 33)
      << "a length that cannot be is still only a number";
}

}  // namespace
}  // namespace berth::api
