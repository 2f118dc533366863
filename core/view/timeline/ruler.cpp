#include "core/view/timeline/ruler.h"

#include <array>
#include <cstdlib>

namespace gapscope {
namespace {

struct Unit {
  Ns ns;
  const char* name;
};
constexpr std::array<Unit, 4> kUnits = {{{kNsPerS, "s"}, {kNsPerMs, "ms"}, {kNsPerUs, "\xC2\xB5s"}, {1, "ns"}}};
// Values up to this many of a unit are written in it: 2000 us rather than 2 ms alongside 200 us.
constexpr Ns kMostOfUnit = 2;
constexpr Ns kLargestPower = 1'000'000'000'000'000'000;

const Unit& unit_for(Ns largest) {
  for (const Unit& unit : kUnits) {
    if (std::abs(largest) >= kMostOfUnit * unit.ns || unit.ns == 1) return unit;
  }
  return kUnits.back();
}

Ns floor_to(Ns value, Ns step) {
  const Ns rest = value % step;
  return value - (rest < 0 ? rest + step : rest);
}

Ns power_of_ten_at_least(double value) {
  Ns power = 1;
  while (static_cast<double>(power) < value && power < kLargestPower) power *= 10;
  return power;
}

Ns step_at_least(double ns) {
  const Ns power = power_of_ten_at_least(ns);
  for (const Ns divisor : {5, 2}) {  // power/5 = 2, power/2 = 5 of the next smaller power
    if (power >= 10 && static_cast<double>(power / divisor) >= ns) return power / divisor;
  }
  return power;
}

int minor_parts(Ns step) {
  while (step >= 10 && step % 10 == 0) step /= 10;
  if (step == 1) return 5;
  return step == 2 ? 4 : 5;
}

// `value` in `unit`, with as many decimals as `step` needs.
std::string label_text(Ns value, Ns step, const Unit& unit) {
  int decimals = 0;
  for (Ns part = unit.ns; part > 1 && step % part != 0; part /= 10) ++decimals;
  std::string text = (value < 0 ? "-" : "") + std::to_string(std::abs(value) / unit.ns);
  if (decimals > 0) {
    const std::string digits = std::to_string(std::abs(value) % unit.ns + unit.ns);  // the leading 1 keeps the zeros
    text += "." + digits.substr(1, static_cast<std::size_t>(decimals));
  }
  return text + " " + unit.name;
}

}  // namespace

std::string exact_time_text(Ns since_start) { return label_text(since_start, 1, unit_for(since_start)); }

Ruler make_ruler(Span visible, double width_px, double min_spacing_px, Ns trace_begin) {
  Ruler ruler;
  if (visible.empty() || width_px <= 0) return ruler;
  const double ns_per_px = static_cast<double>(visible.length()) / width_px;
  ruler.step = step_at_least(ns_per_px * min_spacing_px);
  const Ns first = visible.begin - trace_begin;
  const Ns last = visible.end - trace_begin;
  const Ns coarse = power_of_ten_at_least(static_cast<double>(visible.length()) * 2);
  const Ns offset = first > 0 ? floor_to(first, coarse) : 0;
  if (offset > 0) ruler.offset = "+" + label_text(offset, coarse, unit_for(offset));
  const Unit& unit = unit_for(last - offset);
  const int parts = minor_parts(ruler.step);
  const Ns minor = ruler.step >= parts ? ruler.step / parts : ruler.step;
  for (Ns t = floor_to(first, minor); t <= last; t += minor) {
    const bool major = floor_to(t, ruler.step) == t;
    ruler.ticks.push_back({trace_begin + t, major, major ? label_text(t - offset, ruler.step, unit) : std::string()});
  }
  return ruler;
}

}  // namespace gapscope
