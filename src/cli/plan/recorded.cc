#include "cli/plan/recorded.h"

#include <map>
#include <set>
#include <utility>

#include "cli/replay/choose_run.h"
#include "history/rerun.h"
#include "record/run_reader.h"

namespace berth::cli {
namespace {

// The objects that the scheduler has seen, by kind, namespace and name.
class Objects {
 public:
  void Apply(const record::Record& record) {
    if (const auto* upsert = std::get_if<record::Upsert>(&record)) {
      Set(upsert->object);
    } else if (const auto* status = std::get_if<record::UpdateStatus>(&record)) {
      SetStatus(status->pod);
    } else if (const auto* gone = std::get_if<record::Delete>(&record)) {
      Remove(gone->object);
    } else if (const auto* list = std::get_if<record::Replace>(&record)) {
      Replace(*list);
    } else if (std::holds_alternative<record::Begin>(record)) {
      kinds_.clear();  // another engine, which gets lists of everything
    }
  }

  std::vector<api::Object> Take() {
    std::vector<api::Object> all;
    for (auto& [kind, objects] : kinds_) {
      for (auto& [key, object] : objects) all.push_back(std::move(object));
    }
    return all;
  }

 private:
  using Key = std::pair<std::string, std::string>;  // namespace and name

  static Key KeyOf(const api::Object& object) {
    const api::ObjectMeta* metadata = api::MetadataOf(object);
    return metadata == nullptr ? Key() : Key(metadata->namespace_, metadata->name);
  }

  void Set(const api::Object& object) {
    kinds_[std::string(api::KindOf(object))].insert_or_assign(KeyOf(object), object);
  }

  void Remove(const api::Object& object) {
    kinds_[std::string(api::KindOf(object))].erase(KeyOf(object));
  }

  // A pod whose spec, but for its node, is as it was.
  void SetStatus(const api::Pod& pod) {
    auto& pods = kinds_[std::string(api::Pod::kKind)];
    const auto it = pods.find({pod.metadata.namespace_, pod.metadata.name});
    if (it == pods.end()) return;
    auto& known = std::get<api::Pod>(it->second);
    if (known.metadata.uid != pod.metadata.uid) return;
    known.status = pod.status;
    known.metadata.deletion_timestamp = pod.metadata.deletion_timestamp;
    if (!pod.spec.node_name.empty()) known.spec.node_name = pod.spec.node_name;
  }

  // What is missing in a list is gone.
  void Replace(const record::Replace& list) {
    using scheduler::ListPart;
    if (list.part == ListPart::kWhole || list.part == ListPart::kFirst) listed_.clear();
    for (const api::Object& object : list.objects) {
      Set(object);
      listed_.insert(KeyOf(object));
    }
    if (list.part != ListPart::kWhole && list.part != ListPart::kLast) return;
    std::erase_if(kinds_[list.kind],
                  [&](const auto& entry) { return !listed_.contains(entry.first); });
  }

  std::map<std::string, std::map<Key, api::Object>, std::less<>> kinds_;
  std::set<Key> listed_;  // of the list that is being read
};

std::optional<int64_t> TimeOf(const record::Record& record) {
  if (const auto* advance = std::get_if<record::Advance>(&record)) return advance->time_ns;
  if (const auto* begin = std::get_if<record::Begin>(&record)) return begin->time_ns;
  return std::nullopt;
}

}  // namespace

Result<RecordedCluster> ReadRecorded(const std::string& dir, std::optional<int64_t> at) {
  auto run = ChooseRun({.dir = dir, .number = 0, .time_ns = at});
  if (!run) return Fail(run.error());
  record::RunReader reader(std::move(*run));
  RecordedCluster cluster;
  Objects objects;
  bool began = false;
  for (;;) {
    const auto record = reader.Next();
    if (!record) {
      cluster.damage = record.error().Message();
      break;
    }
    if (*record == nullptr) break;
    const auto time = TimeOf(**record);
    if (at && time && *time > *at) break;
    if (const auto* begin = std::get_if<record::Begin>(*record)) {
      auto rules = history::RulesOf(*begin, {});
      if (!rules) return Fail(rules.error().In(dir));
      cluster.config = std::move(rules->config);
      cluster.behaviour = rules->behaviour;
      began = true;
    }
    objects.Apply(**record);
  }
  if (!began) {
    return Fail(dir + ": the beginning of the run is damaged" +
                (cluster.damage.empty() ? "" : ": " + cluster.damage));
  }
  cluster.objects = objects.Take();
  return cluster;
}

}  // namespace berth::cli
