#include "apiserver/wire/message.h"

#include <charconv>
#include <memory>
#include <string>
#include <utility>

namespace berth::apiserver::wire {
namespace {

constexpr std::string_view kLines =
#include "apiserver/wire/messages.inc"
    ;

std::string_view Cut(std::string_view& text, char separator) {
  const size_t end = text.find(separator);
  const std::string_view part = text.substr(0, end);
  text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
  return part;
}

config::Gate GateOf(const config::Feature& feature) {
  return static_cast<config::Gate>(&feature - config::KnownFeatures().data());
}

class Table {
 public:
  Table() {
    std::vector<std::pair<Message*, std::string_view>> lines;
    for (std::string_view rest = kLines; !rest.empty();) {
      std::string_view line = Cut(rest, '\n');
      auto message = std::make_unique<Message>();
      message->name = Cut(line, ' ');
      lines.emplace_back(message.get(), line);
      messages_.emplace(message->name, std::move(message));
    }
    for (auto& [message, fields] : lines) {
      while (!fields.empty()) AddField(*message, Cut(fields, ' '));
    }
  }

  const Message* Find(std::string_view name) const {
    const auto it = messages_.find(name);
    return it == messages_.end() ? nullptr : it->second.get();
  }

 private:
  // NUMBER:NAME:FLAGS:TYPE[:STRATEGY:KEY][@RELEASES][?GATES]
  void AddField(Message& message, std::string_view text) {
    Field field;
    std::string_view gates = text;
    text = Cut(gates, '?');
    std::string_view releases = text;
    text = Cut(releases, '@');
    if (!releases.empty()) {
      std::from_chars(releases.data(), releases.data() + releases.size(), field.releases, 16);
    }
    while (!gates.empty()) {
      const config::Feature* gate = config::FindFeature(Cut(gates, ','));
      if (gate) field.gates.push_back(GateOf(*gate));
    }
    const std::string_view number = Cut(text, ':');
    std::from_chars(number.data(), number.data() + number.size(), field.number);
    field.name = Cut(text, ':');
    for (const char flag : Cut(text, ':')) {
      field.pointer |= flag == 'p';
      field.repeated |= flag == 'r';
      field.map |= flag == 'm';
      field.keeps_zero |= flag == 'z';
      field.inlined |= flag == 'i';
    }
    SetType(field, Cut(text, ':'));
    field.patch_strategy = Cut(text, ':');
    field.merge_key = text;
    if (!field.inlined) {
      message.by_name.emplace(field.name, static_cast<uint32_t>(message.fields.size()));
    }
    message.fields.push_back(field);
  }

  void SetType(Field& field, std::string_view type) {
    static constexpr std::pair<std::string_view, Type> kTypes[] = {
        {"s", Type::kText},
        {"i", Type::kInt},
        {"b", Type::kBool},
        {"y", Type::kBytes},
        {"d", Type::kDouble},
        {"w", Type::kTexts},
        {"Quantity", Type::kQuantity},
        {"IntOrString", Type::kIntOrString},
        {"Raw", Type::kRaw},
        {"Time", Type::kTime},
        {"MicroTime", Type::kMicroTime},
        {"Duration", Type::kDuration}};
    for (const auto& [name, kind] : kTypes) {
      if (name == type) {
        field.type = kind;
        return;
      }
    }
    field.message = Find(type);
    // A message without fields of its own: nothing of it is translated.
    field.type = field.message ? Type::kMessage : Type::kRaw;
  }

  boost::unordered_flat_map<std::string_view, std::unique_ptr<Message>> messages_;
};

}  // namespace

const Field* Message::Find(std::string_view json_name) const {
  const auto it = by_name.find(json_name);
  return it == by_name.end() ? nullptr : &fields[it->second];
}

const Field* Message::Find(uint32_t number) const {
  for (const Field& field : fields) {
    if (field.number == number) return &field;
  }
  return nullptr;
}

Served::Served(const config::FeatureGates& gates)
    : release_(static_cast<uint8_t>(1u << static_cast<unsigned>(config::Behaviour(gates).release))),
      off_(config::KnownFeatures().size()) {
  for (const config::FeatureGates::Value& value : gates.All()) {
    off_[static_cast<size_t>(GateOf(*config::FindFeature(value.name)))] = !value.enabled;
  }
}

bool Served::Keeps(const Field& field) const {
  if (!Knows(field)) return false;
  for (const config::Gate gate : field.gates) {
    if (off_[static_cast<size_t>(gate)]) return false;
  }
  return true;
}

const Message* FindMessage(std::string_view group, std::string_view version,
                           std::string_view kind) {
  static const Table kTable;
  std::string name(group.empty() ? "core" : group.substr(0, group.find('.')));
  name.append(".").append(version).append(".").append(kind);
  return kTable.Find(name);
}

}  // namespace berth::apiserver::wire
