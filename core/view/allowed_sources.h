#pragma once
// Which source files may be read: those below folders that a person has named, links followed. A trace names files, so what it
// says never makes one readable.
#include <cstddef>
#include <string>
#include <vector>

#include "core/base/readable_folders.h"

namespace gapscope {

struct SourceText {
  enum class Kind { read, not_allowed, no_source };  // not_allowed: also where there is no such file
  Kind kind = Kind::not_allowed;
  std::string text{};
  bool is_cut = false;  // there is more of it
};

class AllowedSources {
 public:
  AllowedSources() = default;  // none
  // Below the folders of lines "recorded=here", as path_here() has them; those that are not there are left out.
  explicit AllowedSources(const std::vector<std::string>& lines);

  // At most so many bytes of a regular file that is called as source is, and holds text.
  SourceText read(const std::string& path, std::size_t most) const;

 private:
  ReadableFolders folders_;
};

// The folder that a person would have to allow for this file, links followed: the one that it is in. Empty where there is no
// source file of that name.
std::string folder_to_allow(const std::string& path);
// What a person is asked.
std::string allow_sentence(const std::string& folder);

}  // namespace gapscope
