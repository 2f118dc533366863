#pragma once
// For hash tables by several whole numbers and ids at once.
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <tuple>

#include "core/base/hash.h"
#include "core/base/ids.h"

namespace gapscope {

struct TupleHash {
  template <class... Parts>
  std::size_t operator()(const std::tuple<Parts...>& key) const {
    std::uint64_t hash = 0;
    std::apply([&](const Parts&... parts) { ((hash = mix64(hash ^ number(parts))), ...); }, key);
    return hash;
  }

 private:
  static std::uint64_t number(std::integral auto part) { return static_cast<std::uint64_t>(part); }
  template <class Tag>
  static std::uint64_t number(Id<Tag> part) {
    return part.value;
  }
};

}  // namespace gapscope
