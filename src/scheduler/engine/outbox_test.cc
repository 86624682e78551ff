#include "scheduler/engine/outbox.h"

#include <gtest/gtest.h>

namespace berth::scheduler {
namespace {

TEST(OutboxTest, EffectsAreTakenOnceInOrder) {
  Outbox outbox;
  const EffectId first = outbox.Emit(DeletePod{{"ns", "a", "a"}});
  outbox.Record({"ns", "b", "b"}, std::nullopt, "Normal", "Scheduled", "Binding", "note", "s");
  const std::vector<Effect> effects = outbox.Take();
  ASSERT_EQ(effects.size(), 2U);
  EXPECT_EQ(effects[0].id, first);
  EXPECT_LT(first, effects[1].id);
  const auto& event = std::get<RecordEvent>(effects[1].action);
  EXPECT_EQ(event.regarding.name, "b");
  EXPECT_EQ(event.reporting_controller, "s");
  EXPECT_TRUE(outbox.Take().empty());
}

TEST(OutboxTest, AResultIsAwaitedOnce) {
  Outbox outbox;
  outbox.EmitAwaited(DeletePod{}, {Awaited::For::kVictimDeletion, {}, 7, 1});
  outbox.EmitAwaited(CallExtender{}, {Awaited::For::kExtender, {}, 0, 2});
  EXPECT_EQ(outbox.AwaitedCount(), 2U);
  EXPECT_EQ(outbox.AwaitedExtenders(), 1U);
  const std::vector<Effect> effects = outbox.Take();
  EXPECT_FALSE(outbox.AwaitsExtender(effects[0].id));
  EXPECT_TRUE(outbox.AwaitsExtender(effects[1].id));
  const auto awaited = outbox.TakeAwaited(effects[0].id);
  ASSERT_TRUE(awaited.has_value());
  EXPECT_EQ(awaited->preemption, 7U);
  EXPECT_EQ(awaited->victim, 1U);
  EXPECT_FALSE(outbox.TakeAwaited(effects[0].id).has_value()) << "it was reported before";
  EXPECT_TRUE(outbox.TakeAwaited(effects[1].id).has_value());
  EXPECT_EQ(outbox.AwaitedExtenders(), 0U);
}

}  // namespace
}  // namespace berth::scheduler
