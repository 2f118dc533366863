#pragma once
// Conditions and measures that several rules share.
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/analyze/account/time_account.h"
#include "core/base/phrase.h"  // counted(), which every rule uses
#include "core/diagnose/facts.h"

namespace gapscope {

// The host needs several times the GPU's time and the GPU mostly waits (overhead_bound). Silent while compiling.
bool is_overhead_bound(const Facts& facts);
// low_gpu_utilization holds.
bool is_idle_mostly(const Facts& facts);

// Kernels or GPU operations for each step: those launched inside a step. A recording without steps counts as one step.
struct WorkPerStep {
  std::size_t ops = 0, kernels = 0;  // in all steps together
  double ops_each = 0, kernels_each = 0;
};
WorkPerStep work_per_step(const Facts& facts);
// An average of counts, for reading: "5", "5.33", "508".
std::string format_average(double count);

// Grid blocks for each SM as the file states it. None where it does not: ROCm files leave it out or say "inf", and in graphs
// they state no grid either.
std::optional<double> blocks_per_sm(const Facts& facts, const GpuOp& op);

// How far launches cover the SMs while kernels run: sum(min(1, blocks per SM) * time) / sum(time) over linked kernels that
// compute. Collectives take few SMs on purpose.
struct SmFill {
  double fill = 0;
  double over_window = 0;  // the same with the idle time counted as empty: the TensorBoard plugin's est. SM efficiency
  Ns kernel_time = 0;
};
std::optional<SmFill> sm_fill(const Facts& facts);
// What does not count there: "collectives", "collectives and kernels without their launch".
std::string_view left_out_of_fill(const Facts& facts);
// What a file's blocks per SM, which are stored as 32-bit floats, may be off: 0.65 is read as 0.64999998.
constexpr double kFillRounding = 1e-7;

// What Facts::cpu_to_gpu is, as evidence "ratio".
constexpr std::string_view kHostAgainstGpu = "host time against GPU time";

// The slice is, or is in, code that torch.compile made.
bool in_compiled_code(const Facts& facts, SliceId slice);
bool has_compiled_code(const Facts& facts);

// `part` of the whole as a fraction; 0 for an empty whole.
double share_of(Ns part, Ns whole);

// How many times as long, for reading: "2.08", "34.6", "2,330".
std::string format_times(double ratio);

// Figures of some GPU work; the last: one of the name with the most time. `ops` must not be empty for that.
Ns total_time(const std::vector<GpuOp>& ops);
std::vector<SliceId> slices_of(const std::vector<GpuOp>& ops);
GpuOp most_costly_name(const Facts& facts, const std::vector<GpuOp>& ops);

// A share as people write it: "3.1 %", "42 %", "99.7 %"; never 100 % or 0 % of what is not all or nothing.
std::string format_share(double fraction);
// The gaps of the busiest device that ended when one of these pieces of GPU work began, and what of them was the host's own
// work or a launch on its way. `work` in any order.
struct IdleBefore {
  SpanSet gaps;
  Ns host_and_start = 0;
};
IdleBefore idle_before(const Facts& facts, const std::vector<SliceId>& work);
// The GPU work launched inside one of these CPU slices; that of CUDA graphs only where asked for.
enum class GraphWork : bool { leave_out, take };
SpanSet gpu_work_inside(const Facts& facts, const std::vector<SliceId>& slices, GraphWork graphs = GraphWork::take);
// "12.0 ms in operators, 3.10 ms inside launch calls, 1.02 ms otherwise": the largest of some causes of idle time and what is
// left; empty where there is none.
std::string cause_words(const CauseTimes& times, ProgramKind program, bool host_only);
// "The GPU was busy 26.1 ms of 77.1 ms, 34 % of the time.", or where there are several: "At least one of 2 GPUs was busy ...".
std::string busy_sentence(const Facts& facts);
// "GPU 3" for the device that the account is about, where there are several; else `single`.
std::string busiest_words(const Facts& facts, std::string_view single);
// The parts of the busiest device's window; none without an account.
const AccountTimes* account_times(const Facts& facts);

// A kernel's name as a sentence can hold it.
std::string shown_name(std::string_view name);
// A count, with commas.
std::string shown_count(std::size_t count);
// The same without template arguments and parameters.
std::string shown_kernel(std::string_view name);
// "24 of 1,110 kernels, 2.2 %"; "all 3 kernels", "both kernels", "the only kernel".
std::string counted_of(std::size_t count, std::size_t all, std::string_view noun);

// The same at the begin of a sentence: "All 3 kernels".
std::string sentence_start(std::string words);
// "once", "twice", "3 times".
std::string often(std::size_t count);

// Median with the mean of the two middle ones, as statistics packages give it; 0 when there are none.
Ns median_of(std::vector<Ns> values);

}  // namespace gapscope
