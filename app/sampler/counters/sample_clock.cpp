#include "app/sampler/counters/sample_clock.h"

#include <cmath>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace gapscope::sampler {
namespace {

constexpr std::int64_t kFar = 600'000'000'000;  // ns: no stamp is fetched so late
constexpr std::int64_t kFarTicks = 10 * kFar;   // at up to 10 GHz

bool is_within(std::int64_t a, std::int64_t b, std::int64_t far) {
  std::int64_t between = 0;
  return !__builtin_sub_overflow(a, b, &between) && between > -far && between < far;
}

}  // namespace

std::optional<Ns> SampleClock::ours_of(std::int64_t stamp, const Moment& now) const {
  if (is_within(stamp, now.ours, kFar)) return stamp;
  if (now.ticks <= begin_.ticks || now.ours <= begin_.ours || !is_within(stamp, now.ticks, kFarTicks)) return std::nullopt;
  const double ns_per_tick = static_cast<double>(now.ours - begin_.ours) / static_cast<double>(now.ticks - begin_.ticks);
  return now.ours + std::llround(static_cast<double>(stamp - now.ticks) * ns_per_tick);
}

SampleClock::Moment moment_at(Ns ours) {
#if defined(__x86_64__)
  return {ours, static_cast<std::int64_t>(__rdtsc())};
#else
  return {ours, 0};
#endif
}

}  // namespace gapscope::sampler
