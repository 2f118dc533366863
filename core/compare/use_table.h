#pragma once
// How two runs use their GPUs, side by side: the figures of the overview and the parts of the account as shares of the window,
// of the device with the shortest idle time on each side.
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/session/overview.h"

namespace gapscope {

enum class UseUnit : std::uint8_t { time, share, rate, bytes };  // ns; 0..1; operations a second; bytes

struct UseRow {
  std::string key;    // "utilization", "account.compute"
  std::string title;  // "GPU utilization"
  UseUnit unit = UseUnit::share;
  std::optional<double> a, b;  // nullopt: not in the recording
};

// Rows that at least one side has.
std::vector<UseRow> use_table(const RunOverview& a, const RunOverview& b);
// Keys that a row can have, in their order.
std::vector<std::string> use_keys();
// Of rows that a diagnosis makes: the step of the program without its profiler, and the share of it that the GPU works.
inline constexpr std::string_view kPlainStepKey = "plain.step", kPlainShareKey = "plain.gpu_share";
// "8.4 %", "1.21 ms"; "-" where it is not there.
std::string use_text(UseUnit unit, const std::optional<double>& value);

}  // namespace gapscope
