#pragma once
// Two recordings of one program, the second changed: its step begins at another time of another clock, `aten::mm` takes half,
// `aten::add` is gone, `aten::relu` is new.
#include <string_view>

namespace gapscope::test {

inline constexpr std::string_view kBefore = R"json({"schemaVersion": 1, "traceEvents": [
{"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#2", "pid": 1, "tid": 1, "ts": 1000, "dur": 900, "args": {"External id": 1}},
{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 1100, "dur": 400, "args": {"External id": 2}},
{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": 1120, "dur": 10, "args": {"External id": 2, "correlation": 7}},
{"ph": "X", "cat": "kernel", "name": "my_gemm", "pid": 0, "tid": 7, "ts": 1140, "dur": 200, "args": {"External id": 2, "device": 0, "stream": 7, "correlation": 7, "grid": [8, 8, 1], "block": [256, 1, 1]}},
{"ph": "X", "cat": "cpu_op", "name": "aten::add", "pid": 1, "tid": 1, "ts": 1600, "dur": 100, "args": {"External id": 3}}
]})json";

inline constexpr std::string_view kAfter = R"json({"schemaVersion": 1, "traceEvents": [
{"ph": "X", "cat": "cpu_op", "name": "warm_up", "pid": 1, "tid": 1, "ts": 70000, "dur": 3000, "args": {"External id": 9}},
{"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#2", "pid": 1, "tid": 1, "ts": 77777.123, "dur": 600, "args": {"External id": 1}},
{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 77800, "dur": 200, "args": {"External id": 2}},
{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": 77820, "dur": 10, "args": {"External id": 2, "correlation": 7}},
{"ph": "X", "cat": "kernel", "name": "my_gemm", "pid": 0, "tid": 7, "ts": 77840, "dur": 100, "args": {"External id": 2, "device": 0, "stream": 7, "correlation": 7, "grid": [8, 8, 1], "block": [256, 1, 1]}},
{"ph": "X", "cat": "cpu_op", "name": "aten::relu", "pid": 1, "tid": 1, "ts": 78200, "dur": 50, "args": {"External id": 3}}
]})json";

}  // namespace gapscope::test
