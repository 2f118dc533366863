#pragma once
// Lines of an input that never ends, one after the other, and never more of it in memory than a line may have.
#include <cstddef>
#include <functional>
#include <string>

namespace gapscope {

class LineReader {
 public:
  // As read(2): how many bytes there are now, 0 at the end, negative where nothing can be read.
  using Read = std::function<std::ptrdiff_t(char* into, std::size_t size)>;
  enum class Got { line, too_long, end };

  LineReader(Read read, std::size_t most) : read_(std::move(read)), most_(most) {}
  // The next line without its end; of one that is too long nothing. What is behind the last line end is a line, too.
  Got next(std::string& line);

 private:
  bool fill();

  Read read_;
  std::size_t most_;
  std::string rest_;  // read and not given out yet
  std::size_t looked_at_ = 0;
  bool too_long_ = false;  // and its end has not come yet
};

}  // namespace gapscope
