#include "core/view/compare/kernel_marks.h"

#include <string_view>
#include <unordered_map>

namespace gapscope {
namespace {

KernelMark mark_of(KernelChangeClass change) {
  switch (change) {
    case KernelChangeClass::same: return KernelMark::same;
    case KernelChangeClass::added:
    case KernelChangeClass::removed: return KernelMark::only;
    default: return KernelMark::changed;
  }
}

}  // namespace

KernelMarks::KernelMarks(const Comparison& comparison, TraceSide side, const Trace& trace) {
  std::unordered_map<std::string_view, KernelMark> marks;
  const auto add = [&](std::string_view name, KernelMark mark) {
    if (name.empty()) return;
    const auto [at, is_new] = marks.try_emplace(name, mark);
    if (!is_new && at->second != mark) at->second = KernelMark::changed;  // some of them stayed: their number changed
  };
  for (const KernelChange& row : comparison.kernels) {
    add(side == TraceSide::a ? row.name_a : row.name_b, mark_of(row.change));
    for (const std::string& name : side == TraceSide::a ? row.fused_a : row.fused_b) add(name, KernelMark::changed);
  }
  by_name_.assign(trace.strings.size(), KernelMark::none);
  for (std::size_t i = 0; i < by_name_.size(); ++i) {
    const auto at = marks.find(trace.strings[StringId(i)]);
    if (at == marks.end()) continue;
    by_name_[i] = at->second;
    any_ |= at->second != KernelMark::same;
  }
}

MarkCounts mark_counts(const Comparison& comparison) {
  MarkCounts out;
  for (std::size_t c = 0; c < kKernelChangeClasses; ++c) {
    const KernelClassTotal& total = comparison.kernel_totals[c];
    const auto change = static_cast<KernelChangeClass>(c);
    if (change == KernelChangeClass::same) continue;
    if (change == KernelChangeClass::added)
      out.added += total.count_b;
    else if (change == KernelChangeClass::removed)
      out.gone += total.count_a;
    else
      out.changed_a += total.count_a, out.changed_b += total.count_b;
  }
  return out;
}

}  // namespace gapscope
