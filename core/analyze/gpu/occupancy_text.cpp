// The sentences of occupancy.h. Apart from its sums, which the recorder takes into other people's programs without libraries.
#include <algorithm>
#include <cstdint>
#include <string>

#include <fmt/format.h>

#include "core/analyze/gpu/occupancy.h"
#include "core/analyze/gpu/occupancy_amd.h"
#include "core/base/text.h"

namespace gapscope {

std::string occupancy_words(const SmLimits& sm, const BlockNeeds& block, std::uint64_t grid) {
  const std::optional<Occupancy> fit = occupancy(sm, block);
  if (!fit || grid == 0) return {};
  const auto percent = [](double fraction) {
    std::string text = format_percent(fraction);
    if (const std::size_t zero = text.find(".0 %"); zero != std::string::npos) text.erase(zero, 2);
    return text;
  };
  if (sm.sms == 0)
    return fmt::format("at most {} of {} slots, limited by {}", percent(fit->theoretical), is_amd(sm) ? "wave" : "warp",
                       limiter_text(sm, fit->limiters));
  const double each = static_cast<double>(grid) / static_cast<double>(sm.sms);
  const double a_block = fit->theoretical / static_cast<double>(std::max<std::int64_t>(fit->active_blocks, 1));
  // A grid that all but fills the SMs is not what limits it.
  constexpr double kAllButFull = 0.9;
  if (fit->active_blocks > 0 && each < kAllButFull * static_cast<double>(fit->active_blocks))
    return fmt::format("{} of {} slots, limited by the grid: {} {}{} on {} {}s; per {} up to {}", percent(each * a_block),
                       is_amd(sm) ? "wave" : "warp", format_count(static_cast<std::int64_t>(grid)),
                       is_amd(sm) ? "workgroup" : "block", grid == 1 ? "" : "s", sm.sms, is_amd(sm) ? "CU" : "SM",
                       is_amd(sm) ? "CU" : "SM", percent(fit->theoretical));
  const double in_use = std::min(each, static_cast<double>(fit->active_blocks)) * a_block;
  return fmt::format("{} of {} slots, limited by {}", percent(in_use), is_amd(sm) ? "wave" : "warp",
                     limiter_text(sm, fit->limiters));
}

std::string format_shared_memory(std::uint64_t bytes) {
  return bytes < 1024 ? fmt::format("{} B", bytes) : format_significant(static_cast<double>(bytes) / 1024) + " KiB";
}

}  // namespace gapscope
