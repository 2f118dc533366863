#include "core/trace/kind.h"

#include <array>
#include <utility>

#include "core/trace/tables.h"

namespace gapscope {
namespace {

// KINETO 4.5; the capitalised names are those of PyTorch 1.8 to 1.9.
constexpr std::array<std::pair<std::string_view, Kind>, 30> kKinds = {{
    {"cpu_op", Kind::op},
    {"Operator", Kind::op},
    {"hpu_op", Kind::op},
    {"user_annotation", Kind::annotation},
    {"python_function", Kind::python},
    {"cuda_runtime", Kind::runtime},
    {"Runtime", Kind::runtime},
    {"xpu_runtime", Kind::runtime},
    {"mtia_runtime", Kind::runtime},
    {"glow_runtime", Kind::runtime},
    {"privateuse1_runtime", Kind::runtime},
    {"cuda_driver", Kind::driver},
    {"xpu_driver", Kind::driver},
    {"privateuse1_driver", Kind::driver},
    {"kernel", Kind::kernel},
    {"Kernel", Kind::kernel},
    {"mtia_ccp_events", Kind::kernel},
    {"gpu_memcpy", Kind::memcpy},
    {"Memcpy", Kind::memcpy},
    {"gpu_memset", Kind::memset},
    {"Memset", Kind::memset},
    {"cuda_sync", Kind::sync},
    {"cuda_event", Kind::sync},
    {"xpu_sync", Kind::sync},
    {"gpu_user_annotation", Kind::gpu_annotation},
    {"overhead", Kind::overhead},
    {"Trace", Kind::profiler},
    {"collective_comm", Kind::other},
    {"cuda_profiler_range", Kind::other},
    {"external_correlation", Kind::other},
}};

}  // namespace

Kind kind_from_category(std::string_view category) {
  for (const auto& [name, kind] : kKinds) {
    if (name == category) return kind;
  }
  // Other devices' are made alike: "musa_runtime", "mlu_memcpy".
  constexpr std::array<std::pair<std::string_view, Kind>, 5> kEndings = {{{"_runtime", Kind::runtime},
                                                                          {"_driver", Kind::driver},
                                                                          {"_memcpy", Kind::memcpy},
                                                                          {"_memset", Kind::memset},
                                                                          {"_user_annotation", Kind::gpu_annotation}}};
  for (const auto& [ending, kind] : kEndings) {
    if (category.ends_with(ending)) return kind;
  }
  return Kind::other;
}

std::string_view kind_name(Kind kind) {
  switch (kind) {
    case Kind::op: return "operator";
    case Kind::annotation: return "annotation";
    case Kind::python: return "Python function";
    case Kind::runtime: return "runtime call";
    case Kind::driver: return "driver call";
    case Kind::kernel: return "kernel";
    case Kind::memcpy: return "copy";
    case Kind::memset: return "memset";
    case Kind::sync: return "synchronization";
    case Kind::gpu_annotation: return "GPU annotation";
    case Kind::overhead: return "profiler overhead";
    case Kind::profiler: return "recording";
    case Kind::other: return "slice";
  }
  return "slice";
}

std::string_view lane_kind_name(LaneKind kind) {
  switch (kind) {
    case LaneKind::cpu_thread: return "cpu_thread";
    case LaneKind::gpu_stream: return "gpu_stream";
    case LaneKind::overhead: return "overhead";
    case LaneKind::profiler: return "profiler";
    case LaneKind::other: return "other";
  }
  return "other";
}

}  // namespace gapscope
