// What tests of reflectors share: a sink that writes down what it is told, messages of lists and
// watches, and a reflector over a fake client.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "api/codec/proto.h"
#include "api/codec/protozero.h"
#include "kube/testing/fake_api_client.h"
#include "kube/watch/reflector.h"
#include "net/testing/fake_loop.h"

namespace berth::kube {

// Writes down what it is told: "= a b" for a list, "~ first 250" for a part of one, "+ a@5", "*
// a@5" for a status, "- a@6". Parts are taken when the test says so.
class Recorder final : public ObjectSink {
 public:
  void Replaced(std::string_view kind, std::vector<api::Object> objects) override {
    std::string line = "= " + std::string(kind);
    for (const api::Object& object : objects) line += " " + api::MetadataOf(object)->name;
    lines.push_back(line);
  }
  void Listed(std::string_view, std::vector<api::Object> objects, scheduler::ListPart part,
              Taken part_taken) override {
    constexpr const char* kNames[] = {"whole", "first", "middle", "last"};
    lines.push_back(fmt::format("~ {} {}", kNames[static_cast<int>(part)], objects.size()));
    for (const api::Object& object : objects) names.push_back(api::MetadataOf(object)->name);
    taken.push_back(std::move(part_taken));
  }
  bool TakesParts(std::string_view kind) const override { return kind != "ResourceSlice"; }
  void Changed(api::Object&& object) override { Add("+ ", object); }
  void StatusChanged(api::Pod&& pod) override { Add("* ", std::move(pod)); }
  void Removed(api::Object&& object) override { Add("- ", object); }
  void Reconnected() override { ++reconnected; }

  std::vector<std::string> lines;
  std::vector<std::string> names;  // of objects in parts
  std::vector<Taken> taken;
  int reconnected = 0;

 private:
  void Add(std::string what, const api::Object& object) {
    const api::ObjectMeta& meta = *api::MetadataOf(object);
    lines.push_back(what + meta.name + "@" + meta.resource_version);
  }
};

template <class T>
T Make(std::string name, std::string version) {
  T object;
  object.metadata.name = std::move(name);
  object.metadata.resource_version = std::move(version);
  return object;
}

inline std::string Field(uint32_t number, std::string_view payload) {
  std::string out;
  protozero::pbf_writer(out).add_message(number, payload);
  return out;
}

template <class T>
std::string List(std::string version, const std::vector<T>& items, std::string continue_ = {}) {
  api::ListMeta meta;
  meta.resource_version = std::move(version);
  meta.continue_ = std::move(continue_);
  std::string list = Field(1, api::ToProto(meta));
  for (const T& item : items) list += Field(2, api::ToProto(item));
  return api::WrapEnvelope(T::kApiVersion, std::string(T::kKind) + "List", list);
}

inline std::string Frame(std::string_view type, std::string_view object) {
  return Field(1, type) + Field(2, Field(1, object));
}

class ReflectorTest : public ::testing::Test {
 protected:
  void Begin(std::string_view kind, RawObjects* raw = nullptr) {
    reflector_ = std::make_unique<Reflector>(*FindKind(kind), loop_, client_, sink_, raw);
    reflector_->Start();
  }
  void BeginStream(std::string_view kind) {
    reflector_ = std::make_unique<Reflector>(*FindKind(kind), loop_, client_, sink_, nullptr, true);
    reflector_->Start();
  }
  // Up to the first watch.
  void BeginWatch(std::string_view kind) {
    Begin(kind);
    client_.RespondNext(FakeApiClient::Success(List<api::Node>("7", {Make<api::Node>("a", "3")})));
    client_.Start(client_.NextWatch());
    sink_.lines.clear();
  }
  std::string LastLine() const { return client_.Last().Line(); }
  size_t Watch() const { return client_.NextWatch(); }

  net::FakeLoop loop_;
  FakeApiClient client_;
  Recorder sink_;
  std::unique_ptr<Reflector> reflector_;
};

}  // namespace berth::kube
