#include "plugins/default_binder/default_binder.h"

namespace berth::plugins::default_binder {

Result<std::unique_ptr<framework::Plugin>> Make(const config::PluginArgs&,
                                                const framework::PluginHandle&) {
  return std::make_unique<DefaultBinder>();
}

}  // namespace berth::plugins::default_binder
