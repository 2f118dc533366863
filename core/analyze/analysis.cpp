#include "core/analyze/analysis.h"

#include <algorithm>

namespace gapscope {

Analysis::Analysis(const Trace& trace, const LaneIndex& lanes, const LinkIndex& links)
    : trace_(trace),
      lanes_(lanes),
      links_(links),
      has_shapes_(std::any_of(trace.ops.begin(), trace.ops.end(), [](const OpRow& op) { return op.input_dims.valid(); })),
      corrected_(trace, lanes, links, TableMode::corrected) {}

std::unique_ptr<const Analysis> Analysis::make(const Trace& trace, const LaneIndex& lanes, const LinkIndex& links,
                                               const std::atomic<bool>* cancel) {
  const auto cancelled = [cancel] { return cancel != nullptr && *cancel; };
  if (cancelled()) return nullptr;
  std::unique_ptr<const Analysis> facts(new Analysis(trace, lanes, links));
  return cancelled() ? nullptr : std::move(facts);
}

const OpEvents& Analysis::op_events(TableMode mode) const {
  if (mode == TableMode::corrected) return corrected_;
  std::call_once(exact_once_, [this] { exact_ = std::make_unique<const OpEvents>(trace_, lanes_, links_, TableMode::exact); });
  return *exact_;
}

}  // namespace gapscope
