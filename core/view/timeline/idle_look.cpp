#include "core/view/timeline/idle_look.h"

#include <algorithm>
#include <array>
#include <utility>

#include "core/base/text.h"

namespace gapscope {
namespace {

struct CauseRow {
  IdleLook dark;
  std::uint32_t light;
  std::string_view label;  // short for idle_cause_title(): what fits next to a time on a lane; the host's own parts as one
};

// By IdleCause. The host's own parts share a hue, what the driver and the profiler do another; the hatch distinguishes them.
constexpr std::array<CauseRow, kIdleCauses> kRows = {{
    {{rgb(0x56B4E9), Hatch::rising}, 0x0072B2, "host"},
    {{rgb(0x56B4E9), Hatch::falling}, 0x0072B2, "host"},
    {{rgb(0xE69F00), Hatch::upright}, 0xA87400, "host"},
    {{rgb(0xE69F00), Hatch::level}, 0xA87400, "host"},
    {{rgb(0x8B94A3), Hatch::dotted}, 0x5C6675, "latency"},
    {{rgb(0xD55E00), Hatch::crossed}, 0xB34F00, "synchronization"},
    {{rgb(0xF0E442), Hatch::rising}, 0x857C00, "data loading"},
    {{rgb(0xCC79A7), Hatch::crossed}, 0xA34A7F, "compiling"},
    {{rgb(0x009E73), Hatch::upright}, 0x007A59, "allocating"},
    {{rgb(0x009E73), Hatch::level}, 0x007A59, "loading kernels"},
    {{rgb(0xCC79A7), Hatch::dotted}, 0xA34A7F, "profiler"},
    {{rgb(0x5C6675), Hatch::falling}, 0x8B94A3, "nothing recorded"},
    {{rgb(0x5C6675), Hatch::crossed}, 0x8B94A3, "launch not in the file"},
}};

}  // namespace

IdleLook look_of(IdleCause cause, bool light) {
  const CauseRow& row = kRows[index_of(cause)];
  IdleLook look = row.dark;
  if (light) look.rgb = rgb(row.light);
  return look;
}

std::string_view idle_label(IdleCause cause) { return kRows[index_of(cause)].label; }

std::vector<AccountPart> parts_of(const AccountTimes& times) {
  std::vector<AccountPart> parts;
  const auto add = [&](AccountPart part) {
    if (part.time > 0) parts.push_back(part);
  };
  add({AccountPart::Kind::compute, {}, times.compute});
  add({AccountPart::Kind::communication, {}, times.exposed_communication});
  add({AccountPart::Kind::copies, {}, times.exposed_copies});
  for (std::size_t i = 0; i < kIdleCauses; ++i) add({AccountPart::Kind::idle, static_cast<IdleCause>(i), times.idle[i]});
  return parts;
}

std::string largest_words(const AccountTimes& times, ProgramKind program) {
  constexpr std::size_t kMost = 3;
  std::vector<std::pair<std::string, Ns>> parts = {{"host", times.host()}};
  for (const AccountPart& part : parts_of(times)) {
    if (part.kind != AccountPart::Kind::idle)
      parts.emplace_back(part_words(part, program), part.time);
    else if (!is_host_part(part.cause))
      parts.emplace_back(idle_label(part.cause), part.time);
  }
  std::stable_sort(parts.begin(), parts.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  std::string words;
  for (std::size_t i = 0; i < parts.size() && i < kMost && parts[i].second > 0; ++i)
    words += (i == 0 ? "" : ", ") + parts[i].first + " " +
             format_percent(static_cast<double>(parts[i].second) / static_cast<double>(times.window));
  return words;
}

std::string part_words(const AccountPart& part, ProgramKind program) {
  switch (part.kind) {
    case AccountPart::Kind::compute: return "compute";
    case AccountPart::Kind::communication: return "exposed communication";
    case AccountPart::Kind::copies: return "exposed copies";
    case AccountPart::Kind::idle: break;
  }
  return (is_host_part(part.cause) ? "host: " : "") + std::string(idle_cause_title(part.cause, program));
}

}  // namespace gapscope
