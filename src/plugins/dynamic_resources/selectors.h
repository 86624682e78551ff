// Selectors: which devices match the selectors of a class and a request, computed once per device
// and kept.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "api/resource/device_claim.h"
#include "cel/program.h"
#include "plugins/dynamic_resources/inventory.h"

namespace berth::plugins::dynamic_resources {

// A selector that could not be evaluated for a device.
struct SelectorError {
  bool in_class = false;  // else in the request
  size_t index = 0;       // of the selector in its list
  std::string device;     // "driver/pool/device" if the error is about the device, from 1.37 on
  std::string message;    // "CEL runtime error: no such key: x"
};

// An expression, compiled once; or why it cannot be.
struct CompiledSelector {
  std::unique_ptr<cel::Program> program;
  std::string compile_error;
};

// The AND of the selectors of a class and then of a request, evaluated for all devices.
class SelectorChain {
 public:
  SelectorChain(uint64_t id, std::shared_ptr<SelectorChain> of_class,
                std::vector<std::shared_ptr<CompiledSelector>> selectors)
      : id_(id), of_class_(std::move(of_class)), selectors_(std::move(selectors)) {}

  // Never the same for two chains.
  uint64_t Id() const { return id_; }

  // Evaluates devices that are new. REQUIRES: no other thread uses the chain.
  void Sync(const Inventory& inventory);

  // Bitmaps over slots. A device in neither does not match.
  const std::vector<uint64_t>& Matching() const { return matching_; }
  const std::vector<uint64_t>& Failing() const { return failing_; }
  // REQUIRES: the slot is in Failing().
  const SelectorError& ErrorAt(Slot slot) const { return errors_.at(slot); }

 private:
  void EvaluateSlice(const Inventory& inventory, const SliceRecord& record);
  void EvaluateDevice(const Inventory& inventory, Slot slot);
  void FailAt(Slot slot, SelectorError error);

  uint64_t id_;
  std::shared_ptr<SelectorChain> of_class_;  // null: this is one
  std::vector<std::shared_ptr<CompiledSelector>> selectors_;
  uint64_t synced_ = ~uint64_t{0};
  std::vector<uint64_t> evaluated_;  // serial of the content, by slice
  std::vector<uint64_t> matching_;
  std::vector<uint64_t> failing_;
  boost::unordered_flat_map<Slot, SelectorError> errors_;
};

class SelectorTable {
 public:
  // The chain of a class's and a request's selectors. Selectors without an expression never match
  // anything.
  std::shared_ptr<SelectorChain> Get(const std::vector<api::DeviceSelector>& of_class,
                                     const std::vector<api::DeviceSelector>& of_request);

 private:
  // More are kept only while they are in use.
  static constexpr size_t kMaxChains = 256;
  static constexpr size_t kMaxExpressions = 1024;

  std::shared_ptr<SelectorChain> Find(const std::string& key,
                                      std::shared_ptr<SelectorChain> of_class,
                                      const std::vector<api::DeviceSelector>& selectors);
  std::shared_ptr<CompiledSelector> Compile(const api::DeviceSelector& selector);

  uint64_t next_id_ = 0;
  boost::unordered_flat_map<std::string, std::shared_ptr<SelectorChain>> chains_;
  boost::unordered_flat_map<std::string, std::shared_ptr<CompiledSelector>> expressions_;
};

}  // namespace berth::plugins::dynamic_resources
