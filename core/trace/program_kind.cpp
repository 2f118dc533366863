#include "core/trace/program_kind.h"

#include <algorithm>

namespace gapscope {
namespace {

// Of a command's first word, behind its folder: "python3.11" of "/usr/bin/python3.11 train.py". Scripts with an interpreter
// (torchrun) are run as a python, too.
bool is_python(std::string_view command) {
  const std::string_view program = command.substr(0, command.find(' '));
  return program.substr(program.rfind('/') + 1).starts_with("python");
}

}  // namespace

ProgramKind program_kind(const Trace& trace) {
  if (trace.producer->id == "nsight_systems")
    return std::any_of(trace.processes.begin(), trace.processes.end(), [](const Process& p) { return is_python(p.name); })
               ? ProgramKind::python
               : ProgramKind::other;
  if (!trace.producer->is_pytorch) return ProgramKind::other;
  if (by_torch_profiler(trace)) return ProgramKind::python;
  std::string_view command = trace.header.find("command");  // JSON
  if (command.starts_with('"')) command.remove_prefix(1);
  const bool has_frames =
      std::any_of(trace.categories.begin(), trace.categories.end(), [](const Category& c) { return c.kind == Kind::python; });
  return has_frames || is_python(command) ? ProgramKind::python : ProgramKind::other;
}

bool by_torch_profiler(const Trace& trace) { return trace.producer->is_pytorch && trace.producer->id != "gapscope"; }

}  // namespace gapscope
