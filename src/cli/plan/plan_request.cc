#include "cli/plan/plan_request.h"

#include <chrono>
#include <utility>
#include <vector>

#include "api/codec/json.h"
#include "cli/plan/live.h"
#include "plan/node_map.h"
#include "plan/question.h"

namespace berth::cli {
namespace {

// How long a search may take.
constexpr std::chrono::seconds kPatience(10);

}  // namespace

Result<std::string> AnswerPlanRequest(const kube::ClientConfig& server,
                                      const config::KubeSchedulerConfiguration& config,
                                      const config::Behaviour& behaviour, const std::string& body) {
  const auto question = api::FromJson<plan::Question>(body, {.strict = true});
  if (!question) return Fail(question.error());
  if (!plan::IsQuestion(question->question)) {
    return Fail(
        "question: one of drain, outage, upgrade, shrink, grow, fit, consolidate and "
        "restore-spread");
  }
  std::vector<std::string> notes;
  plan::ModelOptions options;
  options.config = config;
  options.behaviour = behaviour;
  options.seed = static_cast<uint64_t>(question->seed);
  auto model = plan::Model::Make(options, [&](const api::ObjectConsumer& add) {
    return ReadLive(server, behaviour, add, &notes);
  });
  if (!model) return Fail(model.error());
  plan::MappedPlan answer;
  const plan::PriceList no_prices;
  plan::NodeMap map((*model)->inventory(), no_prices);
  const auto end = std::chrono::steady_clock::now() + kPatience;
  auto made = plan::Answer(**model, *question, no_prices,
                           [end](size_t) { return std::chrono::steady_clock::now() < end; });
  if (!made) return Fail(made.error());
  answer.plan = std::move(*made);
  for (std::string& note : notes) answer.plan.warnings.push_back(std::move(note));
  map.Finish((*model)->inventory(), &answer.plan);
  answer.nodes = map.Nodes();
  return api::ToJson(answer);
}

}  // namespace berth::cli
