#pragma once
// The tab "Compile" and `gapscope compile`: what torch.compile's code did (core/analyze/compiled), as sentences and tables.
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/analyze/compiled/compile_use.h"
#include "core/view/compile/compile_state.h"

namespace gapscope {

// Args as they stand in the trace's file.
ArgOf args_of_file(const Trace& trace);

CompileTable compile_table(const Trace& trace, const CompileUse& use, CompileList list);

// What there is, what it cost, and what the recording lacks: a sentence or two each.
std::vector<std::string> compile_summary(const Trace& trace, const CompileUse& use);

constexpr std::size_t kMostCode = 1 << 18;  // bytes that are read
CodeText read_code(const std::string& path);

// Positions of the table's rows; as they are without an order. Numbers that are not there come before all others.
std::vector<std::uint32_t> compile_rows(const CompileTable& table, const std::optional<RowOrder>& order);
// `rows` of it under its titles, times in nanoseconds.
std::string compile_csv(const CompileTable& table, const std::vector<std::uint32_t>& rows);

void arrange_compile(const Trace& trace, const std::shared_ptr<const CompileUse>& use, CompileState& state);

}  // namespace gapscope
