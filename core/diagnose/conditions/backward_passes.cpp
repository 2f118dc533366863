#include "core/diagnose/conditions/backward_passes.h"

#include <limits>
#include <map>
#include <string_view>

#include "core/diagnose/conditions/recorded_calls.h"

namespace gapscope {
namespace {

constexpr std::string_view kNode = "autograd::engine::evaluate_function: ";

}  // namespace

std::vector<BackwardPass> backward_passes(const Facts& facts) {
  std::map<std::size_t, std::vector<SliceId>> by_lane;
  for (const SliceId s : cpu_slices_called(facts, kNode, kIsOp)) by_lane[facts.trace.lane_id(s).index()].push_back(s);
  std::vector<BackwardPass> out;
  for (const auto& [lane, slices] : by_lane) {
    Ns end = std::numeric_limits<Ns>::min();
    std::int64_t last = -1;  // none: a pass begins
    for (const SliceId s : slices) {
      if (facts.trace.begin(s) < end) continue;  // in the node before
      end = facts.trace.end(s);
      const OpRow* row = facts.trace.op_row(s);
      BackwardNode node{s, row != nullptr ? row->sequence : -1, facts.trace.name(s).ends_with("AccumulateGrad")};
      if (last < 0 || (node.sequence >= 0 && node.sequence >= last)) out.emplace_back();
      if (node.sequence >= 0 || last < 0) last = std::max<std::int64_t>(node.sequence, 0);
      out.back().push_back(node);
    }
  }
  return out;
}

std::vector<SliceId> forward_operators(const Facts& facts, std::string_view name, const std::set<std::int64_t>& numbers) {
  std::vector<SliceId> out;
  for (const SliceId s : cpu_slices_called(facts, name, kIsOp))
    if (const OpRow* row = facts.trace.op_row(s); row != nullptr && row->sequence >= 0 && numbers.count(row->sequence) > 0)
      out.push_back(s);
  return out;
}

}  // namespace gapscope
