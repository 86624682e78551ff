#include "plugins/dynamic_resources/selectors.h"

#include <utility>

namespace berth::plugins::dynamic_resources {
namespace {

uint64_t Bit(Slot slot) { return uint64_t{1} << (slot % kWordBits); }

// Lengths keep two lists apart whose texts run together alike.
void AppendKey(const std::vector<api::DeviceSelector>& selectors, std::string* key) {
  for (const api::DeviceSelector& selector : selectors) {
    const std::string& expression = selector.cel ? selector.cel->expression : std::string();
    *key += selector.cel ? std::to_string(expression.size()) : "-";
    *key += ':';
    *key += expression;
  }
  *key += ';';
}

constexpr std::string_view kKeyHint =
    ". consider using CEL optional chaining (.? followed by orValue()) or guarding the check with "
    "has() for optional fields";

SelectorError RuntimeError(const Inventory& inventory, Slot slot, bool in_class, size_t index,
                           const std::string& why) {
  SelectorError error{in_class, index, "", "CEL runtime error: " + why};
  if (!inventory.Features().capacity_errors_fail) return error;
  error.device = inventory.DeviceId(slot);
  if (why.find("no such key:") != std::string::npos) error.message += kKeyHint;
  return error;
}

}  // namespace

void SelectorChain::Sync(const Inventory& inventory) {
  if (of_class_) of_class_->Sync(inventory);
  if (synced_ == inventory.SliceSerial()) return;
  synced_ = inventory.SliceSerial();
  const auto slices = inventory.Slices();
  evaluated_.resize(slices.size(), 0);
  matching_.resize(inventory.Words(), 0);
  failing_.resize(inventory.Words(), 0);
  for (SliceId id = 0; id < slices.size(); ++id) {
    if (slices[id].object == nullptr || evaluated_[id] == slices[id].serial) continue;
    evaluated_[id] = slices[id].serial;
    EvaluateSlice(inventory, slices[id]);
  }
}

void SelectorChain::EvaluateSlice(const Inventory& inventory, const SliceRecord& record) {
  for (uint32_t w = record.first_word; w < record.first_word + record.words; ++w) {
    matching_[w] = failing_[w] = 0;
  }
  const auto first = record.first_word * kWordBits;
  for (size_t i = 0; i < record.object->spec.devices.size(); ++i) {
    const auto slot = static_cast<Slot>(first + i);
    if ((inventory.Conditional()[slot / kWordBits] & Bit(slot)) != 0) continue;
    EvaluateDevice(inventory, slot);
  }
}

void SelectorChain::EvaluateDevice(const Inventory& inventory, Slot slot) {
  if (of_class_) {
    if ((of_class_->failing_[slot / kWordBits] & Bit(slot)) != 0) {
      FailAt(slot, of_class_->errors_.at(slot));
      return;
    }
    if ((of_class_->matching_[slot / kWordBits] & Bit(slot)) == 0) return;
  }
  if (selectors_.empty()) {
    matching_[slot / kWordBits] |= Bit(slot);
    return;
  }
  const bool in_class = of_class_ == nullptr;
  const std::string& driver = inventory.SliceObject(slot).spec.driver;
  const Result<cel::Value> device = cel::MakeDevice(driver, inventory.DeviceAt(slot));
  for (size_t i = 0; i < selectors_.size(); ++i) {
    if (!selectors_[i]->program) {
      FailAt(slot, {in_class, i, "", "CEL compile error: " + selectors_[i]->compile_error});
      return;
    }
    if (!device) {
      FailAt(slot, RuntimeError(inventory, slot, in_class, i, device.error().Message()));
      return;
    }
    const Result<bool> matches = selectors_[i]->program->Matches(*device);
    if (!matches) {
      FailAt(slot, RuntimeError(inventory, slot, in_class, i, matches.error().Message()));
      return;
    }
    if (!*matches) return;
  }
  matching_[slot / kWordBits] |= Bit(slot);
}

void SelectorChain::FailAt(Slot slot, SelectorError error) {
  failing_[slot / kWordBits] |= Bit(slot);
  errors_[slot] = std::move(error);
}

std::shared_ptr<SelectorChain> SelectorTable::Get(
    const std::vector<api::DeviceSelector>& of_class,
    const std::vector<api::DeviceSelector>& of_request) {
  std::string key;
  AppendKey(of_class, &key);
  std::shared_ptr<SelectorChain> chain = Find(key, nullptr, of_class);
  if (of_request.empty()) return chain;
  AppendKey(of_request, &key);
  return Find(key, std::move(chain), of_request);
}

std::shared_ptr<SelectorChain> SelectorTable::Find(
    const std::string& key, std::shared_ptr<SelectorChain> of_class,
    const std::vector<api::DeviceSelector>& selectors) {
  if (const auto it = chains_.find(key); it != chains_.end()) return it->second;
  if (chains_.size() >= kMaxChains) {
    erase_if(chains_, [](const auto& entry) { return entry.second.use_count() == 1; });
  }
  std::vector<std::shared_ptr<CompiledSelector>> compiled;
  for (const api::DeviceSelector& selector : selectors) compiled.push_back(Compile(selector));
  auto chain =
      std::make_shared<SelectorChain>(++next_id_, std::move(of_class), std::move(compiled));
  chains_.emplace(key, chain);
  return chain;
}

std::shared_ptr<CompiledSelector> SelectorTable::Compile(const api::DeviceSelector& selector) {
  const std::string expression = selector.cel ? selector.cel->expression : std::string();
  if (const auto it = expressions_.find(expression); it != expressions_.end()) return it->second;
  if (expressions_.size() >= kMaxExpressions) {
    erase_if(expressions_, [](const auto& entry) { return entry.second.use_count() == 1; });
  }
  auto compiled = std::make_shared<CompiledSelector>();
  Result<std::unique_ptr<cel::Program>> program = cel::Program::Compile(expression);
  if (program) {
    compiled->program = std::move(*program);
  } else {
    compiled->compile_error = program.error().Message();
  }
  expressions_.emplace(expression, compiled);
  return compiled;
}

}  // namespace berth::plugins::dynamic_resources
