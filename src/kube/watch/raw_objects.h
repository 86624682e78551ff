// RawObjects: the bytes of objects that berth may have to write back whole.
//
// Decoding skips fields berth has no use for; an update that left them out would delete them. So
// the last known version of every volume, claim and resource claim is kept as it came, and a write
// puts the changed fields into it (api::MergeProto).
//
// Extenders are sent pods and nodes whole, as JSON. Where there are some, that is kept too, of what
// they may be sent; where there are none, it costs nothing. On the loop's thread only.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <boost/unordered/unordered_flat_map.hpp>

#include "api/codec/proto.h"
#include "api/object.h"

namespace berth::kube {

// Whose JSON is kept.
struct KeptJson {
  bool nodes = false;
  bool pending_pods = false;
  bool assigned_pods = false;
  bool without_managed_fields = false;  // pods
};

class RawObjects {
 public:
  struct Entry {
    std::string resource_version;
    std::string proto;  // the message, without its envelope and managed fields
  };

  // Does a kind have to be kept?
  static bool Keeps(std::string_view kind);

  // From the next list of each kind on. JSON that is no longer wanted is forgotten.
  void SetKeptJson(const KeptJson& kept);
  bool KeepsJson(std::string_view kind) const;
  // Takes up the JSON of a new version, if it is one to be kept.
  void PutJson(const api::Object& object, std::string_view json);
  void RemoveJson(const api::Object& object);
  // As extenders get it (ForExtenders). Null: not known (any more).
  const std::string* FindJson(std::string_view kind, std::string_view namespace_,
                              std::string_view name) const;

  void Put(std::string_view kind, std::string_view namespace_, std::string_view name, Entry entry);
  void Remove(std::string_view kind, std::string_view namespace_, std::string_view name);
  // Null: never seen, or gone.
  const Entry* Find(std::string_view kind, std::string_view namespace_,
                    std::string_view name) const;
  // Before a list is taken up.
  void Clear(std::string_view kind);

 private:
  boost::unordered_flat_map<std::string, Entry> entries_;      // "Kind/namespace/name"
  boost::unordered_flat_map<std::string, std::string> jsons_;  // likewise
  KeptJson kept_json_;
};

}  // namespace berth::kube
