#pragma once
// A file that goes out piece by piece, as it was when it was opened: what changes meanwhile ends the answer.
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "core/base/file_stamp.h"

namespace gapscope {

class ServedFile {
 public:
  // An open file, which it takes over. Null where it is no regular one.
  static std::shared_ptr<const ServedFile> of(int fd);
  // `path`: without links in it, and no client's. Null where it is no such file any more.
  static std::shared_ptr<const ServedFile> open(const std::string& path);
  ~ServedFile();
  ServedFile(const ServedFile&) = delete;
  ServedFile& operator=(const ServedFile&) = delete;

  std::uint64_t bytes() const { return stamp_.bytes; }
  std::string etag() const;
  // At most `bytes` from `offset` on; empty where the file has changed, or cannot be read.
  std::string read(std::uint64_t offset, std::uint64_t bytes) const;

 private:
  ServedFile(int fd, FileStamp stamp) : fd_(fd), stamp_(stamp) {}

  int fd_;
  FileStamp stamp_;
};

}  // namespace gapscope
