#include "server/dashboard/dashboard.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace berth::server {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Request Get(std::string path, std::vector<std::pair<std::string, std::string>> headers = {}) {
  Request request;
  request.method = "GET";
  request.path = std::move(path);
  request.headers = std::move(headers);
  return request;
}

TEST(Dashboard, PathsAndTypes) {
  struct Row {
    const char* what;
    const char* path;
    int status;
    const char* type;
  };
  for (const Row& row : {
           Row{"the folder is its page", "/dashboard/", 200, "text/html; charset=utf-8"},
           Row{"the page by name", "/dashboard/index.html", 200, "text/html; charset=utf-8"},
           Row{"the program", "/dashboard/assets/index.js", 200, "text/javascript; charset=utf-8"},
           Row{"the style", "/dashboard/assets/index.css", 200, "text/css; charset=utf-8"},
           Row{"the icon", "/dashboard/favicon.svg", 200, "image/svg+xml"},
           Row{"without the slash it goes there", "/dashboard", 301, ""},
           Row{"no such file", "/dashboard/nope.js", 404, "text/plain; charset=utf-8"},
           Row{"no way out of the folder", "/dashboard/../metrics", 404,
               "text/plain; charset=utf-8"},
           Row{"what the build is checked with is not served", "/dashboard/sources.sha256", 404,
               "text/plain; charset=utf-8"},
       }) {
    const Response response = ServeDashboard(Get(row.path));
    EXPECT_EQ(response.status, row.status) << row.what;
    EXPECT_EQ(response.Get("Content-Type"), row.type) << row.what;
  }
}

TEST(Dashboard, TheFolderIsReachedByARelativeWay) {
  EXPECT_EQ(ServeDashboard(Get("/dashboard")).Get("Location"), "dashboard/");
}

TEST(Dashboard, NothingComesFromElsewhere) {
  const Response page = ServeDashboard(Get("/dashboard/"));
  EXPECT_THAT(std::string(page.Get("Content-Security-Policy")), HasSubstr("default-src 'self'"));
  EXPECT_EQ(page.Get("X-Content-Type-Options"), "nosniff");
  for (const DashboardFile& file : DashboardFiles()) {
    if (!file.path.ends_with(".html") && !file.path.ends_with(".css")) continue;
    EXPECT_THAT(std::string(file.bytes), Not(HasSubstr("://"))) << file.path;
  }
}

TEST(Dashboard, SaysWhichApisThereAre) {
  EXPECT_EQ(ServeDashboard(Get("/dashboard/apis.json")).body, R"({"apis":["explain"]})");
  EXPECT_EQ(ServeDashboard(Get("/dashboard/apis.json"), {"explain", "replay"}).body,
            R"({"apis":["explain","replay"]})");
  EXPECT_EQ(ServeDashboard(Get("/dashboard/apis.json"), {}).body, R"({"apis":[]})");
}

TEST(Dashboard, OnlyReading) {
  Request request = Get("/dashboard/");
  request.method = "POST";
  EXPECT_EQ(ServeDashboard(request).status, 405);
  request.method = "HEAD";
  EXPECT_EQ(ServeDashboard(request).status, 200);
}

TEST(Dashboard, CompressedForThoseWhoTakeIt) {
  const Response plain = ServeDashboard(Get("/dashboard/assets/index.js"));
  const Response gzip =
      ServeDashboard(Get("/dashboard/assets/index.js", {{"accept-encoding", "br, gzip"}}));
  EXPECT_EQ(plain.Get("Content-Encoding"), "");
  EXPECT_EQ(gzip.Get("Content-Encoding"), "gzip");
  EXPECT_EQ(gzip.Get("Vary"), "Accept-Encoding");
  EXPECT_LT(gzip.body.size(), plain.body.size() / 2);
  EXPECT_NE(gzip.Get("ETag"), plain.Get("ETag"));
}

TEST(Dashboard, AKeptCopyIsNotSentAgain) {
  const std::string tag(ServeDashboard(Get("/dashboard/")).Get("ETag"));
  struct Row {
    const char* what;
    std::string header;
    int status;
  };
  for (const Row& row : {
           Row{"the same tag", tag, 304},
           Row{"among others", "\"x\", " + tag, 304},
           Row{"weakened on the way", "W/" + tag, 304},
           Row{"anything", "*", 304},
           Row{"another tag", "\"x\"", 200},
       }) {
    const Response response = ServeDashboard(Get("/dashboard/", {{"if-none-match", row.header}}));
    EXPECT_EQ(response.status, row.status) << row.what;
    EXPECT_EQ(response.body.empty(), row.status == 304) << row.what;
  }
}

TEST(Dashboard, AnybodyMayLoadThePage) {
  const Mount mount = DashboardMount();
  EXPECT_TRUE(mount.open);
  int status = 0;
  mount.handle(
      Get("/dashboard/"), [&](Response response) { status = response.status; }, nullptr);
  EXPECT_EQ(status, 200);
}

}  // namespace
}  // namespace berth::server
