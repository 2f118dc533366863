#pragma once
// The tab "Compile" and `gapscope compile`: what torch.compile's code did (core/analyze/compiled), as sentences and tables.
#include <memory>
#include <string>
#include <vector>

#include "core/analyze/compiled/compile_columns.h"
#include "core/view/compile/compile_state.h"

namespace gapscope {

// Args as they are in the trace's file.
ArgOf args_of_file(const Trace& trace);

// What there is, what it cost, and what the recording lacks: a sentence or two each.
std::vector<std::string> compile_summary(const Trace& trace, const CompileUse& use);

constexpr std::size_t kMostCode = 1 << 18;  // bytes that are read
// The trace names it: only what AllowedSources has is read.
CodeText read_code(const std::string& path, const std::vector<std::string>& paths, bool asks);

void arrange_compile(const Trace& trace, const std::shared_ptr<const CompileUse>& use, CompileState& state);

}  // namespace gapscope
