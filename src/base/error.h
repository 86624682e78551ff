// Error and Result: how a fallible call answers outside the scheduling hot path.
//
// An Error says what went wrong in words meant for the person who gave the input: it names the
// file, the path inside the document and the offending value as far as the code that raised it knew
// them; callers add what they know with Error::In().
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

  // The same error seen from outside: "WHERE: message".
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
