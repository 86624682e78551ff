// Program: a device selector, compiled. The one header of this folder the allocator needs.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "api/resource/device.h"
#include "base/error.h"
#include "cel/ast.h"
#include "cel/regex.h"

namespace berth::cel {

// Longer expressions are refused; the API server takes no more than 10 KiB.
inline constexpr size_t kMaxExpressionBytes = 65536;

// The variable `device` for one device. Borrows from both arguments. Fails when an attribute has no
// usable value.
Result<Value> MakeDevice(std::string_view driver, const api::Device& device);

class Program {
 public:
  // Fails with kube-scheduler's words where the expression is well formed but wrong.
  static Result<std::unique_ptr<Program>> Compile(std::string_view expression);

  // Does the device match? Fails with the evaluation's error. Not for several threads at once.
  Result<bool> Matches(const Value& device);

 private:
  Program() = default;

  Ast ast_;
  int slots_ = 1;
  RegexCache regexes_;
};

}  // namespace berth::cel
