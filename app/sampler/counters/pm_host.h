#pragma once
// CUPTI's host side of sampling: what a chip's metrics need, and their values in what was sampled. Used from one thread at a
// time.
#include "app/sampler/counters/pm_library.h"

#if GAPSCOPE_HAVE_PM_SAMPLING
#include <string>
#include <vector>

namespace gapscope::sampler {

class PmHost {
 public:
  explicit PmHost(const PmLibrary& cupti) : cupti_(cupti) {}
  ~PmHost() { close(); }
  PmHost(const PmHost&) = delete;
  PmHost& operator=(const PmHost&) = delete;

  // `availability`: of this machine's GPU; it and the name must live as long as this.
  CUptiResult open(const char* chip, const std::vector<std::uint8_t>& availability);
  // Empty where CUPTI refuses.
  std::vector<std::uint8_t> config_of(const std::vector<const char*>& names) const;
  // How many passes they take; 0 where one is not known or not available here.
  int passes_of(const char* chip, const std::vector<std::uint8_t>& availability, const std::vector<const char*>& names) const;
  CUptiResult evaluate(const std::vector<std::uint8_t>& data, std::size_t sample, std::vector<const char*>& names,
                       std::vector<double>& values) const;

 private:
  void close();

  const PmLibrary& cupti_;
  CUpti_Profiler_Host_Object* host_ = nullptr;
};

}  // namespace gapscope::sampler
#endif
