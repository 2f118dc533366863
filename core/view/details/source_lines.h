#pragma once
// The lines of a program's source around the place that a Python frame names, read from the file where it is on this machine.
// A frame is data from a trace, so only what AllowedSources has is read, and a path that is not absolute is looked for in the
// folders of the settings and in that of the trace, never in the working directory.
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace gapscope {

struct Document;

struct SourceLines {
  std::string frame;               // as in the question
  std::string file;                // on this machine; empty where it is not here
  std::int64_t line = 0;           // the frame's, from 1
  std::int64_t first = 0;          // number of lines[0]
  std::vector<std::string> lines;  // printable, without the indentation that they share
  std::string note;                // a sentence where there is something to say: the file is not here, or was changed since
  std::string to_allow;            // the folder that a person would have to allow; empty: none, or it is allowed
};
struct SourceLinesQuestion {
  using Answer = SourceLines;
  static constexpr const char* kToDo = "read a source file";
  std::string frame;               // "model/train.py(12): step"
  std::vector<std::string> paths;  // EditorSettings::paths
  bool asks = true;                // EditorSettings::asks
  friend bool operator==(const SourceLinesQuestion&, const SourceLinesQuestion&) = default;
};
std::shared_ptr<const SourceLines> answer(const Document& document, const SourceLinesQuestion& question,
                                          const std::atomic<bool>* cancel);

// Whether the line, counted from 1, is of this function: it or its decorators begin there, or the line is in it. True where
// that is not known, as of the code of a module.
bool is_in_function(const std::vector<std::string>& lines, std::int64_t line, const std::string& function);

}  // namespace gapscope
