#include "core/analyze/ncu_command/ncu_command.h"

#include <algorithm>
#include <tuple>

#include <fmt/format.h>

namespace gapscope {
namespace {

constexpr std::string_view kAnonymous = "(anonymous namespace)";

bool is_operator_sign(std::string_view name, std::size_t at) {
  constexpr std::string_view kOperator = "operator";
  return at >= kOperator.size() && name.substr(at - kOperator.size(), kOperator.size()) == kOperator;
}

// The name up to its parameters, without what stands in angle brackets and without unnamed namespaces.
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

}  // namespace

std::string kernel_function(std::string_view kernel_name) {
  std::string name = without_arguments(kernel_name);
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

std::string_view ncu_note() {
  return "The place counts from the recording's begin: where the program launches such kernels before that, start it with "
         "--profile-from-start off and call torch.cuda.profiler.start() where the recording began.";
}

NcuCommands::NcuCommands(const Trace& trace, const std::vector<GpuOp>& ops) : trace_(trace), program_(program_of(trace)) {
  std::vector<const GpuOp*> kernels;
  for (const GpuOp& op : ops) {
    if (op.gpu_class == GpuClass::compute) kernels.push_back(&op);
    if (op.linked() && is_cuda_) is_cuda_ = !trace.name(op.launch).starts_with("hip");
  }
  is_cuda_ = is_cuda_ && trace.header.find("hip_runtime_version").empty();
  const auto launched = [](const GpuOp& op) { return op.linked() ? op.launch_span.begin : op.span.begin; };
  std::stable_sort(kernels.begin(), kernels.end(), [&](const GpuOp* a, const GpuOp* b) {
    return std::tuple(launched(*a), a->span.begin) < std::tuple(launched(*b), b->span.begin);
  });
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
    place_[op->slice.value] = counts_[function->second]++;
  }
}

std::optional<NcuCommand> NcuCommands::of(SliceId kernel) const {
  const auto place = kernel ? place_.find(kernel.value) : place_.end();
  if (place == place_.end() || !is_cuda_) return std::nullopt;
  const std::uint32_t at = function_of_.at(trace_.name_id(kernel).value);
  if (functions_[at].empty()) return std::nullopt;
  NcuCommand out{functions_[at], place->second, counts_[at], {}};
  out.command = fmt::format("ncu --set full --kernel-name regex:{} --launch-skip {} --launch-count 1 {}",
                            quoted_exact_regex(out.function), out.skip, program_);
  return out;
}

}  // namespace gapscope
