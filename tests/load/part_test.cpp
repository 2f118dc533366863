// The beginning of a file, shown while the rest is read.
#include <mutex>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "core/load/args.h"
#include "core/view/document.h"
#include "tests/support/dump_trace.h"
#include "tests/support/gzip_text.h"
#include "tests/support/load_text.h"
#include "tests/support/temp_folder.h"

using namespace gapscope;
using namespace gapscope::test;

namespace {

std::string numbered_slices(int n) {
  std::string inside;
  for (int i = 0; i < n; ++i) {
    if (i > 0) inside += ",\n";
    inside += slice(fmt::format("op {}", i % 97), std::to_string(i * 10), "5", fmt::format(R"(, "args": {{"number": {}}})", i),
                    "cpu_op", std::to_string(i % 3));
  }
  return events(inside);
}

struct Loaded {
  std::vector<std::shared_ptr<const Trace>> parts;
  std::shared_ptr<const Trace> whole;
};

// With a part at every chance there is.
Loaded load_with_parts(const std::string& path, int threads) {
  Loaded loaded;
  std::mutex mutex;
  LoadOptions options;
  options.threads = threads;
  options.batch_bytes = 4096;
  options.least_bytes_for_parts = 1;
  options.on_part = [&](std::shared_ptr<const Trace> part, const std::atomic<bool>&) {
    const std::lock_guard lock(mutex);
    loaded.parts.push_back(std::move(part));
  };
  auto result = load_trace(path, options);
  REQUIRE_MESSAGE(result.ok(), (result.ok() ? "" : result.error().message));
  loaded.whole = *result;
  return loaded;
}

}  // namespace

TEST_CASE("parts hold the first events of the file, and the whole is the same with and without them") {
  const TempFolder folder;
  const std::string text = numbered_slices(60'000);
  const std::string plain = dump_trace(*load_text(text));
  for (const std::string& path : {folder.write("t.json", text), folder.write("t.json.gz", gzip_text(text, 1))}) {
    for (const int threads : {1, 2, 7}) {
      CAPTURE(path);
      CAPTURE(threads);
      Loaded loaded;
      // A part that is not ready when the file is read to its end is given up: then there was no need for it.
      for (int attempt = 0; attempt < 50 && loaded.parts.empty(); ++attempt) loaded = load_with_parts(path, threads);
      CHECK(dump_trace(*loaded.whole) == plain);
      CHECK_FALSE(loaded.whole->is_part);
      REQUIRE(!loaded.parts.empty());
      std::size_t before = 0;
      for (const auto& part : loaded.parts) {
        CHECK(part->is_part);
        CHECK(part->slice_count() > before);
        CHECK(part->slice_count() < 60'000);
        CHECK(part->report.empty());
        before = part->slice_count();
        // The first events, none left out: file order is numbered by the begins.
        Ns last = 0;
        for (std::size_t i = 0; i < part->slice_count(); ++i) last = std::max(last, part->slices.begin[i]);
        CHECK(last == static_cast<Ns>(part->slice_count() - 1) * 10'000);
        const auto args = read_args(*part, part->slices.offset[part->slice_count() / 2]);
        REQUIRE(args.ok());
        CHECK(args->at(0).value == std::to_string(part->slices.begin[part->slice_count() / 2] / 10'000));
      }
    }
  }
}

TEST_CASE("a small file, and a load that is not watched, make no parts") {
  const TempFolder folder;
  const std::string path = folder.write("t.json", numbered_slices(5000));
  bool any = false;
  LoadOptions options;
  options.on_part = [&](std::shared_ptr<const Trace>, const std::atomic<bool>&) { any = true; };
  REQUIRE(load_trace(path, options).ok());
  CHECK_FALSE(any);
}

TEST_CASE("a cancelled load ends soon though a part is being made, and hands out none afterwards") {
  const TempFolder folder;
  const std::string path = folder.write("t.json", numbered_slices(60'000));
  for (int round = 0; round < 20; ++round) {
    LoadProgress progress;
    LoadOptions options;
    options.threads = 2;
    options.batch_bytes = 4096;
    options.least_bytes_for_parts = 1;
    options.progress = &progress;
    std::atomic<bool> over{false};
    std::atomic<bool> late{false};
    options.on_part = [&](std::shared_ptr<const Trace> part, const std::atomic<bool>& cancel) {
      progress.cancel = true;
      (void)Document::make(std::move(part), &cancel);
      late = late || over;
    };
    const auto result = load_trace(path, options);
    over = true;
    if (!result.ok()) CHECK(result.error().message == "Cancelled.");
    CHECK_FALSE(late);
  }
}
