#pragma once
// What one run of gapscope-workload is asked to do.
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "app/workload/dtype.h"

namespace gapscope::workload {

enum class CaseId { kMatmulAdd, kAddmm, kBmm, kLinear, kGegluMlp, kMulAdd, kSoftmaxMatmul, kStreams, kSyncs };

// Which way a case takes; most know only kPlain.
enum class Variant {
  kPlain,
  kEpilogue,  // addmm: the matrix product adds the bias while it stores
  kCopy,      // addmm: the bias is copied into the result first, and the product added to it
  kTwo,       // mul-add: one kernel multiplies, one adds
  kFused,     // mul-add: one kernel does both
};

// One row a case: its name on the command line, its annotation in a recording, and what it may be asked for.
struct CaseRow {
  CaseId id;
  std::string_view name;
  std::string_view annotation;
  std::int64_t default_batch;  // 0: the case has no batch
  Variant default_variant;
  Variant other_variant;  // the same as the default where there is only one
  bool can_be_graph;      // no call that a CUDA graph cannot hold
  std::string_view about;
};
std::span<const CaseRow> case_rows();
const CaseRow& case_row(CaseId id);
std::string_view variant_name(Variant variant);

// As torch.profiler.schedule: steps that pass by unmarked, then steps that are recorded.
struct Schedule {
  int wait = 0;
  int warmup = 0;
  int active = 3;
};

struct Options {
  CaseId id = CaseId::kMatmulAdd;
  std::int64_t size = 64;
  Dtype dtype = Dtype::kBf16;
  std::int64_t batch = 0;
  Variant variant = Variant::kPlain;
  Schedule schedule;
  bool warmup = false;  // ten runs before the first step; without, the first step is cold
  bool graph = false;
  bool train = false;
  bool occupancy_query = false;
  bool check = true;
};

}  // namespace gapscope::workload
