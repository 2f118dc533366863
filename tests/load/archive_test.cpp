#include "core/load/archive.h"

#include <algorithm>
#include <iterator>
#include <random>
#include <string>

#include <doctest/doctest.h>

#include "core/base/readable_folders.h"
#include "core/load/args.h"
#include "core/load/load_trace.h"
#include "tests/support/dump_trace.h"
#include "tests/support/flips.h"
#include "tests/support/gzip_text.h"
#include "tests/support/load_text.h"
#include "tests/support/numbered_slices.h"
#include "tests/support/pack_archive.h"
#include "tests/support/pack_text.h"
#include "tests/support/temp_folder.h"

using namespace gapscope;
using namespace gapscope::test;

#if __has_include(<archive.h>)

namespace {

bool says(const std::string& text, std::string_view part) { return text.find(part) != text.npos; }

std::string error_of(const std::string& path) {
  const auto loaded = load_trace(path);
  return loaded.ok() ? "opens" : loaded.error().message;
}

}  // namespace

TEST_CASE("the one trace of an archive is the trace, however both are packed, and its args are there") {
  const TempFolder folder;
  const std::string text = numbered_slices(3000), plain = dump_trace(*load_text(text));
  const FilesOfArchive one = {{"run/notes.txt", "lr 0.1"},
                              {"run/config.json", R"({"hidden": 512})"},
                              {"run/trace.json", text},
                              {"__MACOSX/run/._trace.json", "x"}};
  const FilesOfArchive packed = {{"trace.json.gz", gzip_text(text)}};
  for (const std::string& bytes : {zip_of(one), zip_of(packed), tar_of(one), gzip_text(tar_of(one)), gzip_text(tar_of(packed)),
                                   gzip_text(gzip_text(tar_of(one)))}) {
    CHECK(dump_trace(*load_text(bytes)) == plain);
    const auto loaded = load_trace(folder.write("a", bytes));
    REQUIRE(loaded.ok());
    const auto args = read_args(**loaded, (*loaded)->slices.offset[1234]);
    REQUIRE(args.ok());
    CHECK((*args)[0].value == "1234");
  }
#if GAPSCOPE_HAVE_LZMA
  CHECK(dump_trace(*load_text(xz_text(tar_of(one)))) == plain);
#endif
  CHECK(dump_trace(*load_text(zip_of({{"a trace of today", text}}))) == plain);  // the only file
}

TEST_CASE("several traces of an archive open by their paths, and the archive itself says which there are") {
  const TempFolder folder;
  const FilesOfArchive two = {{"b/rank1.json", numbered_slices(20)}, {"b/rank0.json", numbered_slices(10)}};
  for (const std::string& bytes : {zip_of(two), gzip_text(tar_of(two))}) {
    const std::string path = folder.write("two.zip", bytes);
    CHECK(error_of(path) == path + " is an archive of 2 traces: b/rank0.json, b/rank1.json. Open one, " + path +
                                "/b/rank0.json, or compare all as ranks: gapscope ranks " + path + ".");
    CHECK(traces_of_archive(path) == std::vector<std::string>{path + "/b/rank0.json", path + "/b/rank1.json"});
    CHECK(traces_of_archive(path + "/b").size() == 2);
    CHECK(traces_of_archive(path + "/c").empty());
    const auto loaded = load_trace(path + "/b/rank1.json");
    REQUIRE(loaded.ok());
    CHECK((*loaded)->slice_count() == 20);
    CHECK((*loaded)->path == path + "/b/rank1.json");
    CHECK(says(error_of(path + "/b/rank2.json"), "is an archive without a file b/rank2.json"));
  }
  CHECK(
      says(error_of(folder.write("t.json", numbered_slices(3)) + "/rank0.json"), "is not an archive: rank0.json is not in it"));
}

TEST_CASE("a name in an archive is never a path on disk") {
  const TempFolder folder;
  const std::string outside = folder.write("outside.json", numbered_slices(5));
  const std::string path =
      folder.write("in/evil.zip", zip_of({{"../../outside.json", numbered_slices(7)}, {"/etc/b.json", numbered_slices(8)}}));
  CHECK(traces_of_archive(path) == std::vector<std::string>{path + "/etc/b.json", path + "/outside.json"});
  const auto loaded = load_trace(path + "/outside.json");
  REQUIRE(loaded.ok());
  CHECK((*loaded)->slice_count() == 7);
  CHECK(split_member_path(path + "/../outside.json").second.empty());
  CHECK(says(error_of(path + "/../outside.json"), "was not found"));
  CHECK(split_member_path(outside).second.empty());
}

TEST_CASE("an archive without a trace says what it is") {
  CHECK(says(load_error(zip_of({{"a.txt", "1"}, {"b.csv", "2"}})), "is an archive without a trace: none of its files"));
  CHECK(says(load_error(zip_of({{"a.txt", "1"}, {"b.csv", "2"}})), "(a.txt, b.csv)"));
  CHECK(says(load_error(zip_of({{"archive/data.pkl", "1"}, {"archive/version", "3"}})), "is a PyTorch checkpoint"));
  CHECK(says(load_error(zip_of({})), "is an archive without files"));
  CHECK(says(load_error(zip_of({{"x.zip", zip_of({{"t.json", numbered_slices(3)}})}})), "is an archive in another one"));
  CHECK(says(load_error(gzip_text(zip_of({{"t.json", numbered_slices(3)}}))), "is a packed .zip"));
}

TEST_CASE("an archive that is cut short opens up to the cut or says so, and any byte of one may be wrong") {
  const FilesOfArchive one = {{"t.json", numbered_slices(4000)}};
  for (const std::string& bytes : {zip_of(one), gzip_text(tar_of(one))}) {
    const auto cut = load_trace_from_text(std::string_view(bytes).substr(0, bytes.size() * 3 / 4));
    REQUIRE(cut.ok());
    CHECK((*cut)->slice_count() > 1000);
    CHECK((*cut)->report.count(ImportIssue::truncated) == 1);
    CHECK(!load_trace_from_text(std::string_view(bytes).substr(0, 20)).ok());
  }
  const std::string small = zip_of({{"t.json", numbered_slices(40)}});
  for (std::size_t i = 0; i < small.size(); ++i) {
    std::string wrong = small;
    wrong[i] = static_cast<char>(wrong[i] ^ 0x55);
    (void)load_trace_from_text(wrong);
  }
}

TEST_CASE("damaged archives end in a trace or a sentence") {
  const FilesOfArchive two = {{"run/rank0.json", numbered_slices(20)}, {"../rank1.json", numbered_slices(10)}};
  const std::string wholes[] = {zip_of(two), tar_of(two), zip_of({{"t.json", numbered_slices(30)}}),
                                tar_of({{"t.json", numbered_slices(30)}})};
  std::mt19937 random(53);
  const auto below = [&](std::size_t n) { return random() % n; };
  int opened = 0;
  for (int i = 0; i < flips(10'000); ++i) {
    std::string bytes = wholes[below(std::size(wholes))];
    for (std::size_t n = 1 + below(4); n > 0; --n) {
      const std::size_t at = below(3) == 0 ? below(std::min<std::size_t>(600, bytes.size())) : below(bytes.size());
      switch (below(5)) {
        case 0: bytes[at] = static_cast<char>(random()); break;
        case 1: bytes[at] = "\xff\x7f\0/.7"[below(6)]; break;
        case 2: bytes.erase(at, 1 + below(40)); break;
        case 3: bytes.insert(at, bytes.substr(below(bytes.size()), 1 + below(600))); break;
        default: bytes.resize(std::max<std::size_t>(at, 40)); break;
      }
    }
    const auto trace = load_trace_from_text(i % 3 == 0 ? gzip_text(bytes) : bytes, "a.zip");
    opened += trace.ok() ? 1 : 0;
    if (!trace.ok()) CHECK(!trace.error().message.empty());
  }
  CHECK(opened > 0);
}

TEST_CASE("an archive that inflates without end stops") {
  const std::string spaces(std::size_t{300} << 20, ' ');
  CHECK(says(load_error(zip_of({{"t.json", spaces}})), "inflates to more than 400 times its size"));
}

#endif

TEST_CASE("text in UTF-16 is the same trace, in either order and with a mark or without") {
  const std::string text = R"({"traceEvents": [{"ph": "X", "name": "caf\u00e9 )"
                           "\xc3\xa9\xe4\xb8\xad\xf0\x9f\x98\x80"
                           R"(", "ts": 1, "dur": 2}]})";
  const std::u16string wide =
      u"{\"traceEvents\": [{\"ph\": \"X\", \"name\": \"caf\\u00e9 \u00e9\u4e2d\U0001F600\", \"ts\": 1, \"dur\": 2}]}";
  const std::string plain = dump_trace(*load_text(text), false);
  for (const bool is_little : {true, false}) {
    for (const bool has_mark : {true, false}) {
      std::string bytes;
      const auto put = [&](char16_t unit) {
        const auto low = static_cast<char>(unit & 0xFF), high = static_cast<char>(unit >> 8);
        bytes += is_little ? low : high;
        bytes += is_little ? high : low;
      };
      if (has_mark) put(0xFEFF);
      for (const char16_t unit : wide) put(unit);
      CHECK(dump_trace(*load_text(bytes), false) == plain);
      CHECK(dump_trace(*load_text(gzip_text(bytes)), false) == plain);
    }
  }
  CHECK(load_text(text)->name(SliceId(0)) == "caf\xc3\xa9 \xc3\xa9\xe4\xb8\xad\xf0\x9f\x98\x80");
}

TEST_CASE("gzip in gzip opens, and its args are there; what is packed deeper than anybody packs does not") {
  const TempFolder folder;
  const std::string text = numbered_slices(3000);
  const std::string twice = gzip_text(gzip_text(text));
  const auto loaded = load_trace(folder.write("t.json.gz", twice));
  REQUIRE(loaded.ok());
  CHECK(dump_trace(**loaded) == dump_trace(*load_text(text)));
  CHECK(!(*loaded)->restart_points);
  CHECK((*read_args(**loaded, (*loaded)->slices.offset[2345]))[0].value == "2345");
  CHECK(load_error(gzip_text(gzip_text(gzip_text(twice)))).find("packed more than 4 times over") != std::string::npos);
}
