#pragma once
// Places in a compressed file where inflating can be taken up again, so that the args of one slice are read without
// inflating everything before it. Made while a file is loaded, stored with its trace: 32 KB for every 8 MB of text by zlib,
// 54 KB for every 16 MB by igzip.
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/load/byte_source.h"

namespace gapscope {

struct RestartPoint {
  std::uint64_t text_offset = 0;  // in the inflated text
  std::uint64_t file_offset = 0;  // of the first whole compressed byte
  // By zlib, between two deflate blocks:
  int bits = 0;        // bits of the byte before that belong to what follows
  std::string window;  // the last 32 KB of text, which back references may reach into
  // By igzip, anywhere: all that it knows there, and where the gzip member began, should the rest turn out to be damaged.
  std::string state;
  std::uint64_t member_text_offset = 0;
  std::uint64_t member_file_offset = 0;
};

class RestartPoints {
 public:
  void add(RestartPoint point) { points_.push_back(std::move(point)); }
  // The last point at or before `text_offset`, or null: then one has to begin at the start.
  const RestartPoint* before(std::uint64_t text_offset) const;
  std::size_t size() const { return points_.size(); }

 private:
  std::vector<RestartPoint> points_;  // ascending
};

// Text from `point` on, from the packed file at `path`.
Result<std::unique_ptr<ByteSource>> open_gzip_at(const std::string& path, const RestartPoint& point);

}  // namespace gapscope
