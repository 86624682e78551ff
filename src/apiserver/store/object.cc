#include "apiserver/store/object.h"

#include <utility>

namespace berth::apiserver {
namespace {

const Json& Walk(const Json& object, std::string_view path) {
  const Json* at = &object;
  while (!path.empty()) {
    const size_t dot = path.find('.');
    at = &(*at)[path.substr(0, dot)];
    path = dot == std::string_view::npos ? std::string_view() : path.substr(dot + 1);
  }
  return *at;
}

// What a field selector compares with, of the value of a field.
std::string FieldText(std::string_view field, const Json& value) {
  if (value.IsString()) return std::string(value.Str());
  if (field == "spec.unschedulable" || field == "spec.hostNetwork") {
    return value.Bool() ? "true" : "false";
  }
  if (field == "status.replicas" || field == "status.succeeded") return std::to_string(value.Int());
  return value.IsNull() ? "" : value.Dump();
}

// The value a field selector compares with. Names that are no paths are Kubernetes' own.
std::string FieldValue(const Json& object, std::string_view field) {
  if (field == "source") {
    const std::string_view component = object["source"]["component"].Str();
    return std::string(component.empty() ? object["reportingComponent"].Str() : component);
  }
  if (field == "status.successful") field = "status.succeeded";
  return FieldText(field, Walk(object, field));
}

bool IsReady(const Json& conditions) {
  for (const Json& condition : conditions.Items()) {
    if (condition["type"].Str() == "Ready") return condition["status"].Str() == "True";
  }
  return false;
}

// A condition that is so, in the order of its members. In texts quotes have a backslash.
constexpr std::string_view kReady = R"("status":"True","type":"Ready")";

// Takes what the edit says of the fields of the object.
void Note(const Resource& resource, const Edit& edit, StoredObject& object) {
  const std::string_view path = edit.path;
  if (path == "metadata.name") object.name = edit.value.Str();
  if (path == "metadata.uid") object.uid = edit.value.Str();
  if (path == "status") object.ready = IsReady(edit.value["conditions"]);
  if (path == "status.conditions") {
    object.ready =
        edit.text.empty() ? IsReady(edit.value) : edit.text.find(kReady) != std::string::npos;
  }
  for (size_t i = 0; i < resource.selectable.size(); ++i) {
    const std::string_view field = resource.selectable[i];
    if (!field.starts_with(path)) continue;
    if (field.size() == path.size()) {
      object.fields[i] = FieldText(field, edit.value);
    } else if (field[path.size()] == '.') {
      object.fields[i] = FieldText(field, Walk(edit.value, field.substr(path.size() + 1)));
    }
  }
}

}  // namespace

Json StoredObject::Value() const { return Json::Parse(text).value_or(Json()); }

api::StringMap ToStringMap(const Json& object) {
  api::StringMap map;
  map.reserve(object.Members().size());
  for (const Json::Member& member : object.Members()) {
    if (member.value.IsString()) {
      map.emplace_hint(map.end(), member.name, std::string(member.value.Str()));
    }
  }
  return map;
}

ObjectPtr MakeStoredObject(const Resource& resource, const Json& object, uint64_t version) {
  auto stored = std::make_shared<StoredObject>();
  const Json& metadata = object["metadata"];
  thread_local std::string text;
  text.clear();
  object.AppendTo(text);
  stored->text = text;
  stored->namespace_ = metadata["namespace"].Str();
  stored->name = metadata["name"].Str();
  stored->uid = metadata["uid"].Str();
  stored->version = version;
  stored->labels = ToStringMap(metadata["labels"]);
  for (const Json& owner : metadata["ownerReferences"].Items()) {
    stored->owners.emplace_back(owner["uid"].Str());
    if (owner["controller"].Bool()) stored->controller = owner["uid"].Str();
  }
  stored->deleting = !metadata["deletionTimestamp"].IsNull();
  stored->ready = IsReady(object["status"]["conditions"]);
  stored->fields.reserve(resource.selectable.size());
  for (const std::string& field : resource.selectable) {
    stored->fields.push_back(FieldValue(object, field));
  }
  return stored;
}

ObjectPtr DeriveStoredObject(const Resource& resource, const StoredObject& from,
                             std::span<const Edit> edits, uint64_t version) {
  auto stored = std::make_shared<StoredObject>(StoredObject{.text = {},
                                                            .namespace_ = from.namespace_,
                                                            .name = from.name,
                                                            .uid = from.uid,
                                                            .version = version,
                                                            .labels = from.labels,
                                                            .fields = from.fields,
                                                            .owners = from.owners,
                                                            .controller = from.controller,
                                                            .deleting = from.deleting,
                                                            .ready = from.ready});
  // Large pieces of memory are slow to come by: the text is put together in one that stays.
  thread_local std::string text;
  text.clear();
  AppendEdited(from.text, edits, text);
  stored->text = text;
  for (const Edit& edit : edits) Note(resource, edit, *stored);
  return stored;
}

std::string ObjectKey(std::string_view namespace_, std::string_view name) {
  if (namespace_.empty()) return std::string(name);
  std::string key;
  key.reserve(namespace_.size() + 1 + name.size());
  key.append(namespace_);
  key += '/';
  key.append(name);
  return key;
}

}  // namespace berth::apiserver
