#include <algorithm>
#include <unordered_map>

#include <fmt/format.h>

#include "core/base/text.h"
#include "core/diagnose/advice.h"
#include "core/diagnose/conditions/conditions.h"
#include "core/diagnose/rule.h"

namespace gapscope {
namespace {

// The TensorBoard plugin's own limit for its advice.
constexpr double kLeastExposedShare = 0.10;

struct OfName {
  StringId name;
  std::vector<SliceId> kernels;
  Ns exposed = 0;
};

// The kernels behind the exposed time, by name, most time first. Where it is nothing computes: any kernel there communicates.
std::vector<OfName> by_name(const Facts& facts, const DeviceAccount& device) {
  std::unordered_map<std::uint32_t, OfName> names;
  for (const GpuOp& op : facts.ops) {
    if (op.device != device.device || !op.is_kernel() || length_within(device.exposed_communication, op.span) == 0) continue;
    OfName& of = names[facts.trace.name_id(op.slice).value];
    of.name = facts.trace.name_id(op.slice);
    of.kernels.push_back(op.slice);
  }
  std::vector<OfName> out;
  for (auto& [id, of] : names) {
    std::vector<Span> spans;
    for (const SliceId kernel : of.kernels) spans.push_back(facts.trace.span_of(kernel));
    of.exposed = length(intersect(span_set(std::move(spans)), device.exposed_communication));
    out.push_back(std::move(of));
  }
  std::sort(out.begin(), out.end(), [](const OfName& a, const OfName& b) {
    return a.exposed != b.exposed ? a.exposed > b.exposed : a.name.value < b.name.value;
  });
  return out;
}

std::vector<Finding> check_exposed_communication(const Facts& facts) {
  const DeviceAccount* device = facts.session.account().busiest();
  if (device == nullptr) return {};
  const Ns exposed = device->times.exposed_communication;
  const double share = share_of(exposed, device->times.window);
  if (exposed == 0 || share < kLeastExposedShare) return {};
  const std::vector<OfName> names = by_name(facts, *device);
  Finding finding;
  finding.severity = Severity::costly;
  finding.cost = exposed;
  finding.summary = fmt::format("{} communicated for {}, {} of the window, and computed nothing meanwhile.",
                                busiest_words(facts, "The GPU"), format_duration(exposed), format_share(share));
  const OfName& most = names.front();
  finding.summary += fmt::format(" {}, {}, is in {} of {}.", names.size() == 1 ? "All of it" : "The largest part",
                                 format_duration(most.exposed), counted(most.kernels.size(), "kernel"),
                                 shown_kernel(facts.trace.strings[most.name]));
  std::vector<SliceId> kernels;
  for (const OfName& of : names) kernels.insert(kernels.end(), of.kernels.begin(), of.kernels.end());
  finding.evidence = Evidence({{"exposed_us", as_us(exposed)},
                               {"share", share},
                               {"kernels", kernels.size()},
                               {"name", facts.trace.strings[most.name]},
                               {"name_us", as_us(most.exposed)}});
  finding.advice = communication_advice(advice_on(facts), *device, device->window);
  mark_slices(finding, facts.trace, kernels);
  return {std::move(finding)};
}

}  // namespace

extern const Rule exposed_communication = {
    .id = "exposed_communication",
    .rule_class = RuleClass::problem,
    .severity = Severity::costly,
    .needs = kNeedsLaunches,
    .title = "Exposed communication",
    .meaning =
        "Kernels of NCCL run while the GPU computes nothing. Such a kernel also waits for the other ranks. Only the "
        "recordings of the other ranks show which part is waiting and which is transfer.",
    .remedy = "Find the late rank with gapscope ranks. Overlap the rest with computation.",
    .check = check_exposed_communication,
    .claim = Claim{.time = ClaimedTime::communication, .inside = false, .turn = 40},
    .gives = {Cure::at_stake},
};

}  // namespace gapscope
