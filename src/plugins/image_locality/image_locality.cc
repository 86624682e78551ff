#include "plugins/image_locality/image_locality.h"

#include <algorithm>
#include <bit>
#include <vector>

#include "base/wrap.h"

namespace berth::plugins::image_locality {
namespace {

constexpr int64_t kMiB = 1024 * 1024;
constexpr int64_t kMinThreshold = 23 * kMiB;
constexpr int64_t kMaxThresholdPerContainer = 1000 * kMiB;

// An image counts with its size, scaled by the share of nodes that hold it: so a pod is not drawn
// to the one node that happens to have its image.
int64_t Scaled(const cluster::ImageTable::Image& image, size_t total_nodes) {
  const double spread = static_cast<double>(image.nodes.size()) / static_cast<double>(total_nodes);
  return TruncToInt64(static_cast<double>(image.size) * spread);
}

}  // namespace

struct ImageLocality::State : framework::PluginState {
  struct Part {
    cluster::StringId name;
    const cluster::ImageTable::Image* image;
    int64_t score;
  };
  std::vector<Part> parts;  // one per container whose image some node holds
};

int64_t ScoreOf(int64_t sum, int64_t containers) {
  const int64_t max_threshold = kMaxThresholdPerContainer * containers;
  if (sum < kMinThreshold) {
    sum = kMinThreshold;
  } else if (sum > max_threshold) {
    sum = max_threshold;
  }
  return framework::kMaxNodeScore * (sum - kMinThreshold) / (max_threshold - kMinThreshold);
}

std::unique_ptr<framework::PluginState> ImageLocality::NewState() const {
  return std::make_unique<State>();
}

void ImageLocality::Prepare(const framework::CycleContext& c, State& state) const {
  state.parts.clear();
  const auto add = [&](const std::vector<cluster::StringId>& names) {
    for (const cluster::StringId name : names) {
      const auto* image = c.cluster.Images().Find(name);
      if (image == nullptr) continue;
      state.parts.push_back({name, image, Scaled(*image, c.cluster.NodeCount())});
    }
  };
  add(c.shape.images);
  if (volumes_score_) add(c.shape.image_volumes);
}

// What the highest score is measured by.
int64_t ImageLocality::ImageCount(const framework::CycleContext& c) const {
  return static_cast<int64_t>(c.shape.images.size() +
                              (volumes_raise_limit_ ? c.shape.image_volumes.size() : 0));
}

std::optional<int64_t> ImageLocality::UniformScore(const framework::CycleContext& c,
                                                   framework::PluginState* plugin_state,
                                                   const framework::NodeSet&) const {
  State& state = *static_cast<State*>(plugin_state);
  Prepare(c, state);
  if (!state.parts.empty()) return std::nullopt;
  return ScoreOf(0, ImageCount(c));
}

// What an image counts changes with every node that gets it, on all nodes that have it.
bool ImageLocality::AppendPremises(const framework::CycleContext& c,
                                   framework::PluginState* plugin_state,
                                   std::vector<int64_t>* out) const {
  State& state = *static_cast<State*>(plugin_state);
  Prepare(c, state);
  for (const State::Part& part : state.parts) {
    out->push_back(part.name);
    out->push_back(part.score);
  }
  out->push_back(-1);
  return true;
}

int64_t ImageLocality::ScoreOne(const framework::CycleContext& c,
                                const framework::PluginState* state, cluster::NodeIndex n) const {
  int64_t sum = 0;
  for (const auto& [name, image, score] : static_cast<const State*>(state)->parts) {
    if (std::binary_search(image->nodes.begin(), image->nodes.end(), n)) sum = WrapAdd(sum, score);
  }
  return ScoreOf(sum, ImageCount(c));
}

// Sums up over the nodes that hold an image, then turns sums into scores: images few nodes hold
// cost few steps.
void ImageLocality::Score(const framework::CycleContext& c, const framework::PluginState* state,
                          framework::ScoreBatch& batch) const {
  constexpr size_t kBits = framework::NodeSet::kWordBits;
  const auto first = static_cast<cluster::NodeIndex>(batch.FirstWord() * kBits);
  const auto end = static_cast<cluster::NodeIndex>(batch.EndWord() * kBits);
  int64_t* scores = batch.Scores();
  if (end - first == kBits && std::has_single_bit(batch.Word(batch.FirstWord()))) {
    batch.ForEach([&](cluster::NodeIndex n) { scores[n] = ScoreOne(c, state, n); });
    return;
  }
  std::fill(scores + first, scores + end, 0);
  for (const auto& [name, image, score] : static_cast<const State*>(state)->parts) {
    const auto& nodes = image->nodes;
    for (auto n = std::lower_bound(nodes.begin(), nodes.end(), first); n != nodes.end() && *n < end;
         ++n) {
      scores[*n] = WrapAdd(scores[*n], score);
    }
  }
  const auto containers = ImageCount(c);
  for (cluster::NodeIndex n = first; n < end; ++n) scores[n] = ScoreOf(scores[n], containers);
}

Result<std::unique_ptr<framework::Plugin>> Make(const config::PluginArgs&,
                                                const framework::PluginHandle& handle) {
  return std::make_unique<ImageLocality>(handle.behaviour.image_volumes_score,
                                         handle.behaviour.image_volumes_raise_limit);
}

}  // namespace berth::plugins::image_locality
