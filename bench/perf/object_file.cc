#include "bench/perf/object_file.h"

#include <utility>

#include "api/codec/yaml.h"

namespace berth::bench {
namespace {

// Go's decoder does not mind the case of field names, and these of the suite's are in the wrong
// one.
void CorrectCase(std::string& text) {
  for (const std::string_view wrong : {"NodeAffinityPolicy:", "NodeTaintsPolicy:"}) {
    for (size_t at = text.find(wrong); at != std::string::npos; at = text.find(wrong, at + 1)) {
      text[at] = 'n';
    }
  }
}

}  // namespace

Result<ObjectFile> ObjectFile::Parse(std::string name, std::string text) {
  ObjectFile file;
  file.name_ = std::move(name);
  CorrectCase(text);
  auto parsed = Template::Parse(text);
  if (!parsed) return Fail(parsed.error().In(file.name_));
  file.template_ = std::move(*parsed);
  if (file.template_.IsConstant()) {
    auto object = file.Decode(0, 1);
    if (!object) return Fail(object.error());
    file.constant_ = std::move(*object);
  }
  return file;
}

Result<api::Object> ObjectFile::Make(int64_t index, int64_t count) const {
  if (constant_) return *constant_;
  return Decode(index, count);
}

Result<api::Object> ObjectFile::Decode(int64_t index, int64_t count) const {
  const auto text = template_.Render(index, count);
  if (!text) return Fail(text.error().In(name_));
  const auto json = api::YamlToJson(*text);
  if (!json) return Fail(json.error().In(name_));
  auto object = api::DecodeObject(*json);
  if (!object) return Fail(object.error().In(name_));
  return object;
}

}  // namespace berth::bench
