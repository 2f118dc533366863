#pragma once
// What the window carries of the tab "Compile": its question, its tables, its state. What they are made of is compile_model.h.
#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "core/analyze/compiled/compile_columns.h"
#include "core/view/table/table_look.h"

namespace gapscope {

struct Document;
struct CompileQuestion {
  using Answer = CompileUse;
  static constexpr const char* kToDo = "look for compiled code";
  friend bool operator==(const CompileQuestion&, const CompileQuestion&) = default;
};
std::shared_ptr<const CompileUse> answer(const Document& document, const CompileQuestion& question,
                                         const std::atomic<bool>* cancel);
// A file of generated code on this machine, for reading.
struct CodeText {
  std::string path, text;
  std::string trouble;             // why there is no text: a sentence; empty where there is
  std::string to_allow;            // as in SourceLines
  std::vector<std::string> paths;  // EditorSettings::paths when it was read
};

// Owned by TraceView.
struct CompileState {
  CompileList list = CompileList::regions;
  int selected = -1;   // position in the list
  CodeText code = {};  // of the selected row
  TableLook look = {};
  ArrangedRows arranged = {};
  std::vector<std::string> summary = {};  // of the answer that is arranged
};

}  // namespace gapscope
