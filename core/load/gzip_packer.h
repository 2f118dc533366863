#pragma once
// Packs text as gzip while it comes.
#include <functional>
#include <memory>
#include <string_view>

namespace gapscope {

class GzipPacker {
 public:
  // What is packed goes to `sink`, piece by piece. Throws std::bad_alloc, where zlib has no memory.
  explicit GzipPacker(std::function<void(std::string_view)> sink);
  ~GzipPacker();
  GzipPacker(const GzipPacker&) = delete;
  GzipPacker& operator=(const GzipPacker&) = delete;

  void write(std::string_view text);
  // The rest; nothing may be written after it.
  void finish();

 private:
  struct Stream;
  std::function<void(std::string_view)> sink_;
  std::unique_ptr<Stream> stream_;
};

}  // namespace gapscope
