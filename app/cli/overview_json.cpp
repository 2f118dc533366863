#include <nlohmann/json.hpp>

#include "app/cli/gains_json.h"
#include "app/cli/in_and_out.h"
#include "app/cli/overview.h"
#include "app/cli/said_doubts.h"

namespace gapscope {
namespace {

using Json = nlohmann::ordered_json;

Json times_json(const AccountTimes& t) {
  Json idle = Json::object();
  for (std::size_t c = 0; c < kIdleCauses; ++c)
    if (t.idle[c] > 0) idle[std::string(idle_cause_key(static_cast<IdleCause>(c)))] = t.idle[c];
  return {{"compute", t.compute},
          {"exposed_communication", t.exposed_communication},
          {"exposed_copies", t.exposed_copies},
          {"idle", std::move(idle)}};
}

Json account_json(const DeviceAccount& account) {
  Json out = {{"window", {account.window.begin, account.window.end}}};
  out.update(times_json(account.times));
  return out;
}

Json device_json(const OverviewDevice& d) {
  Json out = {{"id", d.device}, {"name", text_or_null(d.name)}};
  const DeviceProperties* p = d.properties;
  out["sms"] = p != nullptr && p->sms > 0 ? Json(p->sms) : Json(nullptr);
  out["memory_bytes"] = p != nullptr && p->total_global_mem > 0 ? Json(p->total_global_mem) : Json(nullptr);
  static const GpuFigures none;
  const GpuFigures& figures = d.activity != nullptr ? d.activity->figures : none;
  out["utilization"] = or_null(figures.utilization);
  out["sm_efficiency"] = or_null(figures.sm_efficiency);
  out["achieved_occupancy_percent"] = or_null(figures.achieved_occupancy_percent);
  out["peak_memory_bytes"] = or_null(d.peak_bytes);
  out["peak_reserved_bytes"] = or_null(d.peak_reserved_bytes);
  out["account"] = d.account != nullptr ? account_json(*d.account) : Json(nullptr);
  return out;
}

Json steps_json(const std::optional<StepFigures>& s) {
  if (!s) return nullptr;
  return {{"count", s->count},         {"dropped", s->dropped},        {"iterations_of", s->iterations_of},
          {"mean_ns", s->mean},        {"median_ns", s->median},       {"min_ns", s->min},
          {"max_ns", s->max},          {"deviation_ns", s->deviation}, {"first_ns", s->first},
          {"trend", or_null(s->trend)}};
}

Json phase_json(const PhaseFigures& p) {
  Json out = {{"phase", p.phase}, {"steps", p.steps}, {"requests", p.requests}, {"ns", p.time}};
  out["prefill_tokens"] = p.knows_tokens ? Json(p.prefill_tokens) : Json(nullptr);
  out["decode_tokens"] = p.knows_tokens ? Json(p.decode_tokens) : Json(nullptr);
  out["tokens_per_second"] = p.knows_tokens ? Json(p.tokens_per_second()) : Json(nullptr);
  return out;
}

Json rates_json(const std::optional<RateFigures>& r) {
  if (!r) return nullptr;
  return {{"operations", r->operations},
          {"gpu_ns", r->gpu_time},
          {"kernel_ns", r->kernel_time},
          {"flop_per_second", r->per_second},
          {"flop_per_second_of_window", r->per_second_of_window},
          {"peak_share", or_null(r->peak_share)},
          {"peak_share_of_window", or_null(r->peak_share_of_window)}};
}

Json findings_json(const Diagnosis& diagnosis) {
  Json out = Json::array();
  for (const auto& [ranked, planned] : first_findings(diagnosis))
    out.push_back({{"rule", ranked->finding.rule->id},
                   {"title", title_of(diagnosis, *ranked->finding.rule)},
                   {"severity", severity_name(ranked->finding.severity)},
                   {"cost_ns", ranked->finding.cost},
                   {"gain", gain_json(diagnosis, *ranked)},
                   {"planned", planned != nullptr ? Json(planned_words(diagnosis, *planned)) : Json(nullptr)},
                   {"summary", ranked->finding.summary},
                   {"remedy", remedy_of(ranked->finding)}});
  return out;
}

Json recording_json(const RecordingFacts& r) {
  Json software = Json::object(), missing = Json::array();
  for (const auto& [title, value] : r.software) software[title] = value;
  for (const MissingPart& m : r.missing) missing.push_back({{"part", m.key}, {"what", m.what}, {"python", m.how}});
  return {{"made_by", text_or_null(r.recorder)},
          {"software", std::move(software)},
          {"rank", r.rank >= 0 ? Json(r.rank) : Json(nullptr)},
          {"world_size", r.world_size > 0 ? Json(r.world_size) : Json(nullptr)},
          {"options", r.options},
          {"missing", std::move(missing)}};
}

Json hot_json(const Trace& trace, const HotKernel& k) {
  return {{"name", trace.strings[k.name]},
          {"kind", kernel_kind_name(k.kind)},
          {"count", k.count},
          {"total_ns", k.time},
          {"share", k.share},
          {"ncu", k.ncu ? Json(k.ncu->command) : Json(nullptr)}};
}

Json answer_json(const AnswerCard& card, const Diagnosis& diagnosis) {
  const auto time = [](Ns t) { return t > 0 ? Json(t) : Json(nullptr); };
  const Finding* cause = card.finding >= 0 ? &diagnosis.findings[static_cast<std::size_t>(card.finding)].finding : nullptr;
  return {{"step_ns", time(card.step)},
          {"low_ns", time(card.low)},
          {"high_ns", time(card.high)},
          {"is_plain", card.is_plain},
          {"recorded_ns", time(card.recorded)},
          {"gpu_share", or_null(card.gpu_share)},
          {"doubt", text_or_null(card.doubt)},
          {"cause", cause ? Json{{"rule", cause->rule->id},
                                 {"title", title_of(diagnosis, *cause->rule)},
                                 {"ns", card.time},
                                 {"of_step", card.of_step}}
                          : Json(nullptr)},
          {"where", cause ? where_json(*cause) : Json(nullptr)},
          {"remedy", text_or_null(card.remedy)},
          {"code", text_or_null(card.code)},
          {"then_ns", time(card.after)},
          {"line_hint", text_or_null(card.line_hint)},
          {"lines", answer_lines(card, /*with_doubt=*/true)}};
}

}  // namespace

std::string overview_json(const Trace& trace, const RunOverview& o, const Diagnosis& diagnosis) {
  Json json = {{"verdict", diagnosis.verdict},
               {"trust", text_or_null(diagnosis.trust)},
               {"answer", answer_json(answer_card(trace, diagnosis, &diagnosis, recorded_run(o)), diagnosis)},
               {"producer", trace.producer->id},
               {"doubts", doubts_json(diagnosis.doubts)},
               {"steps", steps_json(o.steps)},
               {"devices", Json::array()},
               {"kinds", Json::array()},
               {"gpu_ns", o.gpu_time},
               {"kernel_ns", o.kernel_time},
               {"tensor_core_ns", o.tensor_core_time},
               {"matrix_ns", o.matrix_time},
               {"matrix_unknown_ns", o.matrix_unknown_time},
               {"rates", rates_json(o.rates)},
               {"findings", findings_json(diagnosis)},
               {"plan", plan_json(diagnosis)},
               {"hottest_kernels", Json::array()},
               {"recording", recording_json(o.recording)}};
  if (!trace_arguments().stated.as_recorded) json["plain"] = plain_json(diagnosis.plain.get(), diagnosis.plain_verdict);
  if (diagnosis.plain_times) json["plain"]["account"] = times_json(*diagnosis.plain_times);
  for (const PhaseFigures& p : o.phases) json["phases"].push_back(phase_json(p));
  for (const OverviewDevice& d : o.devices) json["devices"].push_back(device_json(d));
  for (const KindTime& k : o.kinds)
    json["kinds"].push_back({{"kind", kernel_kind_name(k.kind)}, {"count", k.count}, {"ns", k.time}});
  for (const HotKernel& k : o.hottest) json["hottest_kernels"].push_back(hot_json(trace, k));
  return json_text(json);
}

}  // namespace gapscope
