// Arrows and the history of views through the whole window.
#include <doctest/doctest.h>

#include "core/view/timeline/flow_choice.h"
#include "core/view/timeline/time_view.h"
#include "tests/support/headless_ui.h"
#include "tests/support/tiny_traces.h"

using namespace gapscope;
using namespace gapscope::test;

namespace {

constexpr std::string_view kKernel = "_ZN2at6native13reduce_kernelILi512EfEEvT0_";

struct Opened {
  std::shared_ptr<const Document> doc = document_from_text(kOneLaunch);
  HeadlessUi ui{doc.get()};
  ViewState& view() { return ui.ui.view(); }
  Opened() { doc->analyze(); }
};

}  // namespace

TEST_CASE("Shift+F shows the arrows of all launches, then others, then only the selection's") {
  Opened o;
  o.ui.frames(2);
  CHECK(o.view().active().flows.drawn == 0);
  o.ui.press(Key::f, kShift);
  CHECK(o.view().active().flows.show == FlowShow::launches);
  CHECK(o.view().active().flows.in_sight == 4);
  CHECK(o.view().active().flows.drawn == 4);
  o.ui.press(Key::f, kShift);
  CHECK(o.view().active().flows.show == FlowShow::forward_backward);
  CHECK(o.view().active().flows.drawn == 0);
  o.ui.press(Key::f, kShift);
  CHECK(o.view().active().flows.drawn == 4);
  o.ui.press(Key::f, kShift);
  CHECK(o.view().active().flows.show == FlowShow::selection);
  CHECK(o.view().active().time.span == fit(o.doc->trace.span).span);
}

TEST_CASE("] chooses an arrow of a graph launch and Ctrl+] goes along it, Ctrl+[ back") {
  Opened o;
  select_slice(o.view().active(), slice_named(*o.doc, "cudaGraphLaunch"), false);
  o.ui.press(Key::right_bracket);
  o.ui.press(Key::right_bracket);
  REQUIRE(chosen_arrow(o.view().active()).has_value());
  CHECK(chosen_arrow(o.view().active())->to == slice_named(*o.doc, "second"));
  o.ui.press(Key::left_bracket);
  CHECK(chosen_arrow(o.view().active())->to == slice_named(*o.doc, "first"));
  o.ui.press(Key::right_bracket);
  o.ui.press(Key::right_bracket, kCtrl);
  CHECK(o.view().active().selection == slice_named(*o.doc, "second"));
  o.ui.press(Key::left_bracket, kCtrl);
  CHECK(o.view().active().selection == slice_named(*o.doc, "cudaGraphLaunch"));
}

TEST_CASE("Alt+Left goes back to the view before a jump, Alt+Right forward, and neither pans") {
  Opened o;
  const Span whole = o.view().active().time.span;
  select_slice(o.view().active(), slice_named(*o.doc, kKernel), false);
  o.ui.press(Key::f);
  const Span close = o.view().active().time.span;
  REQUIRE(close != whole);
  const auto press = [&](Key key) {
    o.ui.alt = true;
    o.ui.input.held.set(static_cast<std::size_t>(key));
    o.ui.presses.push_back({key, kAlt, false});
    o.ui.frames(3);
    o.ui.input.held.reset();
    o.ui.alt = false;
    o.ui.frames(60);
  };
  press(Key::left);
  CHECK(o.view().active().time.span == whole);
  press(Key::right);
  CHECK(o.view().active().time.span == close);
  press(Key::right);
  CHECK(o.view().active().time.span == close);
}

TEST_CASE("another document has no history") {
  Opened o;
  select_slice(o.view().active(), slice_named(*o.doc, kKernel), false);
  o.ui.press(Key::f);
  REQUIRE_FALSE(o.view().active().history.places().empty());
  const Opened other;
  HeadlessUi& ui = o.ui;
  ui.input.document = other.doc.get();
  ui.frames(1);
  CHECK(ui.ui.view().active().history.places().empty());
}
