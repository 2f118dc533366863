#include "app/window/window_loop.h"

#include <algorithm>
#include <cstdlib>
#include <utility>
#include <variant>

#include "app/state/sibling_name.h"
#include "app/window/image.h"
#include "core/base/output_file.h"
#include "core/base/text.h"
#include "core/view/document.h"
#include "ui/key_hint.h"
#include "ui/snapshot/snapshot_page.h"
#include "ui/widgets/text.h"
#include "ui/widgets/theme.h"

namespace gapscope {
namespace {

double milliseconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
}

constexpr double kHoverDelay = 0.45;          // s
constexpr std::chrono::seconds kPatience{2};  // with frames that fail before one was drawn

}  // namespace

WindowLoop::WindowLoop(Window& window, SessionOptions options, std::string state_file)
    : window_(window), session_(std::move(options)), state_(state_file) {
  set_hover_delay(state_file.empty() ? kHoverDelay : 0);  // a test waits for what it sees, not for time
  prefer(ui_.view().of(TraceSide::a), ui_.view().window.settings, session_.preferences());
}

std::optional<Error> WindowLoop::step() {
  try {
    if (window_.wait(pace_))
      frame();
    else
      end();  // as far as anybody knows
    return {};
  } catch (...) {
    return take_failure(current_failure("draw the window"));
  }
}

void WindowLoop::frame() {
  window_.set_zoom(ui_.view().window.settings.zoom);
  const WindowInput input = window_.begin_frame();
  const auto begin = std::chrono::steady_clock::now();
  for (const Drop& drop : input.drops) take_drop(drop);
  session_.poll(ui_.view());
  if (const std::optional<std::string> copied = session_.take_copy()) {
    window_.copy_text(*copied);
    ui_.view().window.key_hint = copied_words(*copied);
  }
  const bool grows = session_.is_loading() || session_.is_loading_second() || session_.awaits_headline();  // as it is drawn now
  Requests requests;
  ui_.frame(frame_input(input), requests);
  if (const std::optional<AskMoment> moment = ui_.snapshot_page().take_question()) session_.ask(*moment);
  frame_ms_ = milliseconds_since(begin);
  Image picture;
  const bool wants_picture = std::any_of(requests.list.begin(), requests.list.end(),
                                         [](const Request& r) { return std::holds_alternative<TakeScreenshot>(r); });
  window_.end_frame(background_of(ui_.view().window.settings.theme), wants_picture ? &picture : nullptr);
  has_drawn_ = true;
  for (const Request& request : requests.list) {
    if (const auto* shot = std::get_if<TakeScreenshot>(&request))
      save_screenshot(picture, shot->path);
    else
      carry_out(request);
  }
  follow_title();
  session_.keep_preferences(preferences_of(ui_.view().active(), ui_.view().window.settings));
  const bool moves = ui_.moving() || input.held.any() || !requests.list.empty();
  pace_ = moves ? Pace::moving : grows ? Pace::growing : Pace::still;
  state_.write(session_, ui_, at_rest());
}

bool WindowLoop::at_rest() const { return pace_ == Pace::still && !window_.settles() && !session_.is_at_work(); }

// Returns what ends the window; otherwise the next frame is tried.
std::optional<Error> WindowLoop::take_failure(Error failure) {
  window_.abandon_frame();
  session_.say(failure.message);
  const auto now = std::chrono::steady_clock::now();
  if (!failing_since_) failing_since_ = now;
  if (has_drawn_ || now - *failing_since_ < kPatience) return {};
  return failure;
}

FrameInput WindowLoop::frame_input(const WindowInput& input) {
  FrameInput in;
  in.width_px = input.width_px;
  in.height_px = input.height_px;
  in.scale = input.scale;
  in.delta_s = input.seconds;
  in.elapsed_s = input.elapsed_s;
  in.frame_ms = frame_ms_;
  in.presses = input.presses;
  in.held = input.held;
  session_.fill(in);
  return in;
}

void WindowLoop::take_drop(const Drop& drop) {
  if (drop.shift && drop.paths.size() == 1 && (session_.document() || session_.snapshot()))
    return session_.open_second(drop.paths.front());
  session_.open_all(drop.paths);
}

void WindowLoop::carry_out(const Request& request) {
  if (session_.carry_out(request)) return;
  if (const auto* copy = std::get_if<CopyText>(&request)) window_.copy_text(copy->text);
  if (const auto* title = std::get_if<SetTitle>(&request)) window_.set_title(title->title);
  if (std::holds_alternative<Quit>(request)) window_.request_close();
}

void WindowLoop::save_screenshot(const Image& picture, const std::string& wanted) {
  const Document* doc = session_.document();
  const std::string shown = doc ? doc->trace.path : session_.snapshot() ? session_.snapshot()->path : "";
  const Result<std::string> bytes = png_bytes(picture);
  if (!bytes) return session_.say(bytes.error().message);
  const Result<std::string> saved = wanted.empty()
                                        ? write_file(sibling_name(shown, ".png"), *bytes, {.if_taken = IfTaken::number})
                                        : write_file(wanted, *bytes);
  saved ? session_.tell({"Saved " + *saved, *saved}) : session_.say(saved.error().message);
}

void WindowLoop::follow_title() {
  std::string title = printable(session_.title());
  if (title == title_) return;
  window_.set_title(title);
  title_ = std::move(title);
}

}  // namespace gapscope
