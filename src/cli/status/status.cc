#include "cli/status/status.h"

#include <chrono>
#include <cstdio>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "api/codec/json.h"
#include "base/visible.h"
#include "cli/explain/client.h"
#include "cli/status/replica_table.h"
#include "kube/auth/kubeconfig.h"
#include "kube/client/rest_client.h"
#include "kube/hands/replica_record.h"
#include "kube/kinds.h"
#include "kube/watch/decode.h"
#include "net/loop.h"
#include "term/flags.h"
#include "term/terminal.h"

namespace berth::cli {
namespace {

constexpr std::string_view kIntro =
    "Shows the replicas of berth scheduler that share work (--replicas-share-work): who leads, "
    "who\n"
    "carries out, how far behind they are. Reads Leases and nothing else.\n"
    "\n"
    "usage: berth status [flags]\n"
    "\n"
    "flags:\n";

constexpr std::string_view kExamples =
    "\n"
    "columns: PART is what the leader uses a replica for, LAG the decisions that it has not\n"
    "acknowledged, TASKS the work it was given by this leader, WAITING work without a result,\n"
    "DROPS how often it was left out because it did not answer, SEEN the age of its last sign of\n"
    "life. All but WAITING and SEEN are as of the last five seconds.\n"
    "\n"
    "exit code: 0, 1 no answer, 2 bad flags\n";

constexpr net::Nanoseconds kPatience = std::chrono::seconds(10);

struct Options {
  std::string kubeconfig;
  std::string context;
  std::string namespace_ = "kube-system";
  std::string lease = "kube-scheduler";
  std::string output = "table";
  bool help = false;
};

term::Flags MakeFlags(Options* o) {
  term::Flags flags;
  flags.AddText("n,namespace", "NAMESPACE", "of the Lease (default kube-system)", &o->namespace_);
  flags.AddText("lease", "NAME", "of the leader election (default kube-scheduler)", &o->lease);
  flags.AddText("kubeconfig", "FILE", "server and credentials ($KUBECONFIG, ~/.kube/config)",
                &o->kubeconfig);
  flags.AddText("context", "NAME", "context of the kubeconfig", &o->context);
  flags.AddChoice("o,output", {"table", "json"}, "format of the result (default table)",
                  &o->output);
  flags.AddSwitch("h,help", "print this help", &o->help);
  return flags;
}

const kube::Kind& LeaseKind() { return *kube::FindKind("Lease"); }

// The answers to some requests, sent together.
Result<std::vector<kube::ApiResponse>> Ask(const Options& options,
                                           std::vector<kube::ApiRequest> requests) {
  const std::string file = options.kubeconfig.empty() ? DefaultKubeconfig() : options.kubeconfig;
  if (file.empty()) return Fail("there is no kubeconfig: give --kubeconfig FILE");
  const auto config = kube::LoadClientConfig(file, "", options.context);
  if (!config) return Fail(config.error());
  const auto loop = net::MakeSystemLoop();
  auto credentials = kube::MakeCredentials(*loop, *config);
  if (!credentials) return Fail(credentials.error());
  kube::RestClientOptions rest;
  rest.user_agent = "berth-status";
  rest.qps = -1;
  auto client = kube::MakeRestClient(*loop, *config, *credentials, rest);
  if (!client) return Fail(client.error());
  std::vector<kube::ApiResponse> answers(requests.size());
  size_t missing = requests.size();
  loop->Post([&] {
    for (size_t i = 0; i < requests.size(); ++i) {
      requests[i].timeout = kPatience;
      (*client)->Send(std::move(requests[i]), [&, i](kube::ApiResponse response) {
        answers[i] = std::move(response);
        if (--missing == 0) loop->Stop();
      });
    }
  });
  loop->Run();
  for (const kube::ApiResponse& answer : answers) {
    if (!answer.Ok()) return Fail(Error(answer.message).In(config->server));
  }
  return answers;
}

Result<ReplicaTable> Read(const Options& options) {
  kube::ApiRequest election;
  election.path = kube::ObjectPath(LeaseKind(), options.namespace_, options.lease);
  kube::ApiRequest list;
  list.path = kube::NamespacePath(LeaseKind(), options.namespace_);
  list.query = "labelSelector=" +
               kube::QueryEscape(fmt::format("{}={}", kube::kReplicaLabel, options.lease));
  const auto answers = Ask(options, {std::move(election), std::move(list)});
  if (!answers) return Fail(answers.error());
  const auto holder =
      kube::DecodeAnswer(LeaseKind(), (*answers)[0].content_type, (*answers)[0].body);
  if (!holder) return Fail(holder.error());
  std::vector<api::Lease> leases;
  const auto meta = kube::DecodeList(
      LeaseKind(), (*answers)[1].content_type, (*answers)[1].body,
      [&](api::Object&& object, std::string_view) {
        if (auto* lease = std::get_if<api::Lease>(&object)) leases.push_back(std::move(*lease));
      },
      [](const kube::ItemName& item, const Error& error) {
        fmt::print(stderr, "berth status: {}: {}\n", Visible(item.name), Visible(error.Message()));
      });
  if (!meta) return Fail(meta.error());
  const auto now = std::chrono::duration_cast<std::chrono::nanoseconds>(
      std::chrono::system_clock::now().time_since_epoch());
  return TableOf(std::get<api::Lease>(*holder), leases, api::Time::FromUnixNano(now.count()));
}

}  // namespace

int Status(const std::vector<std::string>& args) {
  Options options;
  term::Flags flags = MakeFlags(&options);
  std::vector<std::string> rest;
  auto parsed = flags.Parse(args, &rest);
  if (parsed && !rest.empty()) parsed = Fail(fmt::format("unexpected argument {}", rest[0]));
  if (!parsed) {
    fmt::print(stderr, "berth status: {}\n\n{}{}", Visible(parsed.error().Message()), kIntro,
               flags.Help());
    return 2;
  }
  if (options.help) {
    fmt::print("{}{}{}", kIntro, flags.Help(), kExamples);
    return 0;
  }
  const auto table = Read(options);
  if (!table) {
    fmt::print(stderr, "berth status: {}\n", Visible(table.error().Message()));
    return 1;
  }
  if (options.output == "json") {
    fmt::print("{}\n", VisibleJson(api::ToJson(*table)));
  } else {
    std::fputs(ReplicaText(*table, term::UsesColour(stdout)).c_str(), stdout);
  }
  return 0;
}

}  // namespace berth::cli
