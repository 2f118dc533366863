#pragma once
// Where in the program's sources a slice stands, as its name says.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gapscope {

struct Trace;

struct SourcePlace {
  std::string file;
  std::int64_t line = 0;
  friend bool operator==(const SourcePlace&, const SourcePlace&) = default;
};
// Of "model/train.py(12): step"; none of other names.
std::optional<SourcePlace> source_place(std::string_view name);
// "model/train.py:12".
std::string place_text(const SourcePlace& place);

// The same file on this machine, by lines "recorded=here" as of "/workspace/src=/home/me/src": the first that makes an existing
// file of it; the path itself where none does.
std::string path_here(const std::string& recorded, const std::vector<std::string>& paths);
// As wherever a source file is opened or read: by these lines, else in the folder of the trace. None where it is not on this
// machine; a path that is not absolute is never looked for in the working directory.
std::optional<std::string> source_here(const Trace& trace, const std::string& recorded, const std::vector<std::string>& paths);

}  // namespace gapscope
