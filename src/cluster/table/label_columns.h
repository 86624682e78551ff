// Node labels as columns: for a label key that some pod or rule asks about, the value each node
// has.
//
// A column is made the first time its key is asked for and kept up to date from then on, so keys
// nobody asks about cost nothing per node beyond the node's own label list.
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

// One label key over all nodes. Values are numbered from 1 in order of appearance, so they can
// index small tables: a predicate is decided once per value, a topology domain is a code. Numbers
// are never reused.
struct LabelColumn {
  static constexpr uint32_t kAbsent = 0;

  std::vector<uint32_t> codes;  // by row; kAbsent where the node lacks the key or does not exist
  std::vector<StringId> values{kNoString};  // by code
  std::vector<uint32_t> uses{0};            // rows by code; not counted for kAbsent
  size_t shared = 0;                        // codes that more than one row has
  boost::unordered_flat_map<StringId, uint32_t> code_of_value;

  // The code of a value, kAbsent when no node ever had it.
  uint32_t CodeOf(StringId value) const {
    const auto it = code_of_value.find(value);
    return it == code_of_value.end() ? kAbsent : it->second;
  }

  // Is every value on one node at most, as host names are? Then a node's domain is the node.
  bool IsOnePerNode() const { return shared == 0; }

  void SetRow(size_t row, StringId value) {
    const uint32_t before = codes[row];
    const uint32_t after = value == kNoString ? kAbsent : CodeFor(value);
    if (after == before) return;
    codes[row] = after;
    if (before != kAbsent && --uses[before] == 1) --shared;
    if (after != kAbsent && ++uses[after] == 2) ++shared;
  }

 private:
  uint32_t CodeFor(StringId value) {
    const auto [it, inserted] =
        code_of_value.try_emplace(value, static_cast<uint32_t>(values.size()));
    if (inserted) {
      values.push_back(value);
      uses.push_back(0);
    }
    return it->second;
  }
};

class LabelColumns {
 public:
  // The column for `key`, made from `rows` rows (labels by row) on first use. The reference stays
  // valid.
  template <class LabelsOfRow>
  const LabelColumn& Get(StringId key, size_t rows, LabelsOfRow&& labels_of_row) {
    auto& slot = columns_[key];
    if (!slot) {
      slot = std::make_unique<LabelColumn>();
      slot->codes.resize(rows, LabelColumn::kAbsent);
      for (size_t row = 0; row < rows; ++row) {
        slot->SetRow(row, LabelValue(labels_of_row(row), key));
      }
    }
    return *slot;
  }

  void Resize(size_t rows) {
    for (auto& [key, column] : columns_) column->codes.resize(rows, LabelColumn::kAbsent);
  }
  void SetRow(NodeIndex row, const NodeLabels& labels) {
    for (auto& [key, column] : columns_) column->SetRow(row, LabelValue(labels, key));
  }

 private:
  boost::unordered_flat_map<StringId, std::unique_ptr<LabelColumn>> columns_;
};

}  // namespace berth::cluster
