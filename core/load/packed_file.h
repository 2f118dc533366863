#pragma once
// A recording's file as it is mailed: packed.
#include <cstdint>
#include <string>

#include "core/base/result.h"

namespace gapscope {

struct PackedFile {
  std::string bytes;          // empty: they would be more than was asked for
  bool is_as_it_was = false;  // it was packed already; else this is gzip
};

// `most`: bytes; reading ends when there are more. An Error where it cannot be read.
Result<PackedFile> packed_file(const std::string& path, std::uint64_t most);

}  // namespace gapscope
