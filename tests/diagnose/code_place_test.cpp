#include "core/diagnose/code_place.h"

#include <algorithm>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "core/diagnose/rule.h"
#include "tests/support/diagnosed.h"
#include "tests/support/kineto_text.h"
#include "tests/support/load_text.h"

using namespace gapscope;
using namespace gapscope::test;

namespace {

// Ten checks for NaN inside these frames, the outermost first; "#" in a name is another digit in every check.
std::string checks_inside(const std::vector<std::string>& frames, const std::string& kind = "python_function") {
  std::string text;
  for (int i = 0; i < 10; ++i) {
    const int at = 100 * i;
    for (std::size_t f = 0; f < frames.size(); ++f) {
      std::string name = frames[f];
      std::replace(name.begin(), name.end(), '#', static_cast<char>('0' + i % 3));
      text += (text.empty() ? "" : ",") +
              slice(name, std::to_string(at + static_cast<int>(f)), std::to_string(90 - 2 * static_cast<int>(f)), "", kind);
    }
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

// A step of 1 ms that the host leads. In train() forward() launches for 600 us, or nothing does; autograd's thread, which has
// no Python, for 250 us while train() waits; update() for 100 us.
std::string host_bound_step(bool has_forward) {
  std::string text = slice("ProfilerStep#1", "0", "1000", "", "user_annotation");
  const auto frame = [&](const std::string& name, int begin, int length) {
    text += "," + slice(name, std::to_string(begin), std::to_string(length), "", "python_function");
  };
  frame("train.py(1): <module>", 0, 1000);
  frame("train.py(7): train", 1, 998);
  if (has_forward) {
    frame("model.py(30): forward", 10, 600);
    frame("torch/nn/modules/linear.py(5): forward", 11, 598);
  }
  frame("torch/_tensor.py(3): backward", 615, 250);
  frame("optim.py(9): update", 880, 100);
  int id = 0;
  const auto launches = [&](const char* thread, int begin, int end) {
    for (int at = begin; at < end; at += 20) {
      const std::string args = fmt::format(R"(, "args": {{"correlation": {}, "device": 0, "stream": 7}})", ++id);
      text += "," + slice("aten::add", std::to_string(at), "18", "", "cpu_op", thread) + "," +
              slice("cudaLaunchKernel", std::to_string(at + 10), "4", args, "cuda_runtime", thread) + "," +
              slice("add", std::to_string(at + 15), "1", args, "kernel", "70");
    }
  };
  if (has_forward) launches("1", 20, 600);
  launches("2", 620, 860);
  launches("1", 885, 970);
  return events(text);
}

std::optional<CodePlace> place_of(std::string_view rule, const std::string& text) {
  const Diagnosed d(load_text(text));
  const std::vector<const Finding*> found = d.findings(rule);
  REQUIRE(found.size() == 1);
  return found[0]->where;
}

}  // namespace

TEST_CASE("a finding about the whole step names the innermost function of the program that has most of the idle time") {
  const auto place = place_of("overhead_bound", host_bound_step(/*has_forward=*/true));
  REQUIRE(place);
  CHECK(place_words(*place) == "forward (model.py:30)");
}

TEST_CASE("work of a thread without Python counts for the function that waits for it") {
  const auto place = place_of("overhead_bound", host_bound_step(/*has_forward=*/false));
  REQUIRE(place);
  CHECK(place_words(*place) == "train (train.py:7)");
}

TEST_CASE("without Python frames a finding names the annotation around most of its places, else the outermost operator") {
  const auto region = [](const std::string& category) {
    const Diagnosed d(load_text(checks_inside({"outer", "inner"}, category)));
    const std::vector<const Finding*> found = d.findings("checks_on_gpu");
    REQUIRE(found.size() == 1);
    REQUIRE(found[0]->where);
    CHECK(found[0]->where->source.file.empty());
    return place_words(*found[0]->where);
  };
  CHECK(region("user_annotation") == "mostly in inner");
  CHECK(region("cpu_op") == "mostly in outer");
}

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

TEST_CASE("a module that has less than half of a function's time is not named") {
  const auto place = place_of_checks({"train.py(7): main", "nn.Module: Net_#"});
  REQUIRE(place);
  CHECK(place_words(*place) == "main (train.py:7)");
}

TEST_CASE("a finding whose frames are all of libraries, or that has none, names no place") {
  CHECK_FALSE(
      place_of_checks({"threading.py(10): run", "transformers/trainer.py(2200): train", "torch/nn/functional.py(3): any"}));
  CHECK_FALSE(place_of_checks({"typing.py(392): inner", "collections/__init__.py(599): __init__"}));
}

TEST_CASE("of JAX's frames, which are files without folders, those of the program are its own") {
  for (const char* name : {"$train.py:31 batch", "$model.py:7 <lambda>"}) CHECK(is_own_frame(name));
  for (const char* name :
       {"$pjit.py:339 cache_miss", "$array.py:629 _value", "$time sleep", "$<string>:1 <lambda>", "$<unknown> items"})
    CHECK_FALSE(is_own_frame(name));
  const auto place = place_of_checks({"$train.py:31 batch", "$array.py:629 _value"});
  REQUIRE(place);
  CHECK(place_words(*place) == "batch (train.py:31)");
}

TEST_CASE("who empties PyTorch's cache is named, not who has to allocate again") {
  const auto place = [](const char* callee) {
    KinetoText text;
    for (int i = 0; i < 4; ++i) {
      const double at = 1000.0 * i;
      text.slice("user_annotation", fmt::format("ProfilerStep#{}", i + 2), "1", "1", at, 990);
      text.slice("python_function", "train.py(7): step", "1", "1", at + 1, 980);
      text.slice("python_function", "model.py(30): forward", "1", "1", at + 10, 600);
      text.slice("cpu_op", "aten::empty", "1", "1", at + 20, 500);
      text.slice("cuda_runtime", "cudaMalloc", "1", "1", at + 30, 400, R"("correlation":0)");
      text.launched(i + 1, at + 540, at + 560, 20, "gemm", "1");
      text.slice("python_function", fmt::format("torch/cuda/memory.py(212): {}", callee), "1", "1", at + 700, 100);
      text.slice("cuda_runtime", "cudaFree", "1", "1", at + 710, 80, R"("correlation":0)");
    }
    const Diagnosed d(load_text(text.text()));
    const std::vector<const Finding*> found = d.findings("cuda_malloc_in_window");
    REQUIRE(found.size() == 1);
    REQUIRE(found[0]->where);
    return found[0]->where->function + " " + found[0]->code;
  };
  CHECK(place("empty_cache") == "step # torch.cuda.empty_cache()");
  CHECK(place("other") == "forward ");
}

TEST_CASE("a pause is of the function that takes it, not of the one that ends it") {
  KinetoText text;
  for (int i = 0; i < 4; ++i) {
    const double at = 20'000.0 * i;
    text.slice("user_annotation", fmt::format("ProfilerStep#{}", i + 2), "1", "1", at, 19'990);
    text.slice("python_function", "train.py(7): step", "1", "1", at + 1, 19'980);
    text.launched(2 * i + 1, at + 10, at + 20, 20, "gemm", "1");
    text.slice("python_function", "train.py(40): hook", "1", "1", at + 30, 15'000);
    text.slice("python_function", "model.py(30): forward", "1", "1", at + 15'040, 1000);
    text.slice("cpu_op", "aten::mm", "1", "1", at + 15'100, 50);
    text.launched(2 * i + 2, at + 15'110, at + 15'120, 20, "gemm", "1");
  }
  const Diagnosed d(load_text(text.text()));
  const std::vector<const Finding*> found = d.findings("host_pause");
  REQUIRE(found.size() == 1);
  REQUIRE(found[0]->where);
  CHECK(found[0]->where->function == "hook");
}

TEST_CASE("torch.compile goes around what is outside the model: a module by its class, a function by its name") {
  // In a step the model, and then a loss with most of the small kernels.
  const auto line = [](const std::vector<std::string>& around_loss) {
    std::string text = slice("train.py(7): step", "0", "1000", "", "python_function") + "," +
                       slice("nn.Module: Net_0", "10", "400", "", "python_function");
    for (std::size_t f = 0; f < around_loss.size(); ++f)
      text += "," + slice(around_loss[f], std::to_string(450 + f), std::to_string(300 - 2 * f), "", "python_function");
    text += "," + slice("aten::mul", "500", "20", "", "cpu_op") + "," +
            slice("cudaLaunchKernel", "505", "5", R"(, "args": {"correlation": 1, "device": 0, "stream": 7})", "cuda_runtime") +
            "," + slice("k", "515", "10", R"(, "args": {"correlation": 1, "device": 0, "stream": 7})", "kernel", "70");
    const Diagnosed d(load_text(events(text)));
    Finding finding;
    for (std::size_t s = 0; s < d.document.trace.slice_count(); ++s)
      if (d.document.trace.name(SliceId(s)) == "aten::mul") mark_slices(finding, d.document.trace, {SliceId(s)});
    return line_to_compile(d.facts, finding);
  };
  CHECK(line({"loss.py(3): smooth_loss"}) == "smooth_loss = torch.compile(smooth_loss)");
  CHECK(line({"nn.Module: Triplet_2", "loss.py(3): forward"}) == "module = torch.compile(module)  # the Triplet");
  CHECK(line({"loss.py(3): <lambda>"}) == "");
  CHECK(line({"nn.Module: a\\u001bb_2"}) == "");
  CHECK(line({}) == "");  // in the step, which holds the model
}
