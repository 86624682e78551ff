// RawObjects: the bytes of objects that berth may have to write back whole.
//
// Decoding skips fields berth has no use for; an update that left them out would delete them. So
// the last known version of every volume, claim and resource claim is kept as it came, and a write
// puts the changed fields into it (api::MergeProto). On the loop's thread only.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <boost/unordered/unordered_flat_map.hpp>

#include "api/proto.h"

namespace berth::kube {

class RawObjects {
 public:
  struct Entry {
    std::string resource_version;
    std::string proto;  // the message, without its envelope and managed fields
  };

  // Does a kind have to be kept?
  static bool Keeps(std::string_view kind);

  void Put(std::string_view kind, std::string_view namespace_, std::string_view name, Entry entry);
  void Remove(std::string_view kind, std::string_view namespace_, std::string_view name);
  // Null: never seen, or gone.
  const Entry* Find(std::string_view kind, std::string_view namespace_,
                    std::string_view name) const;
  // Before a list is taken up.
  void Clear(std::string_view kind);

 private:
  boost::unordered_flat_map<std::string, Entry> entries_;  // "Kind/namespace/name"
};

}  // namespace berth::kube
