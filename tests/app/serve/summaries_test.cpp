#include "app/serve/summaries.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

using namespace gapscope;

namespace {

ItemSummary wait_for(Summaries& summaries, const ListedItem& item) {
  for (;;) {
    if (const auto summary = summaries.of(item)) return *summary;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

ListedItem item_of(const std::string& path, std::int64_t modified_ns = 0) { return {path, false, 10, modified_ns}; }

}  // namespace

TEST_CASE("each state of a file is read once") {
  std::atomic<int> reads{0};
  Summaries summaries([&](const ListedItem& item, const std::stop_token&) {
    ++reads;
    return ItemSummary{{}, {}, "of " + item.path, false};
  });
  CHECK(wait_for(summaries, item_of("a")).verdict == "of a");
  CHECK(wait_for(summaries, item_of("a")).verdict == "of a");
  CHECK(wait_for(summaries, item_of("b")).verdict == "of b");
  CHECK(reads == 2);
  CHECK(wait_for(summaries, item_of("a", 5)).verdict == "of a");
  CHECK(reads == 3);
}

TEST_CASE("what goes wrong with one is said, and the next is read") {
  Summaries summaries([&](const ListedItem& item, const std::stop_token&) -> ItemSummary {
    if (item.path == "a") throw std::runtime_error("broken");
    return {{}, {}, "fine", false};
  });
  CHECK(wait_for(summaries, item_of("a")).failed);
  CHECK_FALSE(wait_for(summaries, item_of("a")).verdict.empty());
  CHECK(wait_for(summaries, item_of("b")).verdict == "fine");
}

TEST_CASE("a large file keeps no small one waiting, and small ones come first") {
  constexpr std::uint64_t kGigabyte = std::uint64_t{1} << 30;
  std::mutex mutex;
  std::vector<std::string> begun;
  std::atomic<bool> goes_on{false};
  Summaries summaries([&](const ListedItem& item, const std::stop_token& stop) {
    {
      const std::lock_guard lock(mutex);
      begun.push_back(item.path);
    }
    while (item.bytes >= kGigabyte && !goes_on && !stop.stop_requested())
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return ItemSummary{{}, {}, "read", false};
  });
  for (const char* path : {"large 1", "large 2", "large 3"}) CHECK_FALSE(summaries.of({path, false, 6 * kGigabyte, 0}));
  for (const std::uint64_t bytes : {30U, 20U, 10U}) summaries.of({"small", false, bytes, 0});
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  bool all_read = false;
  while (!all_read && std::chrono::steady_clock::now() < deadline) {
    all_read = true;
    for (const std::uint64_t bytes : {30U, 20U, 10U})
      all_read = summaries.of({"small", false, bytes, 0}).has_value() && all_read;
  }
  CHECK(all_read);
  {
    const std::lock_guard lock(mutex);
    CHECK(std::count_if(begun.begin(), begun.end(), [](const auto& path) { return path.starts_with("large"); }) <= 1);
  }
  goes_on = true;
  CHECK(wait_for(summaries, {"large 3", false, 6 * kGigabyte, 0}).verdict == "read");
}

TEST_CASE("it ends while one is being read and others wait") {
  std::atomic<bool> has_begun{false};
  {
    Summaries summaries([&](const ListedItem&, const std::stop_token& stop) {
      has_begun = true;
      while (!stop.stop_requested()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      return ItemSummary{};
    });
    CHECK_FALSE(summaries.of(item_of("a")));
    CHECK_FALSE(summaries.of(item_of("b")));
    while (!has_begun) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  CHECK(has_begun);
}

TEST_CASE("a summary is what the overview says") {
  const ItemSummary summary = summary_of_overview(
      R"({"verdict": "Host-bound", "steps": {"count": 3}, "devices": [{"name": "H200"}, {"name": null}, {"name": "H200"}, {"name": "L4"}]})");
  CHECK(summary.verdict == "Host-bound");
  CHECK(summary.gpu == "2 x H200, L4");
  CHECK(summary.steps == 3);
  CHECK_FALSE(summary.failed);
  CHECK_FALSE(summary_of_overview(R"({"verdict": "x", "steps": null, "devices": []})").steps);
  const ItemSummary recorded = summary_of_overview(
      R"({"verdict": "x", "steps": {"count": 3, "median_ns": 49600000}, "devices": [{"name": "a", "utilization": 0.5}, {"name": "a", "utilization": 1}], "answer": {"step_ns": null, "gpu_share": null}})");
  CHECK(recorded.step_ns == 49'600'000);
  CHECK(recorded.gpu_share == 0.75);
  const ItemSummary answered = summary_of_overview(  // as its own page and the window say it
      R"({"verdict": "x", "steps": {"count": 3, "median_ns": 49600000}, "devices": [{"name": "a", "utilization": 0.5}], "answer": {"step_ns": 42700000, "gpu_share": 0.789}})");
  CHECK(answered.step_ns == 42'700'000);
  CHECK(answered.gpu_share == 0.789);
  for (const char* text : {"", "[]", "{}", "{", R"({"verdict": 3, "steps": null, "devices": []})",
                           R"({"verdict": "", "steps": {}, "devices": []})"})
    CHECK_MESSAGE(summary_of_overview(text).failed, text);
  CHECK(summary_of_ranks("Rank 1 is late.\nmore\n").verdict == "Rank 1 is late.");
}
