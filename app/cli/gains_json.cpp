#include "app/cli/gains_json.h"

#include <utility>

#include <nlohmann/json.hpp>

#include "core/diagnose/verdict.h"
#include "core/replay/plain_program.h"

namespace gapscope {

using Json = nlohmann::ordered_json;

Json gain_json(const Diagnosis& diagnosis, const RankedFinding& finding) {
  const Plan& plan = diagnosis.plan;
  if (!finding.gain || plan.run <= 0) return nullptr;
  const Gain& gain = *finding.gain;
  return {{"gain_ns", gain.most},
          {"per_step_ns", plan.each(gain.most)},
          {"share", plan.share(gain.most)},
          {"kind", gain.exact ? "about" : "up to"},
          {"step_before_ns", plan.length(plan.run)},
          {"step_after_ns", plan.length(plan.run - gain.most)},
          {"after_plan_ns", gain.later},
          {"recommended", is_recommended(plan, finding)},
          {"words", gain_words(diagnosis, finding)}};
}

Json plain_json(const PlainProgram* plain, const std::string& verdict) {
  if (plain == nullptr) return nullptr;
  const auto of_step = [&](Ns time) { return plain->steps > 0 ? Json(time) : Json(nullptr); };
  Json out = {{"step_ns", of_step(plain->step)}, {"low_ns", of_step(plain->low)},
              {"high_ns", of_step(plain->high)}, {"source", plain_source_name(plain->source)},
              {"gpu_share", plain->gpu_share},   {"verdict", verdict}};
  if (plain->steps == 0) out["run_ns"] = plain->step;
  if (!plain->trouble.empty()) out["trouble"] = plain->trouble;
  return out;
}

Json where_json(const Finding& f) {
  if (!f.where || f.where->source.file.empty()) return nullptr;
  return {{"file", f.where->source.file},
          {"line", f.where->source.line},
          {"function", f.where->function},
          {"module", f.where->module.empty() ? Json(nullptr) : Json(f.where->module)}};
}

Json code_json(const Finding& f) { return f.code.empty() ? Json(nullptr) : Json(f.code); }

Json plan_json(const Diagnosis& diagnosis) {
  const Plan& plan = diagnosis.plan;
  if (plan.run <= 0) return nullptr;
  Json items = Json::array();
  Ns before = plan.run;
  for (const Plan::Item& item : plan.items) {
    const RankedFinding& f = diagnosis.findings[static_cast<std::size_t>(item.finding)];
    const Ns left = item.least, saved = std::exchange(before, left) - left;
    items.push_back({{"rule", f.finding.rule->id},
                     {"title", title_of(diagnosis, *f.finding.rule)},
                     {"saved_ns", saved},
                     {"after_ns", left},
                     {"step_after_ns", plan.length(left)},
                     {"kind", item.exact ? "about" : "up to"},
                     {"where", where_json(f.finding)},
                     {"code", code_json(f.finding)}});
  }
  return {{"before_ns", plan.run},
          {"steps", plan.step.steps},
          {"step_before_ns", plan.length(plan.run)},
          {"items", std::move(items)},
          {"gpu_busy", {{"before", plan.busy_before}, {"after", plan.busy_after}}},
          {"next", bound_name(plan.next)}};
}

}  // namespace gapscope
