#pragma once
// What a shell offers after `gapscope`: commands, the options of the command that stands there, the words that an option takes,
// and files. Each is a whole file for its shell.
#include <string>

namespace CLI {
class App;
}

namespace gapscope {

std::string bash_completion(const CLI::App& app);
std::string zsh_completion(const CLI::App& app);
std::string fish_completion(const CLI::App& app);

}  // namespace gapscope
