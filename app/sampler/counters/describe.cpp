#include "app/sampler/counters/describe.h"

#include "app/sampler/counters/nvml_library.h"
#include "app/sampler/counters/pm_session.h"
#include "app/sampler/devices.h"

namespace gapscope::sampler {
namespace {

std::string describe_health() {
  NvmlLibrary nvml;
  if (const std::string wrong = nvml.load(); !wrong.empty()) return "  " + wrong;
  return "  read from NVML 50 times a second: power (W), clocks of SMs and memory (MHz), temperature (C), whether clocks are "
         "held back by power or heat";
}

}  // namespace

std::vector<std::string> describe_all_counters() {
  if (!start_driver()) return {"There is no GPU here that CUDA can use."};
  std::vector<std::string> lines;
  for (const Device& device : ask_driver().devices) {
    lines.push_back("GPU " + std::to_string(device.id) + ": " + device.name);
    for (std::string& line : PmSession::describe(device.id)) lines.push_back(std::move(line));
    lines.push_back(describe_health());
  }
  return lines;
}

}  // namespace gapscope::sampler
