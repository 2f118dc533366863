#pragma once
// What the texts of NVTX ranges hold, the name among it.
#include <cstdint>
#include <optional>
#include <string_view>

namespace gapscope {

// As torch.autograd.profiler.emit_nvtx() and nsys --pytorch write them:
// "aten::add, seq = 12, op_id = 345, sizes = [[2, 3], []], input_op_ids = [(344, 0)]".
struct NvtxText {
  std::string_view name;
  std::optional<std::int64_t> sequence, op_id;
  std::string_view sizes;    // JSON
  bool is_operator = false;  // PyTorch's, not a range that the program names
};
NvtxText parse_nvtx(std::string_view text);

// An object or array that may stand in the text of a trace as it is, on one line.
bool is_small_json(std::string_view text);

}  // namespace gapscope
