// PyTorch's profiler (Kineto): its categories say what everything is. On MTIA the waits of the device are among its work.
#include "core/load/producers/producers.h"

namespace gapscope {
namespace {

bool is_kineto(const Clues& clues) {
  if (!clues.header.find("schemaVersion").empty() || !clues.header.devices.empty()) return true;
  for (const Kind kind : {Kind::op, Kind::annotation, Kind::python, Kind::runtime, Kind::driver, Kind::gpu_annotation,
                          Kind::sync, Kind::profiler, Kind::overhead})
    if (clues.has_kind(kind)) return true;
  return clues.has_kind(Kind::kernel) || clues.has_kind(Kind::memcpy) || clues.has_kind(Kind::memset);
}

bool is_mtia(const Clues& clues) { return clues.has_category("mtia_ccp_events"); }

Kind kind_on_mtia(const SliceClue& slice) { return is_gpu_work(slice.kind) ? kind_of_device_slice(slice.name) : slice.kind; }

}  // namespace

extern const ProducerRow kPyTorchRow = {kPyTorch, is_kineto};
extern const ProducerRow kMtiaRow = {
    {"pytorch", "PyTorch profiler (MTIA)", true, "activities=[ProfilerActivity.CPU, ProfilerActivity.MTIA]",
     "ProfilerActivity.CPU", "prof.step()",
     "No device work in this trace: record with activities=[ProfilerActivity.CPU, "
     "ProfilerActivity.MTIA]."},
    is_mtia,
    nullptr,
    kind_on_mtia};

}  // namespace gapscope
