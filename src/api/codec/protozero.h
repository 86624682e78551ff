// protozero, made safe for untrusted bytes. Include this header, never protozero's own.
//
// protozero checks wire types with assert only: in a release build a field with the wrong wire type
// would be read unchecked. Here every such check throws WireTypeError, in all builds. No exception
// of protozero may leave a function of this module: callers catch std::exception and return an
// Error.
#pragma once

#include <exception>
#include <string_view>

namespace berth::api {

struct WireTypeError final : std::exception {
  const char* what() const noexcept override { return "wrong wire type"; }
};

[[noreturn]] inline void ThrowWireTypeError() { throw WireTypeError(); }

}  // namespace berth::api

#ifdef protozero_assert
#error "include api/protozero.h instead of protozero's headers"
#endif
#define protozero_assert(x) ((x) ? static_cast<void>(0) : ::berth::api::ThrowWireTypeError())
#define PROTOZERO_USE_VIEW std::string_view

#include <protozero/pbf_reader.hpp>  // IWYU pragma: export
#include <protozero/pbf_writer.hpp>  // IWYU pragma: export
