#pragma once
// Small traces in text, and documents made of them.
#include <memory>
#include <string>
#include <string_view>

#include "core/view/document.h"

namespace gapscope::test {

// One step: an operator inside an annotation launches a kernel, a copy follows, a graph launch starts two more kernels.
inline constexpr std::string_view kOneLaunch = R"json({"schemaVersion": 1,
"deviceProperties": [{"id": 0, "name": "NVIDIA H200", "numSms": 132, "maxThreadsPerMultiprocessor": 2048}],
"traceEvents": [
{"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#1", "pid": 415, "tid": 415, "ts": 100.000, "dur": 900.000, "args": {"External id": 1}},
{"ph": "X", "cat": "cpu_op", "name": "aten::add", "pid": 415, "tid": 415, "ts": 110.000, "dur": 40.000, "args": {"External id": 2, "Input Dims": [[64, 64], []], "Call stack": "a.py(1): f;b.py(2): g"}},
{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 415, "tid": 415, "ts": 120.000, "dur": 10.500, "args": {"External id": 2, "cbid": 211, "correlation": 7}},
{"ph": "X", "cat": "kernel", "name": "_ZN2at6native13reduce_kernelILi512EfEEvT0_", "pid": 0, "tid": 7, "ts": 140.250, "dur": 2.000, "args": {"External id": 2, "device": 0, "context": 1, "stream": 7, "correlation": 7, "registers per thread": 32, "shared memory": 49664, "blocks per SM": 0.484848, "warps per SM": 3.878788, "grid": [8, 8, 1], "block": [256, 1, 1], "est. achieved occupancy %": 0}},
{"ph": "X", "cat": "cuda_runtime", "name": "cudaMemcpyAsync", "pid": 415, "tid": 415, "ts": 200.000, "dur": 5.000, "args": {"correlation": 8}},
{"ph": "X", "cat": "gpu_memcpy", "name": "Memcpy HtoD (Pinned -> Device)", "pid": 0, "tid": 7, "ts": 210.000, "dur": 4.000, "args": {"device": 0, "context": 1, "stream": 7, "correlation": 8, "bytes": 16384}},
{"ph": "X", "cat": "cuda_runtime", "name": "cudaGraphLaunch", "pid": 415, "tid": 415, "ts": 300.000, "dur": 5.000, "args": {"correlation": 9}},
{"ph": "X", "cat": "kernel", "name": "first", "pid": 0, "tid": 7, "ts": 310.000, "dur": 1.000, "args": {"correlation": 9, "graph id": 3}},
{"ph": "X", "cat": "kernel", "name": "second", "pid": 0, "tid": 7, "ts": 312.000, "dur": 1.500, "args": {"correlation": 9, "graph id": 3}}
]})json";

std::shared_ptr<const Document> document_from_text(std::string_view text);

// The only slice of this name.
SliceId slice_named(const Document& doc, std::string_view name);

}  // namespace gapscope::test
