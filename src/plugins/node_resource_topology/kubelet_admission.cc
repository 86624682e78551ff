#include "plugins/node_resource_topology/kubelet_admission.h"

#include <algorithm>
#include <bit>
#include <iterator>
#include <string>
#include <utility>

#include "base/function_ref.h"

namespace berth::plugins::node_resource_topology {
namespace {

// More ways are not followed.
constexpr size_t kMostWays = 512;

// Ways are few, and many of them alike. False: they are too many.
template <class T>
bool KeepDistinct(std::vector<T>* ways) {
  std::sort(ways->begin(), ways->end());
  ways->erase(std::unique(ways->begin(), ways->end()), ways->end());
  return ways->size() <= kMostWays;
}

// Calls f(taken) for every way to take n from the free amounts of `cells`. False: there are too
// many ways.
bool Distribute(const PerCell& free, CellSet cells, int64_t n,
                FunctionRef<void(const PerCell&)> f) {
  size_t calls = 0;
  PerCell taken{};
  const auto walk = [&](auto&& self, size_t cell, int64_t left) -> bool {
    if (left == 0) {
      f(taken);
      return ++calls <= kMostWays;
    }
    if (cell == kMostExactCells) return true;
    const int64_t most = (cells >> cell & 1U) != 0 ? std::min(left, free[cell]) : 0;
    for (int64_t k = most; k >= 0; --k) {
      taken[cell] = k;
      if (!self(self, cell + 1, left - k)) return false;
    }
    return true;
  };
  return walk(walk, 0, n);
}

void Subtract(PerCell& from, const PerCell& taken) {
  for (size_t i = 0; i < kMostExactCells; ++i) from[i] -= taken[i];
}
void Add(PerCell& to, const PerCell& given) {
  for (size_t i = 0; i < kMostExactCells; ++i) to[i] += given[i];
}

// The position of a resource; the number of resources when there is none of this name.
size_t Find(const std::vector<KubeletNode::Resource>& resources, const std::string& name) {
  const auto it = std::find_if(resources.begin(), resources.end(),
                               [&](const auto& resource) { return resource.name == name; });
  return static_cast<size_t>(it - resources.begin());
}

}  // namespace

int64_t Admission::Sum(const PerCell& amounts, CellSet cells) const {
  int64_t sum = 0;
  for (size_t i = 0; i < node_.cells_; ++i) sum += Has(cells, i) ? amounts[i] : 0;
  return sum;
}

CellSet Admission::CellsWith(const PerCell& amounts) const {
  CellSet cells = 0;
  for (size_t i = 0; i < node_.cells_; ++i) {
    if (amounts[i] > 0) cells |= static_cast<CellSet>(1U << i);
  }
  return cells;
}

int Admission::FewestCells(const PerCell& total, int64_t n) const {
  PerCell sorted = total;
  std::sort(sorted.begin(), sorted.end(), std::greater<>());
  int64_t sum = 0;
  for (size_t i = 0; i < node_.cells_; ++i) {
    sum += sorted[i];
    if (sum >= n) return static_cast<int>(i) + 1;
  }
  return static_cast<int>(node_.cells_);
}

int Admission::CellsForMemory(const KubeletNeeds& needs) const {
  if (needs.memory.empty() || !node_.pins_memory_) return 0;
  int fewest = static_cast<int>(node_.cells_);
  for (CellSet cells = 1; cells < 1U << node_.cells_; ++cells) {
    const bool could = std::all_of(needs.memory.begin(), needs.memory.end(), [&](const auto& need) {
      const size_t r = Find(node_.memory_, need.first);
      const int64_t total = r < node_.memory_.size() ? Sum(node_.memory_[r].total, cells) : 0;
      return total >= need.second;
    });
    if (could) fewest = std::min(fewest, std::popcount(cells));
  }
  return fewest;
}

// --- Which cells

bool Admission::MemoryFits(const Way& way, const KubeletNeeds& needs, CellSet cells) const {
  const bool single = std::has_single_bit(cells);
  for (size_t i = 0; i < node_.cells_; ++i) {
    if (!Has(cells, i) || way.use.groups[i] == 0) continue;
    const CellSet group = way.use.groups[i];
    if (single ? !std::has_single_bit(group) || group == kUnknownGroup : group != cells) {
      return false;
    }
  }
  return std::all_of(needs.memory.begin(), needs.memory.end(), [&](const auto& need) {
    const size_t r = Find(node_.memory_, need.first);
    if (r == node_.memory_.size()) return need.second == 0;
    return Sum(way.use.memory[r], cells) + way.left_memory[cells][r] >= need.second;
  });
}

bool Admission::IsPreferred(const Way& way, const KubeletNeeds& needs, CellSet cells) const {
  const int count = std::popcount(cells);
  if (needs.cpus > 0 && node_.pins_cpus_) {
    const CellSet left = CellsWith(way.left_cpus);
    if (count != FewestCells(node_.cpus_, needs.cpus) || (left & ~cells) != 0 ||
        Sum(way.use.cpus, cells) + Sum(way.left_cpus, cells) < needs.cpus) {
      return false;
    }
  }
  if (!needs.memory.empty() && node_.pins_memory_ &&
      (count != CellsForMemory(needs) || !MemoryFits(way, needs, cells))) {
    return false;
  }
  for (const auto& [name, n] : needs.devices) {
    const size_t r = Find(node_.devices_, name);
    if (r == node_.devices_.size()) continue;
    const CellSet left = CellsWith(way.left_devices[r]);
    if (count != FewestCells(node_.devices_[r].total, n) || (left & ~cells) != 0 ||
        Sum(way.use.devices[r], cells) + Sum(way.left_devices[r], cells) < n) {
      return false;
    }
  }
  return true;
}

bool Admission::IsIndifferent(const KubeletNeeds& needs) const {
  return (needs.cpus == 0 || !node_.pins_cpus_) && (needs.memory.empty() || !node_.pins_memory_) &&
         std::all_of(needs.devices.begin(), needs.devices.end(), [&](const auto& need) {
           return Find(node_.devices_, need.first) == node_.devices_.size();
         });
}

std::vector<CellSet> Admission::Choices(const Way& way, const KubeletNeeds& needs) const {
  std::vector<CellSet> choices;
  for (CellSet cells = 1; cells < 1U << node_.cells_; ++cells) {
    const bool single = std::has_single_bit(cells);
    if (node_.policy_ == Policy::kSingleNumaNode && !single) continue;
    if (!IsPreferred(way, needs, cells)) continue;
    choices.push_back(cells);
    // Of single cells the lowest; which of several sets is closest is not published.
    if (single) break;
  }
  return choices;
}

// --- What the managers take

bool Admission::TakeCpus(const Way& way, const KubeletPod::Container& c, CellSet cells,
                         Ways* out) const {
  if (c.needs.cpus == 0 || !node_.pins_cpus_) {
    out->push_back(way);
    return true;
  }
  const int64_t fresh = Sum(way.use.cpus, cells);
  const int64_t left = Sum(way.left_cpus, cells);
  if (fresh + left < c.needs.cpus) return false;
  bool few = true;
  for (int64_t again = std::max<int64_t>(0, c.needs.cpus - fresh);
       few && again <= std::min(c.needs.cpus, left); ++again) {
    few = Distribute(way.use.cpus, cells, c.needs.cpus - again,
                     [&](const PerCell& taken) {
                       few = few &&
                             Distribute(way.left_cpus, cells, again, [&](const PerCell& reused) {
                               Way next = way;
                               Subtract(next.use.cpus, taken);
                               if (c.ends) {
                                 Add(next.left_cpus, taken);
                               } else {
                                 Subtract(next.left_cpus, reused);
                               }
                               out->push_back(std::move(next));
                             });
                     }) &&
          few && KeepDistinct(out);
  }
  return few;
}

bool Admission::TakeMemory(Way* way, const KubeletPod::Container& c, CellSet cells) const {
  if (c.needs.memory.empty() || !node_.pins_memory_) return true;
  if (!MemoryFits(*way, c.needs, cells)) return false;
  // A set of cells that fits with what is used again only must be one that is preferred.
  const bool fits_fresh =
      std::all_of(c.needs.memory.begin(), c.needs.memory.end(), [&](const auto& need) {
        const size_t r = Find(node_.memory_, need.first);
        return r == node_.memory_.size() || Sum(way->use.memory[r], cells) >= need.second;
      });
  if (!fits_fresh && std::popcount(cells) != CellsForMemory(c.needs)) return false;
  for (const auto& [name, n] : c.needs.memory) {
    const size_t r = Find(node_.memory_, name);
    if (r == node_.memory_.size()) continue;
    int64_t& left = way->left_memory[cells][r];
    int64_t take = std::max<int64_t>(0, n - left);
    left = c.ends ? std::max(left, n) : std::max<int64_t>(0, left - n);
    for (size_t i = 0; i < node_.cells_; ++i) {
      if (!Has(cells, i)) continue;
      way->use.groups[i] = cells;
      const int64_t here = std::min(take, way->use.memory[r][i]);
      way->use.memory[r][i] -= here;
      take -= here;
    }
  }
  return true;
}

bool Admission::TakeDevices(const Way& way, const KubeletPod::Container& c, CellSet cells,
                            Ways* out) const {
  Ways ways = {way};
  for (const auto& [name, n] : c.needs.devices) {
    const size_t r = Find(node_.devices_, name);
    if (r == node_.devices_.size()) continue;
    Ways next;
    for (const Way& from : ways) {
      // Those that are used again come first.
      const int64_t again = std::min(n, Sum(from.left_devices[r], cells));
      if (Sum(from.use.devices[r], cells) < n - again) return false;
      bool few = true;
      few = Distribute(from.use.devices[r], cells, n - again,
                       [&](const PerCell& taken) {
                         few = few && Distribute(from.left_devices[r], cells, again,
                                                 [&](const PerCell& reused) {
                                                   Way to = from;
                                                   Subtract(to.use.devices[r], taken);
                                                   if (c.ends) {
                                                     Add(to.left_devices[r], taken);
                                                   } else {
                                                     Subtract(to.left_devices[r], reused);
                                                   }
                                                   next.push_back(std::move(to));
                                                 });
                       }) &&
            few;
      if (!few || !KeepDistinct(&next)) return false;
    }
    ways = std::move(next);
  }
  out->insert(out->end(), ways.begin(), ways.end());
  return true;
}

bool Admission::Take(const Way& way, const KubeletPod::Container& c, CellSet cells,
                     Ways* out) const {
  Way with_memory = way;
  if (!TakeMemory(&with_memory, c, cells)) return false;
  Ways with_cpus;
  if (!TakeCpus(with_memory, c, cells, &with_cpus)) return false;
  return std::all_of(with_cpus.begin(), with_cpus.end(),
                     [&](const Way& next) { return TakeDevices(next, c, cells, out); });
}

std::optional<std::vector<CellUse>> Admission::Run(const CellUse& use,
                                                   const KubeletPod& pod) const {
  if (pod.malformed) return std::nullopt;
  const size_t sets = size_t{1} << node_.cells_;
  Ways ways = {{use,
                {},
                std::vector(sets, std::vector<int64_t>(node_.memory_.size())),
                std::vector<PerCell>(node_.devices_.size())}};
  const bool by_pod = node_.scope_ == Scope::kPod;
  const auto all = static_cast<CellSet>(sets - 1);
  // With the scope "pod" the cells are chosen once.
  std::vector<CellSet> of_pod = {all};
  if (by_pod && !IsIndifferent(pod.together)) of_pod = Choices(ways[0], pod.together);
  if (of_pod.empty()) return std::nullopt;
  std::vector<CellUse> uses;
  for (const CellSet chosen : of_pod) {
    Ways now = ways;
    for (const KubeletPod::Container& container : pod.containers) {
      if (container.needs.Empty()) continue;
      Ways next;
      for (const Way& way : now) {
        std::vector<CellSet> choices = {chosen};
        if (!by_pod && !IsIndifferent(container.needs)) choices = Choices(way, container.needs);
        if (choices.empty()) return std::nullopt;
        for (const CellSet cells : choices) {
          if (!Take(way, container, cells, &next)) return std::nullopt;
        }
      }
      if (!KeepDistinct(&next)) return std::nullopt;
      now = std::move(next);
    }
    // What init containers leave is free again when they have ended, and not before.
    for (Way& way : now) {
      CellUse ended = way.use;
      Add(ended.cpus, way.left_cpus);
      for (size_t r = 0; r < ended.devices.size(); ++r) {
        Add(ended.devices[r], way.left_devices[r]);
      }
      for (CellSet cells = 1; cells <= all; ++cells) {
        for (size_t r = 0; r < ended.memory.size(); ++r) {
          if (way.left_memory[cells][r] == 0) continue;
          // It goes back to the cells it came from; for several cells that is the first of them.
          ended.memory[r][static_cast<size_t>(std::countr_zero(cells))] +=
              way.left_memory[cells][r];
        }
      }
      uses.push_back(std::move(way.use));
      uses.push_back(std::move(ended));
    }
  }
  if (!KeepDistinct(&uses)) return std::nullopt;
  return uses;
}

}  // namespace berth::plugins::node_resource_topology
