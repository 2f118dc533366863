// What GPUs did and why they stood still: gpu_gap and account, by core/analyze/account; device and memory_event.
#include <array>

#include "core/analyze/memory/memory.h"
#include "core/sql/kernel_table.h"
#include "core/sql/tables.h"

namespace gapscope::sql {
namespace {

// The causes, as columns of the tables that have them.
#define GAPSCOPE_CAUSE_COLUMNS                                                                       \
  {"operator_ns", Type::integer, "ns", "the host was inside an operator, outside any CUDA call"},    \
      {"python_ns", Type::integer, "ns", "in Python or an annotation, outside any operator"},        \
      {"launching_ns", Type::integer, "ns", "in the call that launched what ended the gap"},         \
      {"cuda_call_ns", Type::integer, "ns", "in another CUDA call"},                                 \
      {"starting_ns", Type::integer, "ns", "launched, not begun"},                                   \
      {"synchronizing_ns", Type::integer, "ns", "in a call that waits for the GPU"},                 \
      {"data_loading_ns", Type::integer, "ns", "in the data loader"},                                \
      {"compiling_ns", Type::integer, "ns", "in Dynamo, AOTAutograd or Inductor"},                   \
      {"allocating_ns", Type::integer, "ns", "in a CUDA call that allocates, frees or maps memory"}, \
      {"loading_ns", Type::integer, "ns", "the driver loaded a kernel's code"},                      \
      {"profiler_ns", Type::integer, "ns", "other overhead of the profiler"},                        \
      {"unrecorded_ns", Type::integer, "ns", "no thread of the file has a slice there"}, {           \
    "unlinked_ns", Type::integer, "ns", "the work that ended it was launched outside the file"       \
  }

enum : int { kGapId, kGapDevice, kGapTs, kGapDur, kGapEndedBy, kGapEndedByName, kGapLaunch, kGapMain, kGapFirstCause };
constexpr ColumnInfo kGap[] = {
    {"id", Type::integer, "", "number of the gap, by device and time"},
    {"device", Type::integer, "", "number of the GPU"},
    {"ts", Type::integer, "ns", "begin"},
    {"dur", Type::integer, "ns", "duration: no work of the GPU ran"},
    {"ended_by", Type::integer, "", "slice.id of the work that ended it; NULL where nothing follows in the window"},
    {"ended_by_name", Type::text, "", "its name"},
    {"launch_id", Type::integer, "", "slice.id of the call that launched that; NULL where it is not in the file"},
    {"main_cause", Type::text, "", "the cause with the most time: operator, python, launching, ..."},
    GAPSCOPE_CAUSE_COLUMNS,
};
static_assert(std::size(kGap) == kGapFirstCause + kIdleCauses);

class GapRows final : public RowList {
 public:
  explicit GapRows(World& world) : world_(world) {}
  std::optional<Error> prepare() override {
    if (!first_.empty()) return std::nullopt;
    first_.push_back(0);
    for (const DeviceAccount& device : world_.account().devices())
      first_.push_back(first_.back() + static_cast<std::uint32_t>(device.gaps.size()));
    return std::nullopt;
  }
  std::uint32_t rows() override { return first_.back(); }
  void give_value(sqlite3_context* out, std::uint32_t row, int column) override {
    const auto d = static_cast<std::size_t>(std::upper_bound(first_.begin(), first_.end(), row) - first_.begin()) - 1;
    const DeviceAccount& device = world_.account().devices()[d];
    const std::size_t at = row - first_[d];
    const DeviceGap& gap = device.gaps[at];
    const auto give_id = [&](SliceId slice) {
      if (slice) give(out, std::int64_t{world_.order().id(slice)});
    };
    switch (column) {
      case kGapId: return give(out, std::int64_t{row});
      case kGapDevice: return give(out, std::int64_t{device.device});
      case kGapTs: return give(out, gap.span.begin);
      case kGapDur: return give(out, gap.span.length());
      case kGapEndedBy: return give_id(gap.ended_by);
      case kGapEndedByName:
        if (gap.ended_by) give(out, world_.trace().name(gap.ended_by));
        return;
      case kGapLaunch: return give_id(gap.launch);
      case kGapMain: return give(out, idle_cause_key(gap.main));
      default: break;
    }
    for (const DeviceAccount::CauseTime& cause : device.causes(at))
      if (static_cast<int>(index_of(cause.cause)) == column - kGapFirstCause) return give(out, cause.time);
    give(out, std::int64_t{0});
  }
  double about_rows() const override { return static_cast<double>(world_.trace().gpu.size() + 1); }

 private:
  World& world_;
  std::vector<std::uint32_t> first_;  // row of each device's first gap; the number of all at the end
};

enum : int {
  kPartDevice,
  kPartStep,
  kPartTs,
  kPartDur,
  kPartCompute,
  kPartCommunication,
  kPartCopies,
  kPartIdle,
  kPartGaps,
  kPartFirstCause
};
constexpr ColumnInfo kAccount[] = {
    {"device", Type::integer, "", "number of the GPU"},
    {"step", Type::text, "", "ProfilerStep#N, from its begin to the next one's; NULL: the whole window"},
    {"ts", Type::integer, "ns", "begin"},
    {"dur", Type::integer, "ns", "duration: the sum of what follows"},
    {"compute_ns", Type::integer, "ns", "kernels ran that compute"},
    {"exposed_communication_ns", Type::integer, "ns", "only kernels ran that communicate"},
    {"exposed_copies_ns", Type::integer, "ns", "only copies and fills ran"},
    {"idle_ns", Type::integer, "ns", "nothing ran: the sum of the causes"},
    {"gaps", Type::integer, "", "how many gaps lie there, at least in part"},
    GAPSCOPE_CAUSE_COLUMNS,
};
static_assert(std::size(kAccount) == kPartFirstCause + kIdleCauses);
#undef GAPSCOPE_CAUSE_COLUMNS

class AccountRows final : public RowList {
 public:
  explicit AccountRows(World& world) : world_(world) {}
  std::optional<Error> prepare() override {
    if (made_) return std::nullopt;
    made_ = true;
    const TimeAccount& account = world_.account();
    for (const DeviceAccount& device : account.devices()) {
      parts_.push_back({&device, {}, device.window, device.times});
      for (const TimeAccount::StepWindow& step : account.steps())
        parts_.push_back({&device, step.step, step.span, account.times_in(device, step.span)});
    }
    return std::nullopt;
  }
  std::uint32_t rows() override { return static_cast<std::uint32_t>(parts_.size()); }
  void give_value(sqlite3_context* out, std::uint32_t row, int column) override {
    const Part& part = parts_[row];
    switch (column) {
      case kPartDevice: return give(out, std::int64_t{part.device->device});
      case kPartStep:
        if (part.step) give(out, world_.trace().name(part.step));
        return;
      case kPartTs: return give(out, part.span.begin);
      case kPartDur: return give(out, part.times.window);
      case kPartCompute: return give(out, part.times.compute);
      case kPartCommunication: return give(out, part.times.exposed_communication);
      case kPartCopies: return give(out, part.times.exposed_copies);
      case kPartIdle: return give(out, part.times.idle_total());
      case kPartGaps: {
        const auto [first, last] = part.device->gaps_in(part.span);
        return give(out, static_cast<std::int64_t>(last - first));
      }
      default: return give(out, part.times.idle[static_cast<std::size_t>(column - kPartFirstCause)]);
    }
  }

 private:
  struct Part {
    const DeviceAccount* device;
    SliceId step;
    Span span;
    AccountTimes times;
  };
  World& world_;
  bool made_ = false;
  std::vector<Part> parts_;
};

constexpr ColumnInfo kDevice[] = {
    {"id", Type::integer, "", "number of the GPU"},
    {"name", Type::text, "", "NVIDIA H200"},
    {"memory", Type::integer, "bytes", "NULL where the file does not say, here and below"},
    {"compute_capability", Type::text, "", "9.0"},
    {"sms", Type::integer, "", "streaming multiprocessors"},
    {"warp_size", Type::integer, "threads", ""},
    {"max_threads_per_block", Type::integer, "threads", ""},
    {"max_threads_per_sm", Type::integer, "threads", ""},
    {"registers_per_block", Type::integer, "", ""},
    {"registers_per_sm", Type::integer, "", ""},
    {"shared_memory_per_block", Type::integer, "bytes", "without opting in"},
    {"shared_memory_per_block_optin", Type::integer, "bytes", ""},
    {"shared_memory_per_sm", Type::integer, "bytes", ""},
};

class DeviceRows final : public RowList {
 public:
  explicit DeviceRows(World& world) : devices_(world.trace().header.devices) {}
  std::uint32_t rows() override { return static_cast<std::uint32_t>(devices_.size()); }
  void give_value(sqlite3_context* out, std::uint32_t row, int column) override {
    const DeviceProperties& d = devices_[row];
    if (column == 0) return give(out, d.id);
    if (column == 1) return give(out, std::string_view(d.name));
    if (column == 3)
      return d.compute_major > 0 ? give_copy(out, std::to_string(d.compute_major) + '.' + std::to_string(d.compute_minor))
                                 : give_null(out);
    const std::int64_t values[] = {0,
                                   0,
                                   d.total_global_mem,
                                   0,
                                   d.sms,
                                   d.warp_size,
                                   d.max_threads_per_block,
                                   d.max_threads_per_sm,
                                   d.regs_per_block,
                                   d.regs_per_sm,
                                   d.shared_mem_per_block,
                                   d.shared_mem_per_block_optin,
                                   d.shared_mem_per_sm};
    if (values[column] != 0) give(out, values[column]);
  }

 private:
  const std::vector<DeviceProperties>& devices_;
};

constexpr ColumnInfo kMemory[] = {
    {"ts", Type::integer, "ns", "when"},
    {"bytes", Type::integer, "bytes", "allocated; negative: freed"},
    {"address", Type::integer, "", "of the block"},
    {"total_allocated", Type::integer, "bytes", "from then on; NULL where the file does not say"},
    {"total_reserved", Type::integer, "bytes", "likewise"},
    {"device", Type::text, "", "CPU, GPU 0, ..."},
    {"out_of_memory", Type::integer, "", "1: the allocation failed"},
    {"utid", Type::integer, "", "thread.utid"},
};

class MemoryRows final : public RowList {
 public:
  explicit MemoryRows(World& world) : world_(world) {}
  std::uint32_t rows() override { return static_cast<std::uint32_t>(world_.trace().memory.size()); }
  void give_value(sqlite3_context* out, std::uint32_t row, int column) override {
    const MemoryRow& m = world_.trace().memory[row];
    switch (column) {
      case 0: return give(out, m.time);
      case 1: return give(out, m.bytes);
      case 2: return give(out, static_cast<std::int64_t>(m.address));
      case 3: return m.total_allocated >= 0 ? give(out, m.total_allocated) : give_null(out);
      case 4: return m.total_reserved >= 0 ? give(out, m.total_reserved) : give_null(out);
      case 5: return give_copy(out, memory_device_name(m.device_type, m.device));
      case 6: return give(out, std::int64_t{m.out_of_memory});
      default:
        if (m.lane) give(out, std::int64_t{world_.tracks().utid(m.lane)});
        return;
    }
  }
  double about_rows() const override { return static_cast<double>(world_.trace().memory.size() + 1); }

 private:
  World& world_;
};

}  // namespace

void add_gpu_tables(World& world, TableList& out) {
  out.push_back(kernel_table(world));
  out.push_back(kernel_summary_table(world));
  out.push_back(roofline_sql_table(world));
  out.push_back(list_table("gpu_gap", "every stretch in which a GPU stood still, and what the host did meanwhile", kGap,
                           std::make_unique<GapRows>(world)));
  out.push_back(list_table("account", "where each nanosecond of each GPU went, as `gapscope why` tells it", kAccount,
                           std::make_unique<AccountRows>(world)));
  out.push_back(list_table("device", "the GPUs, as the file describes them", kDevice, std::make_unique<DeviceRows>(world)));
  out.push_back(list_table("memory_event", "allocations and frees, where memory was recorded", kMemory,
                           std::make_unique<MemoryRows>(world)));
}

}  // namespace gapscope::sql
