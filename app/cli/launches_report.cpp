#include <utility>

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "app/cli/analyses.h"
#include "app/cli/in_and_out.h"
#include "app/cli/said_doubts.h"
#include "core/analyze/gpu/launches.h"
#include "core/base/text.h"
#include "core/session/missing_words.h"
#include "core/session/trace_session.h"

namespace gapscope {
namespace {

using Json = nlohmann::ordered_json;

Json summary_json(const NsSummary& s) {
  if (s.count == 0) return nullptr;
  return {{"count", s.count}, {"min_ns", s.min}, {"median_ns", s.median}, {"mean_ns", s.mean},
          {"p95_ns", s.p95},  {"max_ns", s.max}, {"total_ns", s.total}};
}

std::string summary_text(const char* title, const NsSummary& s) {
  if (s.count == 0) return fmt::format("{:<28} not in this trace\n", title);
  return fmt::format("{:<28} {:>10} {:>10} {:>10} {:>10} {:>10}\n", title, format_duration(s.min), format_duration(s.median),
                     format_duration(s.mean), format_duration(s.p95), format_duration(s.max));
}

std::string missing(const Trace& trace, const LaunchStats& s) {
  if (s.launched + s.unlinked == 0) return std::string(trace.producer->no_gpu_work) + '\n';
  if (s.launched == 0)
    return fmt::format("No GPU work of this trace has its launch in the file. Record with {} too.\n", trace.producer->host);
  return {};
}

std::string count(std::uint64_t n) { return format_count(static_cast<std::int64_t>(n)); }

}  // namespace

std::string launches_report(const TraceSession& session, const AnalysisOptions& options) {
  const Trace& trace = session.trace();
  const std::vector<GpuOp>& ops = session.ops();
  const std::vector<StreamOps> streams = streams_of(ops);
  const LaunchStats s = launch_stats(trace, ops, streams);
  const std::vector<StreamQueue> queues = stream_queues(ops, streams);
  if (options.json) {
    Json json = {{"launched", s.launched},
                 {"unlinked", s.unlinked},
                 {"kernel_launches", s.kernel_launches},
                 {"short_kernels", s.short_kernels},
                 {"runtime_outliers", s.runtime_outliers},
                 {"launch_delay_outliers", s.delay_outliers},
                 {"launch_delay", summary_json(s.delay)},
                 {"call_time", summary_json(s.call_time)},
                 {"kernel_gap", summary_json(s.kernel_gap)},
                 {"queues", Json::array()}};
    for (const StreamQueue& q : queues)
      json["queues"].push_back({{"device", q.device},
                                {"stream", q.stream},
                                {"max_depth", q.max_depth},
                                {"mean_depth", q.mean_depth},
                                {"full_ns", q.time_full}});
    if (const std::string said = missing(trace, s); !said.empty()) json["missing"] = said.substr(0, said.size() - 1);
    return json_text(with_doubts(std::move(json), session));
  }
  if (s.launched == 0) return missing(trace, s);
  std::string out = fmt::format("{} GPU operations with their launch, {} without; {} kernels launched one by one\n\n",
                                count(s.launched), count(s.unlinked), count(s.kernel_launches));
  out += fmt::format("{:<28} {:>10} {:>10} {:>10} {:>10} {:>10}\n", "", "min", "median", "mean", "p95", "max");
  out += summary_text("end of launch to start", s.delay) + summary_text("launch call", s.call_time) +
         summary_text("gap between kernels", s.kernel_gap);
  out += fmt::format("\n{:<28} {:>10}   shorter than their launch call\n", "short kernels", count(s.short_kernels));
  out += fmt::format("{:<28} {:>10}   longer than {}\n", "slow launch calls", count(s.runtime_outliers),
                     format_duration(kRuntimeOutlier));
  out += fmt::format("{:<28} {:>10}   began more than {} after the call\n", "late starts", count(s.delay_outliers),
                     format_duration(kLaunchDelayOutlier));
  out += fmt::format("\n{:<12} {:>6} {:>10} {:>10} {:>14}\n", "queue", "GPU", "mean", "deepest", "time full");
  for (const StreamQueue& q : queues)
    out += fmt::format("stream {:<5} {:>6} {:>10.1f} {:>10} {:>14}\n", q.stream, q.device, q.mean_depth,
                       count(static_cast<std::uint64_t>(q.max_depth)), format_duration(q.time_full));
  return out;
}

}  // namespace gapscope
