// What records no device by design: torch.compile's own events, and viztracer's Python functions.
#include "core/load/producers/producers.h"

namespace gapscope {
namespace {

bool wrote_compile_events(const Clues& clues) {
  return clues.has_category("dynamo_timed") && !clues.has_kind(Kind::op) && !clues.has_kind(Kind::kernel);
}
Kind compile_event(const SliceClue& slice) { return slice.kind == Kind::other ? Kind::op : slice.kind; }

bool wrote_viztracer(const Clues& clues) { return !clues.header.find("viztracer_metadata").empty(); }
Kind viztracer_event(const SliceClue& slice) {
  return slice.category == "FEE" || slice.category == "fee" ? Kind::python : slice.kind;
}

constexpr std::string_view kWithTorch = "torch.profiler.profile around the same code";

}  // namespace

extern const ProducerRow kCompileEventsRow = {
    {"torch_compile", "torch.compile's event log", false, kWithTorch, kWithTorch, kWithTorch,
     "These are the events of torch.compile, which hold no GPU work by design."},
    wrote_compile_events,
    nullptr,
    compile_event};
extern const ProducerRow kVizTracerRow = {
    {"viztracer", "VizTracer", false, "a profiler of the GPU: torch.profiler, jax.profiler or gapscope record",
     "a profiler of the GPU", "a profiler of the GPU", "VizTracer records Python functions and no GPU work."},
    wrote_viztracer,
    nullptr,
    viztracer_event};

}  // namespace gapscope
