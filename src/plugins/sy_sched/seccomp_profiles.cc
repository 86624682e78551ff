#include "plugins/sy_sched/seccomp_profiles.h"

#include <bit>

#include "api/codec/json.h"
#include "cluster/objects/object_store.h"

namespace berth::plugins::sy_sched {
namespace {

constexpr size_t kBits = 64;

using Numbers = std::map<std::string, size_t, std::less<>>;  // of system calls

bool Counts(const SeccompSyscalls& syscalls) {
  return syscalls.action == "SCMP_ACT_ALLOW" || syscalls.action == "SCMP_ACT_LOG";
}

}  // namespace

const api::TypeInfo& SeccompSyscalls::Type() {
  static const api::TypeInfo type = api::Describe<SeccompSyscalls>("Syscall")
                                        .Field(0, "names", &SeccompSyscalls::names)
                                        .Always(0, "action", &SeccompSyscalls::action)
                                        .Build();
  return type;
}

const api::TypeInfo& SeccompSpec::Type() {
  static const api::TypeInfo type = api::Describe<SeccompSpec>("SeccompProfileSpec")
                                        .Field(0, "syscalls", &SeccompSpec::syscalls)
                                        .Build();
  return type;
}

const api::TypeInfo& SeccompObject::Type() {
  static const api::TypeInfo type =
      api::Describe<SeccompObject>("SeccompProfile").Field(0, "spec", &SeccompObject::spec).Build();
  return type;
}

size_t SizeOf(const SyscallSet& set) {
  size_t size = 0;
  for (const uint64_t word : set) size += static_cast<size_t>(std::popcount(word));
  return size;
}

void AddTo(SyscallSet* set, const SyscallSet& more) {
  for (size_t w = 0; w < more.size(); ++w) (*set)[w] |= more[w];
}

std::pair<std::string_view, std::string_view> ProfileOfPath(std::string_view path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string_view::npos) return {};
  std::string_view name = path.substr(slash + 1);
  std::string_view namespace_ = path.substr(0, slash);
  if (const size_t before = namespace_.rfind('/'); before != std::string_view::npos) {
    namespace_ = namespace_.substr(before + 1);
  }
  return {namespace_, name.substr(0, name.rfind('.'))};
}

bool SeccompProfiles::Update(const cluster::Cluster& cluster) {
  const cluster::CustomKind& kind = SeccompProfileKind();
  const auto* store = cluster.Objects().custom.Find(kind.ApiVersion(), kind.kind);
  const uint64_t generation = store == nullptr ? 0 : store->Generation();
  if (generation == generation_) return false;
  generation_ = generation;
  ++version_;
  Numbers numbers;
  std::map<std::string, std::vector<size_t>> members;
  if (store != nullptr) {
    store->ForEach([&](const api::UnknownObject& object) {
      const auto profile = api::FromJson<SeccompObject>(object.json);
      if (!profile) return;
      auto& own = members[object.metadata.namespace_ + "/" + object.metadata.name];
      for (const SeccompSyscalls& syscalls : profile->spec.syscalls) {
        if (!Counts(syscalls)) continue;
        for (const std::string& name : syscalls.names) {
          own.push_back(numbers.try_emplace(name, numbers.size()).first->second);
        }
      }
    });
  }
  words_ = (numbers.size() + kBits - 1) / kBits;
  sets_.clear();
  for (const auto& [key, own] : members) {
    SyscallSet& set = sets_[key] = EmptySet();
    for (const size_t number : own) set[number / kBits] |= uint64_t{1} << (number % kBits);
  }
  return true;
}

const SyscallSet* SeccompProfiles::Find(std::string_view namespace_, std::string_view name) const {
  std::string key(namespace_);
  key += '/';
  key += name;
  const auto it = sets_.find(key);
  return it == sets_.end() ? nullptr : &it->second;
}

}  // namespace berth::plugins::sy_sched
