#pragma once
// Numbers of 64 bits that nearly always need fewer than 32, in 32 bits each: those that do not fit lie in a list alongside.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <new>
#include <vector>

namespace gapscope {

// Packed numbers are equal where the numbers are, but for wide ones: those are to be unpacked before they are compared.
class OverflowValues {
 public:
  static constexpr std::uint32_t kWide = 0x8000'0000u;  // the rest says where in the list

  static bool is_wide(std::uint32_t packed) { return packed >= kWide; }
  std::uint64_t unpack(std::uint32_t packed) const {
    return is_wide(packed) ? (*blocks_[(packed - kWide) / kBlock])[(packed - kWide) % kBlock] : packed;
  }

  // One a thread and piece of work: takes room in the list a block at a time. No number is read meanwhile.
  class Writer {
   public:
    explicit Writer(OverflowValues& values) : values_(values) {}
    std::uint32_t pack(std::uint64_t value) { return value < kWide ? static_cast<std::uint32_t>(value) : pack_wide(value); }
    std::uint32_t pack_wide(std::uint64_t value) {
      if (used_ == kBlock) {
        first_ = values_.add_block(block_);
        used_ = 0;
      }
      block_[used_] = value;
      return kWide | (first_ + used_++);
    }

   private:
    OverflowValues& values_;
    std::uint64_t* block_ = nullptr;
    std::uint32_t first_ = 0;
    std::uint32_t used_ = kBlock;
  };

  // The same numbers for the same packed ones. While no thread writes.
  void copy_to(OverflowValues& twin) const {
    for (const auto& block : blocks_) twin.blocks_.push_back(std::make_unique<Block>(*block));
  }

 private:
  static constexpr std::uint32_t kBlock = 256;
  using Block = std::vector<std::uint64_t>;

  // Position of its first number.
  std::uint32_t add_block(std::uint64_t*& numbers) {
    auto block = std::make_unique<Block>(kBlock);
    numbers = block->data();
    const std::lock_guard lock(mutex_);
    if (blocks_.size() * kBlock >= kWide) throw std::bad_alloc();  // 2^31 of them: 16 GB
    blocks_.push_back(std::move(block));
    return static_cast<std::uint32_t>(blocks_.size() - 1) * kBlock;
  }

  std::mutex mutex_;
  std::vector<std::unique_ptr<Block>> blocks_;
};

}  // namespace gapscope
