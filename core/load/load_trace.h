#pragma once
// A file (or bytes) in, a Trace out. The only way in; any thread may call it.
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "core/base/result.h"
#include "core/trace/trace.h"

namespace gapscope {

// Shared between a loading thread and its observers. All fields may be read at any time.
struct LoadProgress {
  std::atomic<std::uint64_t> bytes_done{0};   // of the file on disk
  std::atomic<std::uint64_t> bytes_total{0};  // 0 when unknown (a pipe)
  std::atomic<std::uint64_t> events{0};
  std::atomic<int> stage{0};        // LoadStage
  std::atomic<bool> cancel{false};  // set by the watcher; the load ends within 100 ms with the Error "Cancelled."
};
enum class LoadStage : int { opening, reading, building, indexing, done };
std::string_view load_stage_name(LoadStage stage);

struct LoadOptions {
  int threads = 0;                   // 0: as many as the machine has
  std::size_t batch_bytes = 0;       // 0: the default; tests use tiny ones
  LoadProgress* progress = nullptr;  // may be null
  // Folder for a nameless temporary file that keeps the text of a file which can only be read from its start (xz, zst,
  // a pipe), so that read_args() need not do so. Empty: nothing is saved.
  std::string spill_folder;
  Stated stated{};  // of the trace
  // Called on another thread while a large file is still being read, with a trace of what is there so far (is_part):
  // at 1/50 and 1/12 of its bytes, which costs the load 5 %. What the call does ends early, and to no avail,
  // once `cancel` is set; no call is under way any more when the load returns. Empty: no parts are made.
  std::function<void(std::shared_ptr<const Trace> part, const std::atomic<bool>& cancel)> on_part;
  std::uint64_t least_bytes_for_parts = std::uint64_t{200} << 20;  // of the file's text, as far as that is known
};

// Plain or compressed (gzip; xz and zstd where the library was found), object or bare-array form; "-" is standard input.
Result<std::shared_ptr<const Trace>> load_trace(const std::string& path, const LoadOptions& options = {});
// The same for text in memory; `name` appears in messages.
Result<std::shared_ptr<const Trace>> load_trace_from_text(std::string_view text, const std::string& name = "text",
                                                          const LoadOptions& options = {});

}  // namespace gapscope
