#include "core/build/raw_rows.h"

namespace gapscope {

std::uint32_t LocalTables::lane(std::string_view process, std::string_view thread) {
  key_.assign(process);
  key_ += '\0';
  key_ += thread;
  const auto [at, is_new] = lane_ids_.try_emplace(key_, static_cast<std::uint32_t>(lanes_.size()));
  if (is_new) lanes_.push_back({std::string(process), std::string(thread)});
  return at->second;
}

void RawChunk::clear() {
  texts.clear();
  categories.clear();
  lanes.clear();
  slices.clear();
  gpu.clear();
  calls.clear();
  ops.clear();
  flows.clear();
  instants.clear();
  counters.clear();
  halves.clear();
  half_gpu.clear();
  names.clear();
  memory.clear();
  step_names.clear();
  at_zero = bare_work = foreign_gpu = graph_work = 0;
  events = 0;
  phases.fill(0);
  report = {};
}

}  // namespace gapscope
