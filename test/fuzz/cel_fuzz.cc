// Any text is an expression or an error, and evaluating one ends within its budget.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "api/codec/json.h"
#include "cel/program.h"

namespace {

namespace api = berth::api;
namespace cel = berth::cel;

const api::Device& TestDevice() {
  static const api::Device device =
      api::FromJson<api::Device>(
          R"({"name": "d", "attributes": {"model": {"string": "a100"}, "mem": {"int": 40},
              "mig": {"bool": true}, "ver": {"version": "2.1.0"}, "ip": {"string": "10.0.0.1"}},
              "capacity": {"memory": {"value": "40Gi"}}})")
          .value();
  return device;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const cel::Value device = cel::MakeDevice("gpu.example.com", TestDevice()).value();
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  auto program = cel::Program::Compile(text);
  if (!program) {
    if (program.error().Message().empty()) std::abort();
    return 0;
  }
  const auto matches = (*program)->Matches(device);
  if (!matches && matches.error().Message().empty()) std::abort();
  return 0;
}
