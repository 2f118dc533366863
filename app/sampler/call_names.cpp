#include "app/sampler/call_names.h"

#include <algorithm>
#include <array>

namespace gapscope::sampler {

bool starts_flow(std::string_view call) {
  constexpr std::array<std::string_view, 16> kStarts = {"cudaLaunch",
                                                        "cudaGraphLaunch",
                                                        "cudaMemcpy",
                                                        "cudaMemset",
                                                        "cudaStreamSynchronize",
                                                        "cudaDeviceSynchronize",
                                                        "cudaStreamWaitEvent",
                                                        "cudaEventSynchronize",
                                                        "cuLaunch",
                                                        "cuGraphLaunch",
                                                        "cuMemcpy",
                                                        "cuMemset",
                                                        "cuStreamSynchronize",
                                                        "cuCtxSynchronize",
                                                        "cuStreamWaitEvent",
                                                        "cuEventSynchronize"};
  return std::any_of(kStarts.begin(), kStarts.end(), [&](std::string_view s) { return call.starts_with(s); });
}

bool is_left_out(std::string_view call, bool driver) {
  constexpr std::array<std::string_view, 14> kQuiet = {"cudaGetDevice",
                                                       "cudaSetDevice",
                                                       "cudaGetDeviceCount",
                                                       "cudaGetLastError",
                                                       "cudaPeekAtLastError",
                                                       "cudaEventCreate",
                                                       "cudaEventCreateWithFlags",
                                                       "cudaEventDestroy",
                                                       "cudaStreamIsCapturing",
                                                       "cudaStreamGetCaptureInfo",
                                                       "cudaStreamGetCaptureInfo_v2",
                                                       "__cudaPushCallConfiguration",
                                                       "__cudaPopCallConfiguration",
                                                       "cudaDeviceGetAttribute"};
  constexpr std::array<std::string_view, 14> kTelling = {
      "cuLaunch",  "cuProfiler",  "cuGraphLaunch", "cuGraphInstantiate", "cuMemcpy",     "cuMemset",     "cuMemAlloc",
      "cuMemFree", "cuMemCreate", "cuMemMap",      "cuMemUnmap",         "cuMemRelease", "cuModuleLoad", "cuLibraryLoad"};
  const auto begins = [&](std::string_view s) { return call.starts_with(s); };
  if (driver)
    return call.find("Synchronize") == std::string_view::npos && std::none_of(kTelling.begin(), kTelling.end(), begins);
  return std::find(kQuiet.begin(), kQuiet.end(), call) != kQuiet.end();
}

}  // namespace gapscope::sampler
