#include "server/http/message.h"

#include <zlib.h>

#include <gtest/gtest.h>

namespace berth::server {
namespace {

TEST(ParseTarget, PathsAreDecodedAndQueriesKept) {
  const struct {
    const char* name;
    const char* target;
    bool ok;
    const char* path;
    const char* query;
  } kRows[] = {
      {"a path", "/healthz", true, "/healthz", ""},
      {"a query", "/readyz?verbose&exclude=a%20b", true, "/readyz", "verbose&exclude=a%20b"},
      {"an escape", "/a%2Fb", true, "/a/b", ""},
      {"a plus is a plus in paths", "/a+b", true, "/a+b", ""},
      {"a bad escape", "/a%zz", false, "", ""},
      {"a cut escape", "/a%2", false, "", ""},
      {"absolute", "https://host:1/metrics?x", true, "/metrics", "x"},
      {"absolute without a path", "https://host", true, "/", ""},
      {"an asterisk", "*", true, "*", ""},
      {"nonsense", "healthz", false, "", ""}};
  for (const auto& row : kRows) {
    std::string path, query;
    EXPECT_EQ(ParseTarget(row.target, &path, &query), row.ok) << row.name;
    if (!row.ok) continue;
    EXPECT_EQ(path, row.path) << row.name;
    EXPECT_EQ(query, row.query) << row.name;
  }
}

TEST(Query, ValuesByKey) {
  EXPECT_EQ(QueryValues("exclude=a&exclude=b+c&x=d&exclude", "exclude"),
            (std::vector<std::string>{"a", "b c", ""}));
  EXPECT_TRUE(QueryHas("verbose", "verbose"));
  EXPECT_TRUE(QueryHas("a=1&verbose=0", "verbose"));
  EXPECT_FALSE(QueryHas("verbos%65x", "verbose"));
  EXPECT_FALSE(QueryHas("", "verbose"));
  EXPECT_EQ(QueryValues("a=%zz&a=1&a=2;b", "a"), (std::vector<std::string>{"1"}));
}

TEST(Gzip, WhoAsksForItGetsItAndCanReadIt) {
  const struct {
    const char* header;
    bool takes;
  } kRows[] = {{"gzip", true},       {"deflate, gzip;q=0.5", true}, {"", false},
               {"identity", false},  {"gzip;q=0", false},           {"*", true},
               {"gzippo, br", false}};
  for (const auto& row : kRows) {
    Request request;
    request.headers.emplace_back("accept-encoding", row.header);
    EXPECT_EQ(AcceptsGzip(request), row.takes) << row.header;
  }
  const std::string text(100'000, 'x');
  std::string packed = Gzip(text);
  ASSERT_FALSE(packed.empty());
  EXPECT_LT(packed.size(), text.size() / 10);
  std::string back(text.size(), '\0');
  z_stream stream{};
  ASSERT_EQ(inflateInit2(&stream, 15 + 16), Z_OK);
  stream.next_in = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_in = static_cast<uInt>(packed.size());
  stream.next_out = reinterpret_cast<Bytef*>(back.data());
  stream.avail_out = static_cast<uInt>(back.size());
  EXPECT_EQ(inflate(&stream, Z_FINISH), Z_STREAM_END);
  inflateEnd(&stream);
  EXPECT_EQ(back, text);
}

TEST(TextError, IsGosHttpError) {
  const Response response = TextError(404, "404 page not found");
  EXPECT_EQ(response.body, "404 page not found\n");
  EXPECT_EQ(response.Get("X-Content-Type-Options"), "nosniff");
  EXPECT_EQ(response.Get("Content-Type"), "text/plain; charset=utf-8");
}

}  // namespace
}  // namespace berth::server
