#include "kube/host/mailbox.h"

#include <thread>

#include <gtest/gtest.h>

namespace berth::kube {
namespace {

Input Result(scheduler::EffectId id) {
  auto result = std::make_unique<scheduler::EffectResult>();
  result->id = id;
  return result;
}

TEST(MailboxTest, HandsOverEverythingInOrderOfOneSender) {
  Mailbox mailbox;
  constexpr scheduler::EffectId kCount = 10'000;
  std::thread sender([&] {
    for (scheduler::EffectId i = 0; i < kCount; ++i) mailbox.Put(Result(i));
    mailbox.Close();
  });
  std::vector<Input> inputs;
  scheduler::EffectId next = 0;
  while (mailbox.Take(&inputs, std::nullopt)) {
    for (const Input& input : inputs) {
      EXPECT_EQ(std::get<std::unique_ptr<scheduler::EffectResult>>(input)->id, next++);
    }
  }
  sender.join();
  EXPECT_EQ(next, kCount);
}

TEST(MailboxTest, WaitsNoLongerThanTheDeadline) {
  Mailbox mailbox;
  std::vector<Input> inputs;
  EXPECT_TRUE(mailbox.Take(&inputs, Mailbox::Clock::now()));
  EXPECT_TRUE(inputs.empty());
}

TEST(MailboxTest, WhatWasPutInBeforeClosingIsStillTaken) {
  Mailbox mailbox;
  mailbox.Put(Result(1));
  mailbox.Close();
  std::vector<Input> inputs;
  EXPECT_TRUE(mailbox.Take(&inputs, std::nullopt));
  EXPECT_EQ(inputs.size(), 1u);
  EXPECT_FALSE(mailbox.Take(&inputs, std::nullopt));
}

}  // namespace
}  // namespace berth::kube
