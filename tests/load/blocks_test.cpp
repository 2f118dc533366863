// Blocks cover the text once, in order, however they are read: cut where events begin, planned or read at once, by one thread
// or by several; a file that fails or ends in between gives what stood before and an error.
#include "core/load/blocks.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <string>
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
    return anywhere_;
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
  void end_at(std::uint64_t offset) { ends_at_ = offset; }
  std::size_t longest_read_at() const { return longest_; }

 private:
  Result<std::size_t> copy(std::uint64_t offset, char* into, std::size_t size) const {
    const bool is_long = size > 8 * 1024;
    if (is_long && offset + size > fails_from_) return Error{"Input/output error."};
    const std::uint64_t end = is_long ? std::min<std::uint64_t>(ends_at_, text_.size()) : text_.size();
    const std::size_t n = std::min<std::size_t>(size, offset < end ? end - offset : 0);
    std::memcpy(into, text_.data() + std::min<std::uint64_t>(offset, text_.size()), n);
    return n;
  }

  std::string text_;
  bool anywhere_;
  std::uint64_t at_ = 0, fails_from_ = ~std::uint64_t{0}, ends_at_ = ~std::uint64_t{0};
  mutable std::atomic<std::size_t> longest_{0};
};

struct Read {
  std::map<std::size_t, std::pair<std::uint64_t, std::string>> blocks;  // by number: offset and text
  bool has_last = false;
  std::optional<Error> error;
  std::uint64_t text_bytes = 0;

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

Read read_all(ByteSource& source, std::string head, std::size_t block_bytes, int threads) {
  std::atomic<bool> cancel{false};
  std::atomic<std::uint64_t> done{0};
  BlockReader reader(source, std::move(head), 0, block_bytes, 2 * threads + 2, &cancel, &done);
  Read out;
  std::mutex mutex;
  run_workers(threads, [&](int) {
    while (std::unique_ptr<Block> block = reader.next()) {
      {
        const std::lock_guard lock(mutex);
        out.blocks.emplace(block->number, std::pair(block->file_offset, std::string(block->text())));
        out.has_last = out.has_last || block->is_last;
      }
      reader.recycle(std::move(block));
    }
  });
  out.error = reader.error();
  out.text_bytes = reader.text_bytes();
  return out;
}

Read read_with_head(Text& source, std::size_t head_bytes, std::size_t block_bytes, int threads) {
  std::string head(head_bytes, '\0');
  REQUIRE(*source.read(head.data(), head.size()) == head_bytes);
  return read_all(source, std::move(head), block_bytes, threads);
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
        Text source(text, anywhere);
        const Read read = read_with_head(source, 13, bytes, threads);
        CHECK_FALSE(read.error);
        CHECK(read.has_last);
        CHECK(read.text() == text);
        CHECK(read.text_bytes == text.size() - 13);
        std::uint64_t next = 0;
        for (const auto& [number, block] : read.blocks) {
          CHECK(block.first == next);
          CHECK(block.second.starts_with(R"({"ph")"));
          next += block.second.size();
        }
      }
}

TEST_CASE(
    "a file that can be read anywhere is read by those who get its blocks, but where an event is longer than the look ahead") {
  Text source(events(2000), true);
  const Read read = read_with_head(source, 13, 20'000, 2);
  CHECK(source.longest_read_at() > 12'000);
  CHECK(source.longest_read_at() <= 20'000);
  const auto longest = std::max_element(read.blocks.begin(), read.blocks.end(), [](const auto& a, const auto& b) {
    return a.second.second.size() < b.second.second.size();
  });
  CHECK(longest->second.second.size() > 40'000);
}

TEST_CASE("what stood before a read that fails is given, with the error and where it was") {
  const std::string text = events(2000);
  for (const int threads : {1, 4}) {
    CAPTURE(threads);
    Text source(text, true);
    source.fail_from(150'000);
    const Read read = read_with_head(source, 13, 20'000, threads);
    REQUIRE(read.error);
    CHECK(read.error->message == "Input/output error.");
    CHECK_FALSE(read.has_last);
    CHECK(text.starts_with(read.text()));
    CHECK(read.text().size() > 100'000);
    CHECK(read.text().size() <= 150'000);
  }
}

TEST_CASE("a file that becomes shorter after its blocks were planned is an error") {
  const std::string text = events(2000);
  Text source(text, true);
  source.end_at(150'000);
  const Read read = read_with_head(source, 13, 20'000, 4);
  REQUIRE(read.error);
  CHECK(read.error->message == "The file became shorter while it was read.");
  CHECK(text.starts_with(read.text()));
  CHECK(read.text_bytes < 150'000);
}
