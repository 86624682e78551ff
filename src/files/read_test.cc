#include "files/read.h"

#include <zlib.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

namespace berth::files {
namespace {

std::string Gzip(const std::string& text) {
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, 6, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string out(deflateBound(&stream, text.size()) + 32, '\0');
  std::string in = text;
  stream.next_in = reinterpret_cast<Bytef*>(in.data());
  stream.avail_in = static_cast<uInt>(in.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

TEST(MaybeGunzip, PlainTextStaysAndGzipIsInflated) {
  const std::string large(3'000'000, 'x');
  const std::string cases[] = {"", "a", "plain: text\n", "\x1f", large};
  for (const std::string& text : cases) {
    EXPECT_EQ(MaybeGunzip(text, "f").value_or("error"), text);
    EXPECT_EQ(MaybeGunzip(Gzip(text), "f").value_or("error"), text) << text.size() << " bytes";
  }
  EXPECT_EQ(MaybeGunzip(Gzip("one ") + Gzip("two"), "f").value_or("error"), "one two")
      << "all members";
}

TEST(MaybeGunzip, BrokenDataIsAnErrorThatNamesTheInput) {
  const std::string whole = Gzip("some text that is long enough to be cut");
  for (size_t length = 2; length < whole.size(); ++length) {
    const auto cut = MaybeGunzip(whole.substr(0, length), "f.gz");
    ASSERT_FALSE(cut.has_value()) << length;
    EXPECT_TRUE(cut.error().Message().starts_with("f.gz: ")) << cut.error().Message();
  }
  std::string flipped = whole;
  flipped[whole.size() / 2] = static_cast<char>(~flipped[whole.size() / 2]);
  EXPECT_FALSE(MaybeGunzip(flipped, "f.gz").has_value());
  EXPECT_FALSE(MaybeGunzip(whole + "garbage", "f.gz").has_value());
}

TEST(ReadFile, ReadsWhatIsThere) {
  const std::string path = ::testing::TempDir() + "berth_read_test";
  std::ofstream(path, std::ios::binary) << Gzip("zipped");
  EXPECT_EQ(ReadFile(path).value_or("error"), "zipped") << "by content, whatever the name";
  std::filesystem::remove(path);
  EXPECT_EQ(ReadFile(path).error().Message(), path + ": No such file or directory");
  EXPECT_FALSE(ReadFile(::testing::TempDir()).has_value()) << "a folder";
}

TEST(MaybeGunzip, L6WhatUnpacksToTooMuchIsRefused) {
  const std::string bomb = Gzip(std::string(5 << 20, 'x'));
  EXPECT_LT(bomb.size(), size_t{10} << 10);
  EXPECT_EQ(MaybeGunzip(bomb, "f.gz", 5 << 20).value_or("").size(), size_t{5} << 20);
  const auto refused = MaybeGunzip(bomb, "f.gz", 4 << 20);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().Message(),
            "f.gz: unpacks to more than 4 MiB, which is the most that is read");
  EXPECT_FALSE(MaybeGunzip(Gzip(std::string(3 << 20, 'x')) + bomb, "f.gz", 7 << 20)) << "together";
}

TEST(ReadFile, L6AFileWithoutAnEndIsRefused) {
  const auto refused = ReadFile("/dev/zero", 2 << 20);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().Message(),
            "/dev/zero: more than 2 MiB, which is the most that is read");
}

}  // namespace
}  // namespace berth::files
