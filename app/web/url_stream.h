#pragma once
// The bytes behind an address from one place on, in one request, fetched ahead of their reader: asking for a large file
// in pieces takes five times as long, since a browser takes milliseconds for each.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace gapscope {

struct UrlRing;

class UrlStream {
 public:
  // Asks at once, for all from `from` to `whole`, the size of the file. On any thread but the page's own, as all of it.
  UrlStream(const std::string& url, std::uint64_t from, std::uint64_t whole);
  // The request ends, too.
  ~UrlStream();
  UrlStream(const UrlStream&) = delete;
  UrlStream& operator=(const UrlStream&) = delete;

  // Where the next byte is in the file.
  std::uint64_t at() const { return at_; }
  // Waits until there is something to read. 0: nothing comes any more, be it that it failed, or the end.
  std::size_t read(std::uint8_t* into, std::size_t size);

 private:
  std::uint64_t at_;
  int id_;
  std::shared_ptr<UrlRing> ring_;
};

}  // namespace gapscope
