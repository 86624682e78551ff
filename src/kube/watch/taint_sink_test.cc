#include "kube/watch/taint_sink.h"

#include <string>

#include <gtest/gtest.h>

namespace berth::kube {
namespace {

// Writes down what it is told: "=Kind 2" for a list, "~Kind 2" for a part of one, "+slice/1" for a
// slice with one taint,
// "-name".
class Notes final : public ObjectSink {
 public:
  void Replaced(std::string_view kind, std::vector<api::Object> objects) override {
    text += " =" + std::string(kind) + " " + std::to_string(objects.size());
  }
  void Listed(std::string_view kind, std::vector<api::Object> objects, scheduler::ListPart,
              Taken) override {
    text += " ~" + std::string(kind) + " " + std::to_string(objects.size());
  }
  bool TakesParts(std::string_view) const override { return true; }
  void Changed(api::Object&& object) override {
    text += " +" + api::MetadataOf(object)->name;
    if (const auto* slice = std::get_if<api::ResourceSlice>(&object)) {
      text += "/" + std::to_string(slice->spec.devices[0].taints.size());
    }
  }
  void StatusChanged(api::Pod&& pod) override { text += " *" + pod.metadata.name; }
  void Removed(api::Object&& object) override { text += " -" + api::MetadataOf(object)->name; }

  std::string Take() { return std::exchange(text, ""); }

  std::string text;
};

api::Object Slice(const std::string& name) {
  api::ResourceSlice slice;
  slice.metadata.name = name;
  slice.spec.devices.emplace_back();
  return slice;
}

api::Object Rule(const std::string& name) {
  api::DeviceTaintRule rule;
  rule.metadata.name = name;
  rule.spec.taint.key = name;
  return rule;
}

TEST(TaintSink, RulesReachTheSlicesAndGoNoFurther) {
  Notes notes;
  TaintSink sink(notes);
  sink.Replaced("ResourceSlice", {Slice("s")});
  EXPECT_EQ(notes.Take(), " =ResourceSlice 1");
  sink.Replaced("DeviceTaintRule", {Rule("r")});
  EXPECT_EQ(notes.Take(), " +s/1 =DeviceTaintRule 0") << "that they are known must be told";
  sink.Changed(Slice("t"));
  EXPECT_EQ(notes.Take(), " +t/1");
  sink.Changed(Rule("more"));
  EXPECT_EQ(notes.Take(), " +s/2 +t/2");
  sink.Removed(Slice("t"));
  EXPECT_EQ(notes.Take(), " -t");
  sink.Removed(Rule("r"));
  EXPECT_EQ(notes.Take(), " +s/1");
  sink.Replaced("DeviceTaintRule", {});
  EXPECT_EQ(notes.Take(), " +s/0 =DeviceTaintRule 0");
}

TEST(TaintSink, OtherKindsPass) {
  Notes notes;
  TaintSink sink(notes);
  api::DeviceClass device_class;
  device_class.metadata.name = "class";
  sink.Replaced("DeviceClass", {device_class});
  sink.Changed(api::Object(device_class));
  sink.Removed(api::Object(device_class));
  api::Node node;
  node.metadata.name = "node";
  sink.Replaced("Node", {node});
  sink.Changed(api::Object(node));
  sink.Removed(api::Object(node));
  EXPECT_EQ(notes.Take(), " =DeviceClass 1 +class -class =Node 1 +node -node");
}

}  // namespace
}  // namespace berth::kube
