#pragma once
// The two inflaters behind make_gzip_source() and open_gzip_at(): ISA-L's igzip where the file can be read again, and zlib
// where it cannot (a pipe) or is damaged. Both give the same bytes and find the same damage, since it is zlib that says where a
// file is damaged.
//
// Why two: of a 458 MB trace packed to 33 MB, igzip takes 0.23 s of a processor and zlib 1.2.13 takes 0.69 s, in one run.
// igzip cannot be made to stop between two blocks, so its restart points are copies of its state (54 KB) and not zlib's window
// (32 KB); they lie twice as far apart, which costs less memory and, at igzip's speed, less time to reach a slice.
#include <cstdint>
#include <memory>

#include "core/load/byte_source.h"
#include "core/load/restart_points.h"

namespace gapscope {

// `raw` begins with a member, which is at `text_begin` of the text. New points go to `points` (may be null) from `points_from`
// of the text on.
std::unique_ptr<ByteSource> make_zlib_source(std::unique_ptr<ByteSource> raw, std::shared_ptr<RestartPoints> points,
                                             std::uint64_t text_begin = 0, std::uint64_t points_from = 0);

// `raw` must be seekable: damaged members are read again.
std::unique_ptr<ByteSource> make_igzip_source(std::unique_ptr<ByteSource> raw, std::shared_ptr<RestartPoints> points);
// Continues at a point that igzip made; `raw` is at its place in the file.
std::unique_ptr<ByteSource> make_igzip_source_at(std::unique_ptr<ByteSource> raw, const RestartPoint& point);

}  // namespace gapscope
