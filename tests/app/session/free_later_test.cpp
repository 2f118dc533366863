#include "app/session/free_later.h"

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <thread>

using namespace gapscope;

namespace {

// Notes which thread freed it.
struct Heavy {
  explicit Heavy(std::atomic<std::thread::id>& place) : freed_by(place) {}
  ~Heavy() { freed_by = std::this_thread::get_id(); }
  Heavy(const Heavy&) = delete;
  Heavy& operator=(const Heavy&) = delete;
  std::atomic<std::thread::id>& freed_by;
};

void wait_for_owner(const std::atomic<std::thread::id>& freed_by) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (freed_by.load() == std::thread::id{} && std::chrono::steady_clock::now() < deadline) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

}  // namespace

TEST_CASE("what is given away is freed by another thread") {
  std::atomic<std::thread::id> freed_by{};
  FreeLater later;
  later.add(std::make_shared<const Heavy>(freed_by));
  wait_for_owner(freed_by);
  CHECK(freed_by.load() != std::thread::id{});
  CHECK(freed_by.load() != std::this_thread::get_id());
}

TEST_CASE("an owner that lets go later does not do the freeing") {
  std::atomic<std::thread::id> freed_by{};
  FreeLater later;
  auto mine = std::make_shared<const Heavy>(freed_by);
  later.add(mine);
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  CHECK(freed_by.load() == std::thread::id{});
  mine.reset();
  CHECK(freed_by.load() == std::thread::id{});  // not here and now
  wait_for_owner(freed_by);
  CHECK(freed_by.load() != std::this_thread::get_id());
}

TEST_CASE("nothing given away is fine, and what is left goes with the one who frees") {
  std::atomic<std::thread::id> freed_by{};
  {
    FreeLater later;
    later.add(nullptr);
    later.add(std::make_shared<const Heavy>(freed_by));
  }
  CHECK(freed_by.load() != std::thread::id{});
}
