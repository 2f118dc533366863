#include "app/jobs/action_queue.h"

#include <doctest/doctest.h>

#include <new>
#include <semaphore>
#include <vector>

using gapscope::ActionQueue;

TEST_CASE("actions are done one after the other, and none is dropped") {
  std::counting_semaphore<3> woken{0};
  ActionQueue queue([&] { woken.release(); });
  CHECK_FALSE(queue.take());
  std::vector<int> done;
  for (int i = 0; i < 3; ++i)
    queue.add("count", [&done, i](std::atomic<bool>&) -> ActionQueue::Done {
      done.push_back(i);
      return {.say = std::to_string(i)};
    });
  for (int i = 0; i < 3; ++i) woken.acquire();
  CHECK(done == std::vector<int>{0, 1, 2});
  for (const char* say : {"0", "1", "2"}) {
    const auto one = queue.take();
    REQUIRE(one);
    CHECK(one->say == say);
    CHECK_FALSE(one->copy);
  }
  CHECK_FALSE(queue.take());
}

TEST_CASE("a queue is at work until the outcome of its last action is taken") {
  std::binary_semaphore begun{0}, go_on{0}, woken{0};
  ActionQueue queue([&] { woken.release(); });
  CHECK_FALSE(queue.is_at_work());
  queue.add("wait", [&](std::atomic<bool>&) -> ActionQueue::Done {
    begun.release();
    go_on.acquire();
    return {};
  });
  CHECK(queue.is_at_work());
  begun.acquire();
  CHECK(queue.is_at_work());
  go_on.release();
  woken.acquire();
  CHECK(queue.is_at_work());
  CHECK(queue.take());
  CHECK_FALSE(queue.is_at_work());
}

TEST_CASE("what an action throws is its sentence, and the next one is done") {
  std::counting_semaphore<2> woken{0};
  ActionQueue queue([&] { woken.release(); });
  queue.add("save the text", [](std::atomic<bool>&) -> ActionQueue::Done { throw std::bad_alloc(); });
  queue.add("copy", [](std::atomic<bool>&) -> ActionQueue::Done { return {.copy = "text"}; });
  woken.acquire(), woken.acquire();
  CHECK(queue.take()->say.starts_with("Not enough memory to save the text"));
  CHECK(queue.take()->copy == "text");
}

TEST_CASE("the end cancels the action under way, and does what waits") {
  std::binary_semaphore begun{0};
  bool was_cancelled = false, was_last_done = false;
  {
    ActionQueue queue([] {});
    queue.add("wait", [&](std::atomic<bool>& cancel) -> ActionQueue::Done {
      begun.release();
      while (!cancel) {
      }
      was_cancelled = true;
      return {};
    });
    queue.add("save", [&](std::atomic<bool>&) -> ActionQueue::Done { return was_last_done = true, ActionQueue::Done{}; });
    begun.acquire();
  }
  CHECK(was_cancelled);
  CHECK(was_last_done);
}
