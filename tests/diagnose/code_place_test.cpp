#include "core/diagnose/code_place.h"

#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "core/diagnose/rule.h"
#include "tests/support/diagnosed.h"
#include "tests/support/load_text.h"

using namespace gapscope;
using namespace gapscope::test;

namespace {

// Ten checks for NaN inside these frames, the outermost first.
std::string checks_inside(const std::vector<std::string>& frames) {
  std::string text;
  for (int i = 0; i < 10; ++i) {
    const int at = 100 * i;
    for (std::size_t f = 0; f < frames.size(); ++f)
      text += (text.empty() ? "" : ",") + slice(frames[f], std::to_string(at + static_cast<int>(f)),
                                                std::to_string(90 - 2 * static_cast<int>(f)), "", "python_function");
    const auto launch = [&](const char* call, const char* gpu, const char* category, int begin, int id) {
      const std::string args = fmt::format(R"(, "args": {{"correlation": {}, "device": 0, "stream": 7}})", 3 * i + id);
      text += "," + slice(call, std::to_string(begin), "2", args, "cuda_runtime") + "," +
              slice(gpu, std::to_string(begin + 4), "2", args, category, "70");
    };
    text += "," + slice("aten::isnan", std::to_string(at + 20), "10", "", "cpu_op");
    launch("cudaLaunchKernel", "isnan", "kernel", at + 22, 1);
    text += "," + slice("aten::any", std::to_string(at + 32), "10", "", "cpu_op");
    launch("cudaLaunchKernel", "reduce", "kernel", at + 34, 2);
    text += "," + slice("aten::is_nonzero", std::to_string(at + 44), "20", "", "cpu_op");
    launch("cudaMemcpyAsync", "Memcpy DtoH (Device -> Pageable)", "gpu_memcpy", at + 46, 3);
    text += "," + slice("cudaStreamSynchronize", std::to_string(at + 55), "5", "", "cuda_runtime");
  }
  return events(text);
}

std::optional<CodePlace> place_of_checks(const std::vector<std::string>& frames) {
  const Diagnosed d(load_text(checks_inside(frames)));
  const std::vector<const Finding*> found = d.findings("checks_on_gpu");
  REQUIRE(found.size() == 1);
  return found[0]->where;
}

}  // namespace

TEST_CASE("a finding names the program's innermost function around it, and its module") {
  const auto place =
      place_of_checks({"train.py(7): main", "nn.Module: Net_0", "net/model.py(30): forward", "nn.Module: Linear_2",
                       "torch/nn/modules/module.py(1779): _call_impl", "<built-in method isnan>"});
  REQUIRE(place);
  CHECK(place->source == SourcePlace{"net/model.py", 30});
  CHECK(place->function == "forward");
  CHECK(place->module == "Linear_2");
  CHECK(place_words(*place) == "forward (model.py:30), in Linear_2");
}

TEST_CASE("a finding whose frames are all of libraries, or that has none, names no place") {
  CHECK_FALSE(
      place_of_checks({"threading.py(10): run", "transformers/trainer.py(2200): train", "torch/nn/functional.py(3): any"}));
  CHECK_FALSE(place_of_checks({}));
}
