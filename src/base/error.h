// Error and Result: the result of a fallible call outside the scheduling hot path.
//
// An Error carries a message for the author of the input. It names the file, the path inside the
// document and the offending value where known; callers add context with Error::In().
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include <tl/expected.hpp>

namespace berth {

class Error {
 public:
  explicit Error(std::string message) : message_(std::move(message)) {}

  const std::string& Message() const { return message_; }

  // The same error with context: "WHERE: message".
  Error In(std::string_view where) const { return Error(std::string(where) + ": " + message_); }

 private:
  std::string message_;
};

template <class T>
using Result = tl::expected<T, Error>;

// `return Fail("...")` from any function that returns Result<T>.
inline tl::unexpected<Error> Fail(std::string message) {
  return tl::unexpected<Error>(Error(std::move(message)));
}
inline tl::unexpected<Error> Fail(Error error) { return tl::unexpected<Error>(std::move(error)); }

}  // namespace berth
