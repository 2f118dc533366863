#pragma once
// Where the structure of a JSON text is: simdjson's first stage, which finds every { } [ ] : , and the first character of
// every string and number with vector instructions chosen for the processor at run time. We walk its list ourselves,
// because events are picked by key in any order and a stretch of a file is a sequence of values, not a document.
#include <cstdint>
#include <memory>
#include <span>

namespace gapscope {

enum class IndexState : std::uint8_t {
  ok,
  bad_text,   // a raw control character in a string, an unclosed string or invalid UTF-8: the list is not to be trusted
  too_large,  // more than 4 GB
};

class StructuralIndex {
 public:
  StructuralIndex();
  ~StructuralIndex();
  StructuralIndex(StructuralIndex&&) noexcept;
  StructuralIndex& operator=(StructuralIndex&&) noexcept;

  // Indexes `text` or throws std::bad_alloc; the positions stay valid until the next call.
  IndexState index(const char* text, std::size_t size);
  // Positions of structural characters and value starts, ascending.
  std::span<const std::uint32_t> positions() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace gapscope
