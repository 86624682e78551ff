#include "cluster/table/images.h"

#include <algorithm>

namespace berth::cluster {

std::vector<StringId> ImageTable::AddNode(NodeIndex node,
                                          const std::vector<api::ContainerImage>& images,
                                          Dictionary& strings) {
  std::vector<StringId> held;
  for (const api::ContainerImage& image : images) {
    for (const std::string& name : image.names) held.push_back(strings.Intern(name));
  }
  // The first mention of a name decides its size, so names are taken in order before duplicates are
  // dropped.
  size_t next = 0;
  for (const api::ContainerImage& image : images) {
    for (size_t i = 0; i < image.names.size(); ++i) {
      const auto [it, inserted] = images_.try_emplace(held[next++]);
      if (inserted) it->second.size = image.size_bytes;
    }
  }
  std::sort(held.begin(), held.end());
  held.erase(std::unique(held.begin(), held.end()), held.end());
  for (const StringId name : held) {
    auto& nodes = images_[name].nodes;
    nodes.insert(std::lower_bound(nodes.begin(), nodes.end(), node), node);
  }
  return held;
}

void ImageTable::RemoveNode(NodeIndex node, const std::vector<StringId>& images) {
  for (const StringId name : images) {
    const auto it = images_.find(name);
    if (it == images_.end()) continue;
    auto& nodes = it->second.nodes;
    const auto position = std::lower_bound(nodes.begin(), nodes.end(), node);
    if (position != nodes.end() && *position == node) nodes.erase(position);
    if (nodes.empty()) images_.erase(it);
  }
}

}  // namespace berth::cluster
