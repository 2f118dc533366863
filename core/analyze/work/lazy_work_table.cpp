#include "core/analyze/work/lazy_work_table.h"

#include <memory>
#include <utility>

#include "core/analyze/work/work_table.h"

namespace gapscope {

LazyWorkTable::LazyWorkTable(const Trace& trace, const LaneIndex& lanes, const LinkIndex& links, ReadValues read)
    : trace_(trace), lanes_(lanes), links_(links), read_(std::move(read)) {}
LazyWorkTable::~LazyWorkTable() = default;

const WorkTable& LazyWorkTable::get() const {
  return *table_.get([this] { return std::make_unique<const WorkTable>(work_table(trace_, lanes_, links_, read_)); });
}

}  // namespace gapscope
