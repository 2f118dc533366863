#pragma once
// Subcommands that declare their arguments themselves: each in the file of its name, a row of the table in commands.cpp.
#include <functional>

namespace CLI {
class App;
}

namespace gapscope {

std::function<int()> declare_attach(CLI::App& arguments);
std::function<int()> declare_crop(CLI::App& arguments);
std::function<int()> declare_diagnose(CLI::App& arguments);
std::function<int()> declare_diff(CLI::App& arguments);
std::function<int()> declare_help(CLI::App& arguments);
std::function<int()> declare_info(CLI::App& arguments);
std::function<int()> declare_kernels(CLI::App& arguments);
std::function<int()> declare_merge_counters(CLI::App& arguments);
std::function<int()> declare_modules(CLI::App& arguments);
std::function<int()> declare_overview(CLI::App& arguments);
std::function<int()> declare_ranks(CLI::App& arguments);
std::function<int()> declare_record(CLI::App& arguments);
std::function<int()> declare_roofline(CLI::App& arguments);
std::function<int()> declare_screenshot(CLI::App& arguments);
std::function<int()> declare_serve(CLI::App& arguments);
std::function<int()> declare_snapshot(CLI::App& arguments);
std::function<int()> declare_sql(CLI::App& arguments);
std::function<int()> declare_table(CLI::App& arguments);
std::function<int()> declare_trend(CLI::App& arguments);
std::function<int()> declare_whatif(CLI::App& arguments);
std::function<int()> declare_why(CLI::App& arguments);

}  // namespace gapscope
