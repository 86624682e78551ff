#include "plan/model.h"

#include <utility>

#include "cluster/inputs.h"

namespace berth::plan {

Result<std::unique_ptr<Model>> Model::Make(const ModelOptions& options, const Read& read) {
  std::unique_ptr<Model> model(new Model(options.behaviour));
  Inventory& inventory = model->inventory_;
  // Custom resources and annotations that plugins read are kept from the first object on.
  const auto inputs = scheduler::InputsOf(options.config, options.behaviour);
  if (!inputs) return Fail(inputs.error());
  inventory.cluster().Track(*inputs);
  const auto all = read([&](api::Object object) { return inventory.Add(std::move(object)); });
  if (!all) return Fail(all.error());
  if (auto ok = inventory.Finish(); !ok) return Fail(ok.error());
  auto profiles = scheduler::ProfileSet::Make(options.config, options.behaviour,
                                              inventory.cluster(), nullptr, options.seed);
  if (!profiles) return Fail(profiles.error());
  model->profiles_ = std::move(*profiles);
  scheduler::AlgorithmOptions algorithm;
  algorithm.seed = options.seed;
  algorithm.classes = !options.list_equal;
  model->mover_ = std::make_unique<Mover>(inventory, *model->profiles_, algorithm);
  if (options.list_equal) model->mover_->ListEqual();
  return model;
}

}  // namespace berth::plan
