#include "core/load/make_trace.h"

#include "core/build/half_slices.h"
#include "core/load/doubts/doubts.h"
#include "core/load/producers/producers.h"

namespace gapscope {

bool make_trace(BuildInput input, Trace& trace) {
  if (!pair_half_slices(input.rows, trace, input.cancel)) return false;
  const Adopted adopted = adopt(trace.header, input.rows);
  trace.producer = adopted.producer;
  trace.step_name = adopted.step_name;
  std::vector<Doubt> doubts = doubts_of_rows(trace.header, input.rows, adopted, input.only_rank, trace.report);
  if (!build_trace(std::move(input), trace)) return false;
  trace.doubts = std::move(doubts);
  if (adopted.joins_by_arrows) launch_by_arrows(trace);
  find_doubts(trace);
  return true;
}

}  // namespace gapscope
