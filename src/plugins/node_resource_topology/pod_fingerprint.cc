#include "plugins/node_resource_topology/pod_fingerprint.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include <fmt/format.h>

namespace berth::plugins::node_resource_topology {
namespace {

static_assert(std::endian::native == std::endian::little, "XXH64 reads little-endian words");

constexpr uint64_t kPrime1 = 0x9E3779B185EBCA87;
constexpr uint64_t kPrime2 = 0xC2B2AE3D27D4EB4F;
constexpr uint64_t kPrime3 = 0x165667B19E3779F9;
constexpr uint64_t kPrime4 = 0x85EBCA77C2B2AE63;
constexpr uint64_t kPrime5 = 0x27D4EB2F165667C5;

// Takes a T off the front.
template <class T>
T Read(std::string_view* bytes) {
  T value;
  std::memcpy(&value, bytes->data(), sizeof value);
  bytes->remove_prefix(sizeof value);
  return value;
}

uint64_t Round(uint64_t lane, uint64_t word) {
  return std::rotl(lane + word * kPrime2, 31) * kPrime1;
}

// The part that is a multiple of 32 bytes long.
uint64_t HashStripes(std::string_view* bytes, uint64_t seed) {
  std::array<uint64_t, 4> lanes = {seed + kPrime1 + kPrime2, seed + kPrime2, seed, seed - kPrime1};
  while (bytes->size() >= 32) {
    for (uint64_t& lane : lanes) lane = Round(lane, Read<uint64_t>(bytes));
  }
  uint64_t hash = std::rotl(lanes[0], 1) + std::rotl(lanes[1], 7) + std::rotl(lanes[2], 12) +
                  std::rotl(lanes[3], 18);
  for (const uint64_t lane : lanes) hash = (hash ^ Round(0, lane)) * kPrime1 + kPrime4;
  return hash;
}

}  // namespace

uint64_t XxHash64(std::string_view bytes, uint64_t seed) {
  const size_t size = bytes.size();
  uint64_t hash = size >= 32 ? HashStripes(&bytes, seed) : seed + kPrime5;
  hash += size;
  while (bytes.size() >= 8) {
    hash = std::rotl(hash ^ Round(0, Read<uint64_t>(&bytes)), 27) * kPrime1 + kPrime4;
  }
  if (bytes.size() >= 4) {
    hash = std::rotl(hash ^ (Read<uint32_t>(&bytes) * kPrime1), 23) * kPrime2 + kPrime3;
  }
  while (!bytes.empty()) hash = std::rotl(hash ^ (Read<uint8_t>(&bytes) * kPrime5), 11) * kPrime1;
  hash = (hash ^ (hash >> 33)) * kPrime2;
  hash = (hash ^ (hash >> 29)) * kPrime3;
  return hash ^ (hash >> 32);
}

void PodFingerprint::Add(std::string_view namespace_, std::string_view name) {
  pods_.push_back(XxHash64(name, XxHash64(namespace_, 0)));
}

std::string PodFingerprint::Sign() const {
  std::vector<uint64_t> sorted = pods_;
  std::sort(sorted.begin(), sorted.end());
  std::string bytes(sorted.size() * sizeof(uint64_t), '\0');
  if (!sorted.empty()) std::memcpy(bytes.data(), sorted.data(), bytes.size());
  return fmt::format("pfp0v001{:016x}", XxHash64(bytes, 0));
}

}  // namespace berth::plugins::node_resource_topology
