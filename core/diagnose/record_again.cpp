#include "core/diagnose/record_again.h"

#include <algorithm>

#include "core/analyze/captured/captures.h"
#include "core/trace/program_kind.h"

namespace gapscope {

std::string_view record_again(const Trace& trace, const Trust& trust, Bound bound) {
  if (trust.cut_off)
    return "Export the trace again and wait until the program has written all of it. This file ends too early.";
  for (const Doubt& doubt : trust.doubts)
    if (doubt.forbids_verdict && !doubt.instead.empty()) return doubt.instead;
  if (capture_recording(trace)) return "Record replays of the graph, and name this file with --capture.";
  if (trust.launch_blocked) return "Record again without CUDA_LAUNCH_BLOCKING, which makes every launch wait.";
  if (bound != Bound::start_up) return {};
  return by_torch_profiler(trace) ? "Record after a few warm-up steps (schedule(wait=1, warmup=1)). This "
                                    "start-up cost occurs once, not in every step."
                                  : "Record after a few warm-up steps (--range or --delay of gapscope "
                                    "record). This start-up cost occurs once, not in every step.";
}

std::string_view record_again(const Trace& trace, const Diagnosis& diagnosis) {
  Trust trust;  // as far as the diagnosis shows it
  trust.cut_off = !trace.is_part && trace.report.count(ImportIssue::truncated) > 0;
  trust.launch_blocked = std::any_of(diagnosis.findings.begin(), diagnosis.findings.end(),
                                     [](const RankedFinding& f) { return f.finding.rule->id == "launch_blocking"; });
  trust.doubts = diagnosis.doubts;
  return record_again(trace, trust, diagnosis.bound);
}

}  // namespace gapscope
