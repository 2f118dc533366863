#include "core/load/packed_file.h"

#include <cstddef>
#include <memory>
#include <string_view>
#include <vector>

#include "core/load/byte_source.h"
#include "core/load/gzip_packer.h"

namespace gapscope {

Result<PackedFile> packed_file(const std::string& path, std::uint64_t most) {
  Result<std::unique_ptr<ByteSource>> source = open_packed(path, 0);
  if (!source) return source.error();
  PackedFile out;
  GzipPacker packer([&](std::string_view packed) { out.bytes += packed; });
  std::vector<char> block(std::size_t{1} << 20);
  for (bool is_first = true;; is_first = false) {
    const Result<std::size_t> read = (*source)->read(block.data(), block.size());
    if (!read) return read.error();
    const std::string_view bytes(block.data(), *read);
    if (is_first) out.is_as_it_was = packing_of(bytes) != Packing::plain;
    if (bytes.empty()) break;
    if (out.is_as_it_was)
      out.bytes += bytes;
    else
      packer.write(bytes);
    if (out.bytes.size() > most) break;
  }
  if (!out.is_as_it_was) packer.finish();
  if (out.bytes.size() > most) out.bytes.clear();
  return out;
}

}  // namespace gapscope
