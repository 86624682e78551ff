// A small cluster with devices, for the tests of this folder.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "api/codec/json.h"
#include "cluster/cluster.h"
#include "cluster/objects/object_store.h"

namespace berth::plugins::dynamic_resources {

template <class T>
T Parse(const std::string& json) {
  Result<T> value = api::FromJson<T>(json);
  EXPECT_TRUE(value) << json << ": " << (value ? "" : value.error().Message());
  return value ? std::move(*value) : T{};
}

class TestCluster {
 public:
  cluster::Cluster& operator*() { return cluster_; }
  cluster::ObjectStore& Objects() { return cluster_.MutableObjects(); }

  cluster::NodeIndex Node(const std::string& name, const std::string& labels = "") {
    return cluster_.SetNode(Parse<api::Node>(R"({"metadata": {"name": ")" + name +
                                             R"(", "labels": {)" + labels + R"(}}})"));
  }

  void Class(const std::string& name, const std::string& expression) {
    Objects().device_classes.Set(Parse<api::DeviceClass>(
        R"({"metadata": {"name": ")" + name +
        R"("}, "spec": {"selectors": [{"cel": {"expression": ")" + expression +
        R"("}}], "config": [{"opaque": {"driver": "d", "parameters": {"of": ")" + name +
        R"("}}}]}})"));
  }

  // `where`: e.g. "nodeName": "a". `devices`: a JSON list, or a number of plain devices.
  void Slice(const std::string& name, const std::string& driver, const std::string& pool,
             const std::string& where, const std::string& devices,
             const std::string& pool_rest = R"("generation": 1, "resourceSliceCount": 1)") {
    Objects().resource_slices.Set(Parse<api::ResourceSlice>(
        R"({"metadata": {"name": ")" + name + R"("}, "spec": {"driver": ")" + driver +
        R"(", "pool": {"name": ")" + pool + R"(", )" + pool_rest + R"(}, )" + where +
        R"(, "devices": )" + devices + "}}"));
  }

  // A number of devices d0, d1, ... without attributes.
  static std::string Plain(int count) {
    std::string list;
    for (int i = 0; i < count; ++i) {
      list += (i > 0 ? R"(, {"name": "d)" : R"({"name": "d)") + std::to_string(i) + R"("})";
    }
    return "[" + list + "]";
  }

  // `devices`: the content of spec.devices; `rest`: what follows the spec, e.g. , "status": {...}.
  const api::ResourceClaim& Claim(const std::string& name, const std::string& devices,
                                  const std::string& rest = "", const std::string& meta = "") {
    Objects().resource_claims.Set(Parse<api::ResourceClaim>(
        R"({"metadata": {"name": ")" + name + R"(", "namespace": "default", "uid": "uid-)" + name +
        R"(")" + meta + R"(}, "spec": {"devices": {)" + devices + "}}" + rest + "}"));
    return *Objects().resource_claims.Find("default", name);
  }

  // A pod that uses the claims.
  const cluster::Pod& Pod(const std::string& name, const std::vector<std::string>& claims) {
    std::string list;
    for (const std::string& claim : claims) {
      if (!list.empty()) list += ", ";
      list += R"({"name": "c)" + claim + R"(", "resourceClaimName": ")" + claim + R"("})";
    }
    return AddPod(name, list, "");
  }
  const cluster::Pod& AddPod(const std::string& name, const std::string& claims,
                             const std::string& statuses) {
    const cluster::PodId id = cluster_.AddPod(Parse<api::Pod>(
        R"({"metadata": {"name": ")" + name + R"(", "namespace": "default", "uid": "uid-)" + name +
        R"("}, "spec": {"containers": [{"name": "c"}], "resourceClaims": [)" + claims +
        R"(]}, "status": {"resourceClaimStatuses": [)" + statuses + "]}}"));
    return cluster_.GetPod(id);
  }

 private:
  cluster::Cluster cluster_;
};

// One request named r.
inline std::string Request(const std::string& device_class, int count,
                           const std::string& more = "") {
  return R"("requests": [{"name": "r", "exactly": {"deviceClassName": ")" + device_class +
         R"(", "allocationMode": "ExactCount", "count": )" + std::to_string(count) + more + "}}]";
}

// The status of a claim that holds a device.
inline std::string Allocated(const std::string& driver, const std::string& pool,
                             const std::string& device, const std::string& rest = "",
                             const std::string& status_rest = "") {
  return R"(, "status": {"allocation": {"devices": {"results": [{"request": "r", "driver": ")" +
         driver + R"(", "pool": ")" + pool + R"(", "device": ")" + device + R"("}]})" + rest + "}" +
         status_rest + "}";
}

inline std::string OnNode(const std::string& name) {
  return R"(, "nodeSelector": {"nodeSelectorTerms": [{"matchFields": [{"key": "metadata.name",)"
         R"( "operator": "In", "values": [")" +
         name + R"("]}]}]})";
}

}  // namespace berth::plugins::dynamic_resources
