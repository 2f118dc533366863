#pragma once
// The text of a file that can only be read from its start (xz, zst, a pipe), saved while it is loaded in a temporary file
// without a name: the args of one slice are then read at once, and the file is gone with the trace, or with the program.
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "core/base/result.h"
#include "core/load/byte_source.h"

namespace gapscope {

class SpilledText {
 public:
  // An empty one in `folder`, which keeps `leave_free` bytes of the disk for everybody else.
  static Result<std::shared_ptr<SpilledText>> create(const std::string& folder, std::uint64_t leave_free = kLeaveFree);
  static constexpr std::uint64_t kLeaveFree = std::uint64_t{576} << 20;
  ~SpilledText();
  SpilledText(const SpilledText&) = delete;
  SpilledText& operator=(const SpilledText&) = delete;

  // Adds to the end. An Error when there is no room, or so little that others would soon find none.
  std::optional<Error> append(const char* bytes, std::size_t size);
  // Text from `offset` on; valid while this lives.
  std::unique_ptr<ByteSource> open_at(std::uint64_t offset) const;

 private:
  SpilledText(int fd, std::string folder, std::uint64_t leave_free)
      : fd_(fd), folder_(std::move(folder)), leave_free_(leave_free) {}
  std::optional<Error> room_for(std::size_t size);

  int fd_;
  std::string folder_;
  std::uint64_t leave_free_;
  std::uint64_t size_ = 0;
  std::uint64_t looked_to_ = 0;  // so far there was room when the file system was last asked
};

// `source`, whose text is also saved in `folder`: see ByteSource::spilled_text().
std::unique_ptr<ByteSource> make_spilling_source(std::unique_ptr<ByteSource> source, const std::string& folder);

}  // namespace gapscope
