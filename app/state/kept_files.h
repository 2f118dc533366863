#pragma once
// How each trace was looked at, saved between two runs: one small JSON file per trace, named by a hash of the trace's path
// and size. They are state files (app/state/state_files.h).
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "app/state/state_files.h"
#include "core/base/result.h"
#include "core/view/notes/kept_view.h"

namespace gapscope {

// XDG_STATE_HOME/gapscope, else HOME/.local/state/gapscope; empty when neither is known (nothing is saved then).
std::filesystem::path state_folder(const char* xdg_state_home, const char* home);
// Of the trace at an absolute path; empty without a folder, and for standard input.
std::filesystem::path kept_file(const std::filesystem::path& folder, const std::string& trace_path, std::uint64_t trace_bytes);

std::string kept_json(const KeptView& view, const std::string& trace_path);
// nullopt: there is no such file. One that cannot be understood is moved aside, which the Error says.
Result<std::optional<KeptView>> read_kept(const std::filesystem::path& file);
// Of two programs that show the same trace, the later wins whole.
StateWritten write_kept(const std::filesystem::path& file, const KeptView& view, const std::string& trace_path);

// What was stated of the trace at an absolute path, unless something else is stated now. Leaves a broken file alone.
void add_saved(Stated& stated, const std::filesystem::path& folder, const std::string& trace_path, std::uint64_t bytes);

// Those that lie in a window, or reach into it.
std::vector<Note> notes_in(std::vector<Note> notes, Span window);
// Of the trace at an absolute path; none where nothing is known of it.
Result<std::vector<Note>> saved_notes(const std::filesystem::path& folder, const std::string& trace_path, std::uint64_t bytes);
// So that the trace has them when it is opened; how else it was looked at stays. A sentence where they are not.
std::string save_notes(const std::filesystem::path& folder, const std::string& trace_path, std::vector<Note> notes);

}  // namespace gapscope
