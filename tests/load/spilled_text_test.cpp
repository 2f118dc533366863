// The args of a slice of a file that can only be read from its start: saved text, and what happens where it has no room.
#include "core/load/spilled_text.h"

#include <chrono>
#include <cstdlib>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include "core/base/parallel.h"
#include "core/load/args.h"
#include "tests/support/dump_trace.h"
#include "tests/support/load_text.h"
#include "tests/support/numbered_slices.h"
#include "tests/support/pack_text.h"
#include "tests/support/process_state.h"
#include "tests/support/small_disk.h"
#include "tests/support/temp_folder.h"

using namespace gapscope;
using namespace gapscope::test;

namespace {

std::shared_ptr<const Trace> load_spilling(const std::string& path, const std::string& folder) {
  LoadOptions options;
  options.threads = 2;
  options.spill_folder = folder;
  auto result = load_trace(path, options);
  REQUIRE_MESSAGE(result.ok(), (result.ok() ? "" : result.error().message));
  return *result;
}

std::string number_of(const Trace& t, std::size_t slice) {
  const auto args = read_args(t, t.slices.offset[slice]);
  REQUIRE_MESSAGE(args.ok(), (args.ok() ? "" : args.error().message));
  REQUIRE(!args->empty());
  return (*args)[0].value;
}

void check_every_thousandth(const Trace& t) {
  for (std::size_t i = 0; i < t.slice_count(); i += 1009) CHECK(number_of(t, i) == std::to_string(i));
  CHECK(number_of(t, t.slice_count() - 1) == std::to_string(t.slice_count() - 1));
}

const ImportIssueEntry* entry_of(const std::vector<ImportIssueEntry>& entries, ImportIssue kind) {
  for (const ImportIssueEntry& e : entries) {
    if (e.kind == kind) return &e;
  }
  return nullptr;
}

struct Packed {
  const char* name;
  std::string bytes;
};

std::vector<Packed> packings(const std::string& text) {
  std::vector<Packed> all;
#if GAPSCOPE_HAVE_LZMA
  all.push_back({"t.json.xz", xz_text(text)});
#endif
#if GAPSCOPE_HAVE_ZSTD
  all.push_back({"t.json.zst", zstd_text(text)});
#endif
  return all;
}

}  // namespace

TEST_CASE("a clicked slice's args of xz and zstd files come without the file") {
  const std::string text = numbered_slices(200'000);
  for (const auto& [name, bytes] : packings(text)) {
    const TempFolder folder;
    const auto t = load_spilling(folder.write(name, bytes), folder.path().string());
    REQUIRE(t->spilled_text);
    CHECK(t->report.count(ImportIssue::text_not_kept) == 0);
    check_every_thousandth(*t);
    std::filesystem::remove(t->path);
    CHECK(number_of(*t, 77) == "77");
    CHECK(std::filesystem::is_empty(folder.path()));  // the saved text has no name that could be left behind
  }
}

TEST_CASE("keeping the text changes nothing about the trace, whatever the number of threads") {
  const std::string text = numbered_slices(3000);
  for (const auto& [name, bytes] : packings(text)) {
    const TempFolder folder;
    const std::string path = folder.write(name, bytes);
    const std::string plain = dump_trace(*load_text(text));
    for (const int threads : {1, 2, 7}) {
      LoadOptions options;
      options.threads = threads;
      options.batch_bytes = 4096;
      options.spill_folder = folder.path().string();
      const auto result = load_trace(path, options);
      REQUIRE(result.ok());
      CHECK(dump_trace(**result) == plain);
      CHECK(number_of(**result, 2999) == "2999");
    }
  }
}

TEST_CASE("without a place for the text the args are read by inflating again, and the report says so") {
  const std::string text = numbered_slices(3000);
  for (const auto& [name, bytes] : packings(text)) {
    const TempFolder folder;
    const auto t = load_spilling(folder.write(name, bytes), (folder.path() / "none").string());
    CHECK_FALSE(t->spilled_text);
    const auto entries = t->report.entries();
    const ImportIssueEntry* entry = entry_of(entries, ImportIssue::text_not_kept);
    REQUIRE(entry != nullptr);
    CHECK(import_issue_sentence(*entry) ==
          "The inflated text could not be saved in a temporary file. The args of a clicked slice take longer to read.");
    CHECK(entry->first.at(0).text ==
          (folder.path() / "none").string() + " cannot hold a temporary file: No such file or directory.");
    CHECK_FALSE(has_offset(entry->first.at(0)));
    check_every_thousandth(*t);
  }
}

TEST_CASE("where files may not grow the text is not kept, nothing ends by a signal, and the args are there") {
  const std::string text = numbered_slices(30'000);
  for (const auto& [name, bytes] : packings(text)) {
    const TempFolder folder;
    const std::string path = folder.write(name, bytes);
    const auto t = [&] {
      const LargestFile tiny(1 << 20);
      return load_spilling(path, folder.path().string());
    }();
    CHECK_FALSE(t->spilled_text);
    const auto entries = t->report.entries();
    const ImportIssueEntry* entry = entry_of(entries, ImportIssue::text_not_kept);
    REQUIRE(entry != nullptr);
    CHECK(entry->first.at(0).text == "Files may not grow beyond 1.05 MB here (ulimit -f).");
    CHECK(t->slice_count() == 30'000);
    CHECK(number_of(*t, 29'999) == "29999");
  }
}

TEST_CASE("a disk that fills up between two writes is a sentence, and what was written before can be read") {
  for (const int megabytes : {1, 5, 20}) {
    for (const std::size_t piece : {std::size_t{4096}, std::size_t{100'003}, std::size_t{1} << 20}) {
      std::string trouble;
      const bool ran = on_small_disk(megabytes, trouble, [&](const std::string& disk) -> std::string {
        const auto kept = SpilledText::create(disk, 0);
        if (!kept) return kept.error().message;
        std::string text(piece, 'x');
        std::uint64_t written = 0;
        std::optional<Error> error;
        for (; !error && written < 64 << 20; written += error ? 0 : piece) error = (*kept)->append(text.data(), text.size());
        if (!error) return "the disk was larger than it is";
        if (error->message != "Writing to " + disk + " failed: No space left on device.") return error->message;
        if (written + piece < std::uint64_t(megabytes) << 20) return fmt::format("full after {} bytes", written);
        text.assign(piece, ' ');
        const auto got = (*kept)->open_at(written - piece)->read(text.data(), piece);
        return got.ok() && *got == piece && text == std::string(piece, 'x') ? "" : "the last piece is not there";
      });
      if (!ran) return;
      CHECK_MESSAGE(trouble.empty(), trouble);
    }
  }
}

TEST_CASE("on a disk with little room a trace opens whole, its text is not kept there, and its args are there") {
  const std::string text = numbered_slices(30'000);
  for (const auto& packing : packings(text)) {
    const char* name = packing.name;
    const std::string& bytes = packing.bytes;
    std::string trouble;
    const bool ran = on_small_disk(5, trouble, [&](const std::string& disk) -> std::string {
      const TempFolder folder;
      LoadOptions options;
      options.threads = 2;
      options.spill_folder = disk;
      const auto t = load_trace(folder.write(name, bytes), options);
      if (!t) return t.error().message;
      const auto entries = (*t)->report.entries();
      const ImportIssueEntry* entry = entry_of(entries, ImportIssue::text_not_kept);
      if ((*t)->spilled_text || entry == nullptr) return "the text was kept";
      if (entry->first.at(0).text != disk + " has only 5.24 MB free.") return entry->first.at(0).text;
      const auto args = read_args(**t, (*t)->slices.offset[29'999]);
      if (!args) return args.error().message;
      return (*t)->slice_count() == 30'000 && (*args)[0].value == "29999" ? "" : "slices or args are missing";
    });
    if (!ran) return;
    CHECK_MESSAGE(trouble.empty(), trouble);
  }
}

TEST_CASE("a trace that came through a pipe has its args where its text was kept, and a sentence where not") {
  const TempFolder folder;
  const std::string text = numbered_slices(3000);
  const std::string file = folder.write("t.json", text);
  const std::string fifo = (folder.path() / "fifo").string();
  REQUIRE(mkfifo(fifo.c_str(), 0600) == 0);
  for (const bool keep : {true, false}) {
    auto writer = start([&] { return std::system(("cat '" + file + "' > '" + fifo + "'").c_str()); });
    const auto t = load_spilling(fifo, keep ? folder.path().string() : "");
    CHECK(writer.get() == 0);
    CHECK(t->slice_count() == 3000);
    if (keep) {
      CHECK(number_of(*t, 2500) == "2500");
      continue;
    }
    const auto args = read_args(*t, t->slices.offset[5]);  // opening the pipe again would wait for a writer for ever
    REQUIRE(!args.ok());
    CHECK(args.error().message ==
          fifo + " is a pipe, so its args cannot be read again. Open the trace from a file to see them.");
  }
}

TEST_CASE("a plain or gzip file is not kept a second time") {
  const TempFolder folder;
  const auto t = load_spilling(folder.write("t.json", numbered_slices(100)), folder.path().string());
  CHECK_FALSE(t->spilled_text);
  CHECK(number_of(*t, 50) == "50");
}
