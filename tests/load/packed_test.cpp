#include <cstdio>
#include <fstream>
#include <random>

#include <sys/stat.h>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "core/load/args.h"
#include "core/load/restart_points.h"
#include "tests/support/dump_trace.h"
#include "tests/support/gzip_text.h"
#include "tests/support/load_text.h"
#include "tests/support/numbered_slices.h"
#include "tests/support/pack_text.h"
#include "tests/support/temp_folder.h"

using namespace gapscope;
using namespace gapscope::test;

namespace {

void check_args_everywhere(const Trace& t) {
  for (std::size_t i = 0; i < t.slice_count(); i += t.slice_count() / 13 + 1) {
    const SliceId s(i);
    const auto args = read_args(t, t.slices.offset[i]);
    REQUIRE_MESSAGE(args.ok(), (args.ok() ? "" : args.error().message));
    REQUIRE(!args->empty());
    CHECK((*args)[0].value == std::to_string(t.begin(s) / 10'000));
  }
}

}  // namespace

TEST_CASE("gzip, single and multi-member, holds the same trace as plain text") {
  const std::string text = numbered_slices(2000);
  const std::string plain = dump_trace(*load_text(text));
  CHECK(dump_trace(*load_text(gzip_text(text))) == plain);
  const std::size_t half = text.size() / 2;
  CHECK(dump_trace(*load_text(gzip_text(std::string_view(text).substr(0, half)) +
                              gzip_text(std::string_view(text).substr(half)))) == plain);
  CHECK(dump_trace(*load_text(gzip_text(text) + std::string(512, '\0'))) == plain);  // padding after the last member
}

TEST_CASE("a clicked slice's args come from a restart point, in one member or many") {
  const TempFolder folder;
  const std::string text = numbered_slices(300'000);
  REQUIRE(text.size() > (std::size_t{36} << 20));
  const std::string one = gzip_text(text, 1);
  const std::size_t third = text.size() / 3;
  const std::string three = gzip_text(std::string_view(text).substr(0, third), 1) +
                            gzip_text(std::string_view(text).substr(third, third), 1) +
                            gzip_text(std::string_view(text).substr(2 * third), 1);
  for (const std::string* packed : {&one, &three}) {
    const std::string path = (folder.path() / "big.json.gz").string();
    std::ofstream(path, std::ios::binary) << *packed;
    const auto result = load_trace(path);
    REQUIRE(result.ok());
    REQUIRE((*result)->restart_points);
    CHECK((*result)->restart_points->size() >= 2);
    check_args_everywhere(**result);
  }
  const std::string path = (folder.path() / "big.json").string();
  std::ofstream(path, std::ios::binary) << text;
  const auto result = load_trace(path);
  REQUIRE(result.ok());
  check_args_everywhere(**result);
}

TEST_CASE("gzip cut short opens up to the cut and says so") {
  const std::string packed = gzip_text(numbered_slices(5000));
  const auto t = load_text(std::string_view(packed).substr(0, packed.size() / 2));
  CHECK(t->slice_count() > 1000);
  CHECK(t->slice_count() < 4999);
  CHECK(t->report.count(ImportIssue::truncated) == 1);
  CHECK(load_error(std::string_view(packed).substr(0, 20)).find("cut short") != std::string::npos);
}

TEST_CASE("a file that shrank, changed or vanished after opening gives a sentence instead of args") {
  const TempFolder folder;
  const std::string path = (folder.path() / "t.json").string();
  const std::string text = numbered_slices(3000);
  std::ofstream(path, std::ios::binary) << text;
  const auto result = load_trace(path);
  REQUIRE(result.ok());
  const Trace& t = **result;
  const std::uint64_t late = t.slices.offset.back();
  std::filesystem::resize_file(path, 1000);
  CHECK(read_args(t, late).error().message.find("Reload it.") != std::string::npos);
  std::ofstream(path, std::ios::binary) << std::string(text.size(), 'x');
  CHECK(read_args(t, late).error().message.find("has changed since it was opened") != std::string::npos);
  std::filesystem::remove(path);
  CHECK(read_args(t, late).error().message.find("was not found") != std::string::npos);
}

TEST_CASE("a gzip bomb stops at a stated limit with a sentence") {
  // Zeros inflate a thousandfold; as space before the first event they are even valid JSON.
  const std::string spaces(std::size_t{300} << 20, ' ');
  CHECK(
      load_error(gzip_text("{\"traceEvents\": [" + spaces, 9)).starts_with("x.json inflates to more than 400 times its size"));
  CHECK(load_error(gzip_text(spaces, 9)).starts_with("x.json inflates to more than 400 times its size"));
}

TEST_CASE("a pipe is read like a file, and its args are known to be gone") {
  const TempFolder folder;
  const std::string text = numbered_slices(3000);
  const std::string path = folder.write("t.json", text);
  REQUIRE(mkfifo((folder.path() / "fifo").c_str(), 0600) == 0);
  FILE* pipe = popen(("cat '" + path + "' > '" + (folder.path() / "fifo").string() + "'").c_str(), "r");
  const auto result = load_trace((folder.path() / "fifo").string());
  pclose(pipe);
  REQUIRE(result.ok());
  CHECK((*result)->slice_count() == 3000);
}

TEST_CASE("pretty, compact, single-line and packed spellings of the same events are the same trace") {
  std::string pretty = "{\n  \"schemaVersion\": 1,\n  \"traceEvents\": [\n", compact = "{\"traceEvents\":[\n",
              line = "{\"traceEvents\":[";
  for (int i = 0; i < 3000; ++i) {
    const char* comma = i == 0 ? "" : ",";
    const auto us = fmt::format("{}.{:03}", i * 3, i % 1000);
    pretty += fmt::format(
        "{}\n  {{\n    \"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"k{}\", \"pid\": 0, \"tid\": 7,\n    \"ts\": {}, "
        "\"dur\": 2.5,\n    \"args\": "
        "{{\n      \"External id\": {},\"grid\": [1, 2, 3]\n    }}\n  }}",
        comma, i % 50, us, i);
    const std::string event = fmt::format(
        "{{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k{}\",\"pid\":0,\"tid\":7,\"ts\":{},\"dur\":2.5,\"args\":{{\"External "
        "id\":{},\"grid\":[1,2,3]}}}}",
        i % 50, us, i);
    compact += (i == 0 ? "" : ",\n") + event;
    line += comma + event;
  }
  pretty += "\n  ]\n}\n";
  compact += "\n]}\n";
  line += "]}";
  const std::string first = dump_trace(*load_text(pretty, 2, 4096), false);
  CHECK(dump_trace(*load_text(compact, 2, 4096), false) == first);
  CHECK(dump_trace(*load_text(line, 2, 4096), false) == first);
  CHECK(dump_trace(*load_text(gzip_text(line), 2, 4096), false) == first);
}

namespace {

// What every packing owes: the whole trace, and up to the damage where there is some.
void check_packing(const std::string& text, const std::string& packed) {
  CHECK(dump_trace(*load_text(packed)) == dump_trace(*load_text(text)));
  const auto cut = load_trace_from_text(std::string_view(packed).substr(0, packed.size() * 3 / 4));
  if (cut.ok()) {
    CHECK((*cut)->report.count(ImportIssue::truncated) == 1);
  } else {
    CHECK(cut.error().message.find("cut short") != std::string::npos);
  }
  std::mt19937 random(7);
  for (int round = 0; round < 60; ++round) {
    std::string flipped = packed;
    flipped[random() % flipped.size()] ^= static_cast<char>(1 + random() % 255);
    const auto result = load_trace_from_text(flipped);
    if (!result.ok()) CHECK(!result.error().message.empty());
  }
}

}  // namespace

#if GAPSCOPE_HAVE_LZMA
TEST_CASE("xz holds the same trace as plain text, and opens up to where it is damaged") {
  const std::string text = numbered_slices(3000);
  check_packing(text, xz_text(text));
  check_packing(text, xz_text(std::string_view(text).substr(0, 5000)) + xz_text(std::string_view(text).substr(5000)));
}
#endif

#if GAPSCOPE_HAVE_ZSTD
TEST_CASE("zstd holds the same trace as plain text, and opens up to where it is damaged") {
  const std::string text = numbered_slices(3000);
  check_packing(text, zstd_text(text));
  check_packing(text, zstd_text(std::string_view(text).substr(0, 5000)) + zstd_text(std::string_view(text).substr(5000)));
}
#endif
