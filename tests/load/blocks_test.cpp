// Blocks cover the text once, in order, however they are read: cut where events begin, planned or read at once, by one thread
// or by several; a file that fails or ends in between gives what was before and an error.
#include "core/load/blocks.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "core/base/parallel.h"

using namespace gapscope;

namespace {

// Events of 40 to 4,000 bytes, and one of 40,000.
std::string events(std::size_t count) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t pad = i == count / 2 ? 40'000 : i % 50 == 7 ? 4'000 : i % 100;
    text += fmt::format(R"({{"ph": "X", "ts": {}, "name": "{}"}},)", i, std::string(pad, 'n')) + "\n";
  }
  return text;
}

class Text final : public ByteSource {
 public:
  Text(std::string text, bool anywhere) : text_(std::move(text)), anywhere_(anywhere) {}
  Result<std::size_t> read(char* into, std::size_t size) override {
    Result<std::size_t> got = copy(at_, into, size);
    if (got) at_ += *got;
    return got;
  }
  bool seek(std::uint64_t offset) override {
    at_ = offset;
    return true;
  }
  bool has_read_at() const override { return anywhere_; }
  Result<std::size_t> read_at(std::uint64_t offset, char* into, std::size_t size) const override {
    if (size > longest_) longest_ = size;
    return copy(offset, into, size);
  }
  std::uint64_t file_bytes_read() const override { return at_; }
  std::uint64_t file_bytes_total() const override { return text_.size(); }
  bool is_plain() const override { return true; }

  // Of long reads alone: a look at the end of a block still works.
  void fail_from(std::uint64_t offset) { fails_from_ = offset; }
  // The one read there; others are sound.
  void fail_once_at(std::uint64_t offset) { fails_at_ = offset; }
  void end_at(std::uint64_t offset) { ends_at_ = offset; }
  // Of several that fail the first in the file does so last, or first.
  void fail_late(bool first) { first_is_late_ = first; }
  std::size_t longest_read_at() const { return longest_; }

 private:
  Result<std::size_t> copy(std::uint64_t offset, char* into, std::size_t size) const {
    const bool is_long = size > 8 * 1024;
    const bool ends = is_long && offset + size > ends_at_;
    const bool fails = is_long && (offset + size > fails_from_ || (offset <= fails_at_ && fails_at_ < offset + size));
    const bool is_first = offset <= std::min({fails_from_, fails_at_, ends_at_});
    if ((ends || fails) && is_first == first_is_late_) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    if (fails) return Error{"Input/output error."};
    const std::uint64_t end = is_long ? std::min<std::uint64_t>(ends_at_, text_.size()) : text_.size();
    const std::size_t n = std::min<std::size_t>(size, offset < end ? end - offset : 0);
    std::memcpy(into, text_.data() + std::min<std::uint64_t>(offset, text_.size()), n);
    return n;
  }

  std::string text_;
  bool anywhere_, first_is_late_ = true;
  static constexpr std::uint64_t kNever = ~std::uint64_t{0};
  std::uint64_t at_ = 0, fails_from_ = kNever, fails_at_ = kNever, ends_at_ = kNever;
  mutable std::atomic<std::size_t> longest_{0};
};

struct Read {
  std::map<std::size_t, std::pair<std::uint64_t, std::string>> blocks;  // by number: offset and text
  bool has_last = false;
  std::optional<Error> error;
  std::uint64_t text_bytes = 0;
  std::uint64_t bytes_done = 0;

  // Of the blocks without a gap in their numbers.
  std::string text() const {
    std::string out;
    std::size_t next = 0;
    for (const auto& [number, block] : blocks) {
      if (number != next++) break;
      out += block.second;
    }
    return out;
  }
};

// What comes before the events, which is read before.
constexpr std::string_view kBefore = R"({"traceEvents": [)";
constexpr std::size_t kHeadBytes = 13;

// Blocks are given back in order, as EventStream does.
Read read_all(Text& source, std::size_t block_bytes, int threads) {
  std::string head(kHeadBytes, '\0');
  REQUIRE(source.seek(kBefore.size()));
  REQUIRE(*source.read(head.data(), head.size()) == kHeadBytes);
  std::atomic<bool> cancel{false};
  std::atomic<std::uint64_t> done{0};
  BlockReader reader(source, std::move(head), kBefore.size(), block_bytes, 2 * threads + 2, &cancel, &done);
  Read out;
  std::mutex mutex;
  std::map<std::size_t, std::unique_ptr<Block>> held;
  std::size_t next = 0;
  run_workers(threads, [&](int) {
    while (std::unique_ptr<Block> block = reader.next()) {
      const std::lock_guard lock(mutex);
      out.blocks.emplace(block->number, std::pair(block->file_offset, std::string(block->text())));
      out.has_last = out.has_last || block->is_last;
      held.emplace(block->number, std::move(block));
      for (auto at = held.find(next); at != held.end(); at = held.find(++next))
        reader.recycle(std::move(at->second)), held.erase(at);
    }
  });
  out.error = reader.error();
  out.text_bytes = reader.text_bytes();
  out.bytes_done = done;
  return out;
}

}  // namespace

TEST_CASE("blocks hold the text once, in order, and begin where events begin") {
  const std::string text = events(2000);
  for (const bool anywhere : {false, true})
    for (const int threads : {1, 4})
      for (const std::size_t bytes : {std::size_t{16}, std::size_t{700}, std::size_t{20'000}, std::size_t{100'000}}) {
        CAPTURE(anywhere);
        CAPTURE(threads);
        CAPTURE(bytes);
        Text source(std::string(kBefore) + text, anywhere);
        const Read read = read_all(source, bytes, threads);
        CHECK_FALSE(read.error);
        CHECK(read.has_last);
        CHECK(read.text() == text);
        CHECK(read.text_bytes == text.size() - kHeadBytes);
        CHECK(read.bytes_done == kBefore.size() + text.size());
        std::uint64_t next = kBefore.size();
        for (const auto& [number, block] : read.blocks) {
          CHECK(block.first == next);
          CHECK(block.second.starts_with(R"({"ph")"));
          next += block.second.size();
        }
      }
}

TEST_CASE(
    "a file that can be read anywhere is read by those who get its blocks, but where an event is longer than the look ahead") {
  Text source(std::string(kBefore) + events(2000), true);
  const Read read = read_all(source, 20'000, 2);
  CHECK(source.longest_read_at() > 12'000);
  CHECK(source.longest_read_at() <= 20'000);
  const auto longest = std::max_element(read.blocks.begin(), read.blocks.end(), [](const auto& a, const auto& b) {
    return a.second.second.size() < b.second.second.size();
  });
  CHECK(longest->second.second.size() > 40'000);
}

// The long event in the middle begins at about 165,000: what fails before it was planned, and after it is read at once.
TEST_CASE("what stood before a read that fails is given, with the error and where it was") {
  const std::string text = events(2000);
  for (const int threads : {1, 4})
    for (const std::uint64_t at : {60'000u, 150'000u, 175'000u}) {
      CAPTURE(threads);
      CAPTURE(at);
      for (const int way : {0, 1, 2}) {
        CAPTURE(way);
        const bool once = way == 2, late = way != 0;
        Text source(std::string(kBefore) + text, true);
        source.fail_late(late);
        once ? source.fail_once_at(at) : source.fail_from(at);
        const Read read = read_all(source, 20'000, threads);
        REQUIRE(read.error);
        CHECK(read.error->message == "Input/output error.");
        if (!once) CHECK_FALSE(read.has_last);
        CHECK(text.starts_with(read.text()));
        CHECK(read.text().size() > at - 45'000);
        CHECK(read.text().size() == kHeadBytes + read.text_bytes);
        CHECK(read.text().size() <= at);
      }
    }
}

TEST_CASE("a file that becomes shorter after its blocks were planned is an error") {
  const std::string text = events(2000);
  for (const int threads : {1, 4}) {
    CAPTURE(threads);
    Text source(std::string(kBefore) + text, true);
    source.end_at(60'000);
    const Read read = read_all(source, 20'000, threads);
    REQUIRE(read.error);
    CHECK(read.error->message == "The file became shorter while it was read.");
    CHECK(text.starts_with(read.text()));
    CHECK(read.text().size() == kHeadBytes + read.text_bytes);
    CHECK(read.text().size() > 35'000);
    CHECK(read.text().size() <= 60'000);
  }
}
