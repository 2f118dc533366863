#pragma once
// The tables of what torch.compile's code did: of the tab Compile and `gapscope compile`.
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/analyze/compiled/compile_use.h"
#include "core/base/table/columns.h"

namespace gapscope {

enum class CompileList : std::uint8_t { regions, breaks, graphs, kernels, compilations };
inline constexpr std::array kCompileLists = {CompileList::regions, CompileList::breaks, CompileList::graphs,
                                             CompileList::kernels, CompileList::compilations};
const char* compile_title(CompileList list);

// `use` must outlive it.
std::unique_ptr<TableRows> compile_table(const Trace& trace, const CompileUse& use, CompileList list);

// What a row represents.
struct CompiledThing {
  std::string name;             // as in the file
  std::vector<SliceId> slices;  // in order of begin
  std::string code;             // path of generated code; empty where none is reported
};
CompiledThing thing_of_row(const Trace& trace, const CompileUse& use, CompileList list, std::size_t row);

}  // namespace gapscope
