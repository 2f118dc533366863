#include "core/analyze/work/lazy_work_table.h"

#include <utility>

#include "core/analyze/work/work_table.h"

namespace gapscope {

LazyWorkTable::LazyWorkTable(const Trace& trace, const LaneIndex& lanes, const LinkIndex& links, ReadValues read)
    : trace_(trace), lanes_(lanes), links_(links), read_(std::move(read)) {}
LazyWorkTable::~LazyWorkTable() = default;

const WorkTable& LazyWorkTable::get() const {
  std::call_once(once_, [this] { table_ = std::make_unique<const WorkTable>(work_table(trace_, lanes_, links_, read_)); });
  return *table_;
}

}  // namespace gapscope
