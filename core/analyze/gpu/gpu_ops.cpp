#include "core/analyze/gpu/gpu_ops.h"

#include <algorithm>
#include <map>
#include <set>

#include "core/analyze/account/time_walk.h"
#include "core/analyze/kernel_name/kernel_name.h"

namespace gapscope {
namespace {

GpuClass class_of(Kind kind, std::string_view name) {
  if (kind == Kind::memcpy) return GpuClass::copy;
  if (kind == Kind::memset) return GpuClass::memset;
  return is_communication_name(name) ? GpuClass::communication : GpuClass::compute;
}

// By its args: "Collective name".
bool states_collective(const Trace& trace, SliceId slice) {
  const OpRow* const row = trace.op_row(slice);
  return row != nullptr && row->collective.valid();
}

// The rows that hold slices of trace.gpu, and where each one's begin there.
std::vector<RowId> gpu_rows(const Trace& trace, std::vector<std::uint32_t>& first) {
  const auto before = [](const GpuRow& g, std::uint32_t slice) { return g.slice.value < slice; };
  std::vector<RowId> rows;
  for (std::size_t r = 0; r < trace.rows.size(); ++r) {
    const Row& row = trace.rows[r];
    const auto at = std::lower_bound(trace.gpu.begin(), trace.gpu.end(), row.first, before);
    first[r] = static_cast<std::uint32_t>(at - trace.gpu.begin());
    if (at != trace.gpu.end() && at->slice.value < row.first + row.count) rows.emplace_back(r);
  }
  return rows;
}

}  // namespace

bool is_communication_name(std::string_view kernel_name) { return decode(kernel_name).kind == KernelKind::collective; }

std::vector<GpuOp> gpu_ops(const Trace& trace, const LinkIndex& links) {
  std::vector<GpuOp> ops;
  ops.reserve(trace.gpu.size());
  std::vector<std::int8_t> class_by_name(trace.strings.size(), -1);  // a name is read once
  std::vector<std::uint32_t> next_in_row(trace.rows.size());         // positions in trace.gpu
  const std::vector<RowId> rows = gpu_rows(trace, next_in_row);
  const bool any_collective =
      std::any_of(trace.ops.begin(), trace.ops.end(), [](const OpRow& op) { return op.collective.valid(); });
  walk_by_time(
      trace, rows, categories_of(trace, is_gpu_work), {column_to_come(trace.slices.end)}, [&](SliceId slice, Ns begin) {
        std::uint32_t& at = next_in_row[trace.slices.row[slice.index()].index()];
        while (at < trace.gpu.size() && trace.gpu[at].slice < slice) ++at;
        if (at == trace.gpu.size() || trace.gpu[at].slice != slice) return;  // an event without any args of GPU work
        const GpuRow& row = trace.gpu[at];
        const Kind kind = trace.kind(slice);
        GpuOp& op = ops.emplace_back();
        op.slice = slice;
        op.launch = links.call_of(row);
        op.span = {begin, trace.end(slice)};
        if (op.launch) op.launch_span = trace.span_of(op.launch);
        op.gpu_row = at;
        op.device = row.device >= 0 ? row.device : std::max(0, trace.processes[trace.lane(slice).process.index()].device);
        op.stream = row.stream;
        if (kind == Kind::kernel) {
          std::int8_t& known = class_by_name[trace.name_id(slice).index()];
          if (known < 0) known = static_cast<std::int8_t>(class_of(kind, trace.name(slice)));
          op.gpu_class = static_cast<GpuClass>(known);
          if (any_collective && states_collective(trace, slice)) op.gpu_class = GpuClass::communication;
        } else {
          op.gpu_class = class_of(kind, {});
        }
      });
  return ops;
}

std::vector<std::int32_t> devices_of(const std::vector<GpuOp>& ops) {
  std::set<std::int32_t> devices;
  for (const GpuOp& op : ops)
    if (devices.empty() || !devices.contains(op.device)) devices.insert(op.device);
  return {devices.begin(), devices.end()};
}

std::vector<GpuOp> ops_of_device(const std::vector<GpuOp>& ops, std::int32_t device) {
  std::vector<GpuOp> out;
  std::copy_if(ops.begin(), ops.end(), std::back_inserter(out), [&](const GpuOp& op) { return op.device == device; });
  return out;
}

std::vector<StreamOps> streams_of(const std::vector<GpuOp>& ops) {
  struct Entry {
    std::size_t count = 0;
    StreamOps* stream = nullptr;
  };
  std::map<std::pair<std::int32_t, std::int32_t>, Entry> by_stream;
  const GpuOp* last = nullptr;  // most operations follow one of their own stream
  Entry* entry = nullptr;
  const auto entry_of = [&](const GpuOp& op) -> Entry& {
    if (!last || last->device != op.device || last->stream != op.stream) entry = &by_stream[{op.device, op.stream}];
    last = &op;
    return *entry;
  };
  for (const GpuOp& op : ops) ++entry_of(op).count;
  std::vector<StreamOps> streams(by_stream.size());
  std::size_t i = 0;
  for (auto& [key, counted] : by_stream) {
    counted.stream = &streams[i++];
    *counted.stream = {key.first, key.second, {}};
    counted.stream->ops.reserve(counted.count);
  }
  for (std::uint32_t at = 0; at < ops.size(); ++at) entry_of(ops[at]).stream->ops.push_back(at);
  return streams;
}

}  // namespace gapscope
