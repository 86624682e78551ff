// Node labels as columns: for a label key that some pod or rule asks about, the value each node has.
//
// A column is made the first time its key is asked for and kept up to date from then on, so keys nobody asks about cost
// nothing per node beyond the node's own label list.
#pragma once

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "cluster/ids.h"

namespace berth::cluster {

// (key, value) pairs sorted by key id.
using NodeLabels = std::vector<std::pair<StringId, StringId>>;

// The value of `key`, or kNoString.
inline StringId LabelValue(const NodeLabels& labels, StringId key) {
  const auto it = std::lower_bound(labels.begin(), labels.end(), key,
                                   [](const auto& label, StringId k) { return label.first < k; });
  return it != labels.end() && it->first == key ? it->second : kNoString;
}

struct LabelColumn {
  std::vector<StringId> values;  // by row; kNoString where the node lacks the key or does not exist
};

class LabelColumns {
 public:
  // The column for `key`, made from `rows` (labels by row) on first use. The reference stays valid.
  template <class LabelsOfRow>
  const LabelColumn& Get(StringId key, size_t rows, LabelsOfRow&& labels_of_row) {
    auto& slot = columns_[key];
    if (!slot) {
      slot = std::make_unique<LabelColumn>();
      slot->values.resize(rows, kNoString);
      for (size_t row = 0; row < rows; ++row) {
        slot->values[row] = LabelValue(labels_of_row(row), key);
      }
    }
    return *slot;
  }

  // Null when nobody asked for the key yet.
  const LabelColumn* Find(StringId key) const {
    const auto it = columns_.find(key);
    return it == columns_.end() ? nullptr : it->second.get();
  }

  void Resize(size_t rows) {
    for (auto& [key, column] : columns_) column->values.resize(rows, kNoString);
  }
  void SetRow(NodeIndex row, const NodeLabels& labels) {
    for (auto& [key, column] : columns_) column->values[row] = LabelValue(labels, key);
  }

 private:
  boost::unordered_flat_map<StringId, std::unique_ptr<LabelColumn>> columns_;
};

}  // namespace berth::cluster
