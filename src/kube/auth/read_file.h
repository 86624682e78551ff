// Small files, read whole, with errors in the words of Go's os package:
//
//   open ca.crt: no such file or directory
#pragma once

#include <string>

#include "base/error.h"

namespace berth::kube {

// Refuses files over 16 MiB: certificates, tokens and kubeconfigs are small.
Result<std::string> ReadFile(const std::string& path);

// The words of errno as Go has them.
std::string GoErrno(int error);

}  // namespace berth::kube
