#include "tests/support/hand_trace.h"

namespace gapscope::test {

std::shared_ptr<Trace> hand_trace(const std::vector<HandLane>& lanes) {
  auto trace = std::make_shared<Trace>();
  constexpr auto kKinds = static_cast<std::size_t>(Kind::other) + 1;
  for (std::size_t k = 0; k < kKinds; ++k) {
    const auto kind = static_cast<Kind>(k);
    trace->categories.push_back({trace->strings.intern(kind_name(kind)), kind});
  }
  for (const HandLane& hand : lanes) {
    if (trace->processes.empty() || trace->processes.back().title != hand.process) {
      Process process;
      process.key = process.title = std::string(hand.process);
      process.is_gpu = hand.kind == LaneKind::gpu_stream;
      trace->processes.push_back(process);
    }
    Lane lane;
    lane.process = ProcessId(trace->processes.size() - 1);
    lane.title = std::string(hand.title);
    lane.kind = hand.kind;
    lane.first_row = static_cast<std::uint32_t>(trace->rows.size());
    lane.depth_count = static_cast<std::uint32_t>(hand.depths.size());
    lane.first_slice = static_cast<std::uint32_t>(trace->slices.size());
    std::uint32_t depth = 0;
    for (const auto& slices : hand.depths) {
      const auto first = static_cast<std::uint32_t>(trace->slices.size());
      trace->rows.push_back({LaneId(trace->lanes.size()), depth++, first, static_cast<std::uint32_t>(slices.size())});
      for (const HandSlice& s : slices) {
        Span& all = trace->span;
        all = trace->slices.size() == 0 ? Span{s.begin, s.end} : hull(all, {s.begin, s.end});
        trace->slices.begin.push_back(s.begin);
        trace->slices.end.push_back(s.end);
        trace->slices.name.push_back(trace->strings.intern(s.name));
        trace->slices.row.push_back(RowId(trace->rows.size() - 1));
        trace->slices.category.push_back(static_cast<std::uint16_t>(s.kind));
        trace->slices.offset.push_back(kNoOffset);
        trace->slices.external_id.push_back(0);
      }
    }
    lane.slice_count = static_cast<std::uint32_t>(trace->slices.size()) - lane.first_slice;
    trace->lanes.push_back(lane);
  }
  return trace;
}

}  // namespace gapscope::test
