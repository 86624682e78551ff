// Container images on nodes: for each image name, its size and the nodes that hold it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "api/core/node.h"
#include "cluster/ids.h"
#include "cluster/table/dictionary.h"

namespace berth::cluster {

class ImageTable {
 public:
  struct Image {
    int64_t size = 0;              // as the first node that listed it reported
    std::vector<NodeIndex> nodes;  // in row order
  };

  // Records the images of one node and returns what must be handed to RemoveNode later.
  std::vector<StringId> AddNode(NodeIndex node, const std::vector<api::ContainerImage>& images,
                                Dictionary& strings);
  void RemoveNode(NodeIndex node, const std::vector<StringId>& images);

  // Null when no node holds the image.
  const Image* Find(StringId name) const {
    const auto it = images_.find(name);
    return it == images_.end() ? nullptr : &it->second;
  }

 private:
  boost::unordered_flat_map<StringId, Image> images_;
};

}  // namespace berth::cluster
