#include "plugins/qos_sort/qos_sort.h"

namespace berth::plugins::qos_sort {

api::QosClass QosSort::Of(const cluster::PodShape& shape) const {
  if (shape.id >= known_.size()) known_.resize(shape.id + 1);
  Known& known = known_[shape.id];
  if (known.serial != shape.serial) known = {shape.serial, api::QosOf(shape.source)};
  return known.qos;
}

bool QosSort::Less(const cluster::Cluster&, const cluster::Pod& a, int64_t a_queued,
                   const cluster::Pod& b, int64_t b_queued) const {
  if (a.shape->priority != b.shape->priority) return a.shape->priority > b.shape->priority;
  const api::QosClass qos_a = Of(*a.shape);
  const api::QosClass qos_b = Of(*b.shape);
  return qos_a != qos_b ? qos_a > qos_b : a_queued < b_queued;
}

Result<std::unique_ptr<framework::Plugin>> Make(const config::PluginArgs&,
                                                const framework::PluginHandle&) {
  return std::make_unique<QosSort>();
}

}  // namespace berth::plugins::qos_sort
