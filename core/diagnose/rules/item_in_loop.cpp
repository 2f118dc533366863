#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "core/base/phrase.h"
#include "core/base/saturating.h"
#include "core/base/text.h"
#include "core/diagnose/conditions/compiled_calls.h"
#include "core/diagnose/conditions/conditions.h"
#include "core/diagnose/rule.h"

namespace gapscope {
namespace {

constexpr std::size_t kLeastItems = 8;

// "train.py(12): step": a frame of a file, not a built-in.
bool has_line(std::string_view frame) { return frame.find(".py(") != frame.npos; }

// The innermost frame around it that is the program's: not PyTorch's own.
SliceId frame_of(const Facts& facts, SliceId s) {
  SliceId own;
  for (SliceId at = facts.ancestor(s, kIsPython); at; at = facts.ancestor(at, kIsPython)) {
    const std::string_view name = facts.trace.name(at);
    if (!has_line(name)) continue;
    if (!own) own = at;
    if (!name.starts_with("torch/")) return at;
  }
  return own;
}

struct Items {
  std::vector<SliceId> calls;
  Ns time = 0;
};

std::vector<Finding> check_item_in_loop(const Facts& facts) {
  std::map<std::uint32_t, Items> by_frame;  // by name
  for (const SliceId s : cpu_slices_called(facts, "aten::_local_scalar_dense", kIsOp)) {
    if ((facts.below(s) & (kIsLaunch | kIsSync)) == 0 || (facts.above(s) & kIsCompileFrame) != 0) continue;
    const SliceId frame = frame_of(facts, s);
    if (!frame) continue;
    Items& items = by_frame[facts.trace.name_id(frame).value];
    items.calls.push_back(s);
    add_saturating(items.time, facts.trace.duration(s));
  }
  const auto most = std::max_element(by_frame.begin(), by_frame.end(),
                                     [](const auto& a, const auto& b) { return a.second.time < b.second.time; });
  if (most == by_frame.end() || most->second.calls.size() < kLeastItems) return {};
  const Items& items = most->second;
  Finding finding;
  finding.severity = Severity::notable;
  finding.cost = items.time;
  finding.summary = fmt::format("{} read {} from the GPU one at a time and waited {} in total.",
                                shown_name(facts.trace.strings[StringId(std::size_t{most->first})]),
                                counted(items.calls.size(), "value"), format_duration(items.time));
  finding.evidence = Evidence({{"n", items.calls.size()},
                               {"total_us", as_us(items.time)},
                               {"frame", facts.trace.strings[StringId(std::size_t{most->first})]}});
  mark_slices(finding, facts.trace, items.calls);
  return {std::move(finding)};
}

}  // namespace

extern const Rule item_in_loop = {
    .id = "item_in_loop",
    .rule_class = RuleClass::problem,
    .severity = Severity::notable,
    .needs = kNeedsOperators,
    .title = "Values are read from the GPU one at a time",
    .meaning =
        "Each .item(), float(), int() or if on a tensor waits until the GPU has computed it. The host launches nothing "
        "meanwhile.",
    .remedy =
        "In that function leave values on the GPU, and read them together after the loop (torch.stack, then one .tolist()).",
    .check = check_item_in_loop,
    .claim = Claim{.time = ClaimedTime::idle,
                   .causes = cause_set({IdleCause::synchronizing}),
                   .turn = 75,
                   .explains = {"implicit_sync", "long_sync_wait"}},
    .code = "values = torch.stack(losses).tolist()",
    .gives = {Cure::waits, true},
};

}  // namespace gapscope
