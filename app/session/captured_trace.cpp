#include "app/session/captured_trace.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "core/analyze/captured/captured_work.h"
#include "core/base/file_stamp.h"
#include "core/base/readable_folders.h"
#include "core/base/text.h"
#include "core/base/trace_name.h"
#include "core/load/node_args.h"
#include "core/session/recording.h"

namespace gapscope {
namespace {

namespace fs = std::filesystem;

// vLLM captures up to 67 sizes, each of a rank in a file of its own.
constexpr std::size_t kMostFiles = 128;

// Of another rank than `rank` by its name: "rank_3", "rank-3" or "rank3" in it. -1: not known.
bool is_of_other_rank(const std::string& name, std::int64_t rank) {
  const std::size_t at = name.find("rank");
  if (rank < 0 || at == std::string::npos) return false;
  const std::size_t digits = name.find_first_not_of("_-", at + 4);
  std::int64_t stated = -1;
  if (digits != std::string::npos) std::from_chars(name.data() + digits, name.data() + name.size(), stated);
  return stated >= 0 && stated != rank;
}

// No pipes: a pipe may never get a writer. Nothing that a link leads out to, where reading is confined.
template <class Wanted>
void add_files(const fs::path& folder, const Wanted& wanted, std::set<std::string>& found) {
  std::error_code ignored;
  for (const std::string& name : names_in(folder.string(), ignored)) {
    const std::string path = (folder / name).string();
    if (is_trace_name(name) && wanted(name) && stamp_of(path)) found.insert(path);
  }
}

// Of each capture once, however often it is compared with the trace.
class NodeReader {
 public:
  std::vector<NodeArgs> operator()(const Trace& trace, const std::vector<SliceId>& calls) const {
    if (calls.empty()) return {};
    const auto [known, is_new] = known_->try_emplace({&trace, calls.front()});
    if (is_new)
      for (StatedNode& node : read_stated_nodes(trace, calls)) known->second.push_back({std::move(node.kernel), node.node_id});
    return known->second;
  }

 private:
  using Known = std::map<std::pair<const Trace*, SliceId>, std::vector<NodeArgs>>;
  std::shared_ptr<Known> known_ = std::make_shared<Known>();
};

bool replays_graphs(const Trace& trace) {
  for (std::size_t s = 0; s < trace.strings.size(); ++s)
    if (is_graph_launch_name(trace.strings[StringId(s)])) return true;
  return false;
}

std::vector<std::string> files_of(const std::string& capture) {
  std::error_code ignored;
  if (!fs::is_directory(capture, ignored)) return {capture};
  std::set<std::string> found;
  add_files(
      capture, [](const std::string&) { return true; }, found);
  return {found.begin(), found.end()};
}

Error refused(const Trace& trace, const std::string& capture, const CapturedWork* work) {
  std::string why = work == nullptr ? " It launches none." : "";
  for (const std::string& reason : work != nullptr ? work->reasons() : std::vector<std::string>{}) why += " " + reason;
  return Error{
      fmt::format("{} is not the capture of the graphs that {} replays.{}", printable(capture), printable(trace.path), why)};
}

// Files are read until all work is joined, and none could be joined better. An Error where the only one that is named does not
// open.
Result<std::unique_ptr<const CapturedWork>> join_found(const Trace& trace, const std::vector<std::string>& files, bool named,
                                                       const LoadOptions& options) {
  const NodeReader reader;
  std::vector<std::shared_ptr<const Trace>> others;
  auto work = std::make_unique<const CapturedWork>(trace, others, reader);
  for (const std::string& file : files) {
    if (files.size() > 1 && is_of_other_rank(fs::path(file).filename().string(), rank_of(trace.header).rank)) continue;
    const CapturedWork::Counts& n = work->counts();
    if ((n.joined == n.pieces && n.padded == 0) || others.size() == kMostFiles) break;
    const Result<std::shared_ptr<const Trace>> loaded = load_trace(file, options);
    if (!loaded.ok() && named && files.size() == 1) return loaded.error();
    if (!loaded.ok() || captures_of(**loaded).empty()) continue;
    others.push_back(*loaded);
    work = std::make_unique<const CapturedWork>(trace, others, reader);
  }
  return work;
}

bool holds_other_recording(const CapturedWork& work, const Trace& trace) {
  const std::vector<const Trace*> recordings = work.recordings();
  return std::any_of(recordings.begin(), recordings.end(), [&](const Trace* recording) { return recording != &trace; });
}

LoadOptions without_parts(LoadOptions options) {
  options.on_part = nullptr;
  return options;
}

struct HeldTrace {
  std::string path, capture;
  std::shared_ptr<const Trace> trace;
};
std::vector<HeldTrace>& held_traces() {
  static std::vector<HeldTrace> all;
  return all;
}

}  // namespace

bool is_capture_for(const Trace& trace, const Trace& other) { return replays_graphs(trace) && capture_recording(other); }

std::vector<std::string> capture_files(const std::string& trace_path) {
  const fs::path path = fs::absolute(trace_path), folder = path.parent_path();
  const std::string name = path.filename().string();
  std::set<std::string> found;
  for (const char* word : {"execution", "replay"}) {
    const std::size_t at = name.rfind(word);
    if (at == std::string::npos) continue;
    const fs::path twin = folder / (name.substr(0, at) + "capture" + name.substr(at + std::string_view(word).size()));
    if (stamp_of(twin.string())) found.insert(twin.string());
  }
  add_files(
      folder / "capture_traces", [](const std::string&) { return true; }, found);
  add_files(
      folder,
      [&](const std::string& other) {
        return other != name && (other.starts_with("graph_capture") || other.starts_with("capture_graph"));
      },
      found);
  return {found.begin(), found.end()};
}

Result<std::shared_ptr<const Trace>> join_captures(std::shared_ptr<const Trace> trace, const LoadOptions& options,
                                                   const std::string& capture) {
  std::error_code ignored;
  if (!capture.empty() && !fs::exists(capture, ignored))
    if (const auto missing = load_trace(capture, without_parts(options)); !missing.ok()) return missing.error();
  if (!replays_graphs(*trace)) return capture.empty() ? Result(std::move(trace)) : refused(*trace, capture, nullptr);
  const std::vector<std::string> files = !capture.empty()     ? files_of(capture)
                                         : trace->path == "-" ? std::vector<std::string>{}
                                                              : capture_files(trace->path);
  auto work = join_found(*trace, files, !capture.empty(), without_parts(options));
  if (!work.ok()) return work.error();
  if (!capture.empty() && !holds_other_recording(**work, *trace)) return refused(*trace, capture, work->get());
  if ((*work)->counts().graphs == 0) return trace;
  trace->captured = std::move(*work);
  return trace;
}

void hold_trace(std::string path, std::string capture, std::shared_ptr<const Trace> trace) {
  held_traces().push_back({std::move(path), std::move(capture), std::move(trace)});
}

Result<std::shared_ptr<const Trace>> load_captured_trace(const std::string& path, const LoadOptions& options,
                                                         const std::string& capture) {
  for (const HeldTrace& held : held_traces())
    if (held.path == path && held.capture == capture) {
      held.trace->stated = options.stated;
      return held.trace;
    }
  Result<std::shared_ptr<const Trace>> loaded = load_trace(path, options);
  return loaded.ok() ? join_captures(std::move(*loaded), options, capture) : std::move(loaded);
}

}  // namespace gapscope
