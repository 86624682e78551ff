// OpenAPI v2 (Swagger), which kubectl before 1.27 asks for: the definitions alone, no paths. In
// JSON, and in the protobuf form (gnostic's openapi.v2) that those clients insist on.
#include <string>
#include <string_view>
#include <utility>

#include "api/codec/protozero.h"
#include "apiserver/http/discovery.h"
#include "apiserver/http/schemas.h"

namespace berth::apiserver {
namespace {

using Writer = protozero::pbf_writer;

// Field numbers of openapi.v2's messages.
constexpr uint32_t kRef = 1, kFormat = 2, kAdditional = 21, kType = 22, kItems = 23,
                   kProperties = 25, kExtension = 31;

void WriteSchema(Writer& writer, const Json& schema);

// {name, schema} for each member.
void WriteNamed(Writer& writer, const Json& schemas) {
  for (const auto& [name, schema] : schemas.Members()) {
    Writer named(writer, 1);
    named.add_string(1, name);
    Writer value(named, 2);
    WriteSchema(value, schema);
  }
}

// Values of extensions are YAML, of which JSON is a part.
void WriteExtension(Writer& writer, const std::string& name, const Json& value) {
  Writer extension(writer, kExtension);
  extension.add_string(1, name);
  Writer any(extension, 2);
  any.add_string(2, value.Dump() + "\n");
}

void WriteSchema(Writer& writer, const Json& schema) {
  for (const auto& [name, value] : schema.Members()) {
    if (name == "$ref") {
      writer.add_string(kRef, std::string(value.Str()));
    } else if (name == "format") {
      writer.add_string(kFormat, std::string(value.Str()));
    } else if (name == "type") {
      Writer type(writer, kType);
      type.add_string(1, std::string(value.Str()));
    } else if (name == "items" || name == "additionalProperties") {
      Writer item(writer, name == "items" ? kItems : kAdditional);
      Writer inner(item, 1);
      WriteSchema(inner, value);
    } else if (name == "properties") {
      Writer properties(writer, kProperties);
      WriteNamed(properties, value);
    } else if (name.starts_with("x-")) {
      WriteExtension(writer, name, value);
    }
  }
}

}  // namespace

Json DescribeOpenApiV2(const Catalog& catalog) {
  Schemas schemas(2, catalog.Fields());
  for (const Resource* resource : catalog.Served()) schemas.Add(*resource);
  return Json::MakeObject(
      {{"swagger", "2.0"},
       {"info", Json::MakeObject({{"title", "Kubernetes"}, {"version", catalog.GitVersion()}})},
       {"paths", Json::MakeObject()},
       {"definitions", std::move(schemas.all)}});
}

std::string OpenApiV2ToProtobuf(const Json& document) {
  std::string bytes;
  Writer writer(bytes);
  writer.add_string(1, std::string(document["swagger"].Str()));
  {
    Writer info(writer, 2);
    info.add_string(1, std::string(document["info"]["title"].Str()));
    info.add_string(2, std::string(document["info"]["version"].Str()));
  }
  { Writer paths(writer, 8); }
  Writer definitions(writer, 9);
  WriteNamed(definitions, document["definitions"]);
  definitions.commit();
  return bytes;
}

}  // namespace berth::apiserver
