// Peaks (of scheduler-plugins): prefers nodes whose power grows least with the pod, by a model of
// their power over the use of their CPUs.
#pragma once

#include <memory>
#include <string_view>
#include <utility>

#include "config/args/trimaran_args.h"
#include "framework/runtime/profile.h"
#include "plugins/common/measured_load.h"

namespace berth::plugins::peaks {

inline constexpr std::string_view kName = config::PeaksArgs::kPlugin;

class Peaks final : public framework::ScorePlugin {
 public:
  // REQUIRES: valid arguments.
  explicit Peaks(config::PeaksArgs args)
      : args_(std::move(args)), load_(args_.Source().SourceName()) {}

  std::string_view Name() const override { return kName; }
  uint32_t DependsOn() const override { return framework::kOnNodeObject; }

  // The power that the pod adds, in units of 10^-15. As in the original, 0 where it is not known:
  // without metrics or model, and when the pod does not fit the measured load.
  void Score(const framework::CycleContext&, const framework::PluginState*,
             framework::ScoreBatch&) const override;
  // The lowest cost becomes 100, the highest 0; if all are 0, all stay 0.
  bool HasNormalize() const override { return true; }
  void Normalize(const framework::CycleContext&, const framework::PluginState*,
                 const framework::NodeSet&, framework::ScoreColumn&) const override;

 private:
  const config::PeaksArgs args_;
  const LoadReader load_;
};

cluster::PluginInputs Inputs(const config::PluginArgs&);
Result<std::unique_ptr<framework::Plugin>> Make(const config::PluginArgs&,
                                                const framework::PluginHandle&);

}  // namespace berth::plugins::peaks
