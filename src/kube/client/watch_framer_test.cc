#include "kube/client/watch_framer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

namespace berth::kube {
namespace {

using Format = WatchFramer::Format;
using Outcome = WatchFramer::Outcome;
using ::testing::ElementsAre;

std::string Prefixed(std::string_view frame) {
  std::string out;
  for (int shift = 24; shift >= 0; shift -= 8) {
    out += static_cast<char>(frame.size() >> static_cast<unsigned>(shift) & 0xffu);
  }
  return out += frame;
}

// The frames of `bytes` when they come in pieces of `piece`.
std::vector<std::string> Frames(Format format, std::string_view bytes, size_t piece) {
  WatchFramer framer(format);
  std::vector<std::string> frames;
  while (!bytes.empty()) {
    const std::string part(bytes.substr(0, piece));
    bytes.remove_prefix(part.size());
    const Outcome outcome = framer.Add(part, [&](std::string_view frame) {
      frames.emplace_back(frame);
      return true;
    });
    EXPECT_EQ(outcome, Outcome::kOk);
  }
  EXPECT_FALSE(framer.HasPartialFrame());
  return frames;
}

TEST(WatchFramer, FramesAreTheSameHoweverTheBytesArrive) {
  const std::string large(3000, 'x');
  const std::string protobuf =
      Prefixed("one") + Prefixed("") + Prefixed(large) + Prefixed("\n{") + Prefixed("last");
  const std::string json = "{\"a\":1}\n\n  {\"b\":\"x\"}\r\n" + large + "\n";
  for (size_t piece : {1u, 2u, 3u, 5u, 7u, 64u, 1000u, 100000u}) {
    EXPECT_THAT(Frames(Format::kPrefixed, protobuf, piece),
                ElementsAre("one", "", large, "\n{", "last"))
        << piece;
    EXPECT_THAT(Frames(Format::kLines, json, piece),
                ElementsAre("{\"a\":1}", "{\"b\":\"x\"}", large))
        << piece;
  }
}

TEST(WatchFramer, AnUnfinishedFrameIsKnown) {
  const auto ignore = [](std::string_view) { return true; };
  WatchFramer protobuf(Format::kPrefixed);
  EXPECT_EQ(protobuf.Add(Prefixed("abc").substr(0, 2), ignore), Outcome::kOk);
  EXPECT_TRUE(protobuf.HasPartialFrame());
  WatchFramer json(Format::kLines);
  EXPECT_EQ(json.Add("{\"a\":1}\n{", ignore), Outcome::kOk);
  EXPECT_TRUE(json.HasPartialFrame());
}

TEST(WatchFramer, AFrameBeyondTheLimitIsRefusedBeforeItIsHeld) {
  const auto ignore = [](std::string_view) { return true; };
  const std::string huge("\x7f\xff\xff\xff", 4);
  WatchFramer at_once(Format::kPrefixed);
  EXPECT_EQ(at_once.Add(huge, ignore), Outcome::kTooLarge);
  WatchFramer in_pieces(Format::kPrefixed);
  EXPECT_EQ(in_pieces.Add(huge.substr(0, 3), ignore), Outcome::kOk);
  EXPECT_EQ(in_pieces.Add(huge.substr(3), ignore), Outcome::kTooLarge);

  WatchFramer json(Format::kLines);
  const std::string chunk(WatchFramer::kMaxFrame / 2 + 1, 'x');
  EXPECT_EQ(json.Add(chunk, ignore), Outcome::kOk);
  EXPECT_EQ(json.Add(chunk, ignore), Outcome::kTooLarge);
}

TEST(WatchFramer, AConsumerMayStopAndDestroyTheFramer) {
  for (Format format : {Format::kPrefixed, Format::kLines}) {
    const std::string frame = format == Format::kPrefixed ? Prefixed("abc") : "abc\n";
    auto framer = std::make_unique<WatchFramer>(format);
    int frames = 0;
    const auto destroy = [&](std::string_view bytes) {
      framer.reset();
      ++frames;
      EXPECT_EQ(bytes, "abc");
      return false;
    };
    WatchFramer* raw = framer.get();
    EXPECT_EQ(raw->Add(frame.substr(0, 2), destroy), Outcome::kOk);
    EXPECT_EQ(raw->Add(frame.substr(2) + frame, destroy), Outcome::kStopped);
    EXPECT_EQ(frames, 1);
  }
}

}  // namespace
}  // namespace berth::kube
