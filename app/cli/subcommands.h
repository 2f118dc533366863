#pragma once
// Subcommands that declare their arguments themselves: each in the file of its name, a row of the table in commands.cpp.
#include <functional>

namespace CLI {
class App;
}

namespace gapscope {

std::function<int()> declare_crop(CLI::App& arguments);
std::function<int()> declare_kernels(CLI::App& arguments);
std::function<int()> declare_merge_counters(CLI::App& arguments);
std::function<int()> declare_modules(CLI::App& arguments);
std::function<int()> declare_record(CLI::App& arguments);
std::function<int()> declare_roofline(CLI::App& arguments);
std::function<int()> declare_table(CLI::App& arguments);
std::function<int()> declare_why(CLI::App& arguments);

}  // namespace gapscope
