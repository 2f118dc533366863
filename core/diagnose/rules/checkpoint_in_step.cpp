#include <algorithm>

#include <fmt/format.h>

#include "core/base/saturating.h"
#include "core/base/text.h"
#include "core/diagnose/conditions/conditions.h"
#include "core/diagnose/rule.h"

namespace gapscope {
namespace {

constexpr double kLeastSavingShare = 0.02;  // of the window
constexpr Ns kLeastSaving = kNsPerMs;

// "torch/serialization.py(940): save"; what it calls has other names.
bool saves_a_checkpoint(std::string_view frame) {
  const bool torch_save = frame.find("torch/serialization.py(") != frame.npos && frame.ends_with(": save");
  const bool safetensors = frame.find("safetensors/") != frame.npos && frame.ends_with(": save_file");
  return torch_save || safetensors;
}

std::vector<Finding> check_checkpoint_in_step(const Facts& facts) {
  std::vector<SliceId> saves;
  Ns time = 0, longest = 0;
  for (const StringId name : facts.names_matching(saves_a_checkpoint))
    for (const SliceId s : facts.names.slices_named(name)) {
      if ((facts.own(s) & kIsPython) == 0 || facts.trace.duration(s) < kLeastSaving) continue;
      saves.push_back(s);
      add_saturating(time, facts.trace.duration(s));
      longest = std::max(longest, facts.trace.duration(s));
    }
  const double share = share_of(time, facts.window_length);
  if (saves.empty() || share < kLeastSavingShare) return {};
  Finding finding;
  finding.severity = Severity::costly;
  finding.cost = time;
  finding.summary = fmt::format("A checkpoint was written {}{}: {} in total, {} of the window, the longest {}.",
                                often(saves.size()), facts.steps.empty() ? "" : " in " + counted(facts.step_count(), "step"),
                                format_duration(time), format_share(share), format_duration(longest));
  finding.evidence =
      Evidence({{"n", saves.size()}, {"total_us", as_us(time)}, {"share", share}, {"longest_us", as_us(longest)}});
  mark_slices(finding, facts.trace, saves);
  return {std::move(finding)};
}

}  // namespace

extern const Rule checkpoint_in_step = {
    .id = "checkpoint_in_step",
    .rule_class = RuleClass::problem,
    .severity = Severity::costly,
    .needs = kNeedsNothing,
    .title = "Checkpoints are written while the GPU waits",
    .meaning = "torch.save copies the tensors to the host one at a time and writes them to disk before the next step starts.",
    .remedy =
        "Write checkpoints less often, or in the background: torch.distributed.checkpoint.async_save, or copy the weights to "
        "pinned memory and save them from a thread.",
    .check = check_checkpoint_in_step,
    .claim = Claim{.time = ClaimedTime::idle, .turn = 39, .explains = {"host_pause", "memcpy_heavy"}},
    .code = "torch.distributed.checkpoint.async_save(state, checkpoint_id=path)",
    .gives = {Cure::gone, true},
};

}  // namespace gapscope
