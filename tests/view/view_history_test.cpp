#include "core/view/view_history.h"

#include <doctest/doctest.h>

using namespace gapscope;

namespace {

// A view that a test moves, watched at 60 frames a second.
struct Watched {
  explicit Watched(ViewPlace start) : now(start) { frame(); }
  void frame(double delta_s = 1.0 / 60) { history.watch(now, jump, delta_s); }
  void rest(double seconds = 1) {
    for (double t = 0; t < seconds; t += 1.0 / 60) frame();
  }
  void move(Span span) {
    now.span = span;
    frame();
  }
  void jump_to(Span span, bool glide = false) {
    jump = {now.span, span, glide};
    if (!glide) now.span = span;
    frame();
  }
  bool back() {
    const std::optional<ViewPlace> to = history.back(now);
    return to && go(*to);
  }
  bool forward() {
    const std::optional<ViewPlace> to = history.forward(now);
    return to && go(*to);
  }
  bool go(const ViewPlace& to) {
    jump = {now.span, to.span, false};
    now = to;
    frame();
    return true;
  }

  ViewPlace now;
  ViewJump jump;
  ViewHistory history;
};

constexpr Span kA{0, 1000}, kB{2000, 3000}, kC{5000, 6000}, kD{8000, 9000};

}  // namespace

TEST_CASE("the way back has the selection that each place was left with") {
  Watched w({kA, 0});
  w.rest();
  w.now.selection = SliceId(7u);  // clicked, without a move
  w.frame();
  w.jump_to(kB);  // along an arrow, which selects its other end
  w.now.selection = SliceId(9u);
  w.rest();
  REQUIRE(w.back());
  CHECK(w.now.selection == SliceId(7u));
  w.rest();
  REQUIRE(w.forward());
  CHECK(w.now.selection == SliceId(9u));
}

TEST_CASE("a view that rested is gone back to, and forward again") {
  Watched w({kA, 0});
  w.rest();
  w.move(kB);
  w.rest();
  REQUIRE(w.back());
  CHECK(w.now.span == kA);
  w.rest();
  CHECK_FALSE(w.back());
  REQUIRE(w.forward());
  CHECK(w.now.span == kB);
  CHECK_FALSE(w.forward());
}

TEST_CASE("a view that only passed by is not in the history") {
  Watched w({kA, 0});
  w.rest();
  for (Ns i = 1; i < 50; ++i) w.move({i * 100, i * 100 + 1000});
  w.move(kC);
  w.rest();
  CHECK(w.history.places().size() == 2);
  REQUIRE(w.back());
  CHECK(w.now.span == kA);
}

TEST_CASE("a rest counts when no frame was drawn during it") {
  Watched w({kA, 0});
  w.rest();
  w.move(kB);
  w.now.span = kC;
  w.frame(/*delta_s=*/5);  // the window slept, then a key moved the view at once
  w.rest();
  CHECK(w.history.places().size() == 3);
  CHECK(w.history.places()[1].span == kB);
}

TEST_CASE("a jump remembers where it began without any rest") {
  Watched w({kA, 0});
  w.jump_to(kB);
  w.jump_to(kC);
  REQUIRE(w.back());
  CHECK(w.now.span == kB);
  REQUIRE(w.back());
  CHECK(w.now.span == kA);
  REQUIRE(w.forward());
  REQUIRE(w.forward());
  CHECK(w.now.span == kC);
}

TEST_CASE("a jump that cuts another one short leaves where that one was going") {
  Watched w({kA, 0});
  w.jump_to(kB, /*glide=*/true);
  w.move({700, 1700});  // half way
  w.jump = {w.now.span, kC, true};
  w.frame();
  w.now.span = kC;
  w.rest();
  REQUIRE(w.history.places().size() == 3);
  CHECK(w.history.places()[1].span == kB);
}

TEST_CASE("a new way forgets what lay ahead") {
  Watched w({kA, 0});
  w.jump_to(kB);
  w.jump_to(kC);
  w.rest();
  w.back();
  w.rest();
  w.jump_to(kD);
  w.rest();
  CHECK_FALSE(w.forward());
  REQUIRE(w.back());
  CHECK(w.now.span == kB);
}

TEST_CASE("going back before the view has come to rest still leads forward to where it was") {
  Watched w({kA, 0});
  w.rest();
  w.move(kB);
  REQUIRE(w.back());
  CHECK(w.now.span == kA);
  REQUIRE(w.forward());
  CHECK(w.now.span == kB);
}

TEST_CASE("lanes that cannot scroll as far as they did make no new place") {
  Watched w({kA, 500});
  w.rest();
  w.move(kB);
  w.rest();
  w.back();
  w.now.scroll_px = 120;
  w.rest();
  CHECK(w.history.places().size() == 2);
  CHECK(w.forward());
}

TEST_CASE("the history is bounded and forgets the oldest") {
  Watched w({kA, 0});
  for (Ns i = 1; i <= 300; ++i) w.jump_to({i * 10'000, i * 10'000 + 1000});
  CHECK(w.history.places().size() == kMostPlaces);
  CHECK(w.history.places().back().span.begin == 299 * 10'000);
}
