// Reading and changing a few fields of an object's text, without building values of the rest.
//
// Most writes to a large cluster touch little of an object: a binding names a node, a kubelet gives
// the status, copies of a pod have other names. Copying the text around those fields takes a tenth
// of the time that parsing and writing it anew does.
//
// REQUIRES, everywhere: `object` is an object as Json writes it: well formed, without blanks, its
// members sorted. Names in paths ("spec.nodeName") are plain letters.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "apiserver/json/value.h"

namespace berth::apiserver {

struct Edit {
  std::string_view path;
  Json value = {};        // null: the member goes
  std::string text = {};  // instead of a value: its text, as Json would write it
};

// The text of the value at that path; empty: there is none.
std::string_view FindText(std::string_view object, std::string_view path);

// The value at that path; null: there is none.
Json FindValue(std::string_view object, std::string_view path);

// Calls `visit` with the name (as it is written, without quotes) and the value of each member.
void ForEachMember(std::string_view object,
                   const std::function<void(std::string_view name, std::string_view value)>& visit);

// The object with the edits made; objects on the way that are absent are made.
// REQUIRES: edits are in the order of their paths, and no path leads into another.
std::string EditText(std::string_view object, std::span<const Edit> edits);
// The same, appended to `out`.
void AppendEdited(std::string_view object, std::span<const Edit> edits, std::string& out);
// The same edits of a value.
void EditValue(Json& object, std::span<const Edit> edits);

}  // namespace berth::apiserver
