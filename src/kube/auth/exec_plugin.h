// The conversation with an exec credential plugin: what it is told, what it answers
// (client.authentication.k8s.io).
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "api/time.h"
#include "base/error.h"
#include "kube/auth/kubeconfig.h"
#include "kube/auth/process_runner.h"

namespace berth::kube {

struct ExecCredential {
  std::string token;
  std::string client_cert_pem;
  std::string client_key_pem;
  std::optional<api::Time> expiration;
};

// Whether the program may talk to the terminal; an error when it must and there is none.
Result<bool> IsInteractive(const ExecConfig& config, bool stdin_is_terminal);

// What to run, with the environment we run in and $KUBERNETES_EXEC_INFO.
ProcessSpec ExecProcess(const ExecConfig& config, bool interactive);
std::string ExecInfo(const ExecConfig& config, bool interactive);

// Errors are client-go's: "exec: executable aws failed with exit code 255". They show nothing of
// what the program printed. `with_hint`: say how to install a program that is missing.
Result<ExecCredential> ReadExecCredential(const ExecConfig& config, const ProcessResult& result,
                                          bool with_hint);

}  // namespace berth::kube
