#include "core/diagnose/conditions/host_wait.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/base/text.h"
#include "core/diagnose/advice.h"
#include "core/diagnose/conditions/conditions.h"
#include "core/diagnose/diagnose.h"
#include "core/session/trace_session.h"

namespace gapscope {
namespace {

IdleCause largest_host_part(CauseTimes times) {
  for (std::size_t i = 0; i < kIdleCauses; ++i)
    if (!is_host_part(static_cast<IdleCause>(i))) times[i] = 0;
  return largest_of(times);
}

}  // namespace

std::string host_wait_sentence(const Facts& facts, const AccountTimes& times) {
  return fmt::format(" For {} {} waited for the host: {}.", format_duration(times.host()), busiest_words(facts, "it"),
                     cause_words(times.idle, program_kind(facts.trace), true));
}

Advice host_wait_remedy(const Facts& facts, const AccountTimes& times) {
  // The verdict is of the plain program where that is known.
  const std::optional<AccountTimes>& plain = headline_of(facts.session).plain_times;
  const IdleCause lead = largest_host_part(plain ? plain->idle : times.idle);
  const std::string_view of = lead == largest_host_part(times.idle) ? "of these parts" : "part without the profiler";
  const DeviceAccount& device = *facts.session.account().busiest();
  const AdviceOn on = advice_on(facts);
  Advice out =
      plain_advice(fmt::format("Start with the largest {} ({}).", of, idle_cause_title(lead, program_kind(facts.trace)))) +
      idle_advice(on, device, device.window, lead);
  // What the gain of these findings is of: steps of several launches.
  const bool has_several = facts.ops.size() > std::max<std::size_t>(1, facts.steps.size());
  const Remedies named = said(on.practices, out).remedies;
  if (has_several && !named.has(Remedy::cuda_graph) && !named.has(Remedy::larger_graphs) &&
      on.practices.program == ProgramKind::python)
    out += advice_of(kReplayAtOnce);
  return out;
}

}  // namespace gapscope
