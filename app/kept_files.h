#pragma once
// How each trace was looked at, kept between two runs: one small JSON file per trace, named by a hash of the trace's path
// and size. Written by a thread of its own a little after the last change, and at the end.
#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <mutex>
#include <optional>
#include <string>

#include "core/base/parallel.h"
#include "core/base/result.h"
#include "core/view/kept_view.h"

namespace gapscope {

// XDG_STATE_HOME/gapscope, else HOME/.local/state/gapscope; empty when neither is known (nothing is kept then).
std::filesystem::path state_folder(const char* xdg_state_home, const char* home);
// Of the trace at an absolute path; empty without a folder, and for standard input.
std::filesystem::path kept_file(const std::filesystem::path& folder, const std::string& trace_path, std::uint64_t trace_bytes);

std::string kept_json(const KeptView& kept, const std::string& trace_path);
// nullopt: there is no such file. A file that cannot be understood gives an Error that names it.
Result<std::optional<KeptView>> read_kept(const std::filesystem::path& file);
std::optional<Error> write_kept(const std::filesystem::path& file, const KeptView& kept, const std::string& trace_path);

// Writes what is put in after it has rested, and what is left at the end. A failure is kept for trouble().
class KeptWriter {
 public:
  explicit KeptWriter(std::chrono::milliseconds rest = std::chrono::seconds(2));
  ~KeptWriter();
  KeptWriter(const KeptWriter&) = delete;
  KeptWriter& operator=(const KeptWriter&) = delete;

  void put(const std::filesystem::path& file, KeptView kept, std::string trace_path);
  // Writes at once what has not rested yet: another trace comes.
  void flush();
  // The last failure, once.
  std::optional<Error> trouble();

 private:
  struct Waiting {
    std::filesystem::path file;
    KeptView kept;
    std::string trace_path;
  };
  void run(const std::stop_token& stop);
  void write(Waiting waiting);

  std::chrono::milliseconds rest_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::optional<Waiting> waiting_;
  bool at_once_ = false;
  std::chrono::steady_clock::time_point due_;
  std::optional<Error> trouble_;
  Thread thread_;  // last: it must stop before the rest goes
};

}  // namespace gapscope
