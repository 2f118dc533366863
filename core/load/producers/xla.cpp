// JAX and TensorFlow: XLA's profiler (xplane), as jax.profiler.trace, TensorBoard and xprof export it. A process for each
// device and host, named "/device:GPU:0" and "/host:CPU". Streams hold the work; other lanes of a device repeat it by module,
// operation or scope, but on TPUs, where "XLA Ops" is the work. TensorFlow's older timeline has a process for each stream.
#include <algorithm>

#include "core/base/text.h"
#include "core/load/producers/producers.h"

namespace gapscope {
namespace {

using Holds = LaneRole::Holds;

bool is_tensorflow(const Clues& clues) {
  // JAX's own threads are "tf_XLAEigen" and the like.
  const auto is_its_thread = [](const LaneClue& l) { return l.name.starts_with("tf_") && !l.name.starts_with("tf_XLA"); };
  return clues.has_lane("TensorFlow") || clues.has_process("/job:") || clues.has_process("/gpu:") ||
         std::any_of(clues.lanes.begin(), clues.lanes.end(), is_its_thread);
}
bool is_xla(const Clues& clues) { return clues.has_process("/device:") || clues.has_process("/host:CPU"); }
bool wrote_tensorflow(const Clues& clues) {
  return (is_xla(clues) && is_tensorflow(clues)) || clues.has_process("/job:") || clues.has_process("/gpu:");
}

bool has_streams(const Clues& clues, std::uint32_t process) {
  return std::any_of(clues.lanes.begin(), clues.lanes.end(), [&](const LaneClue& lane) {
    return lane.process == process && contains_ignore_case(lane.name, "stream");
  });
}

bool has_numbered_streams(const Clues& clues) {
  return std::any_of(clues.processes.begin(), clues.processes.end(),
                     [](const ProcessClue& p) { return number_behind(p.name, "stream") >= 0; });
}

LaneRole role(const Clues& clues, const LaneClue& lane) {
  const std::string_view process = clues.process(lane).name;
  const auto has = [&](std::string_view part) { return contains_ignore_case(process, part); };
  if (has("/host:") || has("device:CPU") || has("/cpu:")) return {Holds::host};
  if (!has("/device:") && !has("/gpu:")) return {};
  std::int32_t device = -1;
  for (const std::string_view word : {"GPU:", "TPU:", "NPU:", "XPU:", "HPU:"})
    device = std::max(device, number_behind(process, word));
  if (device < 0) device = number_behind(process, ":");
  if (has("stream")) {  // TensorFlow's timeline: "stream:all" repeats the numbered ones
    const std::int32_t stream = number_behind(process, "stream");
    return {stream >= 0 || !has_numbered_streams(clues) ? Holds::device_work : Holds::derived, device, stream};
  }
  if (contains_ignore_case(lane.name, "stream")) return {Holds::device_work, device, number_behind(lane.name, "stream")};
  const bool is_work = lane.name == "XLA Ops" || lane.name == "Async XLA Ops" || has("compute") || has("memcpy");
  if (is_work && !has_streams(clues, lane.process) && !has_numbered_streams(clues))
    return {.holds = Holds::device_work, .device = device, .nests = true};  // a loop holds its body
  return {Holds::derived, device};
}

// "$train.py:12 step" is a Python frame; what CUPTI says of itself comes among the host's threads.
Kind kind_of(const SliceClue& slice) {
  if (slice.holds == Holds::host && slice.kind == Kind::other) {
    if (slice.name.starts_with('$')) return Kind::python;
    if (slice.name == "BUFFER_FLUSH" || slice.name == "<UNKNOWN>") return Kind::overhead;
  }
  return kind_by_role(slice);
}

}  // namespace

extern const ProducerRow kTensorFlowRow = {
    {"tensorflow", "TensorFlow profiler", false, "tf.profiler.experimental.start where the device works",
     "tf.profiler.experimental.ProfilerOptions(host_tracer_level=2)",
     "tf.profiler.experimental.Trace(\"train\", step_num=i) around each iteration",
     "No work of a device in this trace: record where it works, from tf.profiler.experimental.start to stop."},
    wrote_tensorflow,
    role,
    kind_of};
extern const ProducerRow kJaxRow = {
    {"jax", "JAX/XLA profiler", false, "jax.profiler.trace around device work, up to block_until_ready()",
     "host_tracer_level = 2 of jax.profiler.ProfileOptions",
     "jax.profiler.StepTraceAnnotation(\"train\", step_num=i) around each iteration",
     "No work of a device in this trace: keep jax.profiler.trace running until block_until_ready()."},
    is_xla,
    role,
    kind_of};

}  // namespace gapscope
