#include "core/load/packed_file.h"

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/load/byte_source.h"
#include "core/load/gzip_packer.h"
#include "core/load/unpack.h"

namespace gapscope {

Result<PackedFile> packed_file(const std::string& path, std::uint64_t most) {
  Result<std::unique_ptr<ByteSource>> source = open_packed(path, 0);
  std::string head(kPackingBytes, '\0');
  const Result<std::size_t> got = source ? (*source)->read(head.data(), head.size()) : Result<std::size_t>(std::size_t{0});
  if (!got) return got.error();
  const Packing packing = packing_of(std::string_view(head).substr(0, *got));
  const bool is_packed = packing == Packing::gzip || packing == Packing::xz || packing == Packing::zstd;
  source = is_packed ? open_packed(path, 0) : open_source(path);
  if (!source) return source.error();
  PackedFile out;
  GzipPacker packer([&](std::string_view packed) { out.bytes += packed; });
  std::vector<char> block(std::size_t{1} << 20);
  out.is_as_it_was = is_packed;
  for (;;) {
    const Result<std::size_t> read = (*source)->read(block.data(), block.size());
    if (!read) return read.error();
    const std::string_view bytes(block.data(), *read);
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
