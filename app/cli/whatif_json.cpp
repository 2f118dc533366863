#include <nlohmann/json.hpp>

#include "app/cli/gains_json.h"
#include "app/cli/in_and_out.h"
#include "app/cli/said_doubts.h"
#include "app/cli/whatif_report.h"
#include "core/analyze/steps.h"
#include "core/diagnose/verdict.h"

namespace gapscope {
namespace {

using Json = nlohmann::ordered_json;

double share(Ns part, Ns whole) { return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : 0; }

Json name_json(const Trace& trace, SliceId slice) { return slice ? Json(trace.name(slice)) : Json(nullptr); }

Json path_json(const WhatIfReport& r) {
  Json by = Json::object(), sums = Json::array(), stretches = Json::array();
  const auto held = held_times(r.path);
  for (std::size_t i = 0; i < kHeldBy; ++i) by[std::string(held_by_key(static_cast<HeldBy>(i)))] = held[i];
  for (const PathSum& s : r.sums)
    sums.push_back({{"by", held_by_key(s.by)},
                    {"cause", s.cause ? Json(idle_cause_key(*s.cause)) : Json(nullptr)},
                    {"name", s.name.valid() ? Json(r.trace.strings[s.name]) : Json(nullptr)},
                    {"ns", s.time},
                    {"stretches", s.stretches}});
  for (const PathStretch& s : r.path)
    stretches.push_back(
        {{"by", held_by_key(s.by)}, {"begin_ns", s.span.begin}, {"end_ns", s.span.end}, {"name", name_json(r.trace, s.slice)}});
  return {{"length_ns", r.result.after}, {"by", by}, {"sums", sums}, {"stretches", stretches}};
}

Json findings_json(const WhatIfReport& r) {
  Json out = Json::array();
  for (const RankedFinding& f : r.diagnosis->findings)
    if (f.gain)
      out.push_back({{"rule", f.finding.rule->id},
                     {"title", title_of(*r.diagnosis, *f.finding.rule)},
                     {"gain", gain_json(*r.diagnosis, f)}});
  return out;
}

}  // namespace

std::string whatif_json(const WhatIfReport& r) {
  Json steps = Json::array();
  for (const ReplayedStep& s : r.result.steps)
    steps.push_back({{"name", step_name(r.trace, s.slice, steps.size())},
                     {"before_ns", s.before.length()},
                     {"after_ns", s.after.length()}});
  Json out = {{"before_ns", r.result.before},
              {"after_ns", r.result.after},
              {"steps", std::move(steps)},
              {"gpu_busy", {{"before", share(r.busy.before, r.result.before)}, {"after", share(r.busy.after, r.result.after)}}},
              {"next", bound_name(r.next)},
              {"operations", r.model.ops().size()},
              {"waits", r.model.waits()},
              {"event_waits", r.model.event_waits().size()},
              {"clocks_at_once", r.model.clocks_at_once()},
              {"latency_ns", r.model.latency()},
              {"profiler", {{"records", r.profiler.records}, {"frames", r.profiler.frames}, {"most_ns", r.profiler.most}}},
              {"full_queue", {{"launches", r.model.full()}, {"ns", r.model.full_time()}, {"replayed", r.full_queues}}}};
  if (!trace_arguments().stated.as_recorded) out["plain"] = plain_json(r.plain.get(), r.plain_verdict);
  if (r.diagnosis != nullptr) out["findings"] = findings_json(r), out["plan"] = plan_json(*r.diagnosis);
  if (r.with_path) out["path"] = path_json(r);
  return json_text(with_doubts(std::move(out), r.doubts));
}

}  // namespace gapscope
