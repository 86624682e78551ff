// For tests only: nodes and pods written in one line.
//
//   MakeNode("a").Cpu("4").Memory("8Gi").Label("zone", "x")
//   MakePod("p").Requests("cpu", "500m").On("a")
//
// A builder is an api object with a few shortcuts; what has none is written as JSON with ' for ".
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "api/codec/json.h"
#include "api/core/node.h"
#include "api/core/pod.h"

namespace berth::cluster {

inline api::Quantity Amount(const std::string& text) {
  auto quantity = api::Quantity::Parse(text);
  EXPECT_TRUE(quantity.has_value()) << text;
  return quantity ? *quantity : api::Quantity();
}

template <class T>
T FromText(std::string json) {
  std::replace(json.begin(), json.end(), '\'', '"');
  auto object = api::FromJson<T>(json);
  EXPECT_TRUE(object.has_value()) << json << ": " << (object ? "" : object.error().Message());
  return object ? std::move(*object) : T{};
}

// A node with room for 110 pods and nothing else.
class MakeNode {
 public:
  explicit MakeNode(const std::string& name) {
    node_.metadata.name = name;
    Has("pods", "110");
  }
  MakeNode& Has(const std::string& resource, const std::string& amount) {
    node_.status.allocatable[resource] = Amount(amount);
    return *this;
  }
  MakeNode& Cpu(const std::string& amount) { return Has("cpu", amount); }
  MakeNode& Memory(const std::string& amount) { return Has("memory", amount); }
  MakeNode& Pods(const std::string& amount) { return Has("pods", amount); }
  MakeNode& Label(const std::string& key, const std::string& value) {
    node_.metadata.labels[key] = value;
    return *this;
  }
  MakeNode& Zone(const std::string& zone) { return Label("topology.kubernetes.io/zone", zone); }
  MakeNode& Taint(const std::string& key, const std::string& effect,
                  const std::string& value = "") {
    api::Taint taint;
    taint.key = key;
    taint.value = value;
    taint.effect = effect;
    node_.spec.taints.push_back(std::move(taint));
    return *this;
  }
  MakeNode& Cordoned() {
    node_.spec.unschedulable = true;
    return *this;
  }
  MakeNode& Image(std::vector<std::string> names, int64_t bytes) {
    node_.status.images.push_back({std::move(names), bytes});
    return *this;
  }
  operator const api::Node&() const { return node_; }  // NOLINT: a builder stands for its object

 private:
  api::Node node_;
};

// A pod of namespace "ns" with one container, whose uid is its name.
class MakePod {
 public:
  explicit MakePod(const std::string& name) {
    pod_.metadata.name = name;
    pod_.metadata.uid = name;
    pod_.metadata.namespace_ = "ns";
    pod_.spec.scheduler_name = "default-scheduler";
    Container("c");
  }
  MakePod& Namespace(const std::string& ns) {
    pod_.metadata.namespace_ = ns;
    return *this;
  }
  // What follows about requests, ports and images is about this container.
  MakePod& Container(const std::string& name, const std::string& image = "") {
    api::Container container;
    container.name = name;
    container.image = image;
    pod_.spec.containers.push_back(std::move(container));
    return *this;
  }
  MakePod& NoContainers() {
    pod_.spec.containers.clear();
    return *this;
  }
  MakePod& Image(const std::string& image) {
    pod_.spec.containers.back().image = image;
    return *this;
  }
  MakePod& Requests(const std::string& resource, const std::string& amount) {
    pod_.spec.containers.back().resources.requests[resource] = Amount(amount);
    return *this;
  }
  MakePod& HostPort(int32_t port, const std::string& protocol = "", const std::string& ip = "") {
    api::ContainerPort p;
    p.container_port = port;
    p.host_port = port;
    p.protocol = protocol;
    p.host_ip = ip;
    pod_.spec.containers.back().ports.push_back(std::move(p));
    return *this;
  }
  MakePod& On(const std::string& node) {
    pod_.spec.node_name = node;
    return *this;
  }
  MakePod& Nominated(const std::string& node) {
    pod_.status.nominated_node_name = node;
    return *this;
  }
  MakePod& Label(const std::string& key, const std::string& value) {
    pod_.metadata.labels[key] = value;
    return *this;
  }
  MakePod& Priority(int32_t priority) {
    pod_.spec.priority = priority;
    return *this;
  }
  MakePod& NodeSelector(const std::string& key, const std::string& value) {
    pod_.spec.node_selector[key] = value;
    return *this;
  }
  MakePod& Gate(const std::string& name) {
    pod_.spec.scheduling_gates.push_back({name});
    return *this;
  }
  MakePod& Tolerates(const std::string& key, const std::string& op = "Exists",
                     const std::string& value = "", const std::string& effect = "") {
    api::Toleration t;
    t.key = key;
    t.operator_ = op;
    t.value = value;
    t.effect = effect;
    pod_.spec.tolerations.push_back(std::move(t));
    return *this;
  }
  // spec.affinity.nodeAffinity.
  MakePod& NodeAffinity(const std::string& json) {
    if (!pod_.spec.affinity) pod_.spec.affinity.emplace();
    pod_.spec.affinity->node_affinity = FromText<api::NodeAffinity>(json);
    return *this;
  }
  // One of spec.volumes.
  MakePod& Volume(const std::string& json) {
    pod_.spec.volumes.push_back(FromText<api::Volume>(json));
    return *this;
  }
  api::Pod& Get() { return pod_; }
  operator const api::Pod&() const { return pod_; }  // NOLINT: a builder stands for its object

 private:
  api::Pod pod_;
};

}  // namespace berth::cluster
