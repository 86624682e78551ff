// Resource names to ids, and the columns of what nodes have and what is taken.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cluster/ids.h"
#include "cluster/table/dictionary.h"

namespace berth::cluster {

// Ids of resource names: cpu, memory and ephemeral-storage have fixed ones.
class ResourceNames {
 public:
  ResourceNames() {
    names_.Intern("cpu");
    names_.Intern("memory");
    names_.Intern("ephemeral-storage");
  }
  ResourceId Intern(std::string_view name) { return names_.Intern(name); }
  // kNoResource when the name was never seen.
  ResourceId Find(std::string_view name) const { return names_.Find(name); }
  const std::string& Name(ResourceId id) const { return names_.Text(id); }
  size_t Size() const { return names_.Size(); }

 private:
  Dictionary names_;
};

// One resource over all nodes, by row.
struct ResourceColumn {
  std::vector<int64_t> allocatable;
  std::vector<int64_t> requested;
};

}  // namespace berth::cluster
