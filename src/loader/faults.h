// Reports about plugins in shared objects: their log lines and their faults.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace berth::loader {

struct Fault {
  enum class Kind : uint8_t {
    kError,     // the plugin returned an error or threw
    kNonsense,  // it returned an invalid value
    kOverrun,   // a call took longer than its budget
    kHang,      // a call has not returned for so long that it may never
  };
  std::string_view plugin;
  std::string_view point;  // "Filter"
  Kind kind;
  std::string message;
};

// "error", "nonsense", "overrun", "hang".
inline std::string_view KindName(Fault::Kind kind) {
  switch (kind) {
    case Fault::Kind::kError:
      return "error";
    case Fault::Kind::kNonsense:
      return "nonsense";
    case Fault::Kind::kOverrun:
      return "overrun";
    case Fault::Kind::kHang:
      break;
  }
  return "hang";
}

// Called from any thread.
class PluginWatch {
 public:
  virtual ~PluginWatch() = default;
  virtual void Faulted(const Fault& fault) = 0;
  virtual void Logged(std::string_view plugin, const std::string& message) = 0;
  // A call begins, and ends. `call` identifies it; the names live as long as the call.
  virtual void Entered(const void* /*call*/, std::string_view /*plugin*/,
                       std::string_view /*point*/) {}
  virtual void Left(const void* /*call*/) {}
};

}  // namespace berth::loader
