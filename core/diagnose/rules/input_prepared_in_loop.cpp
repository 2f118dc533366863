#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "core/base/saturating.h"
#include "core/base/text.h"
#include "core/diagnose/conditions/conditions.h"
#include "core/diagnose/conditions/library_work.h"
#include "core/diagnose/rule.h"

namespace gapscope {
namespace {

constexpr double kLeastPreparedShare = 0.03;  // of the window

std::vector<Finding> check_input_prepared_in_loop(const Facts& facts) {
  std::array<Ns, 5> by_task{};
  std::vector<SliceId> calls;
  Ns time = 0;
  for (const LibraryCall& call : library_calls(facts)) {
    if (!is_input(call.task)) continue;
    calls.push_back(call.frame);
    add_saturating(time, facts.trace.duration(call.frame));
    add_saturating(by_task[static_cast<std::size_t>(call.task)], facts.trace.duration(call.frame));
  }
  const double share = share_of(time, facts.window_length);
  if (calls.empty() || share < kLeastPreparedShare) return {};
  const auto most = static_cast<LibraryTask>(std::max_element(by_task.begin(), by_task.end()) - by_task.begin());
  Finding finding;
  finding.severity = Severity::costly;
  finding.cost = time;
  finding.summary = fmt::format("The thread that launches GPU work also {}: {}, {} in total, {} of the window.",
                                task_words(most), counted(calls.size(), "call"), format_duration(time), format_share(share));
  finding.evidence = Evidence({{"n", calls.size()}, {"total_us", as_us(time)}, {"share", share}});
  mark_slices(finding, facts.trace, calls);
  return {std::move(finding)};
}

}  // namespace

extern const Rule input_prepared_in_loop = {
    .id = "input_prepared_in_loop",
    .rule_class = RuleClass::problem,
    .severity = Severity::costly,
    .needs = kNeedsGpuWork,
    .title = "Inputs are prepared in the training loop",
    .meaning =
        "Tokenizing text, decoding images or reading tables takes milliseconds of one CPU core. If the thread that launches "
        "GPU work does this between the steps, the GPU is idle meanwhile.",
    .remedy =
        "Prepare inputs once before the loop and store the result, or do it in the Dataset of a DataLoader with workers, which "
        "run ahead.",
    .check = check_input_prepared_in_loop,
    .claim = Claim{.time = ClaimedTime::idle, .turn = 38, .explains = {"host_pause", "host_gaps"}},
    .code = "DataLoader(dataset, num_workers=8, pin_memory=True, persistent_workers=True)",
    .gives = {Cure::gone, true},
};

}  // namespace gapscope
