#include "core/view/details/details_model.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "core/view/details/details_gpu.h"
#include "tests/support/tiny_traces.h"

using namespace gapscope;
using test::document_from_text;
using test::slice_named;

namespace {

DetailsSection section_of(const DetailsModel& model, std::string_view title) {
  const auto it = std::find_if(model.sections.begin(), model.sections.end(), [&](const auto& s) { return s.title == title; });
  REQUIRE_MESSAGE(it != model.sections.end(), "no section " << title);
  return *it;
}

DetailsLine line_of(const DetailsModel& model, std::string_view title, std::string_view key) {
  const DetailsSection section = section_of(model, title);
  const auto it = std::find_if(section.lines.begin(), section.lines.end(), [&](const auto& l) { return l.key == key; });
  REQUIRE_MESSAGE(it != section.lines.end(), "no line " << key);
  return *it;
}

std::string value_of(const DetailsModel& model, std::string_view title, std::string_view key) {
  return line_of(model, title, key).value;
}

constexpr std::string_view kReduce = "_ZN2at6native13reduce_kernelILi512EfEEvT0_";

}  // namespace

TEST_CASE("a kernel's resources come first and are as the file states them") {
  const auto doc = document_from_text(test::kOneLaunch);
  const DetailsModel model = make_details(*doc, slice_named(*doc, kReduce), nullptr);
  REQUIRE(!model.sections.empty());
  CHECK(model.sections[0].title == "Resources");
  CHECK(value_of(model, "Resources", "registers per thread") == "32");
  CHECK(value_of(model, "Resources", "shared memory") == "48.5 KiB");
  CHECK(value_of(model, "Resources", "grid") == "8 x 8 x 1");
  CHECK(value_of(model, "Resources", "block") == "256 x 1 x 1");
  CHECK(line_of(model, "Resources", "grid").hover == "64 blocks, in x, y and z");
  CHECK(value_of(model, "Resources", "threads per block") == "256");
  CHECK(value_of(model, "Resources", "blocks per SM") == "0.48");
  CHECK(value_of(model, "Resources", "warps per SM") == "3.88");
  CHECK(value_of(model, "GPU", "device") == "0 - NVIDIA H200");
  CHECK(value_of(model, "GPU", "context") == "1");
  CHECK(value_of(model, "GPU", "stream") == "7");
  CHECK(value_of(model, "GPU", "correlation") == "7");
}

TEST_CASE("a stated occupancy of 0 with more than 48 KiB of shared memory is explained") {
  const auto doc = document_from_text(test::kOneLaunch);
  const DetailsModel model = make_details(*doc, slice_named(*doc, kReduce), nullptr);
  CHECK(line_of(model, "Resources", "occupancy").hover.find("48 KiB") != std::string::npos);
  const auto& lines = model.sections[0].lines;
  CHECK(std::count_if(lines.begin(), lines.end(),
                      [](const DetailsLine& l) { return l.key.find("occupancy") != std::string::npos; }) == 1);
}

TEST_CASE("a mangled name is shown readable, with the name in the file kept") {
  const auto doc = document_from_text(test::kOneLaunch);
  const DetailsModel kernel = make_details(*doc, slice_named(*doc, kReduce), nullptr);
  CHECK(kernel.name == "reduce_kernel<512, fp32>");
  CHECK(kernel.name_in_file == kReduce);
  CHECK(make_details(*doc, slice_named(*doc, "aten::add"), nullptr).name_in_file.empty());
}

TEST_CASE("a kernel leads to its call and operator, and a call to its kernel") {
  const auto doc = document_from_text(test::kOneLaunch);
  const SliceId kernel = slice_named(*doc, kReduce);
  const SliceId call = slice_named(*doc, "cudaLaunchKernel");
  const DetailsModel model = make_details(*doc, kernel, nullptr);
  CHECK(line_of(model, "Launched by", "call").target == call);
  CHECK(line_of(model, "Launched by", "operator").target == slice_named(*doc, "aten::add"));
  CHECK(value_of(model, "Launched by", "call to start") == "20.2 µs");
  CHECK(line_of(make_details(*doc, call, nullptr), "Launched", "kernel").target == kernel);
}

TEST_CASE("what the file does not state is not recorded, never 0") {
  const auto doc = document_from_text(test::kOneLaunch);
  const DetailsModel model = make_details(*doc, slice_named(*doc, "first"), nullptr);
  for (const char* key :
       {"registers per thread", "shared memory", "grid", "block", "blocks per SM", "warps per SM", "occupancy"}) {
    CAPTURE(key);
    CHECK(value_of(model, "Resources", key) == "not recorded");
    CHECK(line_of(model, "Resources", key).look == DetailsLine::Look::absent);
  }
  for (const char* key : {"device", "context"}) CHECK(value_of(model, "GPU", key) == "not recorded");
  CHECK(value_of(model, "GPU", "stream") == "7");  // by its lane
}

TEST_CASE("a graph launch lists the kernels it started in time order and counts them") {
  const auto doc = document_from_text(test::kOneLaunch);
  const DetailsModel model = make_details(*doc, slice_named(*doc, "cudaGraphLaunch"), nullptr);
  CHECK(value_of(model, "Launched", "GPU work") == "2");
  CHECK(value_of(model, "Launched", "GPU time") == "2.50 µs");
  const DetailsSection launched = section_of(model, "Launched");
  CHECK(launched.lines[launched.lines.size() - 2].value == "first");
  CHECK(launched.lines.back().value == "second");
}

TEST_CASE("a launch of thousands lists the first and counts the rest") {
  std::string text =
      R"([{"ph":"X","cat":"cuda_runtime","name":"cudaGraphLaunch","pid":1,"tid":1,"ts":1,"dur":1,"args":{"correlation":9}})";
  for (int i = 0; i < 3000; ++i)
    text += R"(,{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":)" + std::to_string(10 + i) +
            R"(,"dur":0.5,"args":{"correlation":9,"device":0,"stream":7}})";
  const auto doc = document_from_text(text + "]");
  const DetailsSection launched = section_of(make_details(*doc, slice_named(*doc, "cudaGraphLaunch"), nullptr), "Launched");
  CHECK(launched.lines.size() == 2 + kDetailsMaxLaunched + 1);
  CHECK(launched.lines.back().value == "and 2,976 more");
}

TEST_CASE("a copy shows its bytes and bandwidth") {
  const auto doc = document_from_text(test::kOneLaunch);
  const DetailsModel model = make_details(*doc, slice_named(*doc, "Memcpy HtoD (Pinned -> Device)"), nullptr);
  CHECK(value_of(model, "Copy", "bytes") == "16.4 kB");
  CHECK(value_of(model, "Copy", "bandwidth") == "4.10 GB/s");
}

TEST_CASE("a copy that took no time has no bandwidth") {
  const auto doc =
      document_from_text(R"([{"ph":"X","cat":"gpu_memcpy","name":"c","pid":0,"tid":7,"ts":1,"dur":0,"args":{"bytes":8}}])");
  CHECK(value_of(make_details(*doc, slice_named(*doc, "c"), nullptr), "Copy", "bandwidth") == "not recorded");
}

TEST_CASE("start, duration, self time, depth and parents of an operator") {
  const auto doc = document_from_text(test::kOneLaunch);
  const DetailsModel model = make_details(*doc, slice_named(*doc, "aten::add"), nullptr);
  CHECK(value_of(model, "Slice", "category") == "cpu_op");
  CHECK(value_of(model, "Slice", "start") == "10.0 µs");
  CHECK(line_of(model, "Slice", "start").hover == "10.000 µs");
  CHECK(value_of(model, "Slice", "start in file") == "110.000 µs");
  CHECK(value_of(model, "Slice", "duration") == "40.0 µs");
  CHECK(value_of(model, "Slice", "self time") == "29.5 µs");
  CHECK(value_of(model, "Slice", "depth") == "1");
  REQUIRE(model.path.size() == 1);
  CHECK(model.path[0].name == "ProfilerStep#1");
  CHECK(model.path[0].slice == slice_named(*doc, "ProfilerStep#1"));
}

TEST_CASE("args are shown in file order once read, and a call stack as a list of frames") {
  const auto doc = document_from_text(test::kOneLaunch);
  const SliceId slice = slice_named(*doc, "aten::add");
  const auto args =
      std::make_shared<const SliceArgs>(SliceArgs{slice,
                                                  {{"Input Dims", "[[64, 64], []]", false},
                                                   {"Call stack", "/usr/lib/site-packages/torch/x.py(1): f;b", true},
                                                   {"Fwd thread id", "0", false},
                                                   {"grid", "[\n 2,\n  8,\n 1\n]", false},
                                                   {"names", R"(["a  b", "c\"  ]"])", false}}});
  const DetailsModel model = make_details(*doc, slice, args);
  const DetailsSection section = section_of(model, "Args");
  REQUIRE(section.lines.size() == 4);
  CHECK(section.lines[2].value == "[2, 8, 1]");
  CHECK(section.lines[3].value == R"(["a  b", "c\"  ]"])");
  CHECK(section.lines[0].key == "Input Dims");
  CHECK(section.lines[0].value == "[[64, 64], []]");
  CHECK(section.lines[1].key == "Fwd thread id");
  const DetailsSection stack = section_of(model, "Call stack");
  REQUIRE(stack.lines.size() == 2);
  CHECK(stack.lines[0].value == "torch/x.py(1): f");
  CHECK(stack.lines[0].hover == "/usr/lib/site-packages/torch/x.py(1): f");
  CHECK(stack.lines[1].value == "b");
}

TEST_CASE("args that are not there yet, of another slice, none or unreadable are a sentence") {
  const auto doc = document_from_text(test::kOneLaunch);
  const SliceId slice = slice_named(*doc, "aten::add");
  const auto note = [&](SliceArgs args) {
    return section_of(make_details(*doc, slice, std::make_shared<const SliceArgs>(std::move(args))), "Args").note;
  };
  const SliceArgs other{SliceId(slice.index() + 1), {{"k", "v", true}}};
  const SliceArgs none{slice};
  const SliceArgs failed{slice, {}, "The file is gone."};
  CHECK(section_of(make_details(*doc, slice, nullptr), "Args").note == "Reading the args from the file...");
  CHECK(note(other) == "Reading the args from the file...");
  CHECK(note(none) == "This event has no args.");
  CHECK(note(failed) == "The file is gone.");
}

TEST_CASE("a kernel of the backward pass says the module and the line of its forward operator") {
  const auto doc = document_from_text(R"json({"schemaVersion": 1, "traceEvents": [
{"ph": "X", "cat": "python_function", "name": "/home/me/train.py(12): step", "pid": 1, "tid": 1, "ts": 100, "dur": 900, "args": {"Python id": 1}},
{"ph": "X", "cat": "python_function", "name": "nn.Module: Linear_0", "pid": 1, "tid": 1, "ts": 110, "dur": 100, "args": {"Python id": 2}},
{"ph": "X", "cat": "cpu_op", "name": "aten::linear", "pid": 1, "tid": 1, "ts": 120, "dur": 50, "args": {"External id": 1}},
{"ph": "X", "cat": "cpu_op", "name": "LinearBackward0", "pid": 1, "tid": 2, "ts": 400, "dur": 100, "args": {"External id": 2}},
{"ph": "s", "cat": "fwdbwd", "name": "fwdbwd", "id": 1, "pid": 1, "tid": 1, "ts": 120},
{"ph": "f", "cat": "fwdbwd", "name": "fwdbwd", "id": 1, "pid": 1, "tid": 2, "ts": 400, "bp": "e"},
{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 2, "ts": 420, "dur": 10, "args": {"correlation": 7}},
{"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 440, "dur": 40, "args": {"device": 0, "stream": 7, "correlation": 7}}
]})json");
  const DetailsModel model = make_details(*doc, slice_named(*doc, "k"), nullptr);
  CHECK(value_of(model, "Launched by", "module") == "Linear_0");
  CHECK(value_of(model, "Launched by", "Python line") == "/home/me/train.py:12");
}

TEST_CASE("a hover over a kernel says operator, module, line, launch and occupancy, and of other work what there is") {
  const auto doc = document_from_text(R"json({"schemaVersion": 1, "traceEvents": [
{"ph": "X", "cat": "python_function", "name": "/home/me/train.py(12): step", "pid": 1, "tid": 1, "ts": 100, "dur": 900, "args": {"Python id": 1}},
{"ph": "X", "cat": "python_function", "name": "nn.Module: Linear_0", "pid": 1, "tid": 1, "ts": 110, "dur": 100, "args": {"Python id": 2}},
{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 115, "dur": 50, "args": {"External id": 1}},
{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": 120, "dur": 10, "args": {"External id": 1, "correlation": 7}},
{"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 140, "dur": 400, "args": {"External id": 1, "device": 0, "stream": 7, "correlation": 7, "registers per thread": 32, "shared memory": 2048, "grid": [8, 4, 1], "block": [256, 1, 1], "est. achieved occupancy %": 31}},
{"ph": "X", "cat": "gpu_memcpy", "name": "Memcpy HtoD", "pid": 0, "tid": 7, "ts": 600, "dur": 4, "args": {"device": 0, "stream": 7, "correlation": 9, "bytes": 64}}
]})json");
  CHECK(hover_lines(*doc, slice_named(*doc, "k")) ==
        std::vector<std::string>{"aten::mm, in Linear_0", "/home/me/train.py:12", "grid 8 x 4 x 1, block 256 x 1 x 1",
                                 "32 registers per thread, 2.00 KiB shared memory", "occupancy: 31 %, as the profiler states"});
  CHECK(hover_lines(*doc, slice_named(*doc, "Memcpy HtoD")).empty());
  CHECK(hover_lines(*doc, slice_named(*doc, "aten::mm")).empty());
}

TEST_CASE("a kernel says the module and the line of the program that launched it, and a wait what it waited for") {
  const auto doc = document_from_text(R"json({"schemaVersion": 1, "traceEvents": [
{"ph": "X", "cat": "python_function", "name": "/home/me/train.py(12): step", "pid": 1, "tid": 1, "ts": 100, "dur": 900, "args": {"Python id": 1}},
{"ph": "X", "cat": "python_function", "name": "nn.Module: Linear_0", "pid": 1, "tid": 1, "ts": 110, "dur": 100, "args": {"Python id": 2}},
{"ph": "X", "cat": "python_function", "name": "torch/nn/modules/linear.py(125): forward", "pid": 1, "tid": 1, "ts": 111, "dur": 90, "args": {"Python id": 3}},
{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": 120, "dur": 10, "args": {"correlation": 7}},
{"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 140, "dur": 400, "args": {"device": 0, "stream": 7, "correlation": 7}},
{"ph": "X", "cat": "cuda_runtime", "name": "cudaStreamSynchronize", "pid": 1, "tid": 1, "ts": 300, "dur": 250, "args": {"correlation": 8}},
{"ph": "X", "cat": "cuda_runtime", "name": "cudaDeviceSynchronize", "pid": 1, "tid": 1, "ts": 700, "dur": 5, "args": {"correlation": 9}}
]})json");
  const SliceId kernel = slice_named(*doc, "k");
  const DetailsModel model = make_details(*doc, kernel, nullptr);
  CHECK(value_of(model, "Launched by", "module") == "Linear_0");
  CHECK(value_of(model, "Launched by", "Python line") == "/home/me/train.py:12");
  const DetailsModel wait = make_details(*doc, slice_named(*doc, "cudaStreamSynchronize"), nullptr);
  CHECK(line_of(wait, "Waited", "last work to end in it").target == kernel);
  CHECK(value_of(wait, "Waited", "after that work ended") == "10.0 µs");
  const DetailsModel none = make_details(*doc, slice_named(*doc, "cudaDeviceSynchronize"), nullptr);
  CHECK(value_of(none, "Waited", "for") == "no GPU work ends in it");
}
