#include "cli/behaviour_flags.h"

#include <cstdio>

#include <fmt/format.h>

namespace berth::cli {

void BehaviourFlags::Add(term::Flags& flags) {
  default_ = config::NewestKubernetes();
  flags.AddText("kubernetes-version", "1.N",
                fmt::format("whose kube-scheduler to be: 1.{} to 1.{} (1.{})",
                            config::OldestKubernetes(), config::NewestKubernetes(), default_),
                &version_);
  AddGates(flags);
}

void BehaviourFlags::AddGates(term::Flags& flags) {
  flags.AddText("feature-gates", "A=true,B=false", "feature gates, as kube-scheduler takes them",
                &gates_);
}

Result<config::Behaviour> BehaviourFlags::Make(std::string_view program) const {
  const auto gates = Gates(program);
  if (!gates) return Fail(gates.error());
  return config::Behaviour(*gates);
}

Result<config::FeatureGates> BehaviourFlags::Gates(std::string_view program) const {
  int minor = default_;
  if (!version_.empty()) {
    const auto parsed = config::ParseKubernetesVersion(version_);
    if (!parsed) return Fail(parsed.error().In("--kubernetes-version"));
    minor = *parsed;
  }
  config::FeatureGates gates(minor);
  std::vector<std::string> warnings;
  const auto set = gates.Set(gates_, &warnings);
  if (!set) return Fail(set.error().In("--feature-gates"));
  for (const std::string& gate : gates.NotHonoured()) {
    warnings.push_back(fmt::format("feature gate {} is not acted on", gate));
  }
  for (const std::string& warning : warnings) {
    fmt::print(stderr, "{}: warning: {}\n", program, warning);
  }
  return gates;
}

}  // namespace berth::cli
