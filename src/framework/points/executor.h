// Executor: runs the parts of one wide scan, here or on a pool the host provides.
//
// The core starts no threads. A host that has cores to spare hands in an executor; without one
// every scan is serial. Which executor is used never changes an answer, only its speed.
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
