// ObjectFile: a template file of the suite, and the objects it makes.
#pragma once

#include <optional>
#include <string>

#include "api/object.h"
#include "base/error.h"
#include "bench/perf/template.h"

namespace berth::bench {

class ObjectFile {
 public:
  // `name` is for errors.
  static Result<ObjectFile> Parse(std::string name, std::string text);

  // Object `index` of `count`.
  Result<api::Object> Make(int64_t index, int64_t count) const;

  // The same, which must be of this kind.
  template <class T>
  Result<T> MakeA(int64_t index, int64_t count) const {
    auto object = Make(index, count);
    if (!object) return Fail(object.error());
    if (T* value = std::get_if<T>(&*object)) return std::move(*value);
    return Fail(name_ + ": a " + std::string(api::KindOf(*object)) + " instead of a " +
                std::string(T::kKind));
  }

 private:
  Result<api::Object> Decode(int64_t index, int64_t count) const;

  std::string name_;
  Template template_;
  std::optional<api::Object> constant_;  // when all are the same
};

}  // namespace berth::bench
