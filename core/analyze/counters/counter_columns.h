#pragma once
// The columns of kernels with what their GPU's counters say of them: of the tab Counters and `gapscope counters`.
#include <nlohmann/json_fwd.hpp>

#include "core/analyze/counters/counter_facts.h"
#include "core/base/table/columns.h"

namespace gapscope {

struct MeasuredContext {
  const Trace& trace;
  const CounterFacts& facts;
};
using MeasuredRows = ListRows<MeasuredKernel, MeasuredContext>;
// `facts` must outlive it.
MeasuredRows measured_rows(const Trace& trace, const CounterFacts& facts);

nlohmann::ordered_json means_json(const CounterMeans& means);

}  // namespace gapscope
