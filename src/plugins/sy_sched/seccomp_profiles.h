// SeccompProfile (security-profiles-operator.x-k8s.io/v1beta1): which system calls the containers
// that name it may make.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/codec/schema.h"
#include "cluster/cluster.h"
#include "cluster/objects/custom_kinds.h"

namespace berth::plugins::sy_sched {

inline const cluster::CustomKind& SeccompProfileKind() {
  static const cluster::CustomKind kKind{"security-profiles-operator.x-k8s.io", "v1beta1",
                                         "SeccompProfile", "seccompprofiles", true};
  return kKind;
}

// System calls that are treated alike.
struct SeccompSyscalls {
  std::vector<std::string> names;
  std::string action;  // SCMP_ACT_ALLOW, SCMP_ACT_LOG, …

  bool operator==(const SeccompSyscalls&) const = default;
  static const api::TypeInfo& Type();
};

struct SeccompSpec {
  std::vector<SeccompSyscalls> syscalls;

  bool operator==(const SeccompSpec&) const = default;
  static const api::TypeInfo& Type();
};

struct SeccompObject {
  SeccompSpec spec;

  bool operator==(const SeccompObject&) const = default;
  static const api::TypeInfo& Type();
};

// A set of system calls: a bit for every number. All sets of one SeccompProfiles have equal length.
using SyscallSet = std::vector<uint64_t>;

size_t SizeOf(const SyscallSet& set);
void AddTo(SyscallSet* set, const SyscallSet& more);

// The namespace and the name of the object that a path stands for, as the operator writes it to
// nodes: the last two parts of it, the second without its extension. Both are empty when the path
// has fewer parts.
std::pair<std::string_view, std::string_view> ProfileOfPath(std::string_view path);

// The SeccompProfiles of a cluster, read again when one of them has changed.
class SeccompProfiles {
 public:
  // True: sets from before are of no use any more.
  bool Update(const cluster::Cluster& cluster);
  // Changes whenever Update returns true.
  uint64_t Version() const { return version_; }

  // What the profile allows or logs; null: there is no such profile.
  const SyscallSet* Find(std::string_view namespace_, std::string_view name) const;
  SyscallSet EmptySet() const { return SyscallSet(words_); }
  size_t Words() const { return words_; }

 private:
  std::map<std::string, SyscallSet, std::less<>> sets_;  // by "namespace/name"
  size_t words_ = 0;
  uint64_t generation_ = UINT64_MAX;
  uint64_t version_ = 0;
};

}  // namespace berth::plugins::sy_sched
