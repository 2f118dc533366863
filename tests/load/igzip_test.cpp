// igzip against zlib: the same bytes and the same verdict on every file, sound or damaged, however it is read.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "core/load/inflate_gzip.h"
#include "tests/support/flips.h"
#include "tests/support/gzip_text.h"
#include "tests/support/numbered_slices.h"
#include "tests/support/source_folder.h"
#include "tests/support/temp_folder.h"

using namespace gapscope;
using namespace gapscope::test;

namespace {

// Bytes that can be read from any place, as a file can.
class Bytes final : public ByteSource {
 public:
  explicit Bytes(std::string_view bytes, bool can_seek = true) : bytes_(bytes), can_seek_(can_seek) {}
  Result<std::size_t> read(char* into, std::size_t size) override {
    const std::size_t n = bytes_.copy(into, size, at_);
    at_ += n;
    return n;
  }
  bool seek(std::uint64_t offset) override {
    if (can_seek_) at_ = std::min<std::uint64_t>(offset, bytes_.size());
    return can_seek_;
  }
  std::uint64_t file_bytes_read() const override { return at_; }
  std::uint64_t file_bytes_total() const override { return bytes_.size(); }

 private:
  std::string_view bytes_;
  std::size_t at_ = 0;
  bool can_seek_;
};

struct Inflated {
  std::string text;
  bool was_cut_short = false;
  std::shared_ptr<const RestartPoints> points;
};

Inflated read_all(ByteSource& source, std::size_t piece) {
  Inflated out;
  std::string buffer(piece, '\0');
  for (std::size_t got = piece; got == piece;) {
    const Result<std::size_t> more = source.read(buffer.data(), piece);
    REQUIRE(more.ok());
    got = *more;
    out.text.append(buffer, 0, got);
    CHECK(source.file_bytes_read() <= source.file_bytes_total());
  }
  out.was_cut_short = source.was_cut_short();
  out.points = source.restart_points();
  return out;
}

constexpr int kFlips = 4000;
constexpr std::size_t kReadAtOnce = 1 << 16;  // a buffer of megabytes for each small file costs more than to inflate it

Inflated by_igzip(std::string_view packed, std::size_t piece = kReadAtOnce) {
  const auto source = make_igzip_source(std::make_unique<Bytes>(packed), std::make_shared<RestartPoints>());
  return read_all(*source, piece);
}

Inflated by_zlib(std::string_view packed, std::size_t piece = kReadAtOnce) {
  const auto source = make_zlib_source(std::make_unique<Bytes>(packed), std::make_shared<RestartPoints>());
  return read_all(*source, piece);
}

// Empty where they are equal; else what differs, so that a failure costs one line and not two megabytes.
std::string difference(const Inflated& a, const Inflated& b) {
  if (a.was_cut_short != b.was_cut_short) return a.was_cut_short ? "only igzip sees damage" : "only zlib sees damage";
  if (a.text == b.text) return {};
  return "igzip gives " + std::to_string(a.text.size()) + " bytes, zlib " + std::to_string(b.text.size());
}

std::string bytes_of(const std::filesystem::path& path) {
  std::stringstream out;
  out << std::ifstream(path, std::ios::binary).rdbuf();
  return out.str();
}

std::vector<std::filesystem::path> bundled_traces() {
  std::vector<std::filesystem::path> found;
  for (const auto& entry : std::filesystem::directory_iterator(source_folder() / "assets/traces")) {
    if (entry.path().extension() == ".gz") found.push_back(entry.path());
  }
  std::sort(found.begin(), found.end());
  return found;
}

// Three small files that differ in what they are made of: a recording, one of several members, one that was not compressed.
std::vector<std::string> small_files() {
  const std::string text = numbered_slices(60);
  const std::string_view view = text;
  return {bytes_of(source_folder() / "assets/traces/matmul_add_64_cold_eager.json.gz"),
          gzip_text(view.substr(0, 700)) + gzip_text("") + gzip_text(view.substr(700)) + std::string(16, '\0'),
          gzip_text(view.substr(0, 2000), 0)};
}

}  // namespace

TEST_CASE("igzip gives zlib's bytes for every bundled trace, in pieces of any size") {
  for (const auto& path : bundled_traces()) {
    const std::string packed = bytes_of(path);
    const Inflated expected = by_zlib(packed);
    CHECK_MESSAGE(!expected.was_cut_short, path.string());
    for (const std::size_t piece : {std::size_t{1}, std::size_t{13}, std::size_t{4096}, std::size_t{1} << 20}) {
      if (piece == 1 && expected.text.size() > 200'000) continue;
      CHECK_MESSAGE(difference(by_igzip(packed, piece), expected).empty(), path.string());
    }
  }
}

TEST_CASE("igzip gives zlib's bytes and verdict for every truncation of three small files") {
  for (const std::string& packed : small_files()) {
    for (std::size_t size = 2; size <= packed.size(); size += step_of_cuts(packed.size(), kFlips)) {
      const std::string_view cut = std::string_view(packed).substr(0, size);
      const std::string differs =
          difference(by_igzip(cut, size % 3 == 0 ? 100 : kReadAtOnce), by_zlib(cut, size % 4 == 0 ? 17 : kReadAtOnce));
      REQUIRE_MESSAGE(differs.empty(), "cut to " << size << " bytes: " << differs);
    }
  }
}

TEST_CASE("igzip gives zlib's bytes and verdict for flipped bits anywhere") {
  std::mt19937 random(19);
  const std::vector<std::string> files = small_files();
  for (int round = 0; round < flips(kFlips); ++round) {
    std::string packed = files[static_cast<std::size_t>(round) % files.size()];
    const std::size_t at = 2 + random() % (packed.size() - 2);
    packed[at] = static_cast<char>(packed[at] ^ (1 << random() % 8));
    const std::string differs = difference(by_igzip(packed), by_zlib(packed));
    REQUIRE_MESSAGE(differs.empty(), "round " << round << ", byte " << at << ": " << differs);
  }
}

TEST_CASE("igzip gives zlib's bytes and verdict for every flip in a member's header") {
  std::string packed = gzip_text(numbered_slices(5));
  packed[3] = 8 + 4;  // with a name and a field of three bytes
  packed.insert(10, std::string("\3\0abcname\0", 10));
  CHECK(difference(by_igzip(packed), by_zlib(packed)).empty());
  CHECK(!by_igzip(packed).text.empty());
  for (std::size_t at = 2; at < 24; ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string flipped = packed;
      flipped[at] = static_cast<char>(flipped[at] ^ (1 << bit));
      const std::string differs = difference(by_igzip(flipped), by_zlib(flipped));
      CHECK_MESSAGE(differs.empty(), "byte " << at << ", bit " << bit << ": " << differs);
    }
  }
}

TEST_CASE("igzip continues anywhere behind a restart point, and zlib takes over there when the rest is damaged") {
  const std::string text = numbered_slices(400'000);
  REQUIRE(text.size() > (std::size_t{50} << 20));
  const std::size_t third = text.size() / 3;
  const std::string packed =
      gzip_text(std::string_view(text).substr(0, third), 1) + gzip_text(std::string_view(text).substr(third), 1);
  const Inflated whole = by_igzip(packed);
  REQUIRE(whole.text == text);
  REQUIRE(whole.points->size() == text.size() >> 24);
  std::string damaged = packed;
  damaged[damaged.size() - 50'000] ^= 1;
  for (const std::string* file : {&packed, static_cast<const std::string*>(&damaged)}) {
    const Inflated expected = by_zlib(*file);
    for (std::uint64_t offset = (std::uint64_t{17} << 20); offset < text.size(); offset += std::uint64_t{15} << 20) {
      const RestartPoint* point = whole.points->before(offset);
      REQUIRE(point != nullptr);
      auto raw = std::make_unique<Bytes>(*file);
      raw->seek(point->file_offset);
      const auto source = make_igzip_source_at(std::move(raw), *point);
      const Inflated rest = read_all(*source, 100'000);
      CHECK(rest.was_cut_short == expected.was_cut_short);
      CHECK(rest.text == std::string_view(expected.text).substr(point->text_offset));
    }
  }
}

TEST_CASE("what cannot be read twice is left to zlib") {
  const std::string packed = gzip_text(numbered_slices(50));
  const auto source = make_gzip_source(std::make_unique<Bytes>(packed, false));
  CHECK(read_all(*source, 1000).text == numbered_slices(50));
}
