// Status: what a plugin returns at an extension point about the pod as a whole. Results about
// single nodes are Verdicts (verdict.h), which carry no strings.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace berth::framework {

enum class Code : uint8_t {
  kSuccess,
  kError,                         // internal or API error: the pod is retried with error backoff
  kUnschedulable,                 // not now, and preemption may help
  kUnschedulableAndUnresolvable,  // not now, and preemption cannot help
  kWait,                          // Permit only
  kSkip,                          // the plugin does not apply to this pod
  kPending,                       // PreEnqueue or Filter: waiting for an external condition
};

// kube-scheduler's name of a code, e.g. "UnschedulableAndUnresolvable".
std::string_view CodeName(Code code);

inline bool IsRejected(Code code) {
  return code == Code::kUnschedulable || code == Code::kUnschedulableAndUnresolvable ||
         code == Code::kPending;
}

// Success allocates nothing.
class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(Code code, std::string reason) : code_(code) { reasons_.push_back(std::move(reason)); }
  Status(Code code, std::vector<std::string> reasons) : code_(code), reasons_(std::move(reasons)) {}

  static Status Skip() { return Status(Code::kSkip); }
  static Status Error(std::string reason) { return {Code::kError, std::move(reason)}; }
  static Status Unschedulable(std::string reason) {
    return {Code::kUnschedulable, std::move(reason)};
  }
  static Status Unresolvable(std::string reason) {
    return {Code::kUnschedulableAndUnresolvable, std::move(reason)};
  }

  bool Ok() const { return code_ == Code::kSuccess; }
  bool IsSkip() const { return code_ == Code::kSkip; }
  Code code() const { return code_; }
  const std::vector<std::string>& reasons() const { return reasons_; }

  // The plugin that returned the status; set by the runtime.
  std::string_view plugin() const { return plugin_; }
  void set_plugin(std::string_view name) { plugin_ = name; }

  // Reasons joined with ", ".
  std::string Message() const;

 private:
  explicit Status(Code code) : code_(code) {}

  Code code_ = Code::kSuccess;
  std::string_view plugin_;  // a plugin's name: static storage or owned by the profile
  std::vector<std::string> reasons_;
};

}  // namespace berth::framework
