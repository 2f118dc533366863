// The args that are joined on or analysed. Everything else stays in the file until somebody asks.
#include <charconv>

#include "core/load/event_fields.h"

namespace gapscope {
namespace {

// Compares with a literal of known length without a call: most keys of args are compared here, several times each.
template <std::size_t N>
bool is(std::string_view text, const char (&literal)[N]) {
  return text.size() == N - 1 && __builtin_memcmp(text.data(), literal, N - 1) == 0;
}

template <class Integer>
void take(std::string_view token, Integer& into) {
  if constexpr (std::is_unsigned_v<Integer>) {
    if (const auto v = parse_unsigned(token)) into = static_cast<Integer>(*v);
  } else {
    if (const auto v = parse_integer(token)) into = static_cast<Integer>(*v);
  }
}

void take_float(std::string_view token, float& into) {
  if (const auto v = parse_double(token)) into = static_cast<float>(*v);
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

void EventParser::take_arg(std::string_view key, std::size_t value, std::size_t after, Fields& f) {
  const auto scalar = [&] { return token(value); };
  const auto json = [&] { return value_text(value, after); };
  const auto gpu = [&](auto& into) {
    take(scalar(), into);
    f.has_gpu_arg = true;
  };
  // A counter's args are its series. The phase may come after the args, so only events that already said they are
  // something else are spared.
  if (f.ph.empty() || f.ph == "C") f.series->emplace_back(key, scalar());

  switch (key.size()) {
    case 4:
      if (is(key, "grid")) { take_three(json(), f.gpu.grid); f.has_gpu_arg = true; }
      else if (is(key, "name")) f.meta_name = scalar();
      else if (is(key, "Addr")) take(scalar(), f.address);
      break;
    case 5:
      if (is(key, "block")) { take_three(json(), f.gpu.block); f.has_gpu_arg = true; }
      else if (is(key, "bytes")) { take(scalar(), f.bytes); f.has_gpu_arg = true; }
      else if (is(key, "Bytes")) take(scalar(), f.bytes);
      break;
    case 6:
      if (is(key, "stream")) gpu(f.gpu.stream);
      else if (is(key, "device")) gpu(f.gpu.device);
      else if (is(key, "labels")) f.meta_labels = scalar();
      break;
    case 7:
      if (is(key, "context")) gpu(f.gpu.context);
      break;
    case 8:
      if (is(key, "graph id")) gpu(f.gpu.graph_id);
      else if (is(key, "finished") && scalar() == "false") { f.op.unfinished = true; f.has_op_arg = true; }
      break;
    case 9:
      if (is(key, "Device Id")) take(scalar(), f.device_id);
      break;
    case 10:
      if (is(key, "Input Dims") || is(key, "Input dims")) { f.input_dims = json(); f.has_op_arg = true; }
      else if (is(key, "Input type")) { f.input_types = json(); f.has_op_arg = true; }
      else if (is(key, "sort_index")) f.meta_sort = scalar();
      break;
    case 11:
      if (is(key, "correlation")) gpu(f.gpu.correlation);
      else if (is(key, "External id") || is(key, "external id")) take(scalar(), f.external_id);
      else if (is(key, "Device Type")) take(scalar(), f.device_type);
      break;
    case 12:
      if (is(key, "warps per SM")) { take_float(scalar(), f.gpu.warps_per_sm); f.has_gpu_arg = true; }
      break;
    case 13:
      if (is(key, "shared memory")) gpu(f.gpu.shared_memory);
      else if (is(key, "blocks per SM")) { take_float(scalar(), f.gpu.blocks_per_sm); f.has_gpu_arg = true; }
      else if (is(key, "graph node id")) gpu(f.gpu.graph_node_id);
      else if (is(key, "Fwd thread id")) { take(scalar(), f.op.forward_thread); f.has_op_arg = true; }
      break;
    case 14:
      if (is(key, "Total Reserved")) take(scalar(), f.total_reserved);
      break;
    case 15:
      if (is(key, "Sequence number")) { take(scalar(), f.op.sequence); f.has_op_arg = true; }
      else if (is(key, "Collective name")) { f.collective = scalar(); f.has_op_arg = true; }
      else if (is(key, "Total Allocated")) take(scalar(), f.total_allocated);
      break;
    case 16:
      if (is(key, "annotated_stream")) f.annotated_stream = scalar();
      break;
    case 20:
      if (is(key, "registers per thread")) gpu(f.gpu.registers);
      break;
    case 25:
      if (is(key, "est. achieved occupancy %")) { take_float(scalar(), f.gpu.occupancy_percent); f.has_gpu_arg = true; }
      break;
    default: break;
  }
}

}  // namespace gapscope
