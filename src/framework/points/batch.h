// Batches: the range of the node table that a plugin evaluates in one call.
//
// Filter and Score work on node sets. The runtime cuts the table into ranges of whole 64-bit words,
// so that a search may stop early and several threads may work on one cycle without sharing a word.
// A plugin sees one range at a time and must not read verdicts or scores of other rows.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/check.h"
#include "cluster/table/node_set.h"
#include "framework/points/verdict.h"

namespace berth::framework {

using cluster::NodeIndex;
using cluster::NodeSet;

// The candidate nodes of a range. A filter rejects nodes from it.
class FilterBatch {
 public:
  FilterBatch(NodeSet& nodes, VerdictTable& verdicts, size_t first_word, size_t end_word)
      : words_(nodes.MutableWords().data()),
        verdicts_(verdicts.data()),
        first_(first_word),
        end_(end_word) {}

  // The plugin that is being called; set by the runtime before each call.
  void SetPlugin(uint8_t plugin) { plugin_ = plugin; }

  size_t FirstWord() const { return first_; }
  size_t EndWord() const { return end_; }
  // The candidates of word `w`.
  uint64_t Word(size_t w) const { return words_[w]; }

  void Reject(NodeIndex n, Code code, uint32_t reason = 0, uint16_t detail = 0) {
    words_[n / NodeSet::kWordBits] &= ~(uint64_t{1} << (n % NodeSet::kWordBits));
    verdicts_[n] = Verdict{plugin_, code, detail, reason};
  }

  // Rejects every node of `failed` (bits of word `w`) with the same verdict.
  void RejectWord(size_t w, uint64_t failed, Code code, uint32_t reason = 0) {
    failed &= words_[w];
    words_[w] &= ~failed;
    NodeSet::ForEachBit(failed, w, [&](NodeIndex n) { verdicts_[n] = {plugin_, code, 0, reason}; });
  }

  // Rejects all nodes that are in `set`.
  void RejectMembers(const NodeSet& set, Code code, uint32_t reason = 0) {
    for (size_t w = first_; w < end_; ++w) {
      const uint64_t failed = words_[w] & set.Words()[w];
      if (failed != 0) RejectWord(w, failed, code, reason);
    }
  }
  void RejectNonMembers(const NodeSet& set, Code code, uint32_t reason = 0) {
    for (size_t w = first_; w < end_; ++w) {
      const uint64_t failed = words_[w] & ~set.Words()[w];
      if (failed != 0) RejectWord(w, failed, code, reason);
    }
  }

  // Calls f(NodeIndex) for every candidate; f may Reject the node it was given.
  template <class F>
  void ForEach(F&& f) const {
    for (size_t w = first_; w < end_; ++w) NodeSet::ForEachBit(words_[w], w, f);
  }

 private:
  uint64_t* words_;
  Verdict* verdicts_;
  size_t first_;
  size_t end_;
  uint8_t plugin_ = kNoPlugin;
};

// The feasible nodes of a range, and the column for one plugin's raw scores.
class ScoreBatch {
 public:
  ScoreBatch(const NodeSet& nodes, int64_t* scores, size_t first_word, size_t end_word)
      : words_(nodes.Words().data()), scores_(scores), first_(first_word), end_(end_word) {}

  size_t FirstWord() const { return first_; }
  size_t EndWord() const { return end_; }
  uint64_t Word(size_t w) const { return words_[w]; }
  // Indexed by NodeIndex. Rows of the batch's words that are not feasible may hold any value.
  int64_t* Scores() const { return scores_; }

  template <class F>
  void ForEach(F&& f) const {
    for (size_t w = first_; w < end_; ++w) NodeSet::ForEachBit(words_[w], w, f);
  }

 private:
  const uint64_t* words_;
  int64_t* scores_;
  size_t first_;
  size_t end_;
};

// All raw (then normalised) scores of one plugin in one cycle. When every feasible node has the
// same score, only one number is stored.
class ScoreColumn {
 public:
  bool IsUniform() const { return uniform_; }
  // REQUIRES: IsUniform().
  int64_t Uniform() const {
    BERTH_DCHECK(uniform_);
    return value_;
  }
  void SetUniform(int64_t value) {
    uniform_ = true;
    value_ = value;
  }

  // Allocates `rows` separate scores.
  int64_t* MakeDense(size_t rows) {
    uniform_ = false;
    if (scores_.size() < rows) scores_.resize(rows);
    return scores_.data();
  }
  int64_t* Dense() { return scores_.data(); }
  const int64_t* Dense() const { return scores_.data(); }

  int64_t Get(NodeIndex n) const { return uniform_ ? value_ : scores_[n]; }

 private:
  bool uniform_ = true;
  int64_t value_ = 0;
  std::vector<int64_t> scores_;
};

}  // namespace berth::framework
