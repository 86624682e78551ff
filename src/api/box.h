// Box: a value that may be absent, with the interface of std::optional, kept on the heap.
//
// For large members that most objects leave out: an empty Box costs one pointer. Copying copies the
// value.
#pragma once

#include <memory>
#include <optional>
#include <utility>

namespace berth::api {

template <class T>
class Box {
 public:
  using value_type = T;

  Box() = default;
  Box(std::nullopt_t) {}
  Box(const T& value) : value_(std::make_unique<T>(value)) {}
  Box(T&& value) : value_(std::make_unique<T>(std::move(value))) {}
  Box(const Box& other) : value_(other.value_ ? std::make_unique<T>(*other.value_) : nullptr) {}
  Box(Box&&) noexcept = default;
  Box& operator=(const Box& other) {
    if (this != &other) value_ = other.value_ ? std::make_unique<T>(*other.value_) : nullptr;
    return *this;
  }
  Box& operator=(Box&&) noexcept = default;
  Box& operator=(std::nullopt_t) {
    reset();
    return *this;
  }

  bool has_value() const { return value_ != nullptr; }
  explicit operator bool() const { return has_value(); }

  // REQUIRES: has_value().
  T& operator*() { return *value_; }
  const T& operator*() const { return *value_; }
  T* operator->() { return value_.get(); }
  const T* operator->() const { return value_.get(); }
  T& value() { return *value_; }
  const T& value() const { return *value_; }

  T value_or(T fallback) const { return value_ ? *value_ : std::move(fallback); }

  template <class... Args>
  T& emplace(Args&&... args) {
    value_ = std::make_unique<T>(std::forward<Args>(args)...);
    return *value_;
  }
  void reset() { value_.reset(); }

  friend bool operator==(const Box& a, const Box& b) {
    return a.has_value() == b.has_value() && (!a.has_value() || *a == *b);
  }
  friend bool operator==(const Box& a, const T& b) { return a.has_value() && *a == b; }
  friend bool operator==(const Box& a, std::nullopt_t) { return !a.has_value(); }

 private:
  std::unique_ptr<T> value_;
};

}  // namespace berth::api
