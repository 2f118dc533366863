#include "core/view/timeline/held_motion.h"

#include <algorithm>
#include <cmath>

namespace gapscope {
namespace {
constexpr double kNothing = 1e-5;  // less than this of a step cannot be seen
}

// Way covered after holding for `held_s`: a parabola up to the limit, then a line.
double HeldMotion::way(double held_s) const {
  const double until_most = (speed_.most - speed_.start) / speed_.gain;
  const double t = std::min(held_s, until_most);
  return speed_.start * t + speed_.gain * t * t / 2 + speed_.most * std::max(0.0, held_s - until_most);
}

double HeldMotion::glide(double delta_s) {
  if (std::abs(pending_) < kNothing) {
    const double rest = pending_;
    pending_ = 0;
    return rest;
  }
  const double part = pending_ * (1 - std::exp(-delta_s / kGlideSeconds));
  pending_ -= part;
  return part;
}

double HeldMotion::advance(int direction, double taps, double delta_s) {
  pending_ += taps * speed_.step;
  if (direction != direction_) {
    direction_ = direction;
    held_s_ = 0;
  }
  double covered = glide(delta_s);
  if (direction_ != 0) {
    covered += direction_ * (way(held_s_ + delta_s) - way(held_s_));
    held_s_ += delta_s;
  }
  return covered;
}

}  // namespace gapscope
