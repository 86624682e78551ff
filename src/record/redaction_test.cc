#include "record/redaction.h"

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <cstdio>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/codec/json.h"
#include "api/codec/proto.h"
#include "api/core/pod.h"
#include "config/config.h"
#include "record/player.h"
#include "record/pseudonyms.h"
#include "record/recorder.h"
#include "record/segment.h"
#include "record/testing/memory_sink.h"
#include "sim/chaos/profile.h"
#include "sim/chaos/seed_run.h"

namespace berth::record {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

TEST(Pseudonyms, KeepTheOrderOfWords) {
  const auto in_order = [](const std::vector<std::string>& words) {
    Pseudonyms pseudonyms;
    std::map<std::string, std::string> table;
    size_t longest = 0;
    for (const std::string& word : words) {
      const std::string pseudonym(pseudonyms.Of(word));
      EXPECT_FALSE(pseudonym.empty() || pseudonym.ends_with('0')) << word;
      longest = std::max(longest, pseudonym.size());
      table.emplace(word, pseudonym);
    }
    std::string last;
    for (const auto& [word, pseudonym] : table) {
      EXPECT_LT(last, pseudonym) << word;
      EXPECT_EQ(pseudonyms.Of(word), pseudonym) << "the same each time";
      last = pseudonym;
    }
    return longest;
  };
  const auto named = [](size_t number) {
    char name[16];
    std::snprintf(name, sizeof name, "w%06zu", number);
    return std::string(name);
  };
  std::vector<std::string> ascending, descending, shuffled;
  for (size_t i = 0; i < 20'000; ++i) ascending.push_back(named(i));
  for (size_t i = 2'000; i > 0; --i) descending.push_back(named(i));
  std::mt19937_64 random(7);
  for (size_t i = 0; i < 20'000; ++i) shuffled.push_back(named(random() % 1'000'000));
  EXPECT_LE(in_order(ascending), 16u);
  EXPECT_LE(in_order(descending), 16u);
  EXPECT_LE(in_order(shuffled), 16u);
}

TEST(Redactor, WhatIsComposedOfStringsIsComposedOfTheirPseudonyms) {
  Redactor redactor;
  const std::string payroll = redactor.Text("payroll");
  const std::string acme = redactor.Text("acme");
  EXPECT_THAT(payroll, StartsWith("xz"));
  EXPECT_EQ(redactor.Text("payroll-0-acme"), payroll + "-0-" + acme);
  EXPECT_EQ(redactor.Text("acme.example.com/payroll:latest"),
            acme + ".example.com/" + payroll + ":latest");
  EXPECT_EQ(redactor.Text("{\"a\":\"\\nacme\"}"), "{\"a\":\"\\n" + acme + "\"}");
  EXPECT_EQ(redactor.Text("7payroll"), "7" + payroll);
  EXPECT_NE(redactor.Text("Payroll"), payroll);
  EXPECT_NE(redactor.Text(payroll), payroll) << "a name that looks like a pseudonym gets one too";
}

TEST(Redactor, WordsOfKubernetesAndNumbersStay) {
  Redactor redactor;
  for (const char* text :
       {"", "16", "topology.kubernetes.io/zone", "node-role.kubernetes.io/control-plane",
        "0/5 nodes are available: 1 Insufficient cpu, 4 node(s) had untolerated taint(s).",
        "volume.kubernetes.io/selected-node", "NoSchedule", "default-scheduler", "10Gi", "1m30s",
        "container-0-request-1", "deviceclass.resource.kubernetes.io/"}) {
    EXPECT_EQ(redactor.Text(text), text);
  }
}

TEST(Redactor, ReasonsAreInTheirOrderAgain) {
  Redactor redactor;
  const std::string acme = redactor.Text("acme");
  EXPECT_EQ(redactor.Text("0/3 nodes are available: 1 a {acme: 1}, 1 node(s) b, 1 Zone c. "
                          "preemption: 0/3 nodes are available: 3 acme."),
            "0/3 nodes are available: 1 Zone c, 1 a {" + acme + ": 1}, 1 node(s) b. " +
                "preemption: 0/3 nodes are available: 3 " + acme + ".");
}

TEST(Redactor, DefaultConfigurationsStay) {
  for (int minor = config::OldestKubernetes(); minor <= config::NewestKubernetes(); ++minor) {
    const std::string json =
        config::ToJson(config::Default(config::Behaviour(config::FeatureGates(minor))));
    EXPECT_EQ(Redactor().Text(json), json);
  }
}

TEST(Redactor, LeavesNothingOfAPodButItsStructure) {
  constexpr std::string_view kPod = R"({"metadata":{"name":"cobbler-7d4b9c-x2k","namespace":"acme",
    "uid":"u-1","labels":{"team":"purple","stage":"gamma","app.kubernetes.io/name":"cobbler"},
    "annotations":{"kubectl.kubernetes.io/last-applied-configuration":"{\"acme\":1}"}},
    "spec":{"containers":[{"name":"cobbler","image":"registry.acme.io/cobbler@sha256:0a1b2c",
      "env":[{"name":"VAULT_URL"}],"resources":{"requests":{"cpu":"100m","acme.io/fpga":"2"}}}],
      "nodeSelector":{"cpus":"16","kubernetes.io/hostname":"rack7-blade"},
      "nodeName":"rack7-blade","volumes":[{"name":"books",
      "persistentVolumeClaim":{"claimName":"books-of-acme"}}]}})";
  auto pod = api::FromJson<api::Pod>(kPod);
  ASSERT_TRUE(pod) << pod.error().Message();
  Redactor redactor;
  api::Pod redacted;
  const std::string bytes = redactor.Proto(api::Pod::Type(), api::ToProto(*pod));
  ASSERT_TRUE(api::DecodeProto(api::Pod::Type(), &redacted, bytes));
  for (const char* word : {"cobbler", "acme", "purple", "gamma", "x2k", "a1b2c", "VAULT", "fpga",
                           "blade", "rack", "books", "team", "stage"}) {
    EXPECT_THAT(bytes, Not(HasSubstr(word)));
  }
  EXPECT_EQ(redacted.metadata.uid, "u-1");
  EXPECT_EQ(redacted.metadata.labels.size(), 3u);
  EXPECT_EQ(redacted.metadata.labels.at("app.kubernetes.io/name"), redactor.Text("cobbler"));
  EXPECT_EQ(redacted.spec.node_selector.at(redactor.Text("cpus")), "16");
  EXPECT_EQ(redacted.spec.node_selector.at("kubernetes.io/hostname"), redacted.spec.node_name);
  EXPECT_EQ(redacted.spec.containers[0].resources.requests.at("cpu").String(), "100m");
  EXPECT_EQ(redacted.metadata.annotations.begin()->second, "");
}

// --- Recordings

std::vector<std::string> RecordSeed(uint64_t seed, const sim::ChaosProfile& profile, int minor,
                                    bool redact) {
  const config::FeatureGates gates(minor);
  MemorySink sink;
  Recorder recorder(sink, gates, {.berth_version = "test", .redact = redact});
  sim::SeedOptions options{.seed = seed, .steps = 80, .profile = &profile};
  options.behaviour = config::Behaviour(gates);
  options.tap = &recorder;
  sim::RunSeed(options);
  recorder.Close();
  return sink.Segments();
}

std::string Decompressed(const std::vector<std::string>& segments) {
  std::string bytes;
  for (size_t i = 0; i < segments.size(); ++i) {
    auto reader = SegmentReader::Open(segments[i], {1, static_cast<uint32_t>(i + 1)});
    EXPECT_TRUE(reader);
    std::string block;
    BlockInfo info;
    while (reader->Next(&block, &info).value()) bytes += block;
  }
  return bytes;
}

TEST(RedactedRecording, HasTheDigestsOfWhatItsReplayDecides) {
  uint64_t seed = 1;
  for (int minor = config::OldestKubernetes(); minor <= config::NewestKubernetes(); ++minor) {
    for (const sim::ChaosProfile& profile : sim::ChaosProfiles()) {
      for (int i = 0; i < 3; ++i, ++seed) {
        RunReader reader(1, RecordSeed(seed, profile, minor, true));
        const PlayOutcome outcome = Play(reader, {});
        const std::string about =
            std::string(profile.name) + " " + std::to_string(seed) + " 1." + std::to_string(minor);
        EXPECT_EQ(outcome.trouble, "") << about;
        EXPECT_EQ(outcome.divergence, "") << about;
        EXPECT_TRUE(outcome.redacted);
        EXPECT_TRUE(outcome.closed) << about;
        EXPECT_GT(outcome.decisions, 0u) << about;
      }
    }
  }
}

// Words of names, namespaces, labels and images, if they are of five letters or more: shorter ones
// are in the bytes by chance.
std::set<std::string> WordsOf(const std::vector<std::string>& segments) {
  std::set<std::string> words;
  const auto add = [&](const std::string& text) {
    std::string word;
    for (const char c : text + " ") {
      if (std::isalpha(static_cast<unsigned char>(c)) != 0) {
        word += c;
        continue;
      }
      if (word.size() >= 5) words.insert(word);
      word.clear();
    }
  };
  const auto take = [&](const api::Object& object) {
    const api::ObjectMeta& metadata = *api::MetadataOf(object);
    add(metadata.name + " " + metadata.namespace_);
    for (const auto& [key, value] : metadata.labels) add(key + " " + value);
    if (const auto* pod = std::get_if<api::Pod>(&object)) {
      for (const api::Container& container : pod->spec.containers) add(container.image);
    }
  };
  RunReader reader(1, segments);
  for (const Record* record = reader.Next().value(); record != nullptr;
       record = reader.Next().value()) {
    if (const auto* upsert = std::get_if<Upsert>(record)) take(upsert->object);
    const auto* replace = std::get_if<Replace>(record);
    if (replace != nullptr) std::ranges::for_each(replace->objects, take);
  }
  return words;
}

TEST(RedactedRecording, HasNoWordOfTheCluster) {
  size_t hidden = 0;
  for (const sim::ChaosProfile& profile : sim::ChaosProfiles()) {
    const std::string clear = Decompressed(RecordSeed(5, profile, 37, false));
    const std::string redacted = Decompressed(RecordSeed(5, profile, 37, true));
    for (const std::string& word : WordsOf(RecordSeed(5, profile, 37, false))) {
      if (Redactor().Text(word) == word) continue;  // of Kubernetes
      EXPECT_THAT(clear, HasSubstr(word));
      EXPECT_THAT(redacted, Not(HasSubstr(word)));
      ++hidden;
    }
  }
  EXPECT_GT(hidden, 3u);
}

}  // namespace
}  // namespace berth::record
