#pragma once
// What an event says, picked but not yet put into rows. Tokens are views into the text. Private to the event parser.
#include <string_view>
#include <utility>
#include <vector>

#include "core/load/event_parser.h"

namespace gapscope {

struct EventParser::Fields {
  std::string_view ph, cat, name, pid, tid, ts, dur, id, scope;
  std::uint32_t seen = 0;     // bit a key, to notice a key that comes twice
  bool duplicate = false;
  bool has_args = false;
  bool has_gpu_arg = false;
  bool has_op_arg = false;
  std::uint32_t non_finite = 0;

  GpuRow gpu;
  OpRow op;
  std::string_view input_dims, input_types, collective, annotated_stream;
  std::uint64_t external_id = 0;
  // [memory] instants
  std::int64_t bytes = 0, total_allocated = -1, total_reserved = -1, device_type = 0, device_id = -1;
  std::uint64_t address = 0;
  // ph:M
  std::string_view meta_name, meta_labels, meta_sort;
  // ph:C, and whatever may turn out to be one: key and value tokens
  std::vector<std::pair<std::string_view, std::string_view>>* series = nullptr;
};

}  // namespace gapscope
