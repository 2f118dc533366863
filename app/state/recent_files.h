#pragma once
// The files opened last, newest first, each once. Pure list operations; app/settings keeps them on disk.
#include <string>
#include <vector>

namespace gapscope {

constexpr std::size_t kMaxRecentFiles = 12;  // what fits next to the samples without scrolling

// Puts `path` first. Standard input ("-") cannot be opened again and is left out.
void remember_file(std::vector<std::string>& recent, const std::string& path);

}  // namespace gapscope
