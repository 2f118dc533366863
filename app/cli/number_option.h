#pragma once
// What a number on the command line may be: every option that takes one has one of these, which says the range in its help and
// refuses what is no such number (nan, inf, 1e99, "5 "), in one sentence.
#include <cstdint>

namespace CLI {
class Validator;
}

namespace gapscope {

CLI::Validator number_between(double least, double most);
CLI::Validator whole_number(std::int64_t least, std::int64_t most);

inline constexpr std::int64_t kMostRows = 1'000'000'000;  // of --limit
inline constexpr double kMostSeconds = 1e6;               // twelve days

}  // namespace gapscope
