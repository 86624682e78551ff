#include "api/codec/yaml.h"

#include <optional>

#include "api/codec/yaml_events.h"
#include "api/codec/yaml_stream.h"
#include "api/codec/yaml_tree.h"
#include "api/go/go_text.h"

namespace berth::api {
namespace {

// Reads the stream document by document. The first document that needs a tree makes it read the
// text once more from the start, skip what was handed out and use trees from there on: never more
// than two readings.
class Reader {
 public:
  Reader(std::string_view text, YamlOptions options)
      : text_(text), options_(options), stream_(options), tree_(options, text.size()) {
    events_.emplace(text);
  }

  // The JSON of the next document, or nothing at the end of the stream.
  Result<std::optional<std::string>> Next() {
    auto started = StartDocument();
    if (!started) return Fail(started.error());
    if (!*started) return std::optional<std::string>();
    if (!use_tree_) {
      const auto outcome = stream_.Convert(*events_);
      if (!outcome) return Fail(outcome.error());
      if (*outcome == yaml::StreamConverter::Outcome::kDone) {
        ++documents_;
        return std::optional(stream_.TakeJson());
      }
      use_tree_ = true;
      if (auto reread = Reread(); !reread) return Fail(reread.error());
    }
    auto json = tree_.Convert(*events_);
    if (!json) return Fail(json.error());
    ++documents_;
    return std::optional(std::move(*json));
  }

 private:
  // Moves to the start of the next document; false at the end of the stream.
  Result<bool> StartDocument() {
    do {
      if (auto next = events_->Next(); !next) return Fail(next.error());
      if (events_->Current().type == YAML_STREAM_END_EVENT) return false;
    } while (events_->Current().type != YAML_DOCUMENT_START_EVENT);
    return true;
  }

  Result<void> Reread() {
    events_.emplace(text_);
    for (size_t seen = 0; seen <= documents_; ++seen) {
      if (auto started = StartDocument(); !started) return Fail(started.error());
    }
    return {};
  }

  std::string_view text_;
  YamlOptions options_;
  std::optional<yaml::Events> events_;
  yaml::StreamConverter stream_;
  yaml::TreeConverter tree_;
  bool use_tree_ = false;
  size_t documents_ = 0;
};

}  // namespace

Result<std::string> YamlToJson(std::string_view text, YamlOptions options) {
  Reader reader(text, options);
  auto json = reader.Next();
  if (!json) return Fail(json.error());
  return std::move(*json).value_or("null");
}

Result<void> ForEachYamlDocument(std::string_view text, const YamlConsumer& consume,
                                 YamlOptions options) {
  Reader reader(text, options);
  for (size_t index = 0;; ++index) {
    auto json = reader.Next();
    if (!json) return Fail(json.error());
    if (!*json) return {};
    if (**json == "null") continue;
    if (auto consumed = consume(index, std::move(**json)); !consumed) return consumed;
  }
}

bool LooksLikeJson(std::string_view text) {
  for (size_t i = 0; i < text.size();) {
    bool valid;
    const uint32_t c = DecodeUtf8(text, &i, &valid);
    const bool space = c == ' ' || (c >= '\t' && c <= '\r') || c == 0x85 || c == 0xA0 ||
                       c == 0x1680 || (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 ||
                       c == 0x202F || c == 0x205F || c == 0x3000;
    if (!space) return c == '{';
  }
  return false;
}

}  // namespace berth::api
