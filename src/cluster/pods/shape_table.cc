#include "cluster/pods/shape_table.h"

#include <algorithm>
#include <utility>

namespace berth::cluster {
namespace {

// A key "*text*" stands for all keys with the text in them.
bool IsPattern(const std::string& key) {
  return key.size() > 2 && key.front() == '*' && key.back() == '*';
}

bool Matches(const std::string& name, const std::string& key) {
  if (!IsPattern(key)) return name == key;
  return name.find(std::string_view(key).substr(1, key.size() - 2)) != std::string::npos;
}

// The keys of the annotations that are kept of a pod: `keys`, where no pattern is among them.
const std::vector<std::string>& TrackedOf(const api::Pod& pod, const std::vector<std::string>& keys,
                                          std::vector<std::string>* scratch) {
  if (std::none_of(keys.begin(), keys.end(), IsPattern)) return keys;
  scratch->clear();
  for (const auto& [name, value] : pod.metadata.annotations) {
    const auto names_it = [&name = name](const std::string& key) { return Matches(name, key); };
    if (std::any_of(keys.begin(), keys.end(), names_it)) scratch->push_back(name);
  }
  return *scratch;
}

}  // namespace

ShapeTable::Kind& ShapeTable::KindOf(const api::Pod& pod) {
  scratch_.clear();
  AppendKindKey(pod, &scratch_);
  if (!annotations_.empty()) {
    std::vector<std::string> found;
    AppendAnnotationsKey(pod, TrackedOf(pod, annotations_, &found), &scratch_);
  }
  const auto it = kinds_.find(scratch_);
  if (it != kinds_.end()) return *it->second;
  if (kinds_.size() >= sweep_kinds_at_) {
    boost::unordered::erase_if(kinds_, [](const auto& known) { return known.second->shapes == 0; });
    sweep_kinds_at_ = std::max<size_t>(4096, 2 * kinds_.size());
  }
  auto made = std::make_unique<Kind>();
  made->number = next_kind_++;
  return *kinds_.emplace(scratch_, std::move(made)).first->second;
}

bool ShapeTable::TrackAnnotation(const std::string& key) {
  const auto it = std::lower_bound(annotations_.begin(), annotations_.end(), key);
  if (it != annotations_.end() && *it == key) return false;
  annotations_.insert(it, key);
  return true;
}

const PodShape* ShapeTable::Acquire(const api::Pod& pod, const api::RequestRules& rules,
                                    Dictionary& strings, ResourceNames& resources) {
  Kind& kind = KindOf(pod);
  scratch_.assign(reinterpret_cast<const char*>(&kind.number), sizeof kind.number);
  AppendOwnKey(pod, &scratch_);
  const auto it = by_key_.find(scratch_);
  if (it != by_key_.end()) {
    Entry& entry = entries_[it->second];
    ++entry.users;
    return &entry.shape;
  }
  uint32_t id;
  if (free_.empty()) {
    id = static_cast<uint32_t>(entries_.size());
    entries_.emplace_back();
  } else {
    id = free_.back();
    free_.pop_back();
  }
  Entry& entry = entries_[id];
  entry.shape = CompileShape(pod, rules, strings, resources);
  std::vector<std::string> found;
  for (const std::string& key : TrackedOf(pod, annotations_, &found)) {
    const std::string* value = api::FindValue(pod.metadata.annotations, key);
    if (value != nullptr) entry.shape.source.metadata.annotations[key] = *value;
  }
  entry.shape.id = id;
  entry.shape.serial = next_serial_++;
  entry.shape.kind = kind.number;
  entry.key = scratch_;
  entry.kind = &kind;
  ++kind.shapes;
  entry.users = 1;
  by_key_.emplace(entry.key, id);
  return &entry.shape;
}

void ShapeTable::Release(const PodShape* shape) {
  const uint32_t id = shape->id;
  Entry& entry = entries_[id];
  if (--entry.users > 0) return;
  by_key_.erase(entry.key);
  --entry.kind->shapes;
  entry.kind = nullptr;
  entry.shape = PodShape();
  entry.key = std::string();
  free_.push_back(id);
}

}  // namespace berth::cluster
