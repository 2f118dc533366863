#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/analyze/work/work_call.h"
#include "core/base/text.h"
#include "core/diagnose/conditions/conditions.h"
#include "core/diagnose/conditions/launched_in.h"
#include "core/diagnose/conditions/recorded_calls.h"
#include "core/diagnose/rule.h"

namespace gapscope {
namespace {

constexpr double kLeastRepeatedShare = 0.03;  // of the GPU time
constexpr std::string_view kAttentionOfHeads = "aten::scaled_dot_product_attention";

std::optional<WorkCall> call_with_sizes(const Facts& facts, SliceId op, std::string_view name) {
  return facts.trace.name(op) == name ? recorded_call(facts, op) : std::nullopt;
}

// Sizes of the keys and values that attention gets: [batch, heads, length, width].
std::set<Sizes> keys_of_attention(const Facts& facts) {
  std::set<Sizes> out;
  for (const SliceId s : cpu_slices_called(facts, kAttentionOfHeads, kIsOp))
    if (const auto call = call_with_sizes(facts, s, kAttentionOfHeads)) out.insert({call->sizes(1), call->sizes(2)});
  return out;
}

struct Repeats {
  std::vector<SliceId> clones;
  double times = 0;  // 0: not known
};

// A copy of [batch, heads, repeats, length, width] that attention then reads with all heads as one: repeat_kv().
Repeats repeats_by_size(const Facts& facts, const std::set<Sizes>& keys) {
  Repeats out;
  for (const SliceId s : cpu_slices_called(facts, "aten::clone", kIsOp)) {
    const auto call = call_with_sizes(facts, s, "aten::clone");
    if (!call || call->sizes(0).size() != 5) continue;
    const Sizes& size = call->sizes(0);
    if (size[2] < 2 || keys.count({size[0], size[1] * size[2], size[3], size[4]}) == 0) continue;
    out.clones.push_back(s);
    out.times = std::max(out.times, size[2]);
  }
  return out;
}

bool is_repeat(const Facts& facts, SliceId clone) {
  const SliceId reshape = facts.parent(clone);
  if (!reshape || facts.trace.name(reshape) != "aten::reshape" || reshape.value == 0) return false;
  const SliceId before(std::size_t{reshape.value} - 1);
  return facts.trace.name(before) == "aten::expand" && facts.parent(before) == facts.parent(reshape) &&
         facts.trace.lane_id(before) == facts.trace.lane_id(reshape);
}

// Without sizes: aten::expand, and a reshape that copies, twice before each attention, once for keys and once for values.
Repeats repeats_by_order(const Facts& facts) {
  std::map<std::pair<std::uint32_t, Ns>, SliceId> events;  // by lane and begin
  const auto add = [&](SliceId s) { events[{facts.trace.lane_id(s).value, facts.trace.begin(s)}] = s; };
  std::size_t attentions = 0, fed = 0;
  for (const SliceId s : cpu_slices_called(facts, kAttentionOfHeads, kIsOp))
    if (facts.trace.name(s) == kAttentionOfHeads) add(s), ++attentions;
  if (attentions == 0) return {};
  for (const SliceId s : cpu_slices_called(facts, "aten::clone", kIsOp))
    if ((facts.below(s) & kIsLaunch) != 0 && is_repeat(facts, s)) add(s);
  Repeats out;
  std::vector<SliceId> since;
  std::uint32_t lane = 0;
  for (const auto& [at, s] : events) {
    if (at.first != lane) since.clear(), lane = at.first;
    if (facts.trace.name(s) != kAttentionOfHeads) {
      since.push_back(s);
      continue;
    }
    if (since.size() == 2) ++fed, out.clones.insert(out.clones.end(), since.begin(), since.end());
    since.clear();
  }
  return 2 * fed >= attentions ? out : Repeats{};
}

std::vector<Finding> check_repeated_kv_heads(const Facts& facts) {
  const std::set<Sizes> keys = keys_of_attention(facts);
  const Repeats found = keys.empty() ? repeats_by_order(facts) : repeats_by_size(facts, keys);
  if (found.clones.empty()) return {};
  const std::size_t copies = found.clones.size();
  LaunchedWork work = work_launched_in(facts, found.clones);
  const double share = share_of(work.time, facts.gpu_sum);
  if (share < kLeastRepeatedShare) return {};
  Finding finding;
  finding.severity = Severity::costly;
  finding.cost = work.time;
  finding.summary = fmt::format("{} wrote each head of keys or values {} for attention: {} of the GPU time ({}).",
                                sentence_start(counted(copies, "copy")),
                                found.times > 0 ? fmt::format("{:.0f} times", found.times) : "several times",
                                format_share(share), format_duration(work.time));
  finding.evidence = Evidence({{"n", copies}, {"total_us", as_us(work.time)}, {"share", share}});
  mark_slices(finding, facts.trace, work.slices);
  return {std::move(finding)};
}

}  // namespace

extern const Rule repeated_kv_heads = {
    .id = "repeated_kv_heads",
    .rule_class = RuleClass::problem,
    .severity = Severity::costly,
    .needs = kNeedsOperators | kNeedsLaunches,
    .title = "Heads of keys and values are copied for attention",
    .meaning =
        "With grouped-query attention, several query heads share a head of keys and values. repeat_kv() writes that head once "
        "for each of them, and attention reads all copies.",
    .remedy = "Do not repeat keys and values: pass enable_gqa=True to the attention.",
    .check = check_repeated_kv_heads,
    .claim = Claim{.time = ClaimedTime::kernels, .turn = 253, .explains = {"unfused_elementwise_chain", "hidden_memcpy"}},
    .code = "enable_gqa=True",
    .gives = {Cure::work, true},
};

}  // namespace gapscope
