// BERTH_VECTORIZED: compiles a function twice, for AVX2 and for plain x86-64, and picks at load
// time. For small loops over columns. Nothing changes but speed: the build forbids fused
// multiply-add.
#pragma once

// Not in sanitizer builds: their runtimes are not initialized when the choice is made.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define BERTH_VECTORIZED __attribute__((target_clones("avx2", "default")))
#else
#define BERTH_VECTORIZED
#endif
