#include "core/load/structural_index.h"

#include <algorithm>
#include <limits>
#include <new>

#include <simdjson.h>

namespace gapscope {

struct StructuralIndex::Impl {
  std::unique_ptr<simdjson::internal::dom_parser_implementation> parser;
  std::size_t capacity = 0;
};

StructuralIndex::StructuralIndex() : impl_(std::make_unique<Impl>()) {}
StructuralIndex::~StructuralIndex() = default;
StructuralIndex::StructuralIndex(StructuralIndex&&) noexcept = default;
StructuralIndex& StructuralIndex::operator=(StructuralIndex&&) noexcept = default;

IndexState StructuralIndex::index(const char* text, std::size_t size) {
  if (size >= std::numeric_limits<std::uint32_t>::max() - 64) return IndexState::too_large;
  if (!impl_->parser || size > impl_->capacity) {
    // Room for more, so that slowly growing texts do not allocate each time. An index is four times as large as its text.
    const std::size_t capacity = std::max<std::size_t>(size + std::min(size / 2, std::size_t{1} << 20), 4096);
    impl_->parser.reset();
    impl_->capacity = 0;
    // Depth is only used by simdjson's second stage, which does not run here.
    const auto trouble = simdjson::get_active_implementation()->create_dom_parser_implementation(capacity, 1, impl_->parser);
    if (trouble == simdjson::MEMALLOC) throw std::bad_alloc();
    if (trouble != simdjson::SUCCESS) return IndexState::too_large;
    impl_->capacity = capacity;
  }
  const simdjson::error_code error =
      impl_->parser->stage1(reinterpret_cast<const std::uint8_t*>(text), size, simdjson::stage1_mode::regular);
  if (error == simdjson::SUCCESS) return IndexState::ok;
  impl_->parser->n_structural_indexes = error == simdjson::EMPTY ? 0 : impl_->parser->n_structural_indexes;
  return error == simdjson::EMPTY ? IndexState::ok : IndexState::bad_text;
}

std::span<const std::uint32_t> StructuralIndex::positions() const {
  if (!impl_->parser) return {};
  return {impl_->parser->structural_indexes.get(), impl_->parser->n_structural_indexes};
}

}  // namespace gapscope
