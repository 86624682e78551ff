#include "cli/explain/pending.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "api/codec/json.h"
#include "base/visible.h"
#include "cli/explain/client.h"
#include "term/flags.h"
#include "term/terminal.h"

namespace berth::cli {
namespace {

constexpr size_t kMaxReasons = 3;

constexpr std::string_view kIntro =
    "Lists the pending pods of a running berth, by workload and cause.\n"
    "\n"
    "usage: berth pending [flags]\n"
    "\n"
    "Queries the berth up of the kubeconfig, or the scheduler at --server. `berth explain pod` "
    "shows\n"
    "what would help one of them.\n"
    "\n"
    "flags:\n";

constexpr std::string_view kExamples =
    "\n"
    "examples:\n"
    "  berth pending\n"
    "  berth pending -n shop\n"
    "\n"
    "exit code: 0, 1 no answer, 2 bad flags\n";

struct Options {
  ExplainServer server;
  std::string namespace_;
  std::string output = "table";
  bool help = false;
};

term::Flags MakeFlags(Options* o) {
  term::Flags flags;
  flags.AddText("n,namespace", "NAMESPACE", "only pods of this namespace", &o->namespace_);
  flags.AddChoice("o,output", {"table", "json"}, "json is the answer of the explain API",
                  &o->output);
  AddServerFlags(flags, &o->server);
  flags.AddSwitch("h,help", "print this help", &o->help);
  return flags;
}

// "3 Insufficient cpu, 1 node(s) had untolerated taint(s)"; without a failed attempt, where it
// waits.
std::string CauseOf(const explain::PendingPod& pod) {
  std::vector<std::string> parts;
  for (const explain::Rejection& rejection : pod.rejections) {
    if (parts.size() == kMaxReasons) break;
    parts.push_back(rejection.nodes > 0 ? fmt::format("{} {}", rejection.nodes, rejection.reason)
                                        : rejection.reason);
  }
  if (parts.empty() && !pod.message.empty()) parts.push_back(pod.message);
  if (parts.empty()) parts.push_back("not tried yet");
  std::string cause = fmt::format("{}", fmt::join(parts, ", "));
  if (!pod.nominated_node.empty()) cause += "; waits for victims on " + pod.nominated_node;
  return cause;
}

std::string Age(int64_t ns) {
  const int64_t seconds = std::max<int64_t>(0, ns / 1'000'000'000);
  if (seconds < 120) return fmt::format("{}s", seconds);
  if (seconds < 2 * 3600) return fmt::format("{}m", seconds / 60);
  if (seconds < 48 * 3600) return fmt::format("{}h", seconds / 3600);
  return fmt::format("{}d", seconds / 86400);
}

}  // namespace

std::string NameStem(const std::string& pod) {
  const size_t dash = pod.rfind('-');
  return dash == std::string::npos || dash == 0 ? pod : pod.substr(0, dash) + "-*";
}

std::string PendingText(const explain::PendingList& list, const PendingTextOptions& options) {
  struct Group {
    int64_t pods = 0;
    std::optional<int64_t> since;  // of the pod that has waited longest
    std::string only;              // the name, while there is one
  };
  using Key = std::tuple<std::string, std::string, std::string, std::string>;
  std::map<Key, Group> groups;
  for (const explain::PendingPod& pod : list.items) {
    Group& group = groups[{pod.namespace_, NameStem(pod.name), pod.where, CauseOf(pod)}];
    group.only = ++group.pods == 1 ? pod.name : "";
    if (!pod.created_at) continue;
    const int64_t created = pod.created_at->UnixNano();
    group.since = std::min(group.since.value_or(created), created);
  }
  if (groups.empty()) return "no pod is pending\n";
  std::vector<std::pair<Key, Group>> lines(groups.begin(), groups.end());
  std::stable_sort(lines.begin(), lines.end(), [&](const auto& a, const auto& b) {
    return a.second.since.value_or(options.now_unix_ns) <
           b.second.since.value_or(options.now_unix_ns);
  });
  term::Table table({"NAMESPACE", "PODS", "COUNT", "AGE", "QUEUE", "CAUSE"});
  table.Right(2);
  table.Right(3);
  table.Fit(options.columns);
  for (const auto& [key, group] : lines) {
    const auto& [ns, stem, where, cause] = key;
    table.Row({Visible(ns), Visible(group.only.empty() ? stem : group.only),
               std::to_string(group.pods),
               group.since ? Age(options.now_unix_ns - *group.since) : "-", Visible(where),
               Visible(cause)});
  }
  const std::string more = list.total > static_cast<int64_t>(list.items.size())
                               ? fmt::format(" ({} of {} are shown)", list.items.size(), list.total)
                               : "";
  return table.Text(options.colour) +
         fmt::format("\n{} pending{}; berth explain pod NAMESPACE/NAME shows what would help\n",
                     list.total, more);
}

int Pending(const std::vector<std::string>& args) {
  Options options;
  term::Flags flags = MakeFlags(&options);
  std::vector<std::string> rest;
  auto parsed = flags.Parse(args, &rest);
  if (parsed && !rest.empty()) parsed = Fail("unexpected argument " + rest.front());
  if (!parsed) {
    fmt::print(stderr, "berth pending: {}\nTry 'berth pending --help'.\n",
               Visible(parsed.error().Message(), "\n"));
    return 2;
  }
  if (options.help) {
    fmt::print("{}{}{}", kIntro, flags.Help(), kExamples);
    return 0;
  }
  const auto complain = [](const Error& error) {
    fmt::print(stderr, "berth pending: {}\n", Visible(error.Message(), "\n"));
    return 1;
  };
  const auto body =
      Fetch(options.server, "/apis/explain/v1/pending",
            options.namespace_.empty() ? "" : fmt::format("namespace={}", options.namespace_));
  if (!body) return complain(body.error());
  if (options.output == "json") {
    fmt::print("{}\n", VisibleJson(*body));
    return 0;
  }
  const auto list = api::FromJson<explain::PendingList>(*body);
  if (!list) return complain(list.error().In("the answer"));
  PendingTextOptions text;
  text.colour = term::UsesColour(stdout);
  text.columns = term::Columns(stdout);
  text.now_unix_ns = std::chrono::duration_cast<std::chrono::nanoseconds>(
                         std::chrono::system_clock::now().time_since_epoch())
                         .count();
  std::fputs(PendingText(*list, text).c_str(), stdout);
  return 0;
}

}  // namespace berth::cli
