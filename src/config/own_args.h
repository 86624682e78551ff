// OwnArgs: plugin arguments of a type that is described by a row of scheduler_plugins.cc.
//
// A type T says everything about itself, so a new one is a struct and a row:
//
//   static constexpr std::string_view kPlugin;           // the kind is this and "Args"
//   static const api::TypeInfo& Type();
//   void SetDefaults();                                  // fills in what was absent or empty
//   void Validate(std::vector<std::string>& errors) const;  // as the plugin's constructor does
//   bool operator==
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/codec/schema.h"

namespace berth::config {

// What the configuration does with one argument type.
struct ArgsRow {
  std::string_view plugin;
  const api::TypeInfo& (*type)();
  std::shared_ptr<void> (*make)();
  std::shared_ptr<void> (*copy)(const void*);
  bool (*equal)(const void*, const void*);
  void (*set_defaults)(void*);
  void (*validate)(const void*, std::vector<std::string>&);
};

template <class T>
const ArgsRow& ArgsRowOf() {
  static constexpr ArgsRow kRow{
      T::kPlugin,
      []() -> const api::TypeInfo& { return T::Type(); },
      []() -> std::shared_ptr<void> { return std::make_shared<T>(); },
      [](const void* from) -> std::shared_ptr<void> {
        return std::make_shared<T>(*static_cast<const T*>(from));
      },
      [](const void* a, const void* b) {
        return *static_cast<const T*>(a) == *static_cast<const T*>(b);
      },
      [](void* args) { static_cast<T*>(args)->SetDefaults(); },
      [](const void* args, std::vector<std::string>& errors) {
        static_cast<const T*>(args)->Validate(errors);
      },
  };
  return kRow;
}

// A value of such a type; copies are independent.
class OwnArgs {
 public:
  explicit OwnArgs(const ArgsRow& row) : row_(&row), value_(row.make()) {}
  template <class T>
  static OwnArgs Of(T value) {
    OwnArgs args(ArgsRowOf<T>());
    *static_cast<T*>(args.value_.get()) = std::move(value);
    return args;
  }
  OwnArgs(const OwnArgs& other) : row_(other.row_), value_(row_->copy(other.value_.get())) {}
  OwnArgs(OwnArgs&&) noexcept = default;
  OwnArgs& operator=(OwnArgs other) noexcept {
    row_ = other.row_;
    value_ = std::move(other.value_);
    return *this;
  }
  ~OwnArgs() = default;

  // Null: the arguments are of another type.
  template <class T>
  const T* As() const {
    return row_ == &ArgsRowOf<T>() ? static_cast<const T*>(value_.get()) : nullptr;
  }
  const ArgsRow& row() const { return *row_; }
  void* data() { return value_.get(); }
  const void* data() const { return value_.get(); }
  bool operator==(const OwnArgs& other) const {
    return row_ == other.row_ && row_->equal(value_.get(), other.value_.get());
  }

 private:
  const ArgsRow* row_;
  std::shared_ptr<void> value_;
};

}  // namespace berth::config
