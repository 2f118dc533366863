// PyTorch's profiler (Kineto): its categories say what everything is. On MTIA the waits of the device are among its work.
#include <algorithm>
#include <vector>

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

// PyTorch's operators and device lanes of another tool, as Gaudi's. Kineto itself names GPUs that nothing ran on.
bool has_device_lanes(const Clues& clues) {
  if (clues.has_kind(Kind::kernel) || clues.has_kind(Kind::memcpy) || !clues.has_kind(Kind::op)) return false;
  std::vector<bool> is_device_lane;
  for (const LaneClue& lane : clues.lanes)
    is_device_lane.push_back(role_by_names(clues, lane).holds == LaneRole::Holds::device_work);
  bool any = false;
  clues.rows.slices.each([&](const StoredSlice& s, std::size_t) { any |= is_device_lane[s.lane]; });
  return any;
}
LaneRole role_of_device_lanes(const Clues& clues, const LaneClue& lane) {
  const LaneRole role = role_by_names(clues, lane);
  return role.holds == LaneRole::Holds::device_work ? role : LaneRole{};
}

// On a Mac's GPU operators are called "aten::mps_linear_backward", "aten::_mps_convolution".
bool is_mps(const Clues& clues) {
  if (clues.has_kind(Kind::kernel) || !clues.has_kind(Kind::op)) return false;
  for (std::size_t i = 0; i < clues.rows.strings.size(); ++i)
    if (const std::string_view name = clues.rows.strings[StringId(i)];
        name.starts_with("aten::mps_") || name.starts_with("aten::_mps_"))
      return true;
  return false;
}

// With an Intel GPU, whether its work was recorded or not.
bool is_xpu(const Clues& clues) {
  return std::any_of(clues.header.devices.begin(), clues.header.devices.end(),
                     [](const DeviceProperties& d) { return d.name.find("Intel") != std::string::npos; });
}

// Devices that PyTorch itself does not know: Cambricon's MLU and others.
bool is_private_use(const Clues& clues) {
  return clues.has_category("privateuse1_runtime") || clues.has_category("privateuse1_driver");
}

bool is_mtia(const Clues& clues) { return clues.has_category("mtia_ccp_events"); }

Kind kind_on_mtia(const SliceClue& slice) { return is_gpu_work(slice.kind) ? kind_of_device_slice(slice.name) : slice.kind; }

}  // namespace

extern const ProducerRow kPyTorchRow = {kPyTorch, is_kineto};
extern const ProducerRow kXpuRow = {
    {"pytorch", "PyTorch profiler", true, "activities=[ProfilerActivity.CPU, ProfilerActivity.XPU]", "ProfilerActivity.CPU",
     "prof.step()", "No GPU work in this trace: record with activities=[ProfilerActivity.CPU, ProfilerActivity.XPU].",
     "When recording again, let the GPU finish before the profiler stops (torch.xpu.synchronize())."},
    is_xpu};
extern const ProducerRow kPrivateUseRow = {
    {"pytorch", "PyTorch profiler", true, "activities=[ProfilerActivity.CPU, ProfilerActivity.PrivateUse1]",
     "ProfilerActivity.CPU", "prof.step()",
     "No device work in this trace: record with activities=[ProfilerActivity.CPU, ProfilerActivity.PrivateUse1]."},
    is_private_use};
extern const ProducerRow kDeviceLanesRow = {
    {"pytorch", "PyTorch profiler (device lanes of another tool)", false, "the profiler's option for device activity",
     "ProfilerActivity.CPU", "prof.step()", "No device work in this trace: record it with the device's own profiler."},
    has_device_lanes,
    role_of_device_lanes};
extern const ProducerRow kMpsRow = {
    {"pytorch", "PyTorch profiler (MPS)", false, "torch.mps.profiler.start() and Instruments, which records Metal's GPU work",
     "ProfilerActivity.CPU", "prof.step()",
     "No GPU work in this trace: PyTorch's profiler records none on Apple GPUs. Use torch.mps.profiler.start() and "
     "Instruments."},
    is_mps};
extern const ProducerRow kMtiaRow = {
    {"pytorch", "PyTorch profiler (MTIA)", true, "activities=[ProfilerActivity.CPU, ProfilerActivity.MTIA]",
     "ProfilerActivity.CPU", "prof.step()",
     "No device work in this trace: record with activities=[ProfilerActivity.CPU, "
     "ProfilerActivity.MTIA]."},
    is_mtia,
    nullptr,
    kind_on_mtia};

}  // namespace gapscope
