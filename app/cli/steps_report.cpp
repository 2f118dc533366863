#include <utility>

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "app/cli/analyses.h"
#include "app/cli/in_and_out.h"
#include "app/cli/said_doubts.h"
#include "core/analyze/inference/serving_passes.h"
#include "core/analyze/named_steps.h"
#include "core/analyze/step_columns.h"
#include "core/base/table/output.h"
#include "core/base/text.h"
#include "core/session/trace_session.h"
#include "core/trace/program_kind.h"

namespace gapscope {
namespace {

using Json = nlohmann::ordered_json;

Json part_json(const ServedPart& part, const ServingStep& pass) {
  Json out = {{"requests", part.requests}, {"tokens", pass.knows_tokens ? Json(part.queries) : Json(nullptr)}};
  if (pass.knows_sums) out["attended_tokens"] = part.keys;
  return out;
}

// What its name says of a pass of a serving engine.
void add_pass(const Trace& trace, const Step& step, Json& json) {
  const auto pass = step.slice ? serving_step(trace.name(step.slice)) : std::nullopt;
  if (!pass) return;
  json["annotation"] = trace.name(step.slice);
  json["phase"] = pass->phase();
  json["prefill"] = part_json(pass->prefill, *pass);
  json["decode"] = part_json(pass->decode, *pass);
}

Json times_json(const Step& step) {
  Json parts = Json::object();
  for (std::size_t role = 0; role < kStepRoles; ++role)
    parts[std::string(step_role_key(static_cast<StepRole>(role)))] = step.time[role];
  return parts;
}

bool is_own_name(const Trace& trace, const Steps& steps) {
  const std::string_view name = steps.steps.front().slice ? trace.name(steps.steps.front().slice) : std::string_view();
  return !name.empty() && !name.starts_with("ProfilerStep#") && !serving_step(name);
}

// What is not as one would expect, a sentence a line; empty when all is well.
std::string remarks(const Trace& trace, const Steps& steps, const std::string& annotation) {
  const bool is_python = by_torch_profiler(trace);
  std::string out;
  if (steps.steps.empty() && !annotation.empty()) {
    out += fmt::format("No annotation \"{}\" is in this trace.", printable(annotation));
    const auto names = annotation_names(trace);
    for (std::size_t i = 0; i < std::min<std::size_t>(names.size(), 5); ++i)
      out += fmt::format("{} \"{}\"", i == 0 ? " There are:" : ",", printable(names[i].first));
    if (names.empty())
      out += is_python ? " Mark a stretch of code with torch.profiler.record_function(\"name\")."
                       : " Mark a stretch of code with an NVTX range.";
    out += '\n';
  } else if (steps.steps.empty()) {
    out += "Neither a step nor an operator is in this trace.";
    if (!trace.producer->is_pytorch) return out + fmt::format(" Use {}.\n", trace.producer->steps);
    out += is_python ? " Record with activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA].\n"
                     : " Put an NVTX range around each iteration, named ProfilerStep#0, ProfilerStep#1 and so on.\n";
  } else if (!steps.annotated) {
    if (!trace.producer->is_pytorch)
      return out +
             fmt::format("No steps are marked in this trace: all of it counts as one step. Use {}.\n", trace.producer->steps);
    out += "No ProfilerStep# is in this trace: all of it counts as one step.";
    out += is_python ? " Record with schedule(...) and call prof.step() after each iteration.\n"
                     : " Put an NVTX range around each iteration, named ProfilerStep#0, ProfilerStep#1 and so on.\n";
  }
  if (steps.are_marked() && annotation.empty() && is_own_name(trace, steps))
    out += fmt::format("Steps are the annotations \"{}\": --steps NAME takes others.\n",
                       printable(without_numbers(trace.name(steps.steps.front().slice))));
  if (!steps.steps.empty() && reaches_to_next(trace, steps.steps.front())) out += fmt::format("{}\n", kStepToNext);
  if (!steps.iterations_of.empty())
    out += fmt::format(
        "No ProfilerStep# is in this trace: each iteration reaches from the end of one {} to the end of the next.\n",
        printable(steps.iterations_of));
  if (steps.dropped > 0)
    out += fmt::format("{} last step(s) left out: the recording ended before their GPU work did.\n", steps.dropped);
  if (steps.nested > 0)
    out += fmt::format("{} annotation(s) of that name are inside or around another and are left out.\n", steps.nested);
  return out;
}

}  // namespace

std::string steps_report(const TraceSession& session, const AnalysisOptions& options) {
  const Trace& trace = session.trace();
  const Steps steps = make_steps(trace, session.ops(), options.annotation);
  const std::string said = remarks(trace, steps, options.annotation);
  const StepRows table = step_rows(steps.steps, {trace});
  const std::vector<std::uint32_t> rows = first_rows(table, table.rows());
  if (options.json) {
    Json json = {{"annotated", steps.annotated},
                 {"iterations_of", steps.iterations_of},
                 {"dropped", steps.dropped},
                 {"nested", steps.nested},
                 {"remarks", said},
                 {"steps", json_of(table, rows)}};
    for (const std::uint32_t row : rows) {
      add_pass(trace, steps.steps[row], json["steps"][row]);
      json["steps"][row]["breakdown"] = times_json(steps.steps[row]);
    }
    return json_text(with_doubts(std::move(json), session));
  }
  std::string out = steps.steps.empty() ? "" : text_of(table, rows);
  for (const PhaseFigures& phase : phase_figures(trace, steps)) out += fmt::format("{}: {}\n", phase.phase, phase_words(phase));
  return out + said;
}

}  // namespace gapscope
