#include "core/diagnose/conditions/measured_kernels.h"

#include <set>
#include <utility>

#include "core/diagnose/conditions/conditions.h"

namespace gapscope {

MeasuredShare measured_share(const Facts& facts, const std::function<bool(const MeasuredKernel&)>& wants) {
  MeasuredShare out;
  Ns all = 0;
  std::set<std::pair<StringId, std::int32_t>> wanted;
  for (const MeasuredKernel& kernel : facts.session.counters().kernels()) {
    all += kernel.time;
    if (kernel.place == KernelPlace::unmeasured || !wants(kernel)) continue;
    out.kernels.push_back(&kernel);
    out.time += kernel.time;
    wanted.emplace(kernel.name, kernel.device);
  }
  out.share = share_of(out.time, all);
  for (const GpuOp& op : facts.ops)
    if (wanted.contains({facts.trace.name_id(op.slice), op.device})) out.slices.push_back(op.slice);
  return out;
}

}  // namespace gapscope
