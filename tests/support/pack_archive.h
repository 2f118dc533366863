#pragma once
// Packs files as .zip and .tar for tests.
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <zlib.h>

namespace gapscope::test {

using FilesOfArchive = std::vector<std::pair<std::string, std::string>>;  // names and bytes

inline std::string deflated(std::string_view bytes) {
  z_stream stream{};
  if (deflateInit2(&stream, 6, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY) != Z_OK) throw std::runtime_error("deflateInit2");
  std::string out(deflateBound(&stream, bytes.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  const int state = deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  if (state != Z_STREAM_END) throw std::runtime_error("deflate");
  return out;
}

inline std::string little(std::uint64_t value, int bytes) {
  std::string out;
  for (int i = 0; i < bytes; ++i) out += static_cast<char>(i < 8 ? value >> (8 * i) & 0xFF : 0);
  return out;
}

// Local files, their directory, its end (APPNOTE 4.3).
inline std::string zip_of(const FilesOfArchive& files) {
  std::string out, directory;
  for (const auto& [name, bytes] : files) {
    const std::string packed = deflated(bytes);
    const auto crc = crc32(0, reinterpret_cast<const Bytef*>(bytes.data()), static_cast<uInt>(bytes.size()));
    const std::string common = little(20, 2) + little(0, 2) + little(8, 2) + little(0, 4) + little(crc, 4) +
                               little(packed.size(), 4) + little(bytes.size(), 4) + little(name.size(), 2) + little(0, 2);
    directory += "PK\1\2" + little(20, 2) + common + little(0, 10) + little(out.size(), 4) + name;
    out += "PK\3\4" + common + name + packed;
  }
  const std::uint64_t begin = out.size();
  out += directory + "PK\5\6" + little(0, 4) + little(files.size(), 2) + little(files.size(), 2) + little(directory.size(), 4) +
         little(begin, 4) + little(0, 2);
  return out;
}

// POSIX ustar.
inline std::string tar_of(const FilesOfArchive& files) {
  std::string out;
  for (const auto& [name, bytes] : files) {
    std::string head(512, '\0');
    const auto put = [&](std::size_t at, std::string_view text) { head.replace(at, text.size(), text); };
    put(0, name);
    put(100, "0000644");
    put(124, fmt::format("{:011o}", bytes.size()));
    put(136, "00000000000");
    put(148, "        ");
    put(156, "0");
    put(257, std::string_view("ustar\00000", 8));
    unsigned sum = 0;
    for (const char c : head) sum += static_cast<unsigned char>(c);
    put(148, fmt::format("{:06o}", sum));
    head[154] = '\0';
    out += head + bytes + std::string((512 - bytes.size() % 512) % 512, '\0');
  }
  return out + std::string(1024, '\0');
}

}  // namespace gapscope::test
