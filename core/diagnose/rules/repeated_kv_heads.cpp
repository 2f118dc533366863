#include <optional>
#include <set>

#include <fmt/format.h>

#include "core/analyze/work/work_call.h"
#include "core/base/saturating.h"
#include "core/base/text.h"
#include "core/diagnose/conditions/compiled_calls.h"
#include "core/diagnose/conditions/conditions.h"
#include "core/diagnose/rule.h"

namespace gapscope {
namespace {

constexpr double kLeastRepeatedShare = 0.03;  // of the GPU time

std::optional<WorkCall> call_with_sizes(const Facts& facts, SliceId op, std::string_view name) {
  const OpRow* row = facts.trace.op_row(op);
  if (facts.trace.name(op) != name || row == nullptr || !row->input_dims) return std::nullopt;
  return parse_call(name, facts.trace.strings[row->input_dims], {}, {});
}

// Sizes of the keys and values that attention gets: [batch, heads, length, width].
std::set<Sizes> keys_of_attention(const Facts& facts) {
  constexpr std::string_view kAttention = "aten::scaled_dot_product_attention";
  std::set<Sizes> out;
  for (const SliceId s : cpu_slices_called(facts, kAttention, kIsOp))
    if (const auto call = call_with_sizes(facts, s, kAttention)) out.insert({call->sizes(1), call->sizes(2)});
  return out;
}

// A copy of [batch, heads, repeats, length, width] that attention then reads with all heads as one: repeat_kv().
std::vector<Finding> check_repeated_kv_heads(const Facts& facts) {
  const std::set<Sizes> keys = keys_of_attention(facts);
  if (keys.empty()) return {};
  std::vector<Span> spans;
  std::set<double> repeats;
  for (const SliceId s : cpu_slices_called(facts, "aten::clone", kIsOp)) {
    const auto call = call_with_sizes(facts, s, "aten::clone");
    if (!call || call->sizes(0).size() != 5) continue;
    const Sizes& size = call->sizes(0);
    if (size[2] < 2 || keys.count({size[0], size[1] * size[2], size[3], size[4]}) == 0) continue;
    repeats.insert(size[2]);
    spans.push_back(facts.trace.span_of(s));
  }
  if (spans.empty()) return {};
  const std::size_t copies = spans.size();
  const SpanSet inside = span_set(std::move(spans));
  std::vector<SliceId> work;
  Ns time = 0;
  for (const GpuOp& op : facts.ops)
    if (op.linked() && contains(inside, op.launch_span.begin)) {
      work.push_back(op.slice);
      add_saturating(time, op.span.length());
    }
  const double share = share_of(time, facts.gpu_sum);
  if (share < kLeastRepeatedShare) return {};
  Finding finding;
  finding.severity = Severity::costly;
  finding.cost = time;
  finding.summary =
      fmt::format("{} wrote each head of keys or values {:.0f} times for attention to read: {} of the GPU time ({}).",
                  sentence_start(counted(copies, "copy")), *repeats.rbegin(), format_share(share), format_duration(time));
  finding.evidence = Evidence({{"n", copies}, {"total_us", as_us(time)}, {"share", share}});
  mark_slices(finding, facts.trace, work);
  return {std::move(finding)};
}

}  // namespace

extern const Rule repeated_kv_heads = {
    .id = "repeated_kv_heads",
    .rule_class = RuleClass::problem,
    .severity = Severity::costly,
    .needs = kNeedsOperators | kNeedsLaunches | kNeedsShapes,
    .title = "Heads of keys and values are copied for attention",
    .meaning =
        "With grouped-query attention several query heads share a head of keys and values. repeat_kv() writes that head once "
        "for each of them, and attention reads all copies.",
    .remedy = "Leave keys and values as they are, and pass enable_gqa=True to the attention.",
    .check = check_repeated_kv_heads,
    .claim = Claim{.time = ClaimedTime::kernels, .turn = 253, .explains = {"unfused_elementwise_chain", "hidden_memcpy"}},
    .code = "enable_gqa=True",
    .gives = {Cure::work, true},
};

}  // namespace gapscope
