#include "api/codec/yaml_stream.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "api/codec/yaml_errors.h"
#include "api/go/go_text.h"

namespace berth::api::yaml {
namespace {

bool HasAnchor(const yaml_event_t& event) {
  switch (event.type) {
    case YAML_ALIAS_EVENT:
      return true;
    case YAML_SCALAR_EVENT:
      return event.data.scalar.anchor != nullptr;
    case YAML_SEQUENCE_START_EVENT:
      return event.data.sequence_start.anchor != nullptr;
    case YAML_MAPPING_START_EVENT:
      return event.data.mapping_start.anchor != nullptr;
    default:
      return false;
  }
}

}  // namespace

void StreamConverter::Reset() {
  json_.clear();
  keys_.clear();
  frames_.clear();
  members_.clear();
  reordered_.clear();
  duplicates_.clear();
  failure_.clear();
  json_failure_.clear();
}

Result<StreamConverter::Outcome> StreamConverter::Convert(Events& events) {
  Reset();
  while (true) {
    if (auto next = events.Next(); !next) return Fail(next.error());
    if (events.Current().type == YAML_DOCUMENT_END_EVENT) break;
    if (OnEvent(events) == Outcome::kNeedsTree) return Outcome::kNeedsTree;
  }
  if (auto verdict = Verdict(); !verdict) return Fail(verdict.error());
  return Outcome::kDone;
}

StreamConverter::Outcome StreamConverter::OnEvent(const Events& events) {
  const yaml_event_t& event = events.Current();
  if (HasAnchor(event)) return Outcome::kNeedsTree;
  const bool key = !frames_.empty() && frames_.back().is_mapping && frames_.back().expects_key;
  switch (event.type) {
    case YAML_SCALAR_EVENT:
      return key ? OnKey(events) : OnScalar(events);
    case YAML_SEQUENCE_START_EVENT:
    case YAML_MAPPING_START_EVENT:
      if (key) return Outcome::kNeedsTree;
      BeginValue(events.Line());
      Open(event.type == YAML_MAPPING_START_EVENT);
      break;
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT:
      Close();
      break;
    default:
      break;
  }
  return Outcome::kDone;
}

StreamConverter::Outcome StreamConverter::OnKey(const Events& events) {
  const auto& scalar = events.Current().data.scalar;
  const std::string_view value = events.ScalarValue();
  const std::string_view tag = View(scalar.tag);
  if (IsMergeKey(tag, value, scalar.plain_implicit != 0)) return Outcome::kNeedsTree;
  const auto resolved = ResolveScalar(tag, value, scalar.plain_implicit != 0, scratch_);
  if (!resolved) return Outcome::kNeedsTree;

  Frame& frame = frames_.back();
  Member member;
  member.key_kind = resolved->kind;
  member.key_begin = keys_.size();
  switch (resolved->kind) {
    case Kind::kString:
      keys_ += resolved->text;
      break;
    case Kind::kInt:
    case Kind::kBool:
      AppendJson(keys_, *resolved);
      break;
    default:
      return Outcome::kNeedsTree;
  }
  member.key_end = keys_.size();
  if (frame.count++ > 0) json_ += ',';
  member.begin = json_.size();
  if (members_.size() > frame.first_member) {
    frame.in_order = frame.in_order && KeyOf(members_.back()) < KeyOf(member);
  }
  AppendJsonString(json_, KeyOf(member));
  json_ += ':';
  members_.push_back(member);
  frame.expects_key = false;
  return Outcome::kDone;
}

StreamConverter::Outcome StreamConverter::OnScalar(const Events& events) {
  const auto& scalar = events.Current().data.scalar;
  BeginValue(events.Line());
  const auto resolved =
      ResolveScalar(View(scalar.tag), events.ScalarValue(), scalar.plain_implicit != 0, scratch_);
  if (!resolved) {
    if (failure_.empty()) failure_ = resolved.error().Message();
  } else if (resolved->kind == Kind::kFloat && !std::isfinite(resolved->real)) {
    if (json_failure_.empty()) json_failure_ = UnsupportedValue(resolved->real);
  } else {
    AppendJson(json_, *resolved);
  }
  EndValue();
  return Outcome::kDone;
}

// Called before a value is written: the comma between elements, the line for a member's duplicate
// error.
void StreamConverter::BeginValue(size_t line) {
  if (frames_.empty()) return;
  Frame& frame = frames_.back();
  if (frame.is_mapping) {
    members_.back().value_line = line;
  } else if (frame.count++ > 0) {
    json_ += ',';
  }
}

void StreamConverter::EndValue() {
  if (frames_.empty() || !frames_.back().is_mapping) return;
  members_.back().end = json_.size();
  frames_.back().expects_key = true;
}

void StreamConverter::Open(bool is_mapping) {
  Frame frame;
  frame.is_mapping = is_mapping;
  frame.begin = json_.size();
  frame.first_member = members_.size();
  frame.first_key = keys_.size();
  frames_.push_back(frame);
  json_ += is_mapping ? '{' : '[';
}

void StreamConverter::Close() {
  const Frame frame = frames_.back();
  frames_.pop_back();
  json_ += frame.is_mapping ? '}' : ']';
  if (frame.is_mapping) {
    if (!frame.in_order) CloseMapping(frame);
    members_.resize(frame.first_member);
    keys_.resize(frame.first_key);
  }
  EndValue();
}

std::string_view StreamConverter::KeyOf(const Member& member) const {
  return std::string_view(keys_).substr(member.key_begin, member.key_end - member.key_begin);
}

void StreamConverter::CloseMapping(const Frame& frame) {
  std::vector<Member> sorted(members_.begin() + static_cast<ptrdiff_t>(frame.first_member),
                             members_.end());
  std::stable_sort(sorted.begin(), sorted.end(),
                   [this](const Member& a, const Member& b) { return KeyOf(a) < KeyOf(b); });
  if (options_.strict) FindDuplicates(sorted);
  size_t kept = 0;
  for (size_t i = 0; i < sorted.size(); ++i) {
    if (i + 1 < sorted.size() && KeyOf(sorted[i]) == KeyOf(sorted[i + 1])) continue;
    sorted[kept++] = sorted[i];
  }
  sorted.resize(kept);
  reordered_.push_back({frame.begin, json_.size(), std::move(sorted)});
}

// Keys of different types are different even if their texts are equal.
void StreamConverter::FindDuplicates(const std::vector<Member>& sorted) {
  for (size_t begin = 0; begin < sorted.size();) {
    size_t end = begin + 1;
    while (end < sorted.size() && KeyOf(sorted[begin]) == KeyOf(sorted[end])) ++end;
    bool seen[3] = {false, false, false};
    for (size_t i = begin; i < end && end - begin > 1; ++i) {
      const Kind kind = sorted[i].key_kind;
      bool& before = seen[kind == Kind::kString ? 0 : kind == Kind::kInt ? 1 : 2];
      if (before) {
        const std::string_view key = KeyOf(sorted[i]);
        duplicates_.push_back(
            {sorted[i].end, DuplicateKey(sorted[i].value_line,
                                         kind == Kind::kString ? GoQuote(key) : std::string(key))});
      }
      before = true;
    }
    begin = end;
  }
}

Result<void> StreamConverter::Verdict() {
  if (!failure_.empty()) return Fail("yaml: " + failure_);
  if (!duplicates_.empty()) {
    std::sort(duplicates_.begin(), duplicates_.end(),
              [](const Duplicate& a, const Duplicate& b) { return a.position < b.position; });
    std::vector<std::string> texts;
    for (Duplicate& duplicate : duplicates_) texts.push_back(std::move(duplicate.text));
    return Fail(UnmarshalErrors(texts));
  }
  if (!json_failure_.empty()) return Fail(json_failure_);
  return {};
}

std::string StreamConverter::TakeJson() {
  if (reordered_.empty()) return std::move(json_);
  std::sort(reordered_.begin(), reordered_.end(),
            [](const Reordered& a, const Reordered& b) { return a.begin < b.begin; });
  std::string out;
  out.reserve(json_.size());
  Emit(out, 0, json_.size());
  return out;
}

// Copies [begin, end) of json_ with the reordered mappings in it put into order. Recursion is
// bounded by the nesting.
void StreamConverter::Emit(std::string& out, size_t begin, size_t end) const {
  const auto before = [](const Reordered& r, size_t position) { return r.begin < position; };
  auto it = std::lower_bound(reordered_.begin(), reordered_.end(), begin, before);
  while (it != reordered_.end() && it->begin < end) {
    const Reordered& mapping = *it;
    out.append(json_, begin, mapping.begin - begin);
    out += '{';
    for (size_t i = 0; i < mapping.members.size(); ++i) {
      if (i > 0) out += ',';
      Emit(out, mapping.members[i].begin, mapping.members[i].end);
    }
    out += '}';
    begin = mapping.end;
    it = std::lower_bound(it, reordered_.end(), begin, before);
  }
  out.append(json_, begin, end - begin);
}

}  // namespace berth::api::yaml
