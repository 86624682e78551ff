#include "plugins/node_metadata/node_metadata.h"

#include <algorithm>
#include <utility>

#include "base/go_number.h"
#include "base/wrap.h"

namespace berth::plugins::node_metadata {
namespace {

constexpr int64_t kInvalid = INT64_MIN;
constexpr int64_t kLowestValid = 1;

// now - then, cut off as Go's durations are, in whole seconds.
int64_t AgeInSeconds(const api::Instant& now, const api::Instant& then) {
  constexpr int64_t kLongest = INT64_MAX / 1'000'000'000;
  const int64_t seconds = now.seconds - then.seconds;
  if (seconds > kLongest) return kLongest;
  if (seconds < -kLongest) return -kLongest;
  const int64_t nanos = now.nanos - then.nanos;
  if (seconds > 0 && nanos < 0) return seconds - 1;
  if (seconds < 0 && nanos > 0) return seconds + 1;
  return seconds;
}

}  // namespace

NodeMetadata::NodeMetadata(const config::NodeMetadataArgs& args, std::optional<GoLayout> layout,
                           cluster::Cluster& cluster)
    : key_(args.metadata_key),
      is_label_(args.metadata_source == "Label"),
      negated_(args.scoring_strategy == "Lowest" || args.scoring_strategy == "Newest"),
      layout_(std::move(layout)),
      label_(cluster.Strings().Intern(key_)) {}

const std::string* NodeMetadata::ValueOf(const cluster::Cluster& cluster,
                                         cluster::NodeIndex node) const {
  if (!is_label_) return cluster.NodeAnnotation(node, key_);
  const auto& labels = cluster.Record(node).labels;
  const auto it = std::find_if(labels.begin(), labels.end(),
                               [&](const auto& label) { return label.first == label_; });
  return it == labels.end() ? nullptr : &cluster.Strings().Text(it->second);
}

int64_t NodeMetadata::RawScore(const std::string* value) const {
  if (value == nullptr) return kInvalid;
  int64_t score = 0;
  if (layout_) {
    const auto then = layout_->Read(*value);
    if (!then) return kInvalid;
    score = AgeInSeconds(now_, *then);
  } else {
    const auto number = ParseGoFloat(*value);
    if (!number) return kInvalid;
    score = TruncToInt64(*number);
  }
  return negated_ ? WrapSub(0, score) : score;
}

void NodeMetadata::Score(const framework::CycleContext& c, const framework::PluginState*,
                         framework::ScoreBatch& batch) const {
  int64_t* scores = batch.Scores();
  batch.ForEach([&](cluster::NodeIndex n) { scores[n] = RawScore(ValueOf(c.cluster, n)); });
}

void NodeMetadata::Normalize(const framework::CycleContext&, const framework::PluginState*,
                             const framework::NodeSet& feasible,
                             framework::ScoreColumn& column) const {
  if (column.IsUniform()) {
    return column.SetUniform(column.Uniform() == kInvalid ? 0 : kLowestValid);
  }
  int64_t* scores = column.Dense();
  int64_t lowest = INT64_MAX;
  int64_t highest = INT64_MIN;
  feasible.ForEach([&](cluster::NodeIndex n) {
    if (scores[n] == kInvalid) return;
    lowest = std::min(lowest, scores[n]);
    highest = std::max(highest, scores[n]);
  });
  const int64_t range = WrapSub(highest, lowest);
  feasible.ForEach([&](cluster::NodeIndex n) {
    int64_t& score = scores[n];
    if (score == kInvalid) {
      score = 0;
    } else if (lowest == highest) {
      score = kLowestValid;
    } else {
      const int64_t above =
          WrapMul(WrapSub(score, lowest), framework::kMaxNodeScore - kLowestValid);
      score = WrapAdd(WrapDiv(above, range), kLowestValid);
    }
  });
}

cluster::PluginInputs Inputs(const config::PluginArgs& args) {
  const auto* given = config::OwnArgsAs<config::NodeMetadataArgs>(args);
  if (given == nullptr || given->metadata_source == "Label") return {};
  return {.kinds = {}, .node_annotations = {given->metadata_key}, .pod_annotations = {}};
}

Result<std::unique_ptr<framework::Plugin>> Make(const config::PluginArgs& args,
                                                const framework::PluginHandle& handle) {
  config::NodeMetadataArgs own;
  if (const auto* given = config::OwnArgsAs<config::NodeMetadataArgs>(args)) own = *given;
  own.SetDefaults();
  std::optional<GoLayout> layout;
  if (own.metadata_type == "Timestamp") {
    auto parsed = GoLayout::Parse(*own.timestamp_format);
    if (!parsed) return Fail(parsed.error());
    layout = std::move(*parsed);
  }
  return std::make_unique<NodeMetadata>(own, std::move(layout), handle.cluster);
}

}  // namespace berth::plugins::node_metadata
