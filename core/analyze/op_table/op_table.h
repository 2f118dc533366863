#pragma once
// The profiler table: op events grouped by name, device and kind, as torch's key_averages() groups them.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/analyze/op_table/op_events.h"

namespace gapscope {

struct OpTableRow {
  std::string name;
  StringId name_id;     // of the first event, to find its slices
  bool on_gpu = false;  // device "CUDA" in PyTorch's words
  bool annotation = false;
  StringId input_dims;  // when grouped by shapes; none otherwise
  std::uint64_t count = 0;
  Ns self_cpu = 0, cpu = 0;  // 0 on GPU rows
  Ns self_cuda = 0, cuda = 0;
  // profile_memory: signed bytes allocated (freed: negative) while its events ran
  std::int64_t cpu_memory = 0, self_cpu_memory = 0, cuda_memory = 0, self_cuda_memory = 0;
};

struct OpTableOptions {
  std::optional<Span> range;  // only events that begin in it
  bool by_shape = false;      // operators of one name with other input shapes are other rows
};

struct OpTable {
  std::vector<OpTableRow> rows;  // in order of first appearance
  Ns self_cpu_total = 0;         // sum of Self CPU: what the percentages of CPU columns divide by
  Ns self_cuda_total = 0;        // sum of Self CUDA over GPU rows that are no annotations
  bool has_memory = false;
};

OpTable make_op_table(const Trace& trace, const OpEvents& events, const OpTableOptions& options = {});

enum class OpTableSort : std::uint8_t {
  none,
  name,
  count,
  self_cpu,
  cpu,
  self_cuda,
  cuda,
  cpu_avg,
  cuda_avg,
  cpu_memory,
  self_cpu_memory,
  cuda_memory,
  self_cuda_memory
};
// PyTorch's sort_by words ("cuda_time_total", "self_cpu_time_total", "count", ...) and their device_ spellings.
std::optional<OpTableSort> op_table_sort_from_word(std::string_view word);
// All words, for help texts.
const std::vector<std::string>& op_table_sort_words();
// Largest first, ties in order of first appearance; names from A to Z.
void sort_op_table(std::vector<OpTableRow>& rows, OpTableSort sort);

}  // namespace gapscope
