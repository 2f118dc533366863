#include "core/analyze/ncu_command/ncu_command.h"

#include <algorithm>
#include <tuple>
#include <unordered_set>
#include <utility>

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

// Names of kernels some of whose launches have a call.
std::unordered_set<std::uint32_t> names_with_calls(const Trace& trace, const std::vector<GpuOp>& ops) {
  std::unordered_set<std::uint32_t> out;
  for (const GpuOp& op : ops)
    if (op.linked()) out.insert(trace.name_id(op.slice).value);
  return out;
}

// The kernels of `ops` in the order of their launches: that of their calls. A stream runs its work in the order of its
// launches, so one without a call was launched before the next on its stream that has one. None of those that were launched
// before the recording began: without a call, before all others on their stream, while the same kernel has calls elsewhere.
std::vector<const GpuOp*> by_launch(const Trace& trace, const std::vector<GpuOp>& ops) {
  const std::unordered_set<std::uint32_t> with_calls = names_with_calls(trace, ops);
  std::vector<std::pair<Ns, const GpuOp*>> launched;
  for (const StreamOps& stream : streams_of(ops)) {
    const auto is_linked = [&](std::uint32_t at) { return ops[at].linked(); };
    const auto first = std::find_if(stream.ops.begin(), stream.ops.end(), is_linked);
    std::optional<Ns> next;
    for (auto at = stream.ops.end(); at != stream.ops.begin();) {
      const GpuOp& op = ops[*--at];
      if (op.linked()) next = op.launch_span.begin;
      const bool is_earlier = at < first && first != stream.ops.end() && with_calls.contains(trace.name_id(op.slice).value);
      if (op.gpu_class == GpuClass::compute && !is_earlier) launched.emplace_back(next.value_or(op.span.begin), &op);
    }
  }
  std::sort(launched.begin(), launched.end(), [](const auto& a, const auto& b) {
    return std::tuple(a.first, a.second->span.begin, a.second->slice) <
           std::tuple(b.first, b.second->span.begin, b.second->slice);
  });
  std::vector<const GpuOp*> out;
  for (const auto& [launch, op] : launched) out.push_back(op);
  return out;
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
  const auto is_hip = [&](const GpuOp& op) { return op.linked() && is_hip_call(trace.name(op.launch)); };
  is_cuda_ = !states_hip(trace) && is_for_ncu(trace) && std::none_of(ops.begin(), ops.end(), is_hip);
  std::unordered_map<std::string, std::uint32_t> known;
  for (const GpuOp* op : by_launch(trace, ops)) {
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
  return NcuCommand{functions_[at], place, counts_[at],
                    fmt::format("ncu --set full --kernel-name regex:{} --launch-skip {} --launch-count 1 {}",
                                quoted_exact_regex(functions_[at]), place, program_)};
}

bool may_have_ncu_command(const Trace& trace, SliceId kernel) {
  if (!kernel || trace.kind(kernel) != Kind::kernel || trace.gpu_row(kernel) == nullptr) return false;
  if (is_communication_name(trace.name(kernel)) || states_hip(trace) || !is_for_ncu(trace)) return false;
  return !kernel_function(trace.name(kernel)).empty();
}

}  // namespace gapscope
