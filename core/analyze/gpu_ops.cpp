#include "core/analyze/gpu_ops.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "core/analyze/kernel_name.h"

namespace gapscope {
namespace {

GpuClass class_of(Kind kind, std::string_view name) {
  if (kind == Kind::memcpy) return GpuClass::copy;
  if (kind == Kind::memset) return GpuClass::memset;
  return is_communication_name(name) ? GpuClass::communication : GpuClass::compute;
}

}  // namespace

std::string_view gpu_class_name(GpuClass c) {
  constexpr std::array<std::string_view, 4> kNames = {"compute", "communication", "copy", "memset"};
  return kNames[static_cast<std::size_t>(c)];
}

bool is_communication_name(std::string_view kernel_name) {
  return rule_family(kernel_name) == RuleFamily::comm || decode(kernel_name).kind == KernelKind::collective;
}

std::vector<GpuOp> gpu_ops(const Trace& trace, const LinkIndex& links) {
  std::vector<GpuOp> ops;
  ops.reserve(trace.gpu.size());
  std::vector<std::int8_t> class_by_name(trace.strings.size(), -1);  // a name is read once
  for (std::uint32_t r = 0; r < trace.gpu.size(); ++r) {
    const GpuRow& row = trace.gpu[r];
    const Kind kind = trace.kind(row.slice);
    if (!is_gpu_work(kind)) continue;
    GpuOp op;
    op.slice = row.slice;
    op.launch = links.call_of(row.slice);
    op.span = trace.span_of(row.slice);
    if (op.launch) op.launch_span = trace.span_of(op.launch);
    op.gpu_row = r;
    op.device = row.device >= 0 ? row.device : std::max(0, trace.processes[trace.lane(row.slice).process.index()].device);
    op.stream = row.stream;
    if (kind == Kind::kernel) {
      std::int8_t& known = class_by_name[trace.name_id(row.slice).index()];
      if (known < 0) known = static_cast<std::int8_t>(class_of(kind, trace.name(row.slice)));
      op.gpu_class = static_cast<GpuClass>(known);
    } else {
      op.gpu_class = class_of(kind, {});
    }
    ops.push_back(op);
  }
  const auto before = [](const GpuOp& a, const GpuOp& b) { return std::pair(a.span.begin, a.slice) < std::pair(b.span.begin, b.slice); };
  if (!std::is_sorted(ops.begin(), ops.end(), before)) std::sort(ops.begin(), ops.end(), before);
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
  std::map<std::pair<std::int32_t, std::int32_t>, std::vector<std::uint32_t>> by_stream;
  for (std::uint32_t i = 0; i < ops.size(); ++i) by_stream[{ops[i].device, ops[i].stream}].push_back(i);
  std::vector<StreamOps> streams;
  for (auto& [key, positions] : by_stream) streams.push_back({key.first, key.second, std::move(positions)});
  return streams;
}

}  // namespace gapscope
