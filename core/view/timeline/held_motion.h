#pragma once
// Movement while a key is down: it starts with a small step, speeds up evenly to a limit, and covers the same way in
// the same time whatever the frame rate, because each frame takes the exact integral of the speed.
namespace gapscope {

struct MotionSpeed {
  double step;   // covered by a tap
  double start;  // per second
  double gain;   // per second, each second
  double most;   // per second
};

// Zooming, in powers of e. Panning, in visible widths.
constexpr MotionSpeed kZoomSpeed{.step = 0.16, .start = 1.2, .gain = 5.0, .most = 9.0};
constexpr MotionSpeed kPanSpeed{.step = 0.05, .start = 0.5, .gain = 1.6, .most = 3.5};
// The step of a tap glides: most of it is done after this long.
constexpr double kGlideSeconds = 0.04;

class HeldMotion {
 public:
  explicit HeldMotion(const MotionSpeed& speed) : speed_(speed) {}

  // The way covered in this frame. `direction` is -1, 0 or 1 by the keys that are down; `taps` is presses of the
  // positive key minus presses of the negative one since the last frame; a notch of the wheel counts as some.
  double advance(int direction, double taps, double delta_s);
  bool moving() const { return direction_ != 0 || pending_ != 0; }

 private:
  double way(double held_s) const;
  double glide(double delta_s);

  MotionSpeed speed_;
  int direction_ = 0;
  double held_s_ = 0;
  double pending_ = 0;  // of the steps of taps, not yet covered
};

}  // namespace gapscope
