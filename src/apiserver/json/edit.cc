#include "apiserver/json/edit.h"

#include <algorithm>
#include <array>

namespace berth::apiserver {
namespace {

// The place after the string that begins at `pos`.
size_t SkipString(std::string_view text, size_t pos) {
  const char* at = text.data() + pos + 1;
  const char* const end = text.data() + text.size();
  while (at < end && *at != '"') at += *at == '\\' ? 2 : 1;
  return at < end ? static_cast<size_t>(at - text.data()) + 1 : text.size();
}

// What the place after a value is found by.
constexpr std::array<bool, 256> kStructure = [] {
  std::array<bool, 256> marks{};
  for (const char c : {'"', '{', '}', '[', ']', ','}) marks[static_cast<unsigned char>(c)] = true;
  return marks;
}();

// The place after the value that begins at `pos`.
size_t SkipValue(std::string_view text, size_t pos) {
  size_t depth = 0;
  while (pos < text.size()) {
    const char c = text[pos];
    if (!kStructure[static_cast<unsigned char>(c)]) {
      ++pos;
    } else if (c == '"') {
      pos = SkipString(text, pos);
      if (depth == 0) return pos;
    } else if (c == '{' || c == '[') {
      ++depth;
      ++pos;
    } else if (depth == 0) {
      return pos;  // after a number or a word
    } else {
      ++pos;
      if (c != ',' && --depth == 0) return pos;
    }
  }
  return text.size();
}

std::string_view Head(std::string_view path) { return path.substr(0, path.find('.')); }

std::string_view Rest(std::string_view path) {
  const size_t dot = path.find('.');
  return dot == std::string_view::npos ? std::string_view() : path.substr(dot + 1);
}

// Walks over the members of an object's text.
class Members {
 public:
  explicit Members(std::string_view object) : text_(object) {}

  // Moves to the next member. False: there is none.
  bool Next() {
    if (pos_ >= text_.size() || (text_[pos_] != '{' && text_[pos_] != ',')) return false;
    const size_t name_at = pos_ + 1;
    if (name_at >= text_.size() || text_[name_at] != '"') return false;
    const size_t name_end = SkipString(text_, name_at);
    name_ = text_.substr(name_at + 1, name_end - name_at - 2);
    value_at_ = name_end + 1;
    pos_ = text_.size();
    return value_at_ < text_.size();
  }
  std::string_view Name() const { return name_; }
  // The text from the member's value on, also behind it.
  std::string_view FromValue() const { return text_.substr(value_at_); }
  // What follows the members so far: ",…}", "{…}" or "}".
  std::string_view Left() const { return text_.substr(std::min(pos_, text_.size())); }
  // To be called once for each member: moves on.
  std::string_view Value() {
    pos_ = SkipValue(text_, value_at_);
    return text_.substr(value_at_, pos_ - value_at_);
  }

 private:
  std::string_view text_;
  size_t pos_ = 0;
  size_t value_at_ = 0;
  std::string_view name_;
};

class Editor {
 public:
  explicit Editor(std::string& out) : out_(out) {}

  // Writes the object with the edits, whose paths lead on from it after `depth` bytes.
  void Object(std::string_view object, std::span<const Edit> edits, size_t depth) {
    out_ += '{';
    Members members(object);
    while (!edits.empty() && members.Next()) {
      while (!edits.empty() && HeadOf(edits[0], depth) < members.Name()) {
        edits = Insert(edits, depth);
      }
      const std::string_view value = members.Value();
      const size_t group = GroupSize(edits, depth, members.Name());
      const bool within = group > 0 && !IsLast(edits[0], depth);
      if (within && value[0] == '{') {
        Name(members.Name());
        Object(value, edits.first(group), depth + members.Name().size() + 1);
      } else if (group == 0 || (within && !Gives(edits.first(group)))) {
        Name(members.Name());
        out_ += value;
      } else {
        Insert(edits, depth);
      }
      edits = edits.subspan(group);
    }
    while (!edits.empty()) edits = Insert(edits, depth);
    // No further member changes.
    std::string_view left = members.Left();
    if (!left.starts_with('}')) left.remove_prefix(1);
    if (left.size() > 1 && out_.back() != '{') out_ += ',';
    out_ += left;
  }

 private:
  static std::string_view HeadOf(const Edit& edit, size_t depth) {
    return Head(edit.path.substr(depth));
  }
  static bool IsLast(const Edit& edit, size_t depth) {
    return edit.path.find('.', depth) == std::string_view::npos;
  }
  // How many of the first edits are about the member.
  static size_t GroupSize(std::span<const Edit> edits, size_t depth, std::string_view name) {
    size_t size = 0;
    while (size < edits.size() && HeadOf(edits[size], depth) == name) ++size;
    return size;
  }

  static bool GivesValue(const Edit& edit) { return !edit.text.empty() || !edit.value.IsNull(); }
  static bool Gives(std::span<const Edit> edits) {
    return std::any_of(edits.begin(), edits.end(),
                       [](const Edit& edit) { return GivesValue(edit); });
  }

  // `name` as it is written.
  void Name(std::string_view name) {
    if (out_.back() != '{') out_ += ',';
    out_ += '"';
    out_ += name;
    out_ += "\":";
  }

  // Writes what the first edits make of a member that is not there; the edits after them.
  std::span<const Edit> Insert(std::span<const Edit> edits, size_t depth) {
    const std::string_view name = HeadOf(edits[0], depth);
    const size_t group = GroupSize(edits, depth, name);
    if (IsLast(edits[0], depth)) {
      if (GivesValue(edits[0])) {
        Name(name);
        edits[0].text.empty() ? edits[0].value.AppendTo(out_) : (void)(out_ += edits[0].text);
      }
      return edits.subspan(group);
    }
    if (Gives(edits.first(group))) {
      Name(name);
      Object("{}", edits.first(group), depth + name.size() + 1);
    }
    return edits.subspan(group);
  }

  std::string& out_;
};

}  // namespace

std::string_view FindText(std::string_view object, std::string_view path) {
  const std::string_view name = Head(path);
  Members members(object);
  while (members.Next() && members.Name() <= name) {
    if (members.Name() < name) {
      members.Value();
      continue;
    }
    const std::string_view rest = Rest(path);
    if (rest.empty()) return members.Value();
    const std::string_view inner = members.FromValue();
    return inner.starts_with('{') ? FindText(inner, rest) : std::string_view();
  }
  return {};
}

Json FindValue(std::string_view object, std::string_view path) {
  const std::string_view text = FindText(object, path);
  if (text.empty()) return {};
  return Json::Parse(text).value_or(Json());
}

void ForEachMember(
    std::string_view object,
    const std::function<void(std::string_view name, std::string_view value)>& visit) {
  Members members(object);
  while (members.Next()) {
    const std::string_view name = members.Name();
    visit(name, members.Value());
  }
}

std::string EditText(std::string_view object, std::span<const Edit> edits) {
  std::string out;
  out.reserve(object.size() + 256);
  AppendEdited(object, edits, out);
  return out;
}

void AppendEdited(std::string_view object, std::span<const Edit> edits, std::string& out) {
  Editor(out).Object(object, edits, 0);
}

void EditValue(Json& object, std::span<const Edit> edits) {
  for (const Edit& edit : edits) {
    const Json value = edit.text.empty() ? edit.value : Json::Parse(edit.text).value_or(Json());
    Json* at = &object;
    std::string_view path = edit.path;
    for (; at && !Rest(path).empty(); path = Rest(path)) {
      // What goes needs nothing on the way to it.
      at = value.IsNull() ? at->Find(Head(path)) : &at->At(Head(path));
    }
    if (!at) continue;
    value.IsNull() ? (void)at->Erase(path) : (void)at->Set(path, value);
  }
}

}  // namespace berth::apiserver
