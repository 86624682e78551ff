// Over 600 lines: libraries, plugins and their faults are tested with one engine.
#include "loader/loader.h"

#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cluster/table/load_metrics.h"
#include "cluster/testing/builders.h"
#include "loader/views.h"
#include "scheduler/engine.h"

namespace berth::loader {
namespace {

using cluster::MakeNode;
using cluster::MakePod;
using scheduler::BindPod;
using scheduler::Effect;
using scheduler::EffectResult;
using scheduler::Engine;
using scheduler::EngineOptions;
using scheduler::RecordEvent;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

constexpr int64_t kSecond = 1'000'000'000;
const std::string kExample = std::string(BERTH_PLUGINS_DIR) + "/quiet_nodes.so";

std::string TestPlugin(const std::string& name) {
  return std::string(BERTH_TEST_PLUGINS_DIR) + "/" + name + ".so";
}

// Remembers what it is told, in words.
class Watch final : public PluginWatch {
 public:
  void Faulted(const Fault& fault) override {
    const std::lock_guard lock(mutex_);
    faults.push_back(fmt::format("{} {} {}: {}", fault.plugin, fault.point, KindName(fault.kind),
                                 fault.kind == Fault::Kind::kOverrun ? "" : fault.message));
  }
  void Logged(std::string_view plugin, const std::string& message) override {
    const std::lock_guard lock(mutex_);
    logged.push_back(fmt::format("{}: {}", plugin, message));
  }
  std::vector<std::string> faults;
  std::vector<std::string> logged;

 private:
  std::mutex mutex_;
};

std::string ConfigText(const std::string& plugin, const std::string& args = "") {
  std::string text = fmt::format(
      "apiVersion: kubescheduler.config.k8s.io/v1\n"
      "kind: KubeSchedulerConfiguration\n"
      "profiles:\n"
      "- plugins:\n"
      "    multiPoint:\n"
      "      enabled:\n"
      "      - name: {}\n",
      plugin);
  if (!args.empty()) {
    text += fmt::format("  pluginConfig:\n  - name: {}\n    args: {}\n", plugin, args);
  }
  return text;
}

// An engine with plugins from a library.
class LoaderTest : public ::testing::Test {
 protected:
  Result<void> TryMake(const std::string& library, const std::string& config) {
    auto plugins = LoadPlugins({library}, watch_);
    if (!plugins) return Fail(plugins.error());
    auto loaded = config::Load(config);
    if (!loaded) return Fail(loaded.error());
    EngineOptions options;
    options.extra_plugins = std::move(*plugins);
    auto engine = Engine::Make(*loaded, options, api::Time::FromUnixNano(now_));
    if (!engine) return Fail(engine.error());
    engine_ = std::move(*engine);
    return {};
  }
  void Make(const std::string& library, const std::string& config) {
    const auto made = TryMake(library, config);
    ASSERT_TRUE(made.has_value()) << made.error().Message();
  }

  template <class T>
  void Put(T object) {
    object.metadata.resource_version = std::to_string(++version_);
    engine_->Upsert(std::move(object));
  }
  void PutNode(const api::Node& node) { Put(node); }
  void PutPod(const api::Pod& pod) { Put(pod); }
  static MakePod Small(const std::string& name) {
    MakePod pod(name);
    pod.Requests("cpu", "100m");
    return pod;
  }
  void Sleep(int64_t seconds) {
    now_ += seconds * kSecond;
    engine_->AdvanceTo(api::Time::FromUnixNano(now_));
  }

  // Runs the engine; bindings succeed. What was bound where, and which events were recorded.
  std::vector<std::string> Run() {
    std::vector<std::string> words;
    for (bool more = true; more;) {
      while (engine_->Step()) {
      }
      std::vector<Effect> effects = engine_->TakeEffects();
      more = !effects.empty();
      for (Effect& effect : effects) {
        if (const auto* bind = std::get_if<BindPod>(&effect.action)) {
          words.push_back("bind " + bind->pod.name + " to " + bind->node);
        }
        if (const auto* deleted = std::get_if<scheduler::DeletePod>(&effect.action)) {
          words.push_back("delete " + deleted->pod.name);
        }
        if (const auto* event = std::get_if<RecordEvent>(&effect.action)) {
          if (event->reason == "FailedScheduling") words.push_back("event " + event->note);
        }
        EffectResult result;
        result.id = effect.id;
        engine_->Complete(std::move(result));
      }
    }
    EXPECT_THAT(engine_->Invariants(), IsEmpty());
    return words;
  }

  Watch watch_;
  int64_t now_ = 1'700'000'000 * kSecond;
  int64_t version_ = 0;
  std::unique_ptr<Engine> engine_;
};

// --- The example

TEST_F(LoaderTest, FiltersAndScoresByWhatThePluginSays) {
  Make(kExample, ConfigText("QuietNodes"));
  PutNode(MakeNode("street").Cpu("4").Label("noisy", "").Label("quietness", "900"));
  PutNode(MakeNode("library").Cpu("4").Label("quietness", "800"));
  PutNode(MakeNode("office").Cpu("4").Label("quietness", "400"));
  PutPod(Small("reader").Label("quiet", ""));
  EXPECT_THAT(Run(), ElementsAre("bind reader to library"));
  PutPod(Small("anybody"));
  EXPECT_THAT(Run(), ElementsAre("bind anybody to street"));
  EXPECT_THAT(watch_.faults, IsEmpty());
}

TEST_F(LoaderTest, RejectionsHaveThePluginsWords) {
  Make(kExample, ConfigText("QuietNodes"));
  PutNode(MakeNode("street").Cpu("4").Label("noisy", ""));
  PutPod(Small("reader").Label("quiet", ""));
  EXPECT_THAT(Run(), ElementsAre(HasSubstr("0/1 nodes are available: 1 node(s) were too noisy.")));
  Sleep(20);
  PutNode(MakeNode("street").Cpu("8").Label("noisy", ""));
  EXPECT_THAT(Run(), IsEmpty()) << "not an event the plugin waits for";
  PutNode(MakeNode("street").Cpu("8"));
  Sleep(20);
  EXPECT_THAT(Run(), ElementsAre("bind reader to street"));
}

// Lanes in place of PrioritySort, and at its other points.
const std::string kLanesConfig =
    "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nprofiles:\n"
    "- plugins:\n"
    "    queueSort: {enabled: [{name: Lanes}], disabled: [{name: '*'}]}\n"
    "    preEnqueue: {enabled: [{name: Lanes}]}\n"
    "    preScore: {enabled: [{name: Lanes}]}\n"
    "    score: {enabled: [{name: Lanes, weight: 100}]}\n";

TEST_F(LoaderTest, APluginOrdersTheQueueAndHoldsPodsBack) {
  Make(std::string(BERTH_PLUGINS_DIR) + "/lanes.so", kLanesConfig);
  PutPod(Small("first"));
  PutPod(Small("fast").Label("lane", "express"));
  PutPod(Small("held").Label("hold", "true"));
  PutNode(MakeNode("n").Cpu("4").Memory("8Gi").Pods("10"));
  EXPECT_THAT(Run(), ElementsAre("bind fast to n", "bind first to n"));
  PutPod(Small("held"));
  EXPECT_THAT(Run(), ElementsAre("bind held to n"));
  EXPECT_THAT(watch_.faults, IsEmpty());
}

TEST_F(LoaderTest, PreScoreDecidesWhetherAPodIsScored) {
  Make(std::string(BERTH_PLUGINS_DIR) + "/lanes.so", kLanesConfig);
  PutNode(MakeNode("large").Cpu("8").Memory("8Gi").Pods("10"));
  PutNode(MakeNode("slow").Cpu("1").Memory("8Gi").Pods("10").Label("lane", "slow"));
  PutPod(Small("walker").Label("lane", "slow"));
  PutPod(Small("anybody"));
  EXPECT_THAT(Run(), ElementsAre("bind walker to slow", "bind anybody to large"));
}

// Guests instead of DefaultPreemption, and before DefaultBinder.
const std::string kGuestsConfig =
    "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nprofiles:\n"
    "- plugins:\n"
    "    multiPoint: {enabled: [{name: Guests}]}\n"
    "    postFilter: {disabled: [{name: DefaultPreemption}]}\n"
    "    bind: {enabled: [{name: Guests}, {name: DefaultBinder}], disabled: [{name: '*'}]}\n";
const std::string kGuestsLibrary = std::string(BERTH_PLUGINS_DIR) + "/guests.so";

api::Pod Guest(api::Pod pod) {
  pod.metadata.annotations["example.com/guest"] = "true";
  return pod;
}
api::Node WithoutGuests(api::Node node) {
  node.metadata.annotations["example.com/guests"] = "no";
  return node;
}

TEST_F(LoaderTest, APluginReadsAnnotationsAndBinds) {
  Make(kGuestsLibrary, kGuestsConfig);
  PutNode(WithoutGuests(MakeNode("a").Cpu("4").Memory("8Gi")));
  PutPod(Guest(Small("guest")));
  EXPECT_THAT(Run(), ElementsAre(HasSubstr("1 node(s) took no guests. no new claims")));
  PutPod(Small("owner"));
  EXPECT_THAT(Run(), ElementsAre("bind owner to a"));
  EXPECT_THAT(watch_.logged, IsEmpty());
  PutNode(MakeNode("b").Cpu("4").Memory("8Gi"));
  Sleep(20);
  EXPECT_THAT(Run(), ElementsAre("bind guest to b"));
  EXPECT_THAT(watch_.logged, ElementsAre("Guests: guest guest"));
  EXPECT_THAT(watch_.faults, IsEmpty());
}

TEST_F(LoaderTest, APluginPreemptsAsFewPodsAsItProposes) {
  Make(kGuestsLibrary, kGuestsConfig);
  PutNode(MakeNode("n").Cpu("1").Memory("8Gi"));
  PutPod(MakePod("resident").Requests("cpu", "400m").On("n"));
  for (const char* name : {"g1", "g2", "g3"}) {
    PutPod(Guest(MakePod(name).Requests("cpu", "200m").On("n")));
  }
  PutPod(MakePod("owner").Requests("cpu", "350m"));
  EXPECT_THAT(Run(),
              UnorderedElementsAre("delete g1", "delete g2", HasSubstr("0/1 nodes are available")));
  PutPod(MakePod("large").Requests("cpu", "900m"));
  EXPECT_THAT(Run(), ElementsAre(HasSubstr("no guests to send away")));
  PutPod(Guest(MakePod("late").Requests("cpu", "300m")));
  EXPECT_THAT(Run(), ElementsAre(HasSubstr("guests send nobody away")));
  EXPECT_THAT(watch_.faults, IsEmpty());
}

TEST_F(LoaderTest, AHintWithCodeWakesPodsOnlyForWhatHelps) {
  Make(kGuestsLibrary, kGuestsConfig);
  PutNode(WithoutGuests(MakeNode("a").Cpu("4").Memory("8Gi")));
  PutPod(Guest(Small("guest")));
  EXPECT_THAT(Run(), ElementsAre(HasSubstr("took no guests")));
  Sleep(20);
  PutNode(WithoutGuests(MakeNode("b").Cpu("4").Memory("8Gi")));
  EXPECT_THAT(Run(), IsEmpty()) << "the event is one that the plugin registered for";
  api::Node open = MakeNode("b").Cpu("4").Memory("8Gi");
  open.metadata.annotations["example.com/guests"] = "yes";
  PutNode(open);
  EXPECT_THAT(Run(), ElementsAre("bind guest to b"));
}

TEST_F(LoaderTest, APluginReadsMeasuredLoad) {
  Make(kGuestsLibrary, kGuestsConfig);
  PutNode(MakeNode("busy").Cpu("4").Memory("8Gi"));
  PutNode(MakeNode("idle").Cpu("4").Memory("8Gi"));
  for (const auto& [node, percent] : {std::pair("busy", 95.0), std::pair("idle", 5.0)}) {
    cluster::NodeMetrics metrics;
    cluster::AddLoad("KubernetesMetricsServer",
                     {.window_end = 1'700'000'000, .metrics = {{"CPU", "Latest", percent}}},
                     &metrics);
    engine_->UpdateNodeMetrics(node, std::move(metrics));
  }
  PutPod(Small("first"));
  PutPod(Small("second"));
  EXPECT_THAT(Run(), ElementsAre("bind first to idle", "bind second to idle"));
  EXPECT_THAT(watch_.faults, IsEmpty());
}

const std::string kHastyConfig =
    "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nprofiles:\n"
    "- plugins:\n"
    "    multiPoint: {enabled: [{name: Hasty}]}\n"
    "    postFilter: {disabled: [{name: '*'}], enabled: [{name: Hasty}]}\n"
    "    bind: {enabled: [{name: Hasty}, {name: DefaultBinder}], disabled: [{name: '*'}]}\n";

TEST_F(LoaderTest, ProposalsThatMakeNoSenseAreRefused) {
  Make(TestPlugin("misbehaving"), kHastyConfig);
  PutNode(MakeNode("n").Cpu("1").Memory("8Gi"));
  PutNode(MakeNode("other").Cpu("100m").Memory("8Gi"));
  PutPod(MakePod("resident").Requests("cpu", "900m").On("n"));
  PutPod(MakePod("elsewhere").Requests("cpu", "100m").On("other"));
  for (const char* what : {"foreign", "unknown", "twice", "nothing"}) {
    PutPod(MakePod(what).Requests("cpu", "500m").Label("do", what));
    EXPECT_THAT(Run(), ElementsAre(HasSubstr("2 Insufficient cpu. no way"))) << what;
  }
  EXPECT_THAT(watch_.faults, IsEmpty());
  PutPod(MakePod("claim").Requests("cpu", "500m").Label("do", "claim"));
  EXPECT_THAT(Run(), ElementsAre(HasSubstr("PostFilter succeeded without a proposal")));
  PutPod(MakePod("throw").Requests("cpu", "500m").Label("do", "throw"));
  EXPECT_THAT(Run(), ElementsAre(HasSubstr("out of luck")));
  EXPECT_THAT(watch_.faults,
              ElementsAre("Hasty PostFilter nonsense: PostFilter succeeded without a proposal",
                          "Hasty PostFilter error: out of luck"));
}

TEST_F(LoaderTest, ABindPluginMayFailAndAHintThatThrowsWakesThePod) {
  Make(TestPlugin("misbehaving"), kHastyConfig);
  PutNode(MakeNode("n").Cpu("1").Memory("8Gi"));
  PutPod(Small("stuck").Label("do", "fail"));
  EXPECT_THAT(Run(), ElementsAre(HasSubstr("will not bind")));
  EXPECT_THAT(watch_.faults, ElementsAre("Hasty Bind error: will not bind"));
  PutPod(Small("late").Label("do", "wait"));
  EXPECT_THAT(Run(), ElementsAre(HasSubstr("1 not yet")));
  Sleep(1);
  PutPod(Small("placed").On("n"));
  EXPECT_THAT(watch_.logged, Contains("Hasty: asked by late about placed"));
  EXPECT_THAT(watch_.logged, Contains("Hasty: MayHelp threw: no idea"));
}

TEST_F(LoaderTest, APluginThatIsNotEnabledIsNotAsked) {
  Make(kExample, "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n");
  PutNode(MakeNode("street").Cpu("4").Label("noisy", ""));
  PutPod(Small("reader").Label("quiet", ""));
  EXPECT_THAT(Run(), ElementsAre("bind reader to street"));
}

TEST_F(LoaderTest, PodsWaitUntilThePluginAllowsThem) {
  Make(kExample, ConfigText("QuietNodes", "{groupSize: 3}"));
  PutNode(MakeNode("a").Cpu("4"));
  PutPod(Small("one").Label("group", "g"));
  PutPod(Small("two").Label("group", "g"));
  PutPod(Small("alone"));
  EXPECT_THAT(Run(), ElementsAre("bind alone to a"));
  EXPECT_EQ(engine_->WhereIs("one"), "waiting");
  PutPod(Small("three").Label("group", "g"));
  EXPECT_THAT(Run(), UnorderedElementsAre("bind one to a", "bind two to a", "bind three to a"));
  EXPECT_THAT(watch_.logged, ElementsAre("QuietNodes: group g is complete"));
}

TEST_F(LoaderTest, WaitingEnds) {
  Make(kExample, ConfigText("QuietNodes", "{groupSize: 3, waitSeconds: 7}"));
  PutNode(MakeNode("a").Cpu("4"));
  PutPod(Small("one").Label("group", "g"));
  EXPECT_THAT(Run(), IsEmpty());
  Sleep(8);
  EXPECT_THAT(Run(),
              Contains(HasSubstr("rejected due to timeout after waiting 7s at plugin QuietNodes")));
  EXPECT_EQ(engine_->AssumedPods(), 0u);
}

TEST_F(LoaderTest, ArgumentsThatThePluginRefusesAreErrorsOfTheConfiguration) {
  const auto made = TryMake(kExample, ConfigText("QuietNodes", "{groupSize: none}"));
  ASSERT_FALSE(made.has_value());
  EXPECT_THAT(made.error().Message(),
              HasSubstr("initializing plugin \"QuietNodes\": groupSize must be a whole number"));
}

TEST_F(LoaderTest, PointsThatThePluginDoesNotServeAreRefused) {
  std::string config = ConfigText("QuietNodes");
  config.replace(config.find("multiPoint"), 10, "postBind");
  const auto made = TryMake(kExample, config);
  ASSERT_FALSE(made.has_value());
  EXPECT_THAT(made.error().Message(),
              HasSubstr("plugin \"QuietNodes\" does not extend PostBindPlugin plugin"));
}

// --- Plugins that misbehave

struct Misbehaviour {
  std::string name;
  std::string at;
  std::string what;
  std::string outcome;  // part of what Run() says
  std::string fault;    // empty: none
};

class MisbehavingTest : public LoaderTest, public ::testing::WithParamInterface<Misbehaviour> {};

TEST_P(MisbehavingTest, IsContainedAndReportedByName) {
  Make(TestPlugin("misbehaving"), ConfigText("Misbehaving"));
  watch_.faults.clear();  // of the events that do not exist
  PutNode(MakeNode("a").Cpu("4"));
  PutNode(MakeNode("b").Cpu("4"));
  PutPod(Small("p").Label("at", GetParam().at).Label("do", GetParam().what));
  EXPECT_THAT(Run(), Contains(HasSubstr(GetParam().outcome)));
  if (GetParam().fault.empty()) {
    EXPECT_THAT(watch_.faults, IsEmpty());
  } else {
    EXPECT_THAT(watch_.faults, Contains(GetParam().fault));
  }
  PutPod(Small("well-behaved"));
  EXPECT_THAT(Run(), Contains(HasSubstr("bind well-behaved to"))) << "the engine goes on";
}

const Misbehaviour kMisbehaviours[] = {
    {"PreFilterThrows", "PreFilter", "throw",
     "running PreFilter plugin \"Misbehaving\": out of luck",
     "Misbehaving PreFilter error: out of luck"},
    {"PreFilterThrowsSomethingElse", "PreFilter", "throw-int", "unknown exception",
     "Misbehaving PreFilter error: unknown exception"},
    {"PreFilterAnswersNonsense", "PreFilter", "nonsense",
     "PreFilter answered with code 4711, which means nothing there",
     "Misbehaving PreFilter nonsense: PreFilter answered with code 4711, which means nothing "
     "there"},
    {"FilterThrows", "Filter", "throw", "running \"Misbehaving\" filter plugin: out of luck",
     "Misbehaving Filter error: out of luck"},
    {"FilterFails", "Filter", "fail", "running \"Misbehaving\" filter plugin: not feeling well",
     "Misbehaving Filter error: not feeling well"},
    {"FilterAnswersNonsense", "Filter", "nonsense", "Filter answered with code 4711",
     "Misbehaving Filter nonsense: Filter answered with code 4711, which means nothing there"},
    {"FilterRejectsInNoLanguage", "Filter", "reject", "0/2 nodes are available: 2 go ? away??.",
     ""},
    {"FilterOverruns", "Filter", "sleep", "bind p to", "Misbehaving Filter overrun: "},
    {"ScoreThrows", "Score", "throw",
     "running Score plugins: plugin \"Misbehaving\" failed with: out of luck",
     "Misbehaving Score error: out of luck"},
    {"ScoreOutOfRange", "Score", "nonsense",
     "plugin \"Misbehaving\" returns an invalid score 101, it should in the range of [0, 100]",
     "Misbehaving Score nonsense: score 101 is not in the range of 0 to 100"},
    {"ReserveThrows", "Reserve", "throw", "running Reserve plugin \"Misbehaving\": out of luck",
     "Misbehaving Reserve error: out of luck"},
    {"ReserveRejects", "Reserve", "reject", "0/1 nodes are available: 1 go ? away??.", ""},
    {"PermitThrows", "Permit", "throw", "running Permit plugin \"Misbehaving\": out of luck",
     "Misbehaving Permit error: out of luck"},
    {"PermitAnswersNonsense", "Permit", "nonsense", "Permit answered with code 4711",
     "Misbehaving Permit nonsense: Permit answered with code 4711, which means nothing there"},
    {"PreBindThrows", "PreBind", "throw", "running PreBind plugin \"Misbehaving\": out of luck",
     "Misbehaving PreBind error: out of luck"},
    {"PreBindRejects", "PreBind", "reject", "go ? away", ""},
    {"PreBindOverruns", "PreBind", "sleep", "bind p to", "Misbehaving PreBind overrun: "},
};
INSTANTIATE_TEST_SUITE_P(All, MisbehavingTest, ::testing::ValuesIn(kMisbehaviours),
                         [](const auto& row) { return row.param.name; });

TEST_F(LoaderTest, WhatReturnsNothingIsLoggedWhenItThrows) {
  Make(TestPlugin("misbehaving"), ConfigText("Misbehaving"));
  PutNode(MakeNode("a").Cpu("4"));
  PutPod(Small("p").Label("at", "PostBind").Label("do", "throw"));
  EXPECT_THAT(Run(), ElementsAre("bind p to a"));
  EXPECT_THAT(watch_.logged, ElementsAre("Misbehaving: PostBind threw: out of luck"));
}

TEST_F(LoaderTest, ExceptionsThatLeaveTheLibraryAreCaughtToo) {
  Make(TestPlugin("misbehaving"), ConfigText("Raw"));
  PutNode(MakeNode("a").Cpu("4"));
  PutPod(Small("p"));
  EXPECT_THAT(Run(), ElementsAre(HasSubstr("running \"Raw\" filter plugin: straight through")));
  EXPECT_THAT(watch_.faults, ElementsAre("Raw Filter error: straight through"));
}

TEST_F(LoaderTest, EventsThatDoNotExistAreReportedAndAllAreRegistered) {
  Make(TestPlugin("misbehaving"), ConfigText("Misbehaving"));
  EXPECT_THAT(watch_.faults,
              ElementsAre("Misbehaving EventsToRegister nonsense: event 0 does not exist"));
}

TEST_F(LoaderTest, ConstructorsThatThrowRefuseTheConfiguration) {
  auto made = TryMake(TestPlugin("misbehaving"), ConfigText("Misbehaving", "{refuse: true}"));
  ASSERT_FALSE(made.has_value());
  EXPECT_THAT(made.error().Message(), HasSubstr("plugin \"Misbehaving\": bad argument"));
  made = TryMake(TestPlugin("misbehaving"), ConfigText("Misbehaving", "{odd: true}"));
  ASSERT_FALSE(made.has_value());
  EXPECT_THAT(made.error().Message(), HasSubstr("plugin \"Misbehaving\": unknown exception"));
}

// --- Libraries that cannot be used

TEST(LoadPluginsTest, ErrorsNameTheFileAndWhatIsWrong) {
  struct Row {
    std::string path;
    std::string message;
  };
  const Row rows[] = {
      {TestPlugin("wrong-version"),
       "wrong-version.so: built for version 4711 of the plugin interface, expected is 1"},
      {TestPlugin("no-symbols"),
       "no-symbols.so: no plugin library: it does not export berth_plugin_abi_version"},
      {TestPlugin("small-table"), "small-table.so: plugin 0: its description has 16 bytes"},
      {TestPlugin("no-function"),
       "no-function.so: plugin 0: plugin \"Broken\" serves a point without the function filter"},
      {TestPlugin("odd-point"), "serves extension points that do not exist"},
      {TestPlugin("in-tree-name"), "in-tree-name.so: a plugin named NodeName already exists"},
      {TestPlugin("empty"), "empty.so: the library has no plugins"},
      {"no/such/file.so", "no/such/file.so: no such file or folder"},
      {std::string(BERTH_PLUGINS_DIR) + "/..", "no .so files in this folder"},
  };
  for (const Row& row : rows) {
    Watch watch;
    const auto plugins = LoadPlugins({row.path}, watch);
    ASSERT_FALSE(plugins.has_value()) << row.path;
    EXPECT_THAT(plugins.error().Message(), HasSubstr(row.message));
  }
}

TEST(LoadPluginsTest, AFileThatIsNoLibraryIsRefused) {
  Watch watch;
  const auto plugins = LoadPlugins({std::string(BERTH_PLUGINS_DIR) + "/../CMakeCache.txt"}, watch);
  ASSERT_FALSE(plugins.has_value());
  EXPECT_THAT(plugins.error().Message(), HasSubstr("cannot load a plugin library: "));
}

TEST(LoadPluginsTest, FoldersStandForTheirLibrariesAndNamesAreUnique) {
  Watch watch;
  const auto plugins = LoadPlugins({BERTH_PLUGINS_DIR}, watch);
  ASSERT_TRUE(plugins.has_value()) << plugins.error().Message();
  ASSERT_EQ(plugins->size(), 3u);
  EXPECT_EQ(plugins->front().row.name, "Guests");
  EXPECT_EQ((*plugins)[1].row.name, "Lanes");
  EXPECT_EQ(plugins->back().row.name, "QuietNodes");
  const auto twice = LoadPlugins({BERTH_PLUGINS_DIR, kExample}, watch);
  ASSERT_FALSE(twice.has_value());
  EXPECT_THAT(twice.error().Message(), HasSubstr("a plugin named QuietNodes is in "));
}

// --- Views

TEST(ViewsTest, TextsAreCleaned) {
  struct Row {
    std::string_view text;
    std::string_view clean;
  };
  const Row rows[] = {
      {"plain", "plain"},
      {"gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x9a\xa2",
       "gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x9a\xa2"},
      {"a\nb", "a?b"},
      {"\xff", "?"},
      {"\xc3", "?"},
      {"\xc0\x80", "??"},
      {"\xed\xa0\x80", "???"},
      {"\xe2\x82", "??"},
  };
  for (const Row& row : rows) EXPECT_EQ(CleanText(ToAbi(row.text)), row.clean);
  EXPECT_EQ(CleanText({nullptr, 5}), "");
  EXPECT_EQ(CleanText(ToAbi(std::string(5000, 'x'))).size(), 1024u);
}

TEST(ViewsTest, PodsAndNodesAreSeenAsTheyAre) {
  berth_host host{};
  FillViews(host);
  cluster::Cluster cluster;
  const auto n = cluster.SetNode(MakeNode("a")
                                     .Cpu("4")
                                     .Has("example.com/gpu", "8")
                                     .Label("zone", "x")
                                     .Taint("k", "NoSchedule", "v"));
  api::Pod one = MakePod("one").Requests("cpu", "500m").Label("app", "web").Priority(7).On("a");
  cluster.AddPod(one);
  const berth_node node{cluster, n};
  const berth_pod pod{cluster, cluster.GetPod(cluster.FindPod("one"))};

  EXPECT_EQ(FromAbi(host.pod_name(&pod)), "one");
  EXPECT_EQ(FromAbi(host.pod_namespace(&pod)), "ns");
  EXPECT_EQ(FromAbi(host.pod_uid(&pod)), "one");
  EXPECT_EQ(host.pod_priority(&pod), 7);
  EXPECT_EQ(host.pod_request(&pod, ToAbi("cpu")), 500);
  EXPECT_EQ(host.pod_request(&pod, ToAbi("nobody/has-it")), 0);
  berth_string key{}, value{}, effect{};
  EXPECT_EQ(host.pod_label(&pod, ToAbi("app"), &value), 1);
  EXPECT_EQ(FromAbi(value), "web");
  EXPECT_EQ(host.pod_label(&pod, ToAbi("zone"), &value), 0);
  EXPECT_EQ(host.pod_label_count(&pod), 1u);
  EXPECT_EQ(host.pod_label_at(&pod, 0, &key, &value), 1);
  EXPECT_EQ(FromAbi(key), "app");
  EXPECT_EQ(host.pod_label_at(&pod, 1, &key, &value), 0);
  std::string json;
  host.pod_json(
      &pod, [](void* to, berth_string text) { *static_cast<std::string*>(to) = FromAbi(text); },
      &json);
  EXPECT_THAT(json, HasSubstr("\"name\":\"one\""));
  EXPECT_THAT(json, HasSubstr("\"cpu\":\"500m\""));

  EXPECT_EQ(FromAbi(host.node_name(&node)), "a");
  EXPECT_EQ(host.node_label(&node, ToAbi("zone"), &value), 1);
  EXPECT_EQ(FromAbi(value), "x");
  EXPECT_EQ(host.node_label(&node, ToAbi("app"), &value), 0);
  EXPECT_EQ(host.node_label_count(&node), 1u);
  EXPECT_EQ(host.node_allocatable(&node, ToAbi("cpu")), 4000);
  EXPECT_EQ(host.node_allocatable(&node, ToAbi("pods")), 110);
  EXPECT_EQ(host.node_allocatable(&node, ToAbi("example.com/gpu")), 8);
  EXPECT_EQ(host.node_requested(&node, ToAbi("cpu")), 500);
  EXPECT_EQ(host.node_requested(&node, ToAbi("example.com/gpu")), 0);
  EXPECT_EQ(host.node_pod_count(&node), 1);
  EXPECT_EQ(host.node_unschedulable(&node), 0);
  EXPECT_EQ(host.node_taint_count(&node), 1u);
  EXPECT_EQ(host.node_taint_at(&node, 0, &key, &value, &effect), 1);
  EXPECT_EQ(FromAbi(effect), "NoSchedule");
  EXPECT_EQ(host.node_taint_at(&node, 1, &key, &value, &effect), 0);
  std::vector<std::string> pods;
  host.node_each_pod(
      &node,
      [](void* to, const berth_pod* each) {
        static_cast<std::vector<std::string>*>(to)->push_back(each->pod.name);
        return 1;
      },
      &pods);
  EXPECT_THAT(pods, ElementsAre("one"));
}

}  // namespace
}  // namespace berth::loader
