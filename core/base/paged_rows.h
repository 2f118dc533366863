#pragma once
// Rows that are appended by the million and read once: they lie in pages that never move, so that growing copies nothing, and
// pages are freed as soon as they and a few neighbours were read.
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstring>
#include <memory>
#include <type_traits>
#include <vector>

#include "core/base/column.h"

namespace gapscope {

template <class T>
class PagedRows {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  static constexpr std::size_t kPageBytes = std::max(std::size_t{256} << 10, sizeof(T));
  static constexpr std::size_t kPageRows = kPageBytes / sizeof(T);

  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T& operator[](std::size_t i) { return *row(i); }
  const T& operator[](std::size_t i) const { return *row(i); }

  // Room for `n` more rows, which are to be written before they are read; returns the first. Other rows may be written and
  // read meanwhile, but not through operator[], which looks into a list that grows here: see pieces().
  std::size_t extend(std::size_t n) {
    const std::size_t first = size_;
    size_ += n;
    while (pages_.size() * kPageRows < size_) add_pages();
    return first;
  }
  void push_back(const T& value) { *row(extend(1)) = value; }

  // Rows [first, first + n) as pieces that lie side by side. They stay where they are.
  struct Piece {
    T* begin;
    std::size_t size;
  };
  std::vector<Piece> pieces(std::size_t first, std::size_t n) {
    std::vector<Piece> found;
    while (n > 0) {
      const std::size_t here = std::min(n, kPageRows - first % kPageRows);
      found.push_back({row(first), here});
      first += here;
      n -= here;
    }
    return found;
  }

  std::size_t page_count() const { return (size_ + kPageRows - 1) / kPageRows; }
  std::size_t first_of_page(std::size_t page) const { return page * kPageRows; }
  std::size_t rows_of_page(std::size_t page) const { return std::min(kPageRows, size_ - page * kPageRows); }
  // Its rows are gone; the others keep their places. Any thread, each page once.
  void free_page(std::size_t page) {
    Block& block = *blocks_[block_of(page)];
    if (block.pages_in_use.fetch_sub(1) == 1) Column<std::byte>().swap(block.bytes);
  }
  // Calls take(row, position) for all rows in order.
  template <class Take>
  void each(Take take) {
    for (std::size_t page = 0; page < page_count(); ++page) each_of_page(page, take);
  }
  template <class Take>
  void each(Take take) const {
    const_cast<PagedRows*>(this)->each([&](const T& row, std::size_t position) { take(row, position); });
  }
  // The same, and frees each page when it is done.
  template <class Take>
  void consume(Take take) {
    for (std::size_t page = 0; page < page_count(); ++page) {
      each_of_page(page, take);
      free_page(page);
    }
    clear();
  }
  void clear() {
    decltype(pages_)().swap(pages_);
    blocks_.clear();
    size_ = 0;
  }

  PagedRows copy() const {
    PagedRows twin;
    twin.extend(size_);
    for (std::size_t page = 0; page < page_count(); ++page)
      std::memcpy(twin.pages_[page], pages_[page], rows_of_page(page) * sizeof(T));
    return twin;
  }

 private:
  // The first pages come one by one, since most traces are small; later ones many at a time, in huge pages of the system.
  static constexpr std::size_t kSinglePages = 2;
  static constexpr std::size_t kPagesOfSmallBlock = 8;
  static constexpr std::size_t kSmallBlocks = 3;
  static constexpr std::size_t kPagesOfBlock = 32;
  static constexpr std::size_t kEarlyPages = kSinglePages + kSmallBlocks * kPagesOfSmallBlock;
  struct Block {
    Column<std::byte> bytes;
    std::atomic<std::size_t> pages_in_use{0};
  };

  template <class Take>
  void each_of_page(std::size_t page, Take& take) {
    T* const rows = pages_[page];
    for (std::size_t i = 0; i < rows_of_page(page); ++i) take(rows[i], first_of_page(page) + i);
  }
  static std::size_t block_of(std::size_t page) {
    if (page < kSinglePages) return page;
    if (page < kEarlyPages) return kSinglePages + (page - kSinglePages) / kPagesOfSmallBlock;
    return kSinglePages + kSmallBlocks + (page - kEarlyPages) / kPagesOfBlock;
  }
  T* row(std::size_t i) const { return pages_[i / kPageRows] + i % kPageRows; }

  void add_pages() {
    const std::size_t n = pages_.size() < kSinglePages ? 1 : pages_.size() < kEarlyPages ? kPagesOfSmallBlock : kPagesOfBlock;
    auto block = std::make_unique<Block>();
    block->bytes.resize(n * kPageBytes);
    block->pages_in_use = n;
    for (std::size_t i = 0; i < n; ++i) pages_.push_back(reinterpret_cast<T*>(block->bytes.data() + i * kPageBytes));
    blocks_.push_back(std::move(block));
  }

  std::vector<T*> pages_;
  std::vector<std::unique_ptr<Block>> blocks_;
  std::size_t size_ = 0;
};

}  // namespace gapscope
