#include "core/analyze/ncu_command/ncu_command.h"

#include <algorithm>
#include <tuple>

#include <fmt/format.h>

#include "core/analyze/practices/practices.h"
#include "core/base/demangle.h"

namespace gapscope {
namespace {

constexpr std::string_view kAnonymous = "(anonymous namespace)";

bool is_operator_sign(std::string_view name, std::size_t at) {
  constexpr std::string_view kOperator = "operator";
  return at >= kOperator.size() && name.substr(at - kOperator.size(), kOperator.size()) == kOperator;
}

// The name up to its parameters, without what is in angle brackets and without unnamed namespaces.
std::string without_arguments(std::string_view name) {
  std::string out;
  int depth = 0;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const char c = name[i];
    if (name.substr(i).starts_with(kAnonymous)) {
      i += kAnonymous.size() - 1;
    } else if (c == '<' && !is_operator_sign(name, i)) {
      ++depth;
    } else if (c == '>' && depth > 0) {
      depth -= i > 0 && name[i - 1] == '-' ? 0 : 1;
    } else if (depth == 0) {
      if (c == '(') break;
      out += c;
    }
  }
  return out;
}

// The command that `gapscope record` writes into its traces; none where its JSON is more than plain text.
std::string program_of(const Trace& trace) {
  const std::string_view json = trace.header.find("command");
  const bool is_plain = json.size() > 2 && json.front() == '"' && json.back() == '"' && json.find('\\') == json.npos;
  return std::string(is_plain ? json.substr(1, json.size() - 2) : kNcuProgram);
}

// What is launched later than what: its call, else its own begin; then its own begin; then its place in the file.
auto launch_order(Span launch, bool is_linked, Span work, SliceId slice) {
  return std::tuple(is_linked ? launch.begin : work.begin, work.begin, slice.value);
}

// Whether slices have a row among those of the GPU, which ascend. Most slices ascend, too: steps double from the last one on,
// since a search among all of a million rows for each would take a tenth of a second.
template <class Rows>
class RowWalk {
 public:
  explicit RowWalk(const Rows& rows) : begin_(rows.begin()), at_(rows.begin()), end_(rows.end()) {}
  bool has(SliceId slice) {
    const auto before = [](const auto& row, SliceId s) { return row.slice < s; };
    if (at_ == end_ || slice < at_->slice) {
      at_ = std::lower_bound(begin_, at_, slice, before);
    } else {
      std::ptrdiff_t step = 1;
      while (end_ - at_ > step && before(at_[step], slice)) at_ += step, step *= 2;
      at_ = std::lower_bound(at_, at_ + std::min(end_ - at_, step + 1), slice, before);
    }
    return at_ != end_ && at_->slice == slice;
  }

 private:
  typename Rows::const_iterator begin_, at_, end_;
};

void write_command(NcuCommand& out, const std::string& program) {
  out.command = fmt::format("ncu --set full --kernel-name regex:{} --launch-skip {} --launch-count 1 {}",
                            quoted_exact_regex(out.function), out.skip, program);
}

bool is_hip_call(std::string_view name) { return name.starts_with("hip"); }
bool states_hip(const Trace& trace) { return !trace.header.find("hip_runtime_version").empty(); }
// Nsight Compute counts launches from the begin of a program that a PyTorch profiler, or gapscope record, was on in.
bool is_for_ncu(const Trace& trace) {
  return (trace.producer->is_pytorch || trace.producer->id == "nsight_systems") && vendor_of(trace) == Vendor::nvidia;
}

}  // namespace

std::string kernel_function(std::string_view kernel_name) {
  std::string name = without_arguments(kernel_name.starts_with("_Z") ? demangle(kernel_name) : std::string(kernel_name));
  while (!name.empty() && name.back() == ' ') name.pop_back();
  if (const std::size_t space = name.rfind(' '); space != std::string::npos) name.erase(0, space + 1);
  if (const std::size_t colons = name.rfind("::"); colons != std::string::npos) name.erase(0, colons + 2);
  return name;
}

std::string quoted_exact_regex(std::string_view text) {
  constexpr std::string_view kSpecial = R"(\^$.|?*+()[]{})";
  std::string out = "'^";
  for (const char c : text) {
    if (c == '\'') {
      out += R"('\'')";
      continue;
    }
    if (kSpecial.find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out + "$'";
}

std::string_view ncu_note(ProgramKind program) {
  return program == ProgramKind::python
             ? "The place counts from the recording's begin: where the program launches such kernels before that, start it "
               "with "
               "--profile-from-start off and call torch.cuda.profiler.start() where the recording began."
             : "The place counts from the recording's begin: where the program launches such kernels before that, start it "
               "with --profile-from-start off and call cudaProfilerStart() where the recording began.";
}

NcuCommands::NcuCommands(const Trace& trace, const std::vector<GpuOp>& ops)
    : trace_(trace), program_(program_of(trace)), place_(trace.gpu.size(), kNone) {
  std::vector<const GpuOp*> kernels;
  for (const GpuOp& op : ops) {
    if (op.gpu_class == GpuClass::compute) kernels.push_back(&op);
    if (op.linked() && is_cuda_) is_cuda_ = !is_hip_call(trace.name(op.launch));
  }
  is_cuda_ = is_cuda_ && !states_hip(trace) && is_for_ncu(trace);
  const auto order = [](const GpuOp& op) { return launch_order(op.launch_span, op.linked(), op.span, op.slice); };
  std::sort(kernels.begin(), kernels.end(), [&](const GpuOp* a, const GpuOp* b) { return order(*a) < order(*b); });
  std::unordered_map<std::string, std::uint32_t> known;
  for (const GpuOp* op : kernels) {
    const auto [function, is_new] = function_of_.try_emplace(trace.name_id(op->slice).value, 0);
    if (is_new) {
      const std::string name = kernel_function(trace.name(op->slice));
      const auto [at, is_new_function] = known.try_emplace(name, static_cast<std::uint32_t>(functions_.size()));
      if (is_new_function) functions_.push_back(name);
      function->second = at->second;
      counts_.resize(functions_.size());
    }
    place_[op->gpu_row] = counts_[function->second]++;
  }
}

std::optional<NcuCommand> NcuCommands::of(SliceId kernel) const {
  const GpuRow* const row = kernel && is_cuda_ ? trace_.gpu_row(kernel) : nullptr;
  const std::uint64_t place = row ? place_[static_cast<std::size_t>(row - trace_.gpu.data())] : kNone;
  if (place == kNone) return std::nullopt;
  const std::uint32_t at = function_of_.at(trace_.name_id(kernel).value);
  if (functions_[at].empty()) return std::nullopt;
  NcuCommand out{functions_[at], place, counts_[at], {}};
  write_command(out, program_);
  return out;
}

bool may_have_ncu_command(const Trace& trace, SliceId kernel) {
  if (!kernel || trace.kind(kernel) != Kind::kernel || trace.gpu_row(kernel) == nullptr) return false;
  if (is_communication_name(trace.name(kernel)) || states_hip(trace) || !is_for_ncu(trace)) return false;
  return !kernel_function(trace.name(kernel)).empty();
}

std::optional<NcuCommand> ncu_command(const Trace& trace, const LinkIndex& links, const NameIndex& names, SliceId kernel,
                                      const std::atomic<bool>* cancel) {
  if (!may_have_ncu_command(trace, kernel)) return std::nullopt;
  NcuCommand out{kernel_function(trace.name(kernel)), 0, 0, {}};
  const auto order = [&](SliceId slice, SliceId call) {
    return launch_order(call ? trace.span_of(call) : Span{}, call.valid(), trace.span_of(slice), slice);
  };
  const auto place = order(kernel, links.call_of(kernel));
  for (const StringId name : names.used_names()) {
    const std::string_view text = trace.strings[name];
    if (cancel && *cancel) return std::nullopt;
    if (text.find(out.function) == text.npos || kernel_function(text) != out.function || is_communication_name(text)) continue;
    RowWalk rows(trace.gpu);
    for (const SliceId slice : names.slices_named(name)) {
      if (trace.kind(slice) != Kind::kernel || !rows.has(slice)) continue;
      const SliceId call = links.call_of(slice);
      if (call && is_hip_call(trace.name(call))) return std::nullopt;
      ++out.of;
      out.skip += order(slice, call) < place ? 1 : 0;
    }
  }
  write_command(out, program_of(trace));
  return out;
}

}  // namespace gapscope
