#pragma once
// Made-up recordings of a few operators that launch one piece of GPU work each, repeated step by step, and their comparison.
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "core/compare/comparison.h"
#include "tests/support/tiny_traces.h"

namespace gapscope::test {

struct TinyOp {
  std::string op = "aten::add";
  std::string kernel = "k";  // empty: launches nothing
  int gpu_us = 5;
  std::string call = "cudaLaunchKernel";
  int grid = 8;
  std::string inside = {};  // a slice around the operator: equal neighbours share one
};

struct TinyRun {
  std::vector<TinyOp> ops;
  int steps = 3;
  int op_us = 20;                             // CPU time of an operator
  std::string step_name = "ProfilerStep#{}";  // empty: no steps
};

inline std::string tiny_event(std::string_view cat, std::string_view name, int tid, int ts, int dur, std::string_view args) {
  return fmt::format(R"({{"ph": "X", "cat": "{}", "name": "{}", "pid": {}, "tid": {}, "ts": {}, "dur": {}, "args": {{{}}}}})",
                     cat, name, cat == "kernel" || cat == "gpu_memcpy" || cat == "gpu_memset" ? 0 : 415, tid, ts, dur, args);
}

inline std::string_view tiny_gpu_category(std::string_view name) {
  return name.starts_with("Memcpy") ? "gpu_memcpy" : name.starts_with("Memset") ? "gpu_memset" : "kernel";
}

// Every step begins 1 ms after the one before; the first is twice as long.
inline std::string tiny_run(const TinyRun& run) {
  std::string events;
  int correlation = 0;
  const auto add = [&](const std::string& event) { events += (events.empty() ? "" : ",\n") + event; };
  for (int step = 0; step < run.steps; ++step) {
    const int begin = 1000 * (step + 1), per_op = run.op_us * (step == 0 ? 2 : 1);
    const int count = static_cast<int>(run.ops.size());
    if (!run.step_name.empty())
      add(tiny_event("user_annotation", fmt::format(fmt::runtime(run.step_name), step), 1, begin, per_op * count + 10, ""));
    for (int i = 0; i < count; ++i) {
      const TinyOp& op = run.ops[static_cast<std::size_t>(i)];
      const int at = begin + 5 + per_op * i;
      if (!op.inside.empty() && (i == 0 || run.ops[static_cast<std::size_t>(i - 1)].inside != op.inside)) {
        int last = i;
        while (last + 1 < count && run.ops[static_cast<std::size_t>(last) + 1].inside == op.inside) ++last;
        add(tiny_event("cpu_op", op.inside, 1, at, per_op * (last - i + 1), ""));
      }
      add(tiny_event("cpu_op", op.op, 1, at + 1, per_op - 2, ""));
      if (op.kernel.empty()) continue;
      ++correlation;
      add(tiny_event("cuda_runtime", op.call, 1, at + 3, 5, fmt::format(R"("correlation": {})", correlation)));
      add(tiny_event(tiny_gpu_category(op.kernel), op.kernel, 7, at + 10, op.gpu_us,
                     fmt::format(R"("device": 0, "stream": 7, "correlation": {}, "grid": [{}, 1, 1], "block": [32, 1, 1])",
                                 correlation, op.grid)));
    }
  }
  return "{\"traceEvents\": [" + events + "]}";
}

inline ComparedTrace compared(const Document& doc) { return {doc.session}; }

inline Comparison compare_texts(const std::string& a, const std::string& b, const CompareOptions& options = {}) {
  const auto doc_a = document_from_text(a), doc_b = document_from_text(b);
  Result<Comparison> out = compare(compared(*doc_a), compared(*doc_b), options);
  REQUIRE_MESSAGE(out.ok(), (out.ok() ? "" : out.error().message));
  return std::move(*out);
}

inline Comparison compare_runs(const TinyRun& a, const TinyRun& b, const CompareOptions& options = {}) {
  return compare_texts(tiny_run(a), tiny_run(b), options);
}

inline const ComparisonFinding* finding_of(const Comparison& c, std::string_view rule) {
  for (const ComparisonFinding& f : c.findings)
    if (f.rule == rule) return &f;
  return nullptr;
}

}  // namespace gapscope::test
