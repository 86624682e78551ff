// Executor: runs the parts of one wide scan, serially or on a thread pool of the host.
//
// The core starts no threads. A host with spare cores provides an executor; without one every scan
// is serial. The executor changes speed, never results.
#pragma once

#include <cstddef>

#include "base/function_ref.h"

namespace berth::framework {

class Executor {
 public:
  virtual ~Executor() = default;
  // How many parts may run at once; 1 means serial.
  virtual size_t Width() const = 0;
  // Calls part(i) once for every i < count, in any order, on any thread; returns when all are done.
  virtual void Run(size_t count, FunctionRef<void(size_t)> part) = 0;
};

}  // namespace berth::framework
