// `gapscope crop`: a part of a trace as a file of its own.
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include <fmt/format.h>

#include "app/cli/arguments.h"
#include "app/cli/command_line.h"
#include "app/cli/in_and_out.h"
#include "app/cli/subcommands.h"
#include "app/cli/time_argument.h"
#include "app/state/kept_files.h"
#include "core/base/output_file.h"
#include "core/base/phrase.h"
#include "core/base/text.h"
#include "core/index/choose_crop.h"
#include "core/load/crop.h"
#include "core/load/load_trace.h"
#include "core/session/trace_session.h"

namespace gapscope {
namespace {

struct CropOptions {
  std::string trace;
  std::string from, to;  // see time_argument.h; empty: the trace's begin or end
  std::vector<std::string> lanes;
  std::string output;
};

std::string lines_of(const CropChoice& choice, const CropFigures& figures) {
  std::string out =
      fmt::format("{} holds {} in {} ({} of text)\n", printable(figures.path), counted(choice.slice_count, "slice"),
                  counted(figures.events, "event"), format_bytes(figures.text_bytes));
  if (choice.partners != 0)
    out += fmt::format("  {} slices outside the window or the lanes belong to kernels or calls inside\n",
                       format_count(static_cast<std::int64_t>(choice.partners)));
  for (const std::string& remark : figures.remarks()) out += "  " + remark + '\n';
  return out;
}

std::string absolute_path(const std::string& path) {
  std::error_code trouble;
  const std::filesystem::path whole = std::filesystem::absolute(path, trouble).lexically_normal();
  return trouble ? path : whole.string();
}

// The notes of the window go along. A line where there are any.
std::string notes_line(const Trace& trace, const CropOptions& options, Span window) {
  if (options.trace == "-" || is_standard_output(options.output)) return {};
  const std::filesystem::path folder = state_folder(std::getenv("XDG_STATE_HOME"), std::getenv("HOME"));
  Result<std::vector<Note>> notes = saved_notes(folder, absolute_path(options.trace), trace.figures.file_bytes);
  std::string lost = notes ? "" : notes.error().message;
  const std::vector<Note> inside = notes ? notes_in(std::move(*notes), window) : std::vector<Note>{};
  if (!inside.empty()) lost = save_notes(folder, absolute_path(options.output), inside);
  if (!lost.empty()) return fmt::format("  without its notes: {}\n", lost);
  return inside.empty() ? "" : fmt::format("  with {}\n", counted(inside.size(), "note"));
}

int crop(const CropOptions& options) {
  LoadOptions load = load_options();
  if (options.trace == "-") load.spill_folder = spill_folder();  // it is read a second time
  const std::optional<FileStamp> stamp = stamp_of(options.trace);
  const Result<std::shared_ptr<const Trace>> loaded = load_trace(options.trace, load);
  if (!loaded) return complain(kBadInput, loaded.error().message);
  const Trace& trace = **loaded;
  // A slice without length that ends the trace is part of it.
  const Result<Span> window = parse_window(options.from, options.to, {trace.span.begin, trace.span.end + 1});
  if (!window) return complain(kUsage, window.error().message);
  const TraceSession session(*loaded);
  const CropChoice choice = choose_crop(trace, session.links(), *window, options.lanes);
  const Result<CropFigures> figures = write_crop(trace, choice, options.output, {.stamp = stamp});
  if (!figures) return complain(kBadInput, figures.error().message);
  const std::string lines = lines_of(choice, *figures) + notes_line(trace, options, *window);
  if (!is_standard_output(options.output)) return print(lines);
  std::fputs(lines.c_str(), stderr);  // the trace itself goes there
  return kOk;
}

}  // namespace

std::function<int()> declare_crop(CLI::App& arguments) {
  auto options = std::make_shared<CropOptions>();
  arguments.add_option("TRACE", options->trace, "the trace; - for standard input")->required();
  arguments.add_option("--from", options->from, std::string("start of the window: ") + kTimeHelp)->type_name("T");
  arguments.add_option("--to", options->to, "end of the window, likewise")->type_name("T");
  arguments.add_option("--lanes", options->lanes, "only lanes whose title, or whose process's title, holds one of these")
      ->type_name("TEXT...");
  arguments.add_option("-o,--output", options->output, "the .json or .json.gz to write")->required();
  arguments.footer(
      "Saves every slice that overlaps the window, in full. Kernels, copies and memsets are saved with their launch call and\n"
      "their operator, also from outside the window. Also saved: flows between these slices, instants and counters in the\n"
      "window, all names, and everything outside the events. The text of events does not change. Notes of the window are\n"
      "saved with the trace.");
  return [options] { return crop(*options); };
}

}  // namespace gapscope
