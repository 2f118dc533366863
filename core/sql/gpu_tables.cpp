// What GPUs did and why they were idle: gpu_gap and account, by core/analyze/account; device and memory_event.
#include <array>

#include "core/analyze/memory/memory.h"
#include "core/session/trace_session.h"
#include "core/sql/column_table.h"
#include "core/sql/tables.h"

namespace gapscope::sql {
namespace {

using enum Quantity;

struct Gap {
  std::uint32_t id, at;  // `at`: among the device's gaps
  const DeviceAccount* device;
  const DeviceGap& gap() const { return device->gaps[at]; }
};
struct Part {
  const DeviceAccount* device;
  SliceId step;
  Span span;
  AccountTimes times;
};

template <IdleCause Cause>
CellValue idle(const InWorld&, const Gap& gap) {
  for (const DeviceAccount::CauseTime& cause : gap.device->causes(gap.at))
    if (cause.cause == Cause) return cause.time;
  return 0;
}
template <IdleCause Cause>
CellValue idle(const InWorld&, const Part& part) {
  return part.times.idle[index_of(Cause)];
}

// The causes, as columns of the tables that have them.
#define GAPSCOPE_CAUSE_COLUMNS                                                                                   \
  {"operator_ns", ns, "the host was inside an operator, outside any CUDA call", idle<IdleCause::op>},            \
      {"python_ns", ns, "in Python or an annotation, outside any operator", idle<IdleCause::python>},            \
      {"launching_ns", ns, "in the call that launched what ended the gap", idle<IdleCause::launching>},          \
      {"cuda_call_ns", ns, "in another CUDA call", idle<IdleCause::cuda_call>},                                  \
      {"starting_ns", ns, "launch latency", idle<IdleCause::starting>},                                          \
      {"synchronizing_ns", ns, "in a call that waits for the GPU", idle<IdleCause::synchronizing>},              \
      {"data_loading_ns", ns, "in the data loader", idle<IdleCause::data_loading>},                              \
      {"compiling_ns", ns, "in Dynamo, AOTAutograd or Inductor", idle<IdleCause::compiling>},                    \
      {"allocating_ns", ns, "in a CUDA call that allocates, frees or maps memory", idle<IdleCause::allocating>}, \
      {"loading_ns", ns, "the driver loaded a kernel's code", idle<IdleCause::loading>},                         \
      {"profiler_ns", ns, "other overhead of the profiler", idle<IdleCause::profiler>},                          \
      {"unrecorded_ns", ns, "no thread of the file has a slice there", idle<IdleCause::unrecorded>}, {           \
    "unlinked_ns", ns, "the work that ended it was launched outside the file", idle<IdleCause::unlinked>         \
  }

constexpr ColumnOf<Gap, InWorld> kGap[] = {
    {"id", id, "number of the gap, by device and time", &field<&Gap::id>},
    {"device", id, "number of the GPU", [](const InWorld&, const Gap& g) -> CellValue { return g.device->device; }},
    {"ts", ns, "begin", [](const InWorld&, const Gap& g) -> CellValue { return g.gap().span.begin; }},
    {"dur", ns, "duration: no work of the GPU ran",
     [](const InWorld&, const Gap& g) -> CellValue { return g.gap().span.length(); }},
    {"ended_by", id, "slice.id of the work that ended it; NULL where nothing follows in the window",
     [](const InWorld& in, const Gap& g) { return in.id(g.gap().ended_by); }},
    {"ended_by_name", text, "its name", [](const InWorld& in, const Gap& g) { return in.name(g.gap().ended_by); }},
    {"launch_id", id, "slice.id of the call that launched that; NULL where it is not in the file",
     [](const InWorld& in, const Gap& g) { return in.id(g.gap().launch); }},
    {"main_cause", text, "the cause with the most time: operator, python, launching, ...",
     [](const InWorld&, const Gap& g) -> CellValue { return idle_cause_key(g.gap().main); }},
    GAPSCOPE_CAUSE_COLUMNS,
};

std::vector<Gap> gaps(World& world) {
  std::vector<Gap> out;
  for (const DeviceAccount& device : world.session().account().devices())
    for (std::uint32_t at = 0; at < device.gaps.size(); ++at)
      out.push_back({static_cast<std::uint32_t>(out.size()), at, &device});
  return out;
}

template <auto Member>
CellValue spent(const InWorld&, const Part& part) {
  return part.times.*Member;
}

constexpr ColumnOf<Part, InWorld> kAccount[] = {
    {"device", id, "number of the GPU", [](const InWorld&, const Part& p) -> CellValue { return p.device->device; }},
    {"step", text, "ProfilerStep#N, from its begin to the next one's; NULL: the whole window",
     [](const InWorld& in, const Part& p) { return in.name(p.step); }},
    {"ts", ns, "begin", [](const InWorld&, const Part& p) -> CellValue { return p.span.begin; }},
    {"dur", ns, "duration: the sum of what follows", spent<&AccountTimes::window>},
    {"compute_ns", ns, "kernels ran that compute", spent<&AccountTimes::compute>},
    {"exposed_communication_ns", ns, "only kernels ran that communicate", spent<&AccountTimes::exposed_communication>},
    {"exposed_copies_ns", ns, "only copies and fills ran", spent<&AccountTimes::exposed_copies>},
    {"idle_ns", ns, "nothing ran: the sum of the causes",
     [](const InWorld&, const Part& p) -> CellValue { return p.times.idle_total(); }},
    {"gaps", count, "how many gaps are in it, at least in part",
     [](const InWorld&, const Part& p) -> CellValue {
       const auto [first, last] = p.device->gaps_in(p.span);
       return last - first;
     }},
    GAPSCOPE_CAUSE_COLUMNS,
};
static_assert(std::size(kGap) == 8 + kIdleCauses && std::size(kAccount) == 9 + kIdleCauses);
#undef GAPSCOPE_CAUSE_COLUMNS

std::vector<Part> parts(World& world) {
  std::vector<Part> out;
  const TimeAccount& account = world.session().account();
  for (const DeviceAccount& device : account.devices()) {
    out.push_back({&device, {}, device.window, device.times});
    for (const TimeAccount::StepWindow& step : account.steps())
      out.push_back({&device, step.step, step.span, account.times_in(device, step.span)});
  }
  return out;
}

template <auto Member>
CellValue stated(const InWorld&, const DeviceProperties& device) {
  return device.*Member != 0 ? CellValue(device.*Member) : CellValue();
}
constexpr ColumnOf<DeviceProperties, InWorld> kDevice[] = {
    {"id", id, "number of the GPU", &field<&DeviceProperties::id>},
    {"name", text, "NVIDIA H200",
     [](const InWorld&, const DeviceProperties& d) -> CellValue { return std::string_view(d.name); }},
    {"memory", bytes, "NULL where the file does not say, here and below", stated<&DeviceProperties::total_global_mem>},
    {"compute_capability", text, "9.0",
     [](const InWorld&, const DeviceProperties& d) -> CellValue {
       if (d.compute_major <= 0) return {};
       return std::to_string(d.compute_major) + '.' + std::to_string(d.compute_minor);
     }},
    {"sms", count, "streaming multiprocessors", stated<&DeviceProperties::sms>},
    {"warp_size", count, "", stated<&DeviceProperties::warp_size>, "threads"},
    {"max_threads_per_block", count, "", stated<&DeviceProperties::max_threads_per_block>, "threads"},
    {"max_threads_per_sm", count, "", stated<&DeviceProperties::max_threads_per_sm>, "threads"},
    {"registers_per_block", count, "", stated<&DeviceProperties::regs_per_block>},
    {"registers_per_sm", count, "", stated<&DeviceProperties::regs_per_sm>},
    {"shared_memory_per_block", bytes, "without opting in", stated<&DeviceProperties::shared_mem_per_block>},
    {"shared_memory_per_block_optin", bytes, "", stated<&DeviceProperties::shared_mem_per_block_optin>},
    {"shared_memory_per_sm", bytes, "", stated<&DeviceProperties::shared_mem_per_sm>},
};

template <auto Member>
CellValue total(const InWorld&, const MemoryRow& row) {
  return row.*Member >= 0 ? CellValue(row.*Member) : CellValue();
}
constexpr ColumnOf<MemoryRow, InWorld> kMemory[] = {
    {"ts", ns, "when", &field<&MemoryRow::time>},
    {"bytes", bytes, "allocated; negative: freed", &field<&MemoryRow::bytes>},
    {"address", id, "of the block", &field<&MemoryRow::address>},
    {"total_allocated", bytes, "from then on; NULL where the file does not say", total<&MemoryRow::total_allocated>},
    {"total_reserved", bytes, "likewise", total<&MemoryRow::total_reserved>},
    {"device", text, "CPU, GPU 0, ...",
     [](const InWorld&, const MemoryRow& m) -> CellValue { return memory_device_name(m.device_type, m.device); }},
    {"out_of_memory", flag, "1: the allocation failed", &field<&MemoryRow::out_of_memory>},
    {"utid", id, "thread.utid",
     [](const InWorld& in, const MemoryRow& m) { return m.lane ? CellValue(in.world.tracks().utid(m.lane)) : CellValue(); }},
};

}  // namespace

void add_gpu_tables(World& world, TableList& out) {
  add_kernel_tables(world, out);
  const InWorld in{world};
  const double gpu = static_cast<double>(world.trace().gpu.size() + 1);
  out.push_back(column_table(
      "gpu_gap", "every idle time of a GPU, and what the host did meanwhile", kGap, in, [&world] { return gaps(world); }, gpu));
  out.push_back(column_table("account", "where each nanosecond of each GPU went, as in `gapscope why`", kAccount, in,
                             [&world] { return parts(world); }));
  out.push_back(column_table("device", "the GPUs, as the file describes them", kDevice, in,
                             [&world] { return std::span(world.trace().header.devices); }));
  const std::span memory(world.trace().memory);
  out.push_back(column_table(
      "memory_event", "allocations and frees, where memory was recorded", kMemory, in, [memory] { return memory; },
      static_cast<double>(memory.size() + 1)));
}

}  // namespace gapscope::sql
