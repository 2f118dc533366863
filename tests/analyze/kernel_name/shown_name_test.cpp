#include "core/analyze/kernel_name/shown_name.h"

#include <doctest/doctest.h>

#include <map>
#include <set>
#include <string>
#include <utility>

#include "core/base/demangle.h"
#include "core/base/text.h"
#include "tests/support/real_traces.h"

using namespace gapscope;

TEST_CASE("a kernel is shown by its function and the few template facts that distinguish it from its neighbours") {
  const std::pair<const char*, const char*> kNames[] = {
      {"void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<c10::BFloat16>, std::array<char*, 3ul> "
       ">(int)",
       "vectorized_elementwise_kernel<add, bf16, 4>"},
      {"void (anonymous namespace)::softmax_warp_forward<float, float, float, 10, true, false>(float*, float const*, int)",
       "softmax_warp_forward<fp32, 10, true, false>"},
      {"void cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm_bf16_256x128_64x3_tn_align2>(cutlass_80::Params)",
       "cutlass_80_tensorop_bf16_s16816gemm_bf16_256x128_64x3_tn_align2"},
      {"_ZN2at6native13reduce_kernelILi512EfEEvT0_", "reduce_kernel<512, fp32>"},
      {"void cudnn::ops::nchwToNhwcKernel<float, float, float, false, true, (cudnnKernelDataType_t)2>(float const*, float*)",
       "nchwToNhwcKernel<fp32, false, true, 2>"},
      {"ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
       "ncclDevKernel_AllReduce_Sum_bf16_RING_LL"},
      {"Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT32x32x256_MI16x16x1_SN_LDSB1",
       "Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT32x32x256"},
      {"triton_poi_fused_add_0", "triton_poi_fused_add_0"},
      {"void f<false>(int)", "f<false>"},
      {"", ""},
  };
  for (const auto& name : kNames) CHECK_MESSAGE(kernel_title(name.first) == name.second, name.first);
}

TEST_CASE("no recording's kernel is shown mangled, by a namespace or by its parameters, and hardly two by the same name") {
  std::size_t names = 0, alike = 0;
  for (const auto& path : test::real_traces()) {
    if (std::filesystem::file_size(path) > 1'000'000) continue;  // of the same programs as the small ones
    CAPTURE(path.string());
    const Trace& trace = *test::load_once(path);
    std::map<std::string, std::set<std::string>> whole;  // by what is shown
    for (std::size_t i = 0; i < trace.slice_count(); ++i) {
      const SliceId slice(i);
      if (trace.kind(slice) != Kind::kernel) continue;
      const std::string shown = shown_name(trace, slice);
      CHECK_MESSAGE(
          (!shown.empty() && shown.find("_Z") != 0 && shown.find("::") == shown.npos && shown.find('(') == shown.npos), shown);
      whole[shown].insert(std::string(trace.name(slice)));
    }
    for (const auto& [shown, of] : whole) names += of.size(), alike += of.size() - 1;
  }
  CHECK(names > 100);
  CHECK(alike * 20 < names);
}
