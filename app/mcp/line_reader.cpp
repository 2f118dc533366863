#include "app/mcp/line_reader.h"

#include <algorithm>
#include <utility>

namespace gapscope {

bool LineReader::fill() {
  constexpr std::size_t kPiece = std::size_t{64} << 10;
  const std::size_t had = rest_.size();
  rest_.resize(had + kPiece);
  const std::ptrdiff_t got = read_(rest_.data() + had, kPiece);
  rest_.resize(had + static_cast<std::size_t>(std::max<std::ptrdiff_t>(got, 0)));
  return got > 0;
}

LineReader::Got LineReader::next(std::string& line) {
  line.clear();
  for (;;) {
    const std::size_t end = rest_.find('\n', looked_at_);
    if (end != std::string::npos || rest_.size() > most_) {
      too_long_ = too_long_ || std::min(end, rest_.size()) > most_;
      if (!too_long_) line = rest_.substr(0, end);
      rest_.erase(0, end == std::string::npos ? end : end + 1);
      looked_at_ = 0;
      if (end != std::string::npos) return std::exchange(too_long_, false) ? Got::too_long : Got::line;
    }
    looked_at_ = rest_.size();
    if (fill()) continue;
    looked_at_ = 0;
    if (std::exchange(too_long_, false)) return rest_.clear(), Got::too_long;
    line = std::exchange(rest_, {});
    return line.empty() ? Got::end : Got::line;
  }
}

}  // namespace gapscope
