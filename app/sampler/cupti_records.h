#pragma once
// CUPTI's records as the plain values of activity.h. Names in the values point into the record or into `Names`.
#include <cupti.h>

#include <optional>
#include <string>
#include <unordered_map>

#include "app/sampler/activity.h"

namespace gapscope::sampler {

// Names that are looked up once: functions of the CUDA API, demangled kernels.
class Names {
 public:
  using CallName = CUptiResult (*)(CUpti_CallbackDomain, std::uint32_t, const char**);
  explicit Names(CallName call_name) : call_name_(call_name) {}
  // "cudaLaunchKernel": without CUPTI's version of it.
  std::string_view call(bool driver, std::uint32_t id);
  std::string_view kernel(const char* mangled);

 private:
  CallName call_name_;
  std::unordered_map<std::uint64_t, std::string> calls_;
  std::unordered_map<std::string, std::string> kernels_;
};

// None for a record of another kind, or one without times.
std::optional<Seen> read_record(const CUpti_Activity& record, Names& names);

}  // namespace gapscope::sampler
