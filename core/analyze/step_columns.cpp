#include "core/analyze/step_columns.h"

#include "core/base/text.h"
#include "core/base/time.h"

namespace gapscope {
namespace {

template <auto Member>
CellValue begin_of(const StepContext&, const Step& step) {
  return (step.*Member).begin;
}
template <auto Member>
CellValue length_of(const StepContext&, const Step& step) {
  return (step.*Member).length();
}
// Of what is known of steps that launched GPU work.
template <auto Value>
CellValue with_gpu(const StepContext& of, const Step& step) {
  return step.gpu_ops > 0 ? Value(of, step) : CellValue();
}

CellText name_text(const StepContext&, const Step& step) {
  return {step.name.empty() ? "whole recording" : printable(step.name), printable(step.name)};
}
CellText gpu_text(const StepContext&, const Step& step) {
  if (step.gpu_ops == 0) return {"-", "No GPU work was launched in it.", 0, true};
  return {format_duration(step.gpu.length()), format_duration_exact(step.gpu.length()), 0, step.gpu.empty()};
}

using enum Quantity;
constexpr std::uint8_t kQueried = kInJson | kInSql;

template <StepRole Role>
constexpr StepColumn part(const char* key, const char* name, const char* help) {
  const auto time = [](const StepContext&, const Step& step) -> CellValue { return step.time[static_cast<std::size_t>(Role)]; };
  return {key, name, help, ns, time, {.in = kInCsv | kInSql | kInText, .key = key, .text = 13, .head = name}};
}

constexpr StepColumn kColumns[] = {
    {"id", id, "slice.id of the annotation; NULL where none was recorded and the whole recording is one step",
     [](const StepContext& of, const Step& step) { return of.slice_id(step.slice); }},
    {"name", "Step", "Its annotation.", text, &field<&Step::name>, {.csv = "step", .text = 34, .chars = 20}, name_text},
    {"parts",
     "What its time went into",
     "As long as the step, on the scale of the longest.",
     text,
     [](const StepContext&, const Step&) -> CellValue { return {}; },
     {.in = kInGrid, .chars = 0, .painted = true}},
    {"ts", ns, "begin of the annotation", begin_of<&Step::cpu>},
    {"dur", ns, "its duration", length_of<&Step::cpu>},
    {"begin",
     "Begin",
     "From the start of the trace.",
     ns,
     [](const StepContext& of, const Step& step) -> CellValue { return step.span.begin - of.trace.span.begin; },
     {.in = kInCsv}},
    {"span_ts",
     "Begin",
     "begin once GPU work is counted, as PyTorch's TensorBoard plugin does",
     ns,
     begin_of<&Step::span>,
     {.in = kQueried, .key = "begin_ns"}},
    {"end",
     "End",
     "Of its last GPU work.",
     ns,
     [](const StepContext&, const Step& step) -> CellValue { return step.span.end; },
     {.in = kInJson}},
    {"span_dur",
     "Step",
     "From the end of the last step's GPU work to the end of its own.",
     ns,
     length_of<&Step::span>,
     {.key = "duration_ns", .csv = "step_ns", .text = 10, .head = "length"}},
    {"cpu_begin", "CPU begin", "Of the annotation.", ns, begin_of<&Step::cpu>, {.in = kInJson}},
    {"cpu",
     "CPU",
     "The annotation itself.",
     ns,
     length_of<&Step::cpu>,
     {.in = kEverywhere & ~kInSql, .text = 10, .head = "CPU"}},
    {"gpu_ts",
     "GPU begin",
     "first begin of the GPU work launched in it; NULL where there is none",
     ns,
     with_gpu<begin_of<&Step::gpu>>,
     {.in = kQueried, .key = "gpu_begin_ns"}},
    {"gpu_dur",
     "GPU span",
     "From the begin of the first to the end of the last GPU work launched in it.",
     ns,
     with_gpu<length_of<&Step::gpu>>,
     {.key = "gpu_ns", .text = 10, .head = "GPU span"},
     gpu_text},
    {"gpu_ops",
     "GPU operations",
     "kernels, copies and fills launched by a call inside it",
     count,
     &field<&Step::gpu_ops>,
     {.in = kQueried}},
    {"kernels", "Kernels", "Launched in it.", count, &field<&Step::kernels>, {.text = 8, .chars = 9}},
    {"launches", "Launches", "Calls in it that started GPU work.", count, &field<&Step::launches>, {.text = 8, .chars = 10}},
    part<StepRole::kernel>("kernel_ns", "Kernel", "A kernel of this step runs."),
    part<StepRole::memcpy>("memcpy_ns", "Memcpy", "A copy runs, and no kernel."),
    part<StepRole::memset>("memset_ns", "Memset", "Memory is being filled, and none of the above."),
    part<StepRole::communication>("communication_ns", "Communication", "A collective runs, and none of the above."),
    part<StepRole::runtime>("runtime_ns", "Runtime", "A CUDA runtime call runs, and the GPU is idle."),
    part<StepRole::data_loader>("data_loader_ns", "DataLoader", "The data loader runs, and none of the above."),
    part<StepRole::cpu_exec>("cpu_exec_ns", "CPU Exec", "An operator or annotation runs on the CPU, and none of the above."),
    part<StepRole::other>("other_ns", "Other", "None of these: code between operators, or waiting."),
};
constexpr const ColumnHead& head_of(StepRole role) {
  return kColumns[std::size(kColumns) - kStepRoles + static_cast<std::size_t>(role)];
}

}  // namespace

std::span<const StepColumn> step_columns() { return kColumns; }
StepRows step_rows(std::span<const Step> steps, const StepContext& context) { return table_of(kColumns, context, steps); }

std::string_view step_role_name(StepRole role) { return head_of(role).title; }
std::string_view step_role_key(StepRole role) { return head_of(role).id; }
const char* step_role_help(StepRole role) { return head_of(role).help; }

}  // namespace gapscope
