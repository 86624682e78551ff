// PluginInputs: what plugins read besides the compiled-in kinds.
//
// A plugin's row in the registry names them (framework/runtime/profile.h), so that hosts know them
// before the first object arrives: they watch or load the kinds, and the cluster keeps the
// annotations.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "cluster/objects/custom_kinds.h"

namespace berth::cluster {

struct PluginInputs {
  std::vector<CustomKind> kinds;              // read as JSON, from ObjectStore::custom
  std::vector<std::string> node_annotations;  // keys; read with Cluster::NodeAnnotation
  std::vector<std::string> pod_annotations;   // keys; kept in PodShape::source
  // Keys that pods are found by: Cluster::Labelled.
  std::vector<std::string> pod_labels = {};

  // Adds what is not there yet.
  void Add(const PluginInputs& other) {
    AddMissing(other.kinds, &kinds);
    AddMissing(other.node_annotations, &node_annotations);
    AddMissing(other.pod_annotations, &pod_annotations);
    AddMissing(other.pod_labels, &pod_labels);
  }

 private:
  template <class T>
  static void AddMissing(const std::vector<T>& from, std::vector<T>* to) {
    for (const T& value : from) {
      if (std::find(to->begin(), to->end(), value) == to->end()) to->push_back(value);
    }
  }
};

}  // namespace berth::cluster
