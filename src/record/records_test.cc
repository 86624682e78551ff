#include "record/records.h"

#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "base/random.h"

namespace berth::record {
namespace {

api::Pod SomePod() {
  api::Pod pod;
  pod.metadata.namespace_ = "default";
  pod.metadata.name = "web";
  pod.metadata.uid = "uid-1";
  pod.metadata.creation_timestamp = api::Time::FromUnixNano(1'700'000'000'123'456'789);
  pod.metadata.deletion_timestamp = api::Time::FromUnixNano(1'700'000'009'000'000'000);
  pod.spec.node_name = "node-1";
  pod.status.start_time = api::Time::FromUnixNano(1'700'000'001'000'000'001);
  pod.status.conditions.emplace_back();
  pod.status.conditions.back().type = "Ready";
  return pod;
}

Record RoundTrip(const std::string& bytes) {
  ByteReader reader(bytes);
  auto record = DecodeRecord(reader);
  EXPECT_TRUE(record) << record.error().Message();
  EXPECT_TRUE(reader.AtEnd());
  return std::move(*record);
}

TEST(Records, KeepObjectsWithTheFractionsOfTheirTimes) {
  std::string bytes;
  RecordWriter(bytes).AddUpsert(SomePod());
  EXPECT_EQ(std::get<api::Pod>(std::get<Upsert>(RoundTrip(bytes)).object), SomePod());
  bytes.clear();
  RecordWriter(bytes).AddStatus(SomePod());
  EXPECT_EQ(std::get<UpdateStatus>(RoundTrip(bytes)).pod, SomePod());
}

TEST(Records, KeepLists) {
  api::UnknownObject custom;
  custom.api_version = "example.com/v1";
  custom.kind = "Quota";
  custom.metadata.name = "q";
  custom.json = "{\"kind\":\"Quota\"}";
  const std::vector<api::Object> objects = {SomePod(), custom, api::Node()};
  std::string bytes;
  RecordWriter(bytes).AddReplace("Pod", scheduler::ListPart::kMiddle, objects);
  const auto replace = std::get<Replace>(RoundTrip(bytes));
  EXPECT_EQ(replace.kind, "Pod");
  EXPECT_EQ(replace.part, scheduler::ListPart::kMiddle);
  EXPECT_EQ(replace.objects, objects);
}

TEST(Records, KeepTheLoadOfNodes) {
  cluster::NodeMetrics metrics;
  metrics.measured = api::Time::FromUnixNano(1'700'000'000'123'456'789);
  metrics.values = {{"load:end", 1.7e9}, {"load:00/CPU/AVG", 0.1}, {"load:01/CPU/STD", -0.0}};
  std::string bytes;
  RecordWriter(bytes).AddMetrics("node-1", metrics);
  const auto load = std::get<Metrics>(RoundTrip(bytes));
  EXPECT_EQ(load.node, "node-1");
  EXPECT_EQ(load.metrics, metrics);
}

TEST(Records, KeepOfADeletedObjectItsIdentity) {
  std::string bytes;
  RecordWriter(bytes).AddDelete(SomePod());
  const auto gone = std::get<Delete>(RoundTrip(bytes));
  const api::ObjectMeta* metadata = api::MetadataOf(gone.object);
  EXPECT_EQ(api::KindOf(gone.object), "Pod");
  EXPECT_EQ(metadata->namespace_, "default");
  EXPECT_EQ(metadata->name, "web");
  EXPECT_EQ(metadata->uid, "uid-1");
}

TEST(Records, KeepResults) {
  scheduler::EffectResult result;
  result.id = 77;
  result.code = scheduler::EffectResult::Code::kConflict;
  result.message = "no";
  result.pod = SomePod();
  result.written = api::PersistentVolumeClaim();
  auto answer = std::make_shared<scheduler::ExtenderAnswer>();
  answer->nodes = {"a", "b"};
  answer->failed["c"] = "full";
  answer->failed_and_unresolvable["d"] = "never";
  answer->scores = {{"a", -3}};
  answer->victims["a"] = {{"uid-2"}, 1};
  result.extender = answer;
  std::string bytes;
  RecordWriter(bytes).AddComplete(result);
  const auto read = std::get<Complete>(RoundTrip(bytes)).result;
  EXPECT_EQ(read.id, 77u);
  EXPECT_EQ(read.code, scheduler::EffectResult::Code::kConflict);
  EXPECT_EQ(read.message, "no");
  EXPECT_EQ(*read.pod, SomePod());
  EXPECT_EQ(std::get<api::PersistentVolumeClaim>(*read.written), api::PersistentVolumeClaim());
  EXPECT_EQ(read.extender->nodes, answer->nodes);
  EXPECT_EQ(read.extender->failed, answer->failed);
  EXPECT_EQ(read.extender->failed_and_unresolvable, answer->failed_and_unresolvable);
  EXPECT_EQ(read.extender->scores, answer->scores);
  EXPECT_EQ(read.extender->victims.at("a").uids, std::vector<std::string>{"uid-2"});
  EXPECT_EQ(read.extender->victims.at("a").pdb_violations, 1);
}

TEST(Records, RefuseWhatIsNoRecord) {
  for (const std::string_view bytes : {"", "\x63", "\x63\x01x", "\x03\x7fxx"}) {
    ByteReader reader(bytes);
    EXPECT_FALSE(DecodeRecord(reader)) << bytes;
  }
}

// Blocks have checksums; whoever makes a file with good ones must not be able to do harm either.
TEST(Records, SurviveAnyBytes) {
  std::string bytes;
  RecordWriter writer(bytes);
  writer.AddUpsert(SomePod());
  const std::vector<api::Object> objects = {SomePod(), api::Node()};
  writer.AddReplace("Pod", scheduler::ListPart::kWhole, objects);
  scheduler::EffectResult result;
  result.pod = SomePod();
  writer.AddComplete(result);
  Random random(1);
  for (int round = 0; round < 20'000; ++round) {
    std::string damaged = bytes;
    for (int i = 0; i < 3; ++i) {
      damaged[random.Below(damaged.size())] = static_cast<char>(random.Below(256));
    }
    ByteReader reader(damaged);
    while (!reader.AtEnd() && DecodeRecord(reader)) {
    }
  }
}

TEST(Digests, DifferWithAnyPartOfAnEffect) {
  const auto bind = [](std::string pod, std::string node, uint64_t id) {
    return DigestOf({id, scheduler::BindPod{{"default", std::move(pod), "uid"}, std::move(node)}});
  };
  EXPECT_EQ(bind("a", "n", 1), bind("a", "n", 1));
  EXPECT_NE(bind("a", "n", 1), bind("b", "n", 1));
  EXPECT_NE(bind("a", "n", 1), bind("a", "m", 1));
  EXPECT_NE(bind("a", "n", 1), bind("a", "n", 2));
  EXPECT_NE(DigestOf({1, scheduler::DeletePod{{"default", "a", "uid"}}}),
            DigestOf({1, scheduler::ReadPod{{"default", "a", "uid"}}}));
}

}  // namespace
}  // namespace berth::record
