#pragma once
// Man pages and completions of bash, zsh and fish, all made from what `--help` is made from.
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace gapscope {

struct ManualFile {
  std::string path;  // below an installation's share/, as man/man1/gapscope-info.1
  std::string text;
};

// Of the program and of each of its subcommands.
std::vector<ManualFile> manual_files(const CLI::App& app);

// Writes them below `folder`. The exit code; an error is one sentence on stderr.
int write_manual(const CLI::App& app, const std::string& folder);

}  // namespace gapscope
