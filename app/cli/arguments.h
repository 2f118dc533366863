#pragma once
// Arguments that several subcommands have.
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "core/base/time.h"

namespace gapscope {

void add_capture(CLI::App& arguments);
// --steps, also by its older name --annotation: Stated::steps.
void add_steps(CLI::App& arguments);
void add_trace(CLI::App& arguments, std::string& trace);  // with --capture and --steps
// What the GPU of the trace can do at most, where the table of devices does not have it.
void add_roofs(CLI::App& arguments);
// --as-recorded and, of one trace, --step-time: whether what is said is of the program without its profiler, as it is unless
// they say otherwise.
void add_plain(CLI::App& arguments, bool with_step = true);
// Below which folders source files may be read, for pictures: lines of path_here() (core/view/source_place.h).
void add_sources(CLI::App& arguments, std::vector<std::string>& lines);
void add_range(CLI::App& arguments, std::optional<Span>& range, const char* about);

std::string own_path();  // of this program

// What a number on the command line may be: every option that takes one has one of these, which says the range in its help and
// refuses what is no such number (nan, inf, 1e99, "5 "), in one sentence.
CLI::Validator number_between(double least, double most);
CLI::Validator whole_number(std::int64_t least, std::int64_t most);

inline constexpr std::int64_t kMostRows = 1'000'000'000;  // of --limit
inline constexpr std::int64_t kMostMb = 1'000'000'000;    // of --max-mb
inline constexpr double kMostSeconds = 1e6;               // twelve days

}  // namespace gapscope
