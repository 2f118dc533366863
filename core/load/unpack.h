#pragma once
// The layers that a trace's text is packed in: gzip, xz or zstd, each also in another, archives, UTF-16; databases and
// documents of other profilers, as text of a trace.
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/load/byte_source.h"

namespace gapscope {

// What the first bytes of a file say it is.
enum class Packing : std::uint8_t { plain, gzip, xz, zstd, zip, tar, utf16_le, utf16_be, sqlite, rocprof };
constexpr std::size_t kPackingBytes = 512;  // so many bytes say it; fewer where the file has fewer
Packing packing_of(std::string_view first_bytes);

// Opens the same file again at each call: an archive is listed first, then read.
using OpenSource = std::function<Result<std::unique_ptr<ByteSource>>()>;

// What becomes of another profiler's recording: a text, which takes reading it whole; an Error; or its bytes as they are.
enum class Recordings : std::uint8_t { translated, refused, as_they_are };

// The text within. Of an archive that of `member`, or where that is empty of its only trace. An Error, a sentence about "The
// file", where there is none, or where layers are deeper than any tool writes.
Result<std::unique_ptr<ByteSource>> unpacked(const OpenSource& open, std::string member,
                                             Recordings recordings = Recordings::translated);

// As traces_in_archive(); none where the file is no archive.
Result<std::vector<std::string>> traces_within(const OpenSource& open);

}  // namespace gapscope
