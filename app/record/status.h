#pragma once
// What recorders report to the `gapscope record` that started their program: a file that all of its processes append to. Each
// entry is one write, so that none falls into another.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gapscope {

struct RecordedTrace {
  std::string path;
  std::int64_t rank = -1;  // -1: none
};

struct Status {
  std::vector<RecordedTrace> traces;
  std::vector<std::string> sentences;
};

// Both fall back to a line on stderr where the file cannot be reached, so that nothing is left unsaid; with SIGPIPE held back.
void tell_trace(const std::string& status, const RecordedTrace& trace);
void tell_sentence(const std::string& status, std::string_view sentence);
// The same for one who has no memory left.
void tell_plainly(const char* status, const char* sentence) noexcept;

Status read_status(const std::string& status);

}  // namespace gapscope
