#include "cli/plan/apply.h"

#include <cstdio>
#include <filesystem>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "api/codec/json.h"
#include "base/visible.h"
#include "cli/plan/api_hand.h"
#include "files/read.h"
#include "files/write.h"
#include "plan/apply/apply.h"

namespace berth::cli {
namespace {

using plan::ApplyState;
using plan::Carried;

// Questions whose plans are evictions, and nothing else.
bool CanBeApplied(const std::string& question) {
  return question == "drain" || question == "shrink" || question == "consolidate" ||
         question == "restore-spread";
}

// Replaces the file as a whole, so that a crash leaves the old or the new state.
Result<void> SaveState(const std::string& path, const ApplyState& state) {
  const std::string next = path + ".next";
  if (auto ok = files::WriteFile(next, api::ToJson(state) + "\n"); !ok) return ok;
  std::error_code error;
  std::filesystem::rename(next, path, error);
  if (error) return Fail(path + ": " + error.message());
  return {};
}

Result<ApplyState> LoadState(const std::string& path) {
  const auto text = files::ReadFile(path);
  if (!text) return Fail(text.error());
  auto state = api::FromJson<ApplyState>(*text);
  if (!state) return Fail(state.error().In(path));
  if (state->version != ApplyState().version) {
    return Fail(
        fmt::format("{}: version \"{}\" is not {}", path, state->version, ApplyState().version));
  }
  return state;
}

void PrintStep(const Carried& carried) {
  std::string note;
  if (!carried.AsPredicted()) {
    note = fmt::format(" (predicted {}, one of {} equal nodes)", carried.predicted,
                       carried.equal.size());
  }
  fmt::print("{}/{} on {} is now {} on {}{}\n", Visible(carried.namespace_), Visible(carried.name),
             Visible(carried.from), Visible(carried.replacement), Visible(carried.landed), note);
  std::fflush(stdout);
}

void PrintEnd(const ApplyState& state, const std::string& file) {
  size_t predicted = 0;
  for (const Carried& carried : state.carried) predicted += carried.AsPredicted() ? 1 : 0;
  fmt::print(
      "\n{}: {} pods moved, {} to the predicted node, {} to another of equal nodes; "
      "planned again {} times\n",
      state.outcome, state.carried.size(), predicted, state.carried.size() - predicted,
      state.replans);
  if (state.outcome == "Done") return;
  fmt::print("{}\nNodes stay cordoned. To go on: berth plan apply --state {}\n",
             Visible(state.message), Visible(file));
}

Result<bool> Carry(const ApplyCommand& command, ApiHand& hand, ApplyState state) {
  plan::ApplyOptions options;
  options.model.config = command.config;
  options.model.behaviour = command.behaviour;
  options.model.seed = command.seed;
  options.save = [&](const ApplyState& now) { return SaveState(command.state_file, now); };
  options.carried = PrintStep;
  plan::Apply apply(hand, std::move(state), options);
  if (auto ok = apply.Run(); !ok) {
    return Fail(
        fmt::format("{}\nThe plan is not carried out. To go on: berth plan apply --state {}",
                    ok.error().Message(), command.state_file));
  }
  PrintEnd(apply.state(), command.state_file);
  return apply.state().outcome == "Done";
}

}  // namespace

std::string DryRunText(const plan::Plan& plan) {
  std::string text =
      "\nDry run: nothing is sent. In this order, each eviction after the "
      "replacement of the one before has a node:\n";
  for (const plan::NodeStep& node : plan.nodes) {
    if (node.change != "Freed") continue;
    const kube::ApiRequest request = CordonRequest(node.name);
    text += fmt::format("{} {} {}\n", request.method, Visible(request.path), request.body);
  }
  for (const plan::Step& step : plan.pods) {
    if (step.outcome != "Moves") continue;
    const kube::ApiRequest request = EvictionRequest({step.namespace_, step.name, ""});
    text +=
        fmt::format("{} {}  # to {}\n", request.method, Visible(request.path), Visible(step.to));
  }
  return text;
}

Result<bool> ApplyPlan(const ApplyCommand& command, const plan::Question& question,
                       const plan::Plan& plan) {
  if (!CanBeApplied(question.question)) {
    return Fail(fmt::format("a plan of {} cannot be applied: that takes more than evictions",
                            question.question));
  }
  if (!plan.Works() || plan.preempted > 0) {
    return Fail("not every pod has a place, or others would be preempted: nothing is applied");
  }
  if (std::filesystem::exists(command.state_file)) {
    const auto old = LoadState(command.state_file);
    if (!old) return Fail(old.error());
    if (old->outcome != "Done") {
      return Fail(
          fmt::format("{} has a plan that is not carried out: go on with `berth plan apply "
                      "--state {}`, or remove the file",
                      command.state_file, command.state_file));
    }
  }
  auto hand = ApiHand::Make(command.kubeconfig, command.context, command.behaviour);
  if (!hand) return Fail(hand.error());
  ApplyState state;
  state.server = (*hand)->Server();
  state.question = question.question;
  state.soft = question.soft;
  state.lose_local_data = question.lose_local_data;
  state.max_disruption = question.max_disruption.value_or(plan.moves);
  for (const plan::NodeStep& node : plan.nodes) {
    if (node.change == "Freed") state.nodes.push_back(node.name);
  }
  return Carry(command, **hand, std::move(state));
}

Result<bool> ResumePlan(const ApplyCommand& command) {
  auto state = LoadState(command.state_file);
  if (!state) return Fail(state.error());
  auto hand = ApiHand::Make(command.kubeconfig, command.context, command.behaviour);
  if (!hand) return Fail(hand.error());
  if (state->server != (*hand)->Server()) {
    return Fail(fmt::format("{} is about {}, not {}", command.state_file, state->server,
                            (*hand)->Server()));
  }
  return Carry(command, **hand, std::move(*state));
}

}  // namespace berth::cli
