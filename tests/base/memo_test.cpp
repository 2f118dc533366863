#include "core/base/memo.h"

#include <atomic>
#include <memory>
#include <stdexcept>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

using namespace gapscope;

TEST_CASE("a memo is made once, whoever asks") {
  const Memo<int> memo;
  std::atomic<int> made{0};
  std::vector<std::thread> threads;
  std::vector<const int*> got(4);
  CHECK(memo.if_ready() == nullptr);
  for (std::size_t i = 0; i < got.size(); ++i)
    threads.emplace_back([&, i] { got[i] = memo.get([&] { return std::make_unique<const int>(++made); }); });
  for (std::thread& thread : threads) thread.join();
  CHECK(made == 1);
  for (const int* value : got) CHECK(value == memo.if_ready());
}

TEST_CASE("a memo whose making fails or was cancelled is made again") {
  const Memo<int> memo;
  CHECK_THROWS_AS(memo.get([]() -> std::unique_ptr<const int> { throw std::runtime_error("no memory"); }), std::runtime_error);
  CHECK(memo.get([] { return std::unique_ptr<const int>(); }) == nullptr);
  CHECK(memo.if_ready() == nullptr);
  CHECK(*memo.get([] { return std::make_unique<const int>(3); }) == 3);
}
