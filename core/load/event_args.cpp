// The args that are joined on or analysed. Everything else stays in the file until it is asked for.
#include <algorithm>
#include <charconv>
#include <limits>
#include <type_traits>
#include <utility>

#include "core/load/event_parser.h"

namespace gapscope {
namespace {

void take_float(std::string_view token, float& into) {
  constexpr double kMost = std::numeric_limits<float>::max();
  if (const auto v = parse_double(token)) into = static_cast<float>(std::clamp(*v, -kMost, kMost));
}

// "[4, 16, 1]" or "4, 16, 1"
void take_three(std::string_view text, Dim3& into) {
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

// "128" of "regs:32 static_shared:128 grid:1,1,1" where `key` is "static_shared:"; empty where it is not there.
std::string_view detail_of(std::string_view details, std::string_view key) {
  for (std::size_t at = details.find(key); at != std::string_view::npos; at = details.find(key, at + 1)) {
    if (at != 0 && details[at - 1] != ' ' && details[at - 1] != '_') continue;
    const std::size_t begin = at + key.size();
    return details.substr(begin, details.find(' ', begin) - begin);
  }
  return {};
}

// What XLA says of a kernel: "regs:32 static_shared:0 dynamic_shared:1024 grid:64,1,1 block:256,1,1 occ_pct:100".
void take_kernel_details(std::string_view details, GpuRow& row) {
  const auto number = [&](std::string_view key) {
    const auto value = parse_unsigned(detail_of(details, key));
    return value && *value <= std::numeric_limits<std::uint32_t>::max() ? static_cast<std::uint32_t>(*value) : 0u;
  };
  row.registers = number("regs:");
  row.shared_memory = number("static_shared:") + number("dynamic_shared:");
  take_three(detail_of(details, "grid:"), row.grid);
  take_three(detail_of(details, "block:"), row.block);
  take_float(detail_of(details, "occ_pct:"), row.occupancy_percent);
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

template <class Value>
void EventParser::take_value(const Member& m, Value& into) {
  if constexpr (std::is_integral_v<Value>)
    take(m.token, into);
  else if constexpr (std::is_same_v<Value, float>)
    take_float(m.token, into);
  else if constexpr (std::is_same_v<Value, Dim3>)
    take_three(trimmed(*m.value, *m.after), into);
  else
    into = tables_.strings.intern(trimmed(*m.value, *m.after));
}

void EventParser::take_arg(ArgKey key, const Member& m) {
  ArgFields& a = fields_.args;
  switch (key) {
#define GAPSCOPE_TAKE_GPU(field, ...) \
  case ArgKey::field:                 \
    take_value(m, a.gpu_row().field); \
    break;
#define GAPSCOPE_TAKE_OP(field, ...) \
  case ArgKey::field: take_value(m, a.op_row().field); break;
    GAPSCOPE_GPU_ARGS(GAPSCOPE_TAKE_GPU)
    GAPSCOPE_OP_ARGS(GAPSCOPE_TAKE_OP)
#undef GAPSCOPE_TAKE_GPU
#undef GAPSCOPE_TAKE_OP
    case ArgKey::bytes:
      a.gpu_row();
      take(m.token, a.bytes);
      break;
    case ArgKey::collective:
      a.op_row();
      a.collective = m.token;
      a.collective_begin = m.key.data() - 1;
      break;
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
    case ArgKey::kernel_details: take_kernel_details(bare(m.token), a.gpu_row()); break;
    case ArgKey::copy_details:
      a.gpu_row();
      if (const std::string_view size = detail_of(bare(m.token), "size:"); !size.empty()) take(size, a.bytes);
      break;
    case ArgKey::step_number: a.has_step_number = true; break;
    case ArgKey::grid_x: take(m.token, a.gpu_row().grid[0]); break;
    case ArgKey::grid_y: take(m.token, a.gpu_row().grid[1]); break;
    case ArgKey::grid_z: take(m.token, a.gpu_row().grid[2]); break;
    case ArgKey::block_x: take(m.token, a.gpu_row().block[0]); break;
    case ArgKey::block_y: take(m.token, a.gpu_row().block[1]); break;
    case ArgKey::block_z: take(m.token, a.gpu_row().block[2]); break;
    case ArgKey::annotated_stream: a.annotated_stream = m.token; break;
    case ArgKey::name: a.meta_name = m.token; break;
    case ArgKey::labels: a.meta_labels = m.token; break;
    case ArgKey::sort_index: a.meta_sort = m.token; break;
    case ArgKey::not_kept: break;
  }
}

// What varies is in no run.
void EventParser::take_run(const CachedArgs& run) {
  const auto has = [&](ArgKey key) { return (run.present & arg_bit(key)) != 0; };
#define GAPSCOPE_BIT(field, ...) | arg_bit(ArgKey::field)
  constexpr std::uint64_t kOfGpu = 0 GAPSCOPE_GPU_ARGS(GAPSCOPE_BIT), kOfOp = 0 GAPSCOPE_OP_ARGS(GAPSCOPE_BIT);
#undef GAPSCOPE_BIT
#define GAPSCOPE_COPY(field, ...) \
  if (ArgsCache::may_hold(ArgKey::field) && has(ArgKey::field)) to.field = from.field;
  if ((run.present & kOfOp) != 0) {
    OpRow& to = fields_.args.op_row();
    const OpRow& from = run.op;
    GAPSCOPE_OP_ARGS(GAPSCOPE_COPY)
  }
  if ((run.present & kOfGpu) != 0) {
    GpuRow& to = fields_.args.gpu_row();
    const GpuRow& from = run.gpu;
    GAPSCOPE_GPU_ARGS(GAPSCOPE_COPY)
  }
#undef GAPSCOPE_COPY
}

// `end`: what follows the last value. What an event says twice is no run: where the later value cannot be read the earlier
// counts. Nor are lists and objects in the place of what is taken as a number or a name: a run holds no such values.
void EventParser::learn_run(const ArgStretch& stretch, Position end) {
  const std::string_view text = text_.substr(*stretch.begin, *end + 1 - *stretch.begin);
  const auto positions = static_cast<std::uint32_t>(end - stretch.begin);
  if (fields_.non_finite != stretch.non_finite || !ArgsCache::worth_learning(text.size(), positions)) return;
  CachedArgs run;
  run.text = text;
  run.positions = positions;
  run.present = stretch.present & ~arg_bit(ArgKey::not_kept);
  if ((run.present & stretch.present_before) != 0 || !ArgsCache::holds(run.present)) return;
  if (fields_.args.has_op) run.op = fields_.args.op;
  if (fields_.args.has_gpu) run.gpu = fields_.args.gpu;
  runs_.learn(std::move(run));
}

}  // namespace gapscope
