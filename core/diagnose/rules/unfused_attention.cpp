#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "core/analyze/modules/work_moments.h"
#include "core/analyze/practices/practices.h"
#include "core/base/saturating.h"
#include "core/base/text.h"
#include "core/diagnose/conditions/conditions.h"
#include "core/diagnose/conditions/work_origin.h"
#include "core/diagnose/rule.h"

namespace gapscope {
namespace {

// Operators with GPU work between the parts: scaling, mask, dropout, casts.
constexpr std::size_t kMostApart = 6;
// Of the GPU time.
constexpr double kLeastAttentionShare = 0.02;

enum class Part : std::uint8_t { other, product, softmax };

Part part_of(std::string_view op) {
  if (op == "aten::bmm" || op == "aten::baddbmm") return Part::product;
  return op == "aten::_softmax" ? Part::softmax : Part::other;
}

// As scores.masked_fill(mask, -inf) is recorded: the out-of-place one by what it calls, too.
bool fills_with_mask(std::string_view op) { return op.starts_with("aten::masked_fill"); }

struct OpWork {
  WorkOrigin op;
  std::vector<SliceId> gpu;
  Ns first_launch = 0, time = 0;
  Part part = Part::other;
};

// Operators that own GPU work, in the order of their first launch.
std::vector<OpWork> operators_in_order(const Facts& facts) {
  std::vector<OpWork> out;
  std::map<std::tuple<const Trace*, SliceId, SliceId>, std::size_t> place;
  for (std::size_t i = 0; i < facts.ops.size(); ++i) {
    if (!facts.ops[i].linked()) continue;
    const WorkOrigin owner = origin_of(facts, facts.ops[i]);
    if (!owner) continue;
    const auto [at, is_new] = place.try_emplace({owner.by.trace, owner.by.op, owner.replay}, out.size());
    if (is_new) out.push_back({owner, {}, facts.ops[i].launch_span.begin, 0, part_of(owner.name())});
    OpWork& work = out[at->second];
    work.gpu.push_back(facts.ops[i].slice);
    work.first_launch = std::min(work.first_launch, facts.ops[i].launch_span.begin);
    add_saturating(work.time, facts.ops[i].span.length());
  }
  std::stable_sort(out.begin(), out.end(), [](const OpWork& a, const OpWork& b) { return a.first_launch < b.first_launch; });
  return out;
}

std::size_t next_part(const std::vector<OpWork>& ops, std::size_t after, Part part) {
  const std::size_t stop = std::min(ops.size(), after + kMostApart + 1);
  for (std::size_t i = after + 1; i < stop; ++i)
    if (ops[i].part == part) return i;
  return ops.size();
}

// From the product to the second one on a thread, with what is done to tensors for them.
struct Stretch {
  LaneId lane;
  Span span;
};

struct Attention {
  std::int64_t count = 0;
  Ns time = 0;
  std::vector<SliceId> slices;     // its operators, of replayed graphs their GPU work
  std::vector<Span> joined_spans;  // of that
  std::vector<Stretch> stretches;  // but for joined ones
  WorkOrigin example;
  bool fills = false;  // scores are masked before the softmax
};

void add(Attention& attention, const Trace& trace, const OpWork& work) {
  add_saturating(attention.time, work.time);
  if (!work.op.by.joined) return attention.slices.push_back(work.op.by.op);
  for (const SliceId s : work.gpu) {
    attention.slices.push_back(s);
    attention.joined_spans.push_back(trace.span_of(s));
  }
}

// The operator, or aten::matmul that it is part of.
SliceId with_matmul(const Facts& facts, SliceId op) {
  const SliceId around = facts.parent(op);
  return around && facts.trace.name(around) == "aten::matmul" ? around : op;
}

// Each softmax belongs to the product right before it.
Attention attention_of(const Facts& facts, const std::vector<OpWork>& ops) {
  Attention out;
  for (std::size_t i = 0; i < ops.size(); ++i) {
    if (ops[i].part != Part::product) continue;
    const std::size_t softmax = next_part(ops, i, Part::softmax);
    const std::size_t again = next_part(ops, i, Part::product);
    if (softmax == ops.size() || again < softmax) continue;
    const std::size_t values = next_part(ops, softmax, Part::product);
    if (values == ops.size()) continue;
    ++out.count;
    if (!out.example) out.example = ops[i].op;
    for (const std::size_t at : {i, softmax, values}) add(out, facts.trace, ops[at]);
    for (std::size_t at = i + 1; at < softmax; ++at) out.fills |= fills_with_mask(ops[at].op.name());
    if (const SliceId first = ops[i].op.by.op, last = ops[values].op.by.op; !ops[i].op.by.joined && !ops[values].op.by.joined)
      out.stretches.push_back(
          {facts.trace.lane_id(first), {facts.trace.begin(with_matmul(facts, first)), facts.trace.end(last)}});
    i = values;
  }
  return out;
}

// The GPU work launched in these stretches, and in the backward pass of their operators: one kernel forward and one or two
// backward represent all of it.
std::vector<GpuOp> work_of(const Facts& facts, std::vector<Stretch> stretches) {
  const auto is_before = [](const Stretch& a, const Stretch& b) {
    return std::pair(a.lane, a.span.begin) < std::pair(b.lane, b.span.begin);
  };
  std::sort(stretches.begin(), stretches.end(), is_before);
  std::vector<GpuOp> linked;
  std::vector<SliceId> launches;
  for (const GpuOp& op : facts.ops)
    if (op.linked()) linked.push_back(op), launches.push_back(op.launch);
  const std::vector<WorkMoment> moments = work_moments(facts.trace, NestedSlices(facts.trace, {}), launches);
  std::vector<GpuOp> out;
  for (std::size_t i = 0; i < linked.size(); ++i) {
    const Moment& at = moments[i].at;
    auto found = std::upper_bound(stretches.begin(), stretches.end(), Stretch{at.lane, {at.time, at.time}}, is_before);
    if (found == stretches.begin() || (--found)->lane != at.lane || at.time >= found->span.end) continue;
    out.push_back(linked[i]);
  }
  return out;
}

std::vector<Finding> check_unfused_attention(const Facts& facts) {
  const bool has_softmax = !facts.names_matching([](std::string_view name) { return part_of(name) == Part::softmax; }).empty();
  if (!has_softmax && !facts.trace.captured) return {};
  const Attention found = attention_of(facts, operators_in_order(facts));
  const double share = share_of(found.time, facts.gpu_sum);
  if (found.count == 0 || share < kLeastAttentionShare) return {};
  Finding finding;
  finding.severity = Severity::costly;
  finding.cost = found.time;
  finding.summary = fmt::format("{} scores are computed, normalized and applied by separate operators: {}, {} of the GPU time.",
                                found.count == 1 ? "Once" : format_count(found.count) + " times", format_duration(found.time),
                                format_share(share));
  if (found.fills) {
    finding.advice = advice_of(
        "Use one kernel: {fused_attention}, {shared_attention}, {|need_weights=False for nn.MultiheadAttention}. "
        "Pass the inverted mask: attn_mask is True where the mask of masked_fill is False. If the mask hides later positions, "
        "pass is_causal=True instead, which skips that half.");
    finding.code = fitted(facts.practices(), "{fused_attention!}F.scaled_dot_product_attention(q, k, v, attn_mask=~mask)");
  }
  finding.evidence = Evidence({{"n", found.count}, {"time_us", as_us(found.time)}, {"share", share}});
  if (!found.example.input_dims().empty()) finding.evidence.add("input_dims", found.example.input_dims());
  mark_joined(finding, found.joined_spans.size(), found.slices.size());
  mark_slices(finding, facts.trace, found.slices);
  finding.covers = unite(gpu_work_inside(facts, found.slices), span_set(found.joined_spans));
  Ns whole = 0;
  for (const GpuOp& op : work_of(facts, found.stretches)) {
    add_saturating(whole, op.span.length());
    finding.slices.push_back(op.slice);
  }
  if (whole > found.time) {
    finding.summary += fmt::format(" With the work between them and their backward pass: {}.", format_duration(whole));
    finding.evidence.add("whole_time_us", as_us(whole));
  }
  return {std::move(finding)};
}

}  // namespace

extern const Rule unfused_attention = {
    .id = "unfused_attention",
    .rule_class = RuleClass::problem,
    .severity = Severity::costly,
    .needs = kNeedsLaunches | kNeedsOperators,
    .title = "Attention in separate steps",
    .meaning =
        "Attention runs as a product, a softmax and a second product. The scores are written to memory and read back several "
        "times. One fused kernel leaves them on the chip.",
    .remedy = "Use one kernel: {fused_attention}, {shared_attention}, {|need_weights=False for nn.MultiheadAttention}.",
    .check = check_unfused_attention,
    .claim = Claim{.time = ClaimedTime::kernels, .turn = 260},
    .other_remedy = "Use a fused attention kernel, such as those of cuDNN or FlashAttention.",
    .code = "{fused_attention!}F.scaled_dot_product_attention(q, k, v)",
    .gives = {Cure::half, false, true},
};

}  // namespace gapscope
