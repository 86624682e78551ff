#include "cli/replay/serve.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/time.h"
#include "apiserver/json/value.h"
#include "record/directory.h"
#include "record/recorder.h"
#include "sim/chaos/profile.h"
#include "sim/chaos/seed_run.h"

namespace berth::cli {
namespace {

using apiserver::Json;
using testing::HasSubstr;
using testing::StartsWith;

class ServeTest : public testing::Test {
 public:
  ServeTest() {
    char name[] = "/tmp/berth-serve-test-XXXXXX";
    folder_ = mkdtemp(name);
  }
  ~ServeTest() override {
    server_.reset();
    std::filesystem::remove_all(folder_);
  }

  // Records a simulated cluster as one more run.
  void Record(uint64_t seed) {
    const config::FeatureGates gates(config::NewestKubernetes());
    record::DirectoryOptions directory;
    directory.dir = folder_;
    auto sink = record::DirectorySink::Open(directory, nullptr).value();
    record::Recorder recorder(*sink, gates, {.berth_version = "test", .batch_bytes = 4096});
    sim::SeedOptions options{.seed = seed, .steps = 80, .profile = sim::FindChaosProfile("churn")};
    options.behaviour = config::Behaviour(gates);
    options.tap = &recorder;
    sim::RunSeed(options);
    recorder.Close();
  }

  void Serve() {
    server_ = ReplayServer::Make({.dir = folder_, .number = 0, .time_ns = {}}, 0, plugins_).value();
    server_->Start();
    Settle();
  }

  std::string Ask(const std::string& method, const std::string& path, const std::string& body = "",
                  const std::string& headers = "Host: localhost\r\n") const {
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<uint16_t>(server_->Port()));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    const std::string request =
        fmt::format("{} {} HTTP/1.1\r\n{}Content-Length: {}\r\nConnection: close\r\n\r\n{}", method,
                    path, headers, body.size(), body);
    send(fd, request.data(), request.size(), MSG_NOSIGNAL);
    std::string answer;
    char buffer[4096];
    for (ssize_t n; (n = recv(fd, buffer, sizeof buffer, 0)) > 0;) {
      answer.append(buffer, static_cast<size_t>(n));
    }
    close(fd);
    return answer;
  }
  Json Get(const std::string& path) const {
    const std::string answer = Ask("GET", path);
    EXPECT_THAT(answer, StartsWith("HTTP/1.1 200")) << path;
    return Json::Parse(answer.substr(answer.find("\r\n\r\n") + 4)).value_or(Json());
  }
  Json Timeline() const { return Get("/apis/replay/v1/timeline"); }
  Json Settle() const {
    for (;;) {
      Json timeline = Timeline();
      if (!timeline["moving"].Bool()) return timeline;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  }
  Json MoveTo(int64_t time_ns) const {
    const std::string time = api::Time::FromUnixNano(time_ns).FormatNano();
    EXPECT_THAT(Ask("PUT", "/apis/replay/v1/moment", fmt::format(R"({{"time":"{}"}})", time)),
                StartsWith("HTTP/1.1 200"));
    return Settle();
  }
  static int64_t TimeOf(const Json& text) {
    return api::Time::Parse(std::string(text.Str())).value().UnixNano();
  }
  size_t Decisions() const {
    return static_cast<size_t>(Get("/apis/explain/v1/decisions?limit=1000")["total"].Int());
  }

  std::string folder_;
  Plugins plugins_;
  std::unique_ptr<ReplayServer> server_;
};

TEST_F(ServeTest, ShowsTheClusterAtEveryMoment) {
  Record(3);
  Serve();
  const Json timeline = Timeline();
  const int64_t from = TimeOf(timeline["from"]);
  const int64_t to = TimeOf(timeline["to"]);
  ASSERT_LT(from, to);
  EXPECT_EQ(timeline["activity"].Items().size(), 160u);
  EXPECT_EQ(timeline["trouble"].Str(), "");
  const size_t at_end = Decisions();
  EXPECT_GT(at_end, 10u);
  const int64_t middle = from + (to - from) / 2;
  EXPECT_EQ(TimeOf(MoveTo(middle)["at"]), middle);
  const Json decisions = Get("/apis/explain/v1/decisions?limit=1000");
  const size_t in_middle = decisions["items"].Items().size();
  EXPECT_GT(in_middle, 0u);
  EXPECT_LT(in_middle, at_end);
  for (const Json& decision : decisions["items"].Items()) {
    EXPECT_LE(TimeOf(decision["time"]), middle + 1'000);  // microseconds are rounded
  }
  MoveTo(to);
  EXPECT_EQ(Decisions(), at_end) << "forward again";
  MoveTo(middle);
  EXPECT_EQ(Decisions(), in_middle) << "back again";
  MoveTo(from - 1'000'000'000);
  EXPECT_EQ(TimeOf(Timeline()["at"]), from) << "not before the beginning";
}

TEST_F(ServeTest, ExplainsDecisionsAsTheyWereMade) {
  Record(3);
  Serve();
  const Json decisions = Get("/apis/explain/v1/decisions?limit=1000&outcome=Scheduled");
  int explained = 0;
  for (const Json& decision : decisions["items"].Items()) {
    if (++explained > 5) break;
    const Json view = Get(fmt::format("/apis/explain/v1/decisions/{}/{}",
                                      decision["namespace"].Str(), decision["name"].Str()));
    EXPECT_EQ(view["record"]["name"].Str(), decision["name"].Str());
    EXPECT_FALSE(view["recomputed"].Bool());
    EXPECT_EQ(view["funnel"]["feasible"].Int(), view["record"]["feasible"].Int());
  }
  EXPECT_GT(explained, 0);
  EXPECT_THAT(Ask("GET", "/apis/explain/v1/decisions/default/nobody"), StartsWith("HTTP/1.1 404"));
}

TEST_F(ServeTest, GoesOnByOneDecision) {
  Record(4);
  Serve();
  const Json timeline = Timeline();
  const int64_t from = TimeOf(timeline["from"]);
  MoveTo(from + (TimeOf(timeline["to"]) - from) / 3);
  const size_t before = Decisions();
  Ask("PUT", "/apis/replay/v1/moment", R"({"nextCycle":true})");
  Settle();
  EXPECT_EQ(Decisions(), before + 1);
}

TEST_F(ServeTest, TheSliderGoesOverAllRuns) {
  Record(1);
  Record(2);
  Serve();
  const Json timeline = Timeline();
  ASSERT_EQ(timeline["runs"].Items().size(), 2u);
  EXPECT_EQ(timeline["run"].Int(), 2) << "the newest that had begun";
}

TEST_F(ServeTest, RefusesWhatItShould) {
  Record(1);
  Serve();
  EXPECT_THAT(Ask("GET", "/apis/replay/v1/timeline", "", "Host: evil.example\r\n"),
              StartsWith("HTTP/1.1 403"));
  EXPECT_THAT(Ask("PUT", "/apis/replay/v1/moment", R"({"nextCycle":true})",
                  "Host: localhost\r\nOrigin: https://evil.example\r\n"),
              StartsWith("HTTP/1.1 403"));
  EXPECT_THAT(Ask("PUT", "/apis/replay/v1/moment", R"({"time":"noon"})"),
              StartsWith("HTTP/1.1 400"));
  EXPECT_THAT(Ask("PUT", "/apis/replay/v1/moment", "{"), StartsWith("HTTP/1.1 400"));
  EXPECT_THAT(Ask("GET", "/apis/replay/v1/moment"), StartsWith("HTTP/1.1 405"));
  EXPECT_THAT(Ask("GET", "/apis/replay/v1/nothing"), StartsWith("HTTP/1.1 404"));
  EXPECT_THAT(Ask("GET", "/nothing"), StartsWith("HTTP/1.1 404"));
  EXPECT_THAT(Ask("GET", "/dashboard/apis.json"), HasSubstr(R"({"apis":["explain","replay"]})"));
}

TEST_F(ServeTest, DamageIsNamedAndTheRestIsShown) {
  Record(1);
  const std::string path = record::ListRuns(folder_).value().back().segments.back().path;
  std::filesystem::resize_file(path, std::filesystem::file_size(path) - 3);
  Serve();
  EXPECT_THAT(std::string(Timeline()["trouble"].Str()), HasSubstr("run-000001-segment-000001"));
  EXPECT_GT(Decisions(), 0u);
}

TEST_F(ServeTest, NothingToServe) {
  const auto none = ReplayServer::Make({.dir = folder_, .number = 0, .time_ns = {}}, 0, plugins_);
  ASSERT_FALSE(none);
  EXPECT_THAT(none.error().Message(), HasSubstr(folder_));
}

}  // namespace
}  // namespace berth::cli
