#include "core/view/timeline/held_motion.h"

#include <doctest/doctest.h>

using namespace gapscope;

namespace {

// A key pressed and held for `seconds` at so many frames a second.
double way(double frames_per_second, double seconds) {
  HeldMotion motion(kPanSpeed);
  const double delta = 1 / frames_per_second;
  double sum = motion.advance(1, 1, delta);
  for (double t = delta; t < seconds - delta / 2; t += delta) sum += motion.advance(1, 0, delta);
  return sum;
}

}  // namespace

TEST_CASE("held keys cover the same way at 30 and at 240 frames a second") {
  CHECK(way(30, 1.0) == doctest::Approx(way(240, 1.0)).epsilon(0.001));
  CHECK(way(30, 3.0) == doctest::Approx(way(240, 3.0)).epsilon(0.001));
}

TEST_CASE("held keys accelerate to a limit") {
  HeldMotion motion(kZoomSpeed);
  const double first = motion.advance(1, 0, 0.1);
  for (int i = 0; i < 100; ++i) motion.advance(1, 0, 0.1);
  const double late = motion.advance(1, 0, 0.1);
  CHECK(late > 3 * first);
  CHECK(late == doctest::Approx(kZoomSpeed.most * 0.1));
}

TEST_CASE("a tap moves by its step however short it was, and comes to rest") {
  HeldMotion motion(kPanSpeed);
  double sum = motion.advance(0, 1, 1.0 / 60);
  for (int i = 0; i < 60; ++i) sum += motion.advance(0, 0, 1.0 / 60);
  CHECK(sum == doctest::Approx(kPanSpeed.step));
  CHECK_FALSE(motion.moving());
}

TEST_CASE("two opposite keys stand still") {
  HeldMotion motion(kPanSpeed);
  CHECK(motion.advance(0, 0, 0.5) == 0);
}
