// libyaml's event stream with go-yaml's error messages.
#pragma once

#include <yaml.h>

#include <string>
#include <string_view>

#include "base/error.h"

namespace berth::api::yaml {

// An empty view for libyaml's null pointers.
inline std::string_view View(const yaml_char_t* text) {
  return text == nullptr ? std::string_view() : reinterpret_cast<const char*>(text);
}

class Events {
 public:
  // `text` must outlive the object. An empty text reads as one line break.
  explicit Events(std::string_view text);
  ~Events();
  Events(const Events&) = delete;
  Events& operator=(const Events&) = delete;

  // Moves to the next event. After an error or the end of the stream it must not be called again.
  Result<void> Next();
  // The current event; valid until the next call of Next().
  const yaml_event_t& Current() const { return event_; }

  // The scalar text of the current event, which may hold NUL characters.
  std::string_view ScalarValue() const;
  // The line of the current event's start, counted from 1.
  size_t Line() const { return event_.start_mark.line + 1; }

 private:
  Result<void> Enter();
  Error ParserError() const;

  yaml_parser_t parser_;
  yaml_event_t event_;
  size_t depth_ = 0;
  size_t flow_depth_ = 0;  // how many of them are in brackets
};

}  // namespace berth::api::yaml
