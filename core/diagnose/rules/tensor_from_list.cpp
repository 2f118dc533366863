#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "core/base/saturating.h"
#include "core/base/text.h"
#include "core/diagnose/conditions/conditions.h"
#include "core/diagnose/rule.h"

namespace gapscope {
namespace {

constexpr Ns kLeastReading = kNsPerMs / 2;       // less is a list of few numbers
constexpr double kLeastReadingShare = 0.05;      // of the window
constexpr double kMostlyOutsideOperators = 0.9;  // of a call: what an array takes is in its copy

bool is_tensor_call(std::string_view frame) {
  return frame.starts_with("<built-in method tensor of type ") || frame.starts_with("<built-in method as_tensor of type ");
}

std::vector<Finding> check_tensor_from_list(const Facts& facts) {
  if (facts.compiling()) return {};
  std::vector<SliceId> calls;
  Ns time = 0, longest = 0;
  for (const StringId name : facts.names_matching(is_tensor_call))
    for (const SliceId s : facts.names.slices_named(name)) {
      const Ns reading = facts.lanes.self_time(s), all = facts.trace.duration(s);
      if (reading < kLeastReading || share_of(reading, all) < kMostlyOutsideOperators) continue;
      if (!facts.steps.empty() && !facts.step_at(facts.trace.begin(s))) continue;
      calls.push_back(s);
      add_saturating(time, all);
      longest = std::max(longest, all);
    }
  const double share = share_of(time, facts.window_length);
  if (calls.empty() || share < kLeastReadingShare) return {};
  Finding finding;
  finding.severity = Severity::costly;
  finding.cost = time;
  finding.summary = fmt::format("{} of torch.tensor() took {}, {} of the window, nearly all of it outside operators{}.",
                                sentence_start(counted(calls.size(), "call")), format_duration(time), format_share(share),
                                calls.size() == 1 ? "" : ". The longest took " + format_duration(longest));
  finding.evidence =
      Evidence({{"n", calls.size()}, {"total_us", as_us(time)}, {"share", share}, {"longest_us", as_us(longest)}});
  mark_slices(finding, facts.trace, calls);
  return {std::move(finding)};
}

}  // namespace

extern const Rule tensor_from_list = {
    .id = "tensor_from_list",
    .rule_class = RuleClass::problem,
    .severity = Severity::costly,
    .needs = kNeedsGpuWork,
    .title = "torch.tensor() reads lists element by element",
    .meaning =
        "torch.tensor() of a list reads each number as a Python object, even if the list holds arrays. For a single array it "
        "copies the memory. The cost is the GPU's idle time meanwhile.",
    .remedy =
        "Make one array of a list of arrays first: torch.from_numpy(np.stack(arrays)). Use torch.stack for a list of tensors, "
        "and keep numbers in arrays instead of lists.",
    .check = check_tensor_from_list,
    .claim = Claim{.time = ClaimedTime::idle, .turn = 28, .explains = {"dataloader_wait", "host_pause", "gpu_gap_in_step"}},
    .code = "batch = torch.from_numpy(np.stack(arrays))",
    .gives = {Cure::host},
};

}  // namespace gapscope
