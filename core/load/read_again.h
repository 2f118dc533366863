#pragma once
// Going back to the file of a trace that is loaded.
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/load/args.h"
#include "core/load/byte_source.h"
#include "core/trace/trace.h"

namespace gapscope {

// Whether a path is standard input or a pipe: opening it again would wait for a writer, perhaps for ever.
bool is_pipe(const std::string& path);

// Where a trace's text can be read again: what a Trace says of it, and a copy of the text where one was made since.
struct TextAccess {
  explicit TextAccess(const Trace& trace);
  std::string path;
  bool is_plain = false;
  std::shared_ptr<const RestartPoints> restart_points;
  std::shared_ptr<const SpilledText> spilled;
};

// Makes reading events at random quick where the file is packed: its text is inflated once into a nameless file in `folder`.
// Where there is no room all stays as it is. An Error where the file cannot be read, or when it was cancelled.
std::optional<Error> spill(TextAccess& text, const std::string& folder, const std::atomic<bool>* cancel);

// The text from the nearest place at or before `offset` that can be reached at once; `begin` says where that is. An Error where
// the trace came through a pipe whose text was not saved.
Result<std::unique_ptr<ByteSource>> open_text_before(const TextAccess& text, std::uint64_t offset, std::uint64_t& begin);

// As read_args() of a trace.
Result<std::vector<Arg>> read_args(const TextAccess& text, std::uint64_t offset);

// The args of one event from its whole text, in file order. An Error where the text is damaged.
Result<std::vector<Arg>> args_of_event(const std::string& event);

}  // namespace gapscope
