// The args that are joined on or analysed. Everything else stays in the file until somebody asks.
#include <algorithm>
#include <charconv>
#include <limits>
#include <utility>

#include "core/load/event_parser.h"

namespace gapscope {
namespace {

void take_float(std::string_view token, float& into) {
  constexpr double kMost = std::numeric_limits<float>::max();
  if (const auto v = parse_double(token)) into = static_cast<float>(std::clamp(*v, -kMost, kMost));
}

// "[4, 16, 1]" or "4, 16, 1"
void take_three(std::string_view text, std::array<std::uint32_t, 3>& into) {
  std::size_t n = 0;
  for (const char* at = text.data(); at < text.data() + text.size() && n < 3;) {
    std::uint32_t value = 0;
    const auto [end, error] = std::from_chars(at, text.data() + text.size(), value);
    if (error == std::errc{}) {
      into[n++] = value;
      at = end;
    } else {
      ++at;
    }
  }
}

}  // namespace

// A number that does not fit says nothing: what is left of it would be another one.
template <class Integer>
void EventParser::take(std::string_view token, Integer& into) const {
  const auto put = [&](auto value) {
    if (std::in_range<Integer>(value)) into = static_cast<Integer>(value);
  };
  if (std::uint64_t digits = 0; parse_digits(token, limit(), digits)) {
    put(digits);
  } else if constexpr (std::is_unsigned_v<Integer>) {
    if (const auto v = parse_unsigned(token)) put(*v);
  } else {
    if (const auto v = parse_integer(token)) put(*v);
  }
}

void EventParser::take_arg(ArgKey key, const Member& m) {
  ArgFields& a = fields_.args;
  const auto json = [&] { return trimmed(*m.value, *m.after); };
  switch (key) {
    case ArgKey::grid: take_three(json(), a.gpu_row().grid); break;
    case ArgKey::block: take_three(json(), a.gpu_row().block); break;
    case ArgKey::bytes:
      a.gpu_row();
      take(m.token, a.bytes);
      break;
    case ArgKey::stream: take(m.token, a.gpu_row().stream); break;
    case ArgKey::device: take(m.token, a.gpu_row().device); break;
    case ArgKey::context: take(m.token, a.gpu_row().context); break;
    case ArgKey::graph_id: take(m.token, a.gpu_row().graph_id); break;
    case ArgKey::graph_node_id: take(m.token, a.gpu_row().graph_node_id); break;
    case ArgKey::correlation: take(m.token, a.gpu_row().correlation); break;
    case ArgKey::shared_memory: take(m.token, a.gpu_row().shared_memory); break;
    case ArgKey::registers: take(m.token, a.gpu_row().registers); break;
    case ArgKey::warps_per_sm: take_float(m.token, a.gpu_row().warps_per_sm); break;
    case ArgKey::blocks_per_sm: take_float(m.token, a.gpu_row().blocks_per_sm); break;
    case ArgKey::occupancy: take_float(m.token, a.gpu_row().occupancy_percent); break;
    case ArgKey::input_dims: a.op_row().input_dims = tables_.strings.intern(json()); break;
    case ArgKey::input_type: a.op_row().input_types = tables_.strings.intern(json()); break;
    case ArgKey::collective:
      a.op_row();
      a.collective = m.token;
      break;
    case ArgKey::sequence: take(m.token, a.op_row().sequence); break;
    case ArgKey::finished:
      if (m.token == "false") a.op_row().unfinished = true;
      break;
    case ArgKey::external_id: take(m.token, a.external_id); break;
    case ArgKey::address: take(m.token, a.address); break;
    case ArgKey::memory_bytes: take(m.token, a.bytes); break;
    case ArgKey::device_type: take(m.token, a.device_type); break;
    case ArgKey::device_id: take(m.token, a.device_id); break;
    case ArgKey::total_allocated: take(m.token, a.total_allocated); break;
    case ArgKey::total_reserved: take(m.token, a.total_reserved); break;
    case ArgKey::annotated_stream: a.annotated_stream = m.token; break;
    case ArgKey::name: a.meta_name = m.token; break;
    case ArgKey::labels: a.meta_labels = m.token; break;
    case ArgKey::sort_index: a.meta_sort = m.token; break;
    case ArgKey::other: break;
  }
}

void EventParser::take_run(const CachedArgs& run) {
  const auto says = [&](ArgKey key) { return (run.present & arg_bit(key)) != 0; };
  constexpr std::uint64_t kOfOp = arg_bit(ArgKey::input_dims) | arg_bit(ArgKey::input_type);
  if ((run.present & kOfOp) != 0) {
    OpRow& op = fields_.args.op_row();
    if (says(ArgKey::input_dims)) op.input_dims = run.input_dims;
    if (says(ArgKey::input_type)) op.input_types = run.input_types;
  }
  if ((run.present & ~kOfOp) == 0) return;
  GpuRow& gpu = fields_.args.gpu_row();
  if (says(ArgKey::registers)) gpu.registers = run.launch.registers;
  if (says(ArgKey::shared_memory)) gpu.shared_memory = run.launch.shared_memory;
  if (says(ArgKey::blocks_per_sm)) gpu.blocks_per_sm = run.launch.blocks_per_sm;
  if (says(ArgKey::warps_per_sm)) gpu.warps_per_sm = run.launch.warps_per_sm;
  if (says(ArgKey::grid)) gpu.grid = run.launch.grid;
  if (says(ArgKey::block)) gpu.block = run.launch.block;
  if (says(ArgKey::occupancy)) gpu.occupancy_percent = run.launch.occupancy_percent;
}

// `end`: what follows the last value. What an event says twice is no run: where the later value cannot be read the earlier counts.
// Nor are lists and objects in the place of what is taken as a number or a name: a run holds no such values.
void EventParser::learn_run(const ArgStretch& stretch, Position end) {
  const std::string_view text = text_.substr(*stretch.begin, *end + 1 - *stretch.begin);
  const auto positions = static_cast<std::uint32_t>(end - stretch.begin);
  if (fields_.non_finite != stretch.non_finite || !ArgsCache::worth_learning(text.size(), positions)) return;
  CachedArgs run;
  run.text = text;
  run.positions = positions;
  run.present = stretch.present & ~arg_bit(ArgKey::other);
  if ((run.present & stretch.present_before) != 0 || !ArgsCache::holds(run.present)) return;
  if (fields_.args.has_op) {
    run.input_dims = fields_.args.op.input_dims;
    run.input_types = fields_.args.op.input_types;
  }
  if (fields_.args.has_gpu) run.launch = fields_.args.gpu;
  runs_.learn(std::move(run));
}

}  // namespace gapscope
