#pragma once
// The facts of core/analyze about one trace, worked out together after it is loaded: off the UI thread, once, never
// changed. Refers to the trace and its indexes, which must outlive it.
#include <atomic>
#include <memory>
#include <mutex>

#include "core/analyze/op_events.h"

namespace gapscope {

class Analysis {
 public:
  // Null when `cancel` turned true on the way; it is looked at between two parts.
  static std::unique_ptr<const Analysis> make(const Trace& trace, const LaneIndex& lanes, const LinkIndex& links,
                                              const std::atomic<bool>* cancel = nullptr);

  // Corrected ones are there from the start. Exact ones are worked out when first asked for, so ask from a thread that
  // may wait.
  const OpEvents& op_events(TableMode mode) const;
  // Some operator states its input shapes.
  bool has_shapes() const { return has_shapes_; }

 private:
  Analysis(const Trace& trace, const LaneIndex& lanes, const LinkIndex& links);

  const Trace& trace_;
  const LaneIndex& lanes_;
  const LinkIndex& links_;
  bool has_shapes_;
  OpEvents corrected_;
  mutable std::once_flag exact_once_;
  mutable std::unique_ptr<const OpEvents> exact_;
};

}  // namespace gapscope
