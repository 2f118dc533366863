#pragma once
// What a slice is, decided once per category of the file (KINETO 4.5 with the aliases of 2021 files).
#include <cstdint>
#include <string_view>

namespace gapscope {

enum class Kind : std::uint8_t {
  op,              // cpu_op, Operator
  annotation,      // user_annotation
  python,          // python_function
  runtime,         // cuda_runtime, Runtime (hip calls too)
  driver,          // cuda_driver
  kernel,          // kernel, Kernel
  memcpy,          // gpu_memcpy, Memcpy
  memset,          // gpu_memset, Memset
  sync,            // cuda_sync, cuda_event: waits drawn on GPU lanes, never GPU work
  gpu_annotation,  // gpu_user_annotation: a span over GPU work, never GPU work itself
  overhead,        // overhead: the profiler's own cost
  profiler,        // Trace: the span of the recording
  other,
};

Kind kind_from_category(std::string_view category);
// The word shown to people: "operator", "kernel", "runtime call", ...
std::string_view kind_name(Kind kind);

// GPU work: what keeps a GPU busy. Not annotations, not waits.
constexpr bool is_gpu_work(Kind k) { return k == Kind::kernel || k == Kind::memcpy || k == Kind::memset; }
// A call that can launch GPU work and carries a correlation id.
constexpr bool is_call(Kind k) { return k == Kind::runtime || k == Kind::driver; }
// Drawn on a GPU stream.
constexpr bool is_on_gpu(Kind k) { return is_gpu_work(k) || k == Kind::sync || k == Kind::gpu_annotation; }

}  // namespace gapscope
