#include "hands/wire.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/codec/protozero.h"
#include "hands/payload.h"
#include "hands/testing/office.h"

namespace berth::hands {
namespace {

using ::testing::HasSubstr;

Batch FullBatch() {
  return {.lease = "kube-system/kube-scheduler",
          .leader = "a_1",
          .epoch = 7,
          .session = 2,
          .number = 5,
          .echo = 123,
          .valid_ns = 456,
          .committed = 9,
          .results_received = 3,
          .entries = {{1, "u1", "ns", "p1", "n1"}, {.sequence = 2}},
          .tasks = {{.id = 4, .sequence = 1, .resource_version = "77"},
                    {.id = 0, .kind = Task::Kind::kEvent, .payload = "event"}},
          .refused = {1, 8}};
}

TEST(Wire, MessagesSurviveTheWay) {
  EXPECT_EQ(*DecodeBatch(Encode(FullBatch())), FullBatch());
  const Poll poll{"a_1", 7, 2, 3};
  EXPECT_EQ(*DecodePoll(Encode(poll)), poll);
  const Answer answer{.session = 2,
                      .number = 5,
                      .stamp = 99,
                      .listed = true,
                      .waiting = 1,
                      .log = 2,
                      .first_result = 3,
                      .results = {{4, TaskResult::Code::kConflict, "taken"}, {.id = 5}}};
  EXPECT_EQ(*DecodeAnswer(Encode(answer)), answer);
}

TEST(Wire, EveryPrefixIsAMessageOrAnError) {
  const std::string bytes = Encode(FullBatch());
  for (size_t size = 0; size < bytes.size(); ++size) {
    const auto decoded = DecodeBatch(bytes.substr(0, size));
    if (decoded) continue;
    EXPECT_THAT(decoded.error().Message(), HasSubstr("batch: "));
  }
}

TEST(Wire, UnknownFieldsOfALaterVersionAreSkipped) {
  std::string bytes = Encode(FullBatch());
  protozero::pbf_writer(bytes).add_string(900, "later");
  EXPECT_EQ(*DecodeBatch(bytes), FullBatch());
}

TEST(Wire, ErrorsNameTheFieldAndTheValue) {
  struct {
    const char* what;
    void (*spoil)(Batch&);
    const char* error;
  } const rows[] = {
      {"a batch without a leader", [](Batch& b) { b.leader.clear(); }, "batch: leader: missing"},
      {"a batch without a number", [](Batch& b) { b.number = 0; }, "batch: number: 0 or missing"},
      {"an entry without a sequence", [](Batch& b) { b.entries[0].sequence = 0; },
       "batch: entries.sequence: 0 or missing"},
      {"a binding without an entry", [](Batch& b) { b.tasks[0].sequence = 0; },
       "batch: tasks.sequence: of bindings, and only those"},
      {"an unknown kind", [](Batch& b) { b.tasks[1].kind = static_cast<Task::Kind>(9); },
       "batch: tasks.kind: unknown value 9"},
      {"a long name", [](Batch& b) { b.entries[0].node.assign(kMaxText + 1, 'x'); },
       "batch: entries.node: 65537 bytes are more than the limit of 65536"},
      {"too many entries", [](Batch& b) { b.entries.assign(kMaxItems + 1, {.sequence = 1}); },
       "batch: entries: more than 20000 items"},
  };
  for (const auto& row : rows) {
    Batch batch = FullBatch();
    row.spoil(batch);
    const auto decoded = DecodeBatch(Encode(batch));
    ASSERT_FALSE(decoded) << row.what;
    EXPECT_EQ(decoded.error().Message(), row.error) << row.what;
  }
  EXPECT_THAT(DecodeBatch(std::string(kMaxMessageBytes + 1, '\0')).error().Message(),
              HasSubstr("more than the limit"));
  EXPECT_THAT(DecodeAnswer("\x0a").error().Message(), HasSubstr("answer: "));
}

TEST(Payload, PatchesAndEventsSurviveTheWay) {
  const scheduler::Effect patch = Patch(1, "p", "no node fits");
  const auto read = DecodePatch(EncodePayload(patch.action));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->pod.uid, "uid-p");
  EXPECT_EQ(read->pod.resource_version, "7");
  EXPECT_EQ(read->condition, std::get<scheduler::PatchPodStatus>(patch.action).condition);
  EXPECT_FALSE(read->nominated_node_name);

  scheduler::RecordEvent event;
  event.regarding = {"default", "p", "uid-p", "7"};
  event.related = scheduler::PodRef{"default", "q", "uid-q"};
  event.note = "Preempted";
  event.related_is_group = true;
  const auto same = DecodeEvent(EncodePayload(event));
  ASSERT_TRUE(same);
  EXPECT_EQ(same->regarding.name, "p");
  EXPECT_EQ(same->related->uid, "uid-q");
  EXPECT_EQ(same->note, "Preempted");
  EXPECT_TRUE(same->related_is_group);
  EXPECT_FALSE(same->note_counts);
}

TEST(Payload, MalformedBytesAreRefused) {
  EXPECT_THAT(DecodePatch("").error().Message(), HasSubstr("patch: pod.uid: missing"));
  EXPECT_THAT(DecodePatch("\x12\x03zzz").error().Message(), HasSubstr("patch: "));
  EXPECT_THAT(DecodeEvent("\x0a").error().Message(), HasSubstr("event: "));
}

}  // namespace
}  // namespace berth::hands
