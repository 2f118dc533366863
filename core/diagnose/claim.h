#pragma once
// What a rule may call the cost of its findings: a part of the time account, which no two findings own at once. Each file of
// rules/ states its own; claims.h shares the time out.
#include <array>
#include <cstdint>
#include <initializer_list>
#include <string_view>

#include "core/analyze/account/idle_cause.h"

namespace gapscope {

// Of the busiest device.
enum class ClaimedTime : std::uint8_t { idle, communication, copies, kernels, work };  // work: kernels, and copies beside none

// Causes of idle time, a bit each.
using CauseSet = std::uint32_t;
constexpr CauseSet cause_set(std::initializer_list<IdleCause> list) {
  CauseSet out = 0;
  for (const IdleCause c : list) out |= 1u << index_of(c);
  return out;
}
constexpr CauseSet kAnyCause = (1u << kIdleCauses) - 1;
constexpr CauseSet kHostCauses = cause_set({IdleCause::op, IdleCause::python, IdleCause::launching, IdleCause::cuda_call});
// What the file cannot tell costs the program nothing that is known.
constexpr CauseSet kKnownCauses = kAnyCause & ~cause_set({IdleCause::unrecorded, IdleCause::unlinked});

constexpr std::string_view kEveryProblem = "*";

struct Claim {
  ClaimedTime time = ClaimedTime::idle;
  CauseSet causes = kAnyCause;  // of idle time
  bool inside = true;           // only while the finding's places last; else wherever in the window
  // Of findings of one severity the one with the lower turn takes its time first: the more telling a cause, the lower. In
  // steps of 10, so that another fits in between; `grep -o 'turn = .*' core/diagnose/rules/* | sort -t= -k2n` shows all.
  std::uint16_t turn = 1000;
  // Rules whose findings this one explains where both speak of the same time, by id, or kEveryProblem: shown under it.
  std::array<std::string_view, 5> explains{};
};

}  // namespace gapscope
