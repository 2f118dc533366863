// Files that change, vanish or never end while they are being read.
#include <chrono>
#include <fstream>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "core/base/parallel.h"
#include "core/load/args.h"
#include "tests/support/gzip_text.h"
#include "tests/support/load_text.h"
#include "tests/support/numbered_slices.h"
#include "tests/support/pack_text.h"
#include "tests/support/temp_folder.h"

using namespace gapscope;
using namespace gapscope::test;

namespace {

constexpr int kSlices = 60'000;

std::string many_slices() {
  std::string inside;
  for (int i = 0; i < kSlices; ++i)
    inside += (i ? ",\n" : "") +
              slice(fmt::format("op {}", i % 97), std::to_string(i * 10), "5", fmt::format(R"(, "args": {{"number": {}}})", i));
  return events(inside);
}

// Loads `path` in small batches and calls `change` when some of it has been read.
template <class Change>
Result<std::shared_ptr<const Trace>> load_while(const std::string& path, Change change) {
  LoadProgress progress;
  LoadOptions options;
  options.threads = 2;
  options.batch_bytes = 4096;
  options.progress = &progress;
  auto loading = start([&] { return load_trace(path, options); });
  while (progress.bytes_done == 0 && progress.stage != static_cast<int>(LoadStage::done)) std::this_thread::yield();
  change();
  return loading.get();
}

double seconds_since(std::chrono::steady_clock::time_point t) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - t).count();
}

}  // namespace

TEST_CASE("a file that shrinks while it is read opens up to where it was cut and says so") {
  const TempFolder folder;
  const std::string text = many_slices();
  const std::string path = folder.write("t.json", text);
  const auto result = load_while(path, [&] { std::filesystem::resize_file(path, text.size() / 2 + 7); });
  REQUIRE(result.ok());
  const Trace& t = **result;
  CHECK(t.slice_count() >= kSlices / 3);
  if (t.slice_count() < kSlices) CHECK(t.report.count(ImportIssue::truncated) == 1);
}

TEST_CASE("a packed file that shrinks while it is read opens up to where it was cut and says so") {
  const TempFolder folder;
  const std::string packed = gzip_text(many_slices());
  const std::string path = folder.write("t.json.gz", packed);
  const auto result = load_while(path, [&] { std::filesystem::resize_file(path, packed.size() / 2); });
  REQUIRE(result.ok());
  if ((*result)->slice_count() < kSlices) CHECK((*result)->report.count(ImportIssue::truncated) == 1);
}

TEST_CASE("a file deleted while it is read opens whole, and its args say that it is gone") {
  const TempFolder folder;
  const std::string path = folder.write("t.json", many_slices());
  const auto result = load_while(path, [&] { std::filesystem::remove(path); });
  REQUIRE(result.ok());
  CHECK((*result)->slice_count() == kSlices);
  CHECK(read_args(**result, (*result)->slices.offset[5]).error().message == path + " was not found. Check the path.");
}

TEST_CASE("a file that grows after it was opened keeps its slices and their args") {
  const TempFolder folder;
  std::string text = many_slices();
  text.resize(text.size() - 2);  // still being written: no "]}" yet
  const std::string path = folder.write("t.json", text);
  const auto append = [&] { std::ofstream(path, std::ios::app) << ",\n" + slice("late", "7000000", "5") + "]}"; };
  const auto result = load_while(path, append);
  REQUIRE(result.ok());
  CHECK((*result)->slice_count() >= kSlices);
  CHECK((*result)->slice_count() <= kSlices + 1);
  const auto args = read_args(**result, (*result)->slices.offset[41]);
  REQUIRE(args.ok());
  CHECK((*args)[0].value == "41");
}

TEST_CASE("the args of a file that was cut, emptied, overwritten or replaced since are right or a sentence") {
  const TempFolder folder;
  const std::string text = numbered_slices(20'000);
  std::vector<std::pair<std::string, std::string>> files = {{"t.json", text}, {"t.json.gz", gzip_text(text)}};
#if GAPSCOPE_HAVE_LZMA
  files.emplace_back("t.json.xz", xz_text(text));
#endif
#if GAPSCOPE_HAVE_ZSTD
  files.emplace_back("t.json.zst", zstd_text(text));
#endif
  for (const auto& file : files) {
    const std::string &name = file.first, &bytes = file.second;
    const std::string path = folder.write(name, bytes);
    const auto t = load_trace(path);
    REQUIRE(t.ok());
    const auto last = (*t)->slices.offset[19'999];
    const auto present = [&](const std::string& now) {
      folder.write(name, now);
      const auto args = read_args(**t, last);
      return args.ok() ? (*args).at(0).value : args.error().message;
    };
    CHECK(present(bytes) == "19999");
    CHECK(present(bytes + "more") == "19999");
    const std::string shorter = fmt::format("{} is shorter than when it was opened: byte {} is gone. Reload it.", path, last);
    const std::string changed = fmt::format(
        "The event at byte {} of {} cannot be read any more: the file has changed since it was opened. Reload it.", last, path);
    CHECK_MESSAGE(
        (present(bytes.substr(0, bytes.size() / 2)) == shorter || present(bytes.substr(0, bytes.size() / 2)) == changed),
        present(bytes.substr(0, bytes.size() / 2)));
    for (const std::string& now : {std::string(), std::string(bytes.size(), 'x'), std::string(bytes.size(), '\0'),
                                   std::string("{}"), text.substr(0, 5000)}) {
      const std::string sentence = present(now);
      CHECK(sentence.size() > 20);
      CHECK_MESSAGE((sentence.back() == '.' || sentence.back() == '?'), sentence);
    }
    std::filesystem::remove(path);
    std::filesystem::create_directory(path);
    CHECK(read_args(**t, last).error().message == path + " is a folder. Name a trace file (.json or .json.gz) inside it.");
  }
}

TEST_CASE("a load that waits for the writer of a pipe ends soon after it is cancelled") {
  const TempFolder folder;
  const std::string path = (folder.path() / "fifo").string();
  REQUIRE(mkfifo(path.c_str(), 0600) == 0);
  const int writer = ::open(path.c_str(), O_RDWR);
  REQUIRE(writer >= 0);
  const std::string head = "{\"traceEvents\": [" + slice("a", "1", "1") + ",";
  for (const std::string& written : {std::string("[1"), head}) {
    LoadProgress progress;
    LoadOptions options;
    options.progress = &progress;
    REQUIRE(::write(writer, written.data(), written.size()) == static_cast<ssize_t>(written.size()));
    auto loading = start([&] { return load_trace(path, options); });
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    const auto asked = std::chrono::steady_clock::now();
    progress.cancel = true;
    const auto result = loading.get();
    CHECK(seconds_since(asked) < 1.0);  // 0.1 on a machine that is not busy
    REQUIRE(!result.ok());
    CHECK(result.error().message == "Cancelled.");
  }
  ::close(writer);
}
