#pragma once
// Handing a kernel over to Nsight Compute: the command that profiles one launch of a recording again.
//
// ncu (2020.1 and later) picks kernels by the name of their function, without namespaces, template arguments and parameters
// (--kernel-name-base function, its default), and then by their place among the launches that fit, in the order of the
// launches. A launch's place is that among the launches of the recording whose function has the same name, on all devices: a
// recording that began after the program did knows nothing of those before, and counts none of them: ncu_note() says what to
// do.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/analyze/gpu/gpu_ops.h"
#include "core/trace/program_kind.h"

namespace gapscope {

// "vectorized_elementwise_kernel" of "void at::native::vectorized_elementwise_kernel<4, ...>(int, ...)"; empty where no name is
// left, as of a copy. Mangled names are read first.
std::string kernel_function(std::string_view kernel_name);

// Matches exactly `text`, also where it holds what regular expressions or a shell take for something else: quoted for a shell.
std::string quoted_exact_regex(std::string_view text);

struct NcuCommand {
  std::string function;
  std::uint64_t skip = 0;  // launches of that function before this one in the recording
  std::uint64_t of = 0;    // launches of that function in it
  std::string command;     // "ncu --set full --kernel-name regex:'^...$' --launch-skip 3 --launch-count 1 PROGRAM"
};

// What `command` has in place of the program, where the trace does not name it as those of `gapscope record` do.
constexpr std::string_view kNcuProgram = "python your_script.py";
// What has to be so for the place to be right: one sentence or two.
std::string_view ncu_note(ProgramKind program);

// The commands of a trace's kernels. Building costs O(n log n) in the kernels, a question O(log n).
class NcuCommands {
 public:
  // `ops`: gpu_ops() of the trace, which must outlive this.
  NcuCommands(const Trace& trace, const std::vector<GpuOp>& ops);
  // Of a kernel; nothing for other slices, for kernels that were launched before the recording began, for kernels without a
  // name, for those of ROCm, which ncu does not know, and for communication, which waits for ever when ncu runs it again alone.
  std::optional<NcuCommand> of(SliceId kernel) const;

 private:
  const Trace& trace_;
  std::unordered_map<std::uint32_t, std::uint32_t> function_of_;  // by name
  std::vector<std::string> functions_;
  std::string program_;
  bool is_cuda_ = true;
  std::vector<std::uint64_t> counts_;  // by function
  std::vector<std::uint64_t> place_;   // by position in Trace::gpu; kNone: not counted
  static constexpr std::uint64_t kNone = ~std::uint64_t{0};
};

// Whether NcuCommands may have one, without counting: not of communication, nor of what ROCm says that it ran.
bool may_have_ncu_command(const Trace& trace, SliceId kernel);

}  // namespace gapscope
