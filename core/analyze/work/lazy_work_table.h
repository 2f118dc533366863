#pragma once
// The table of work of a trace, worked out when it is first asked for, by any thread: the others wait. Refers to the trace and
// its indexes.
#include "core/analyze/work/owned_calls.h"
#include "core/base/memo.h"

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
  Memo<WorkTable> table_;
};

}  // namespace gapscope
