#pragma once
// The table of work of a trace, worked out when it is first asked for, by any thread: the others wait. Refers to the trace and
// its indexes.
#include <memory>
#include <mutex>

#include "core/analyze/work/owned_calls.h"

namespace gapscope {

struct WorkTable;

class LazyWorkTable {
 public:
  // With the Concrete Inputs that `read` gives, which may be empty.
  LazyWorkTable(const Trace& trace, const LaneIndex& lanes, const LinkIndex& links, ReadValues read);
  ~LazyWorkTable();

  // Throws what working it out threw; then it is tried again when it is asked for again.
  const WorkTable& get() const;

 private:
  const Trace& trace_;
  const LaneIndex& lanes_;
  const LinkIndex& links_;
  const ReadValues read_;
  mutable std::once_flag once_;
  mutable std::unique_ptr<const WorkTable> table_;
};

}  // namespace gapscope
