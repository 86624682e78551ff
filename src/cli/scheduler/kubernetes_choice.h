// Which Kubernetes minor's kube-scheduler the scheduler command is: --kubernetes-version.
#pragma once

#include <string>
#include <vector>

#include "cli/scheduler/flags.h"
#include "config/feature_gates.h"

namespace berth::cli::scheduler {

struct KubernetesChoice {
  int minor = config::NewestKubernetes();
  bool follows = false;                    // auto: the API server's, also when it changes
  bool answered = true;                    // with auto: the API server has said which
  std::vector<std::string> warnings = {};  // for the log, once it is set up
};

// "auto", or a minor that berth can be.
Result<std::string> ParseKubernetesFlag(const std::string& value);

// clientConnection.kubeconfig of a configuration file; empty when it has none or cannot be read.
// What else is in the file depends on the minor, and is looked at when that is known.
std::string KubeconfigIn(const std::string& path);

// With auto asks the API server, for some seconds if it does not answer; then it is the newest
// minor until it does. What is wrong with the credentials is not told here: later steps do that, in
// kube-scheduler's order.
KubernetesChoice ChooseKubernetes(const Flags& flags);

}  // namespace berth::cli::scheduler
