#include "plugins/priority_sort/priority_sort.h"

namespace berth::plugins::priority_sort {

Result<std::unique_ptr<framework::Plugin>> Make(const config::PluginArgs&,
                                                const framework::PluginHandle&) {
  return std::make_unique<PrioritySort>();
}

}  // namespace berth::plugins::priority_sort
