#pragma once
// What the window carries of the tab "Compile": its question, its tables, its state. What they are made of is compile_model.h.
#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/ids.h"
#include "core/view/table/row_order.h"

namespace gapscope {

struct CompileUse;
struct Document;
struct CompileQuestion {
  using Answer = CompileUse;
  static constexpr const char* kToDo = "look for compiled code";
  friend bool operator==(const CompileQuestion&, const CompileQuestion&) = default;
};
std::shared_ptr<const CompileUse> answer(const Document& document, const CompileQuestion& question,
                                         const std::atomic<bool>* cancel);
enum class CompileList : std::uint8_t { regions, breaks, graphs, kernels, compilations };
inline constexpr std::array kCompileLists = {CompileList::regions, CompileList::breaks, CompileList::graphs,
                                             CompileList::kernels, CompileList::compilations};

struct CompileColumn {
  const char* title;
  const char* help;  // one sentence
  bool is_number = false;
  bool is_time = false;  // a number of ns
};
struct CompileCell {
  std::string text;          // names as in the file
  std::int64_t number = -1;  // of a column of numbers, times in ns; -1: none
};
struct CompileRow {
  std::vector<CompileCell> cells;  // one a column
  std::vector<SliceId> slices;     // that the row stands for, in order of begin
  std::string code;                // path of generated code; empty where none is told
};
struct CompileTable {
  const char* title;
  std::vector<CompileColumn> columns;
  std::vector<CompileRow> rows;
};
// A file of generated code on this machine, for reading.
struct CodeText {
  std::string path, text;
  std::string trouble;  // why there is no text: a sentence; empty where there is
};

// Owned by TraceView.
struct CompileState {
  CompileList list = CompileList::regions;
  int selected = -1;              // position in the list
  CodeText code;                  // of the selected row
  std::optional<RowOrder> order;  // none: as the table has them

  // Made from the answer when it, the list, or the order changed.
  struct Made {
    std::shared_ptr<const CompileUse> of;
    CompileList list{};
    CompileTable table{};
    std::vector<std::string> summary;
    std::optional<RowOrder> order = {};
    std::vector<std::uint32_t> rows = {};  // positions in the table
  } made;
};

}  // namespace gapscope
