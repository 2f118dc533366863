#include "app/cli/overview.h"

#include <array>
#include <cstdio>
#include <future>
#include <optional>
#include <utility>

#include "app/cli/arguments.h"
#include "app/cli/command_line.h"
#include "app/cli/held_recording.h"
#include "app/cli/in_and_out.h"
#include "app/cli/ranks.h"
#include "app/cli/subcommands.h"
#include "app/cli/time_argument.h"
#include "core/base/file_stamp.h"
#include "core/base/output_file.h"
#include "core/base/parallel.h"
#include "core/view/compile/compile_model.h"
#include "core/view/document.h"
#include "core/view/overview/overview_html.h"

namespace gapscope {
namespace {

struct OverviewOptions {
  std::string trace;  // "-" is standard input
  std::string html;   // the file to write; empty: text on stdout
  bool json = false;
  bool with_trace = false;
  std::string from, to;  // of the part that the page holds (time_argument.h); both empty: all of it
  std::string viewer = "web/";
};

int write_html(const OverviewOptions& options, const std::string& html) {
  const std::array inputs = {options.trace};
  const Result<std::string> written = write_file(options.html, html, {.inputs = inputs});
  return written.ok() ? kOk : complain(kBadInput, written.error().message);
}

int hold_recording(const OverviewOptions& options, const Document& document, const std::optional<FileStamp>& stamp,
                   std::optional<HtmlRecording>& out) {
  std::optional<Span> part;
  if (!options.from.empty() || !options.to.empty()) {
    const Span whole = document.trace.span;
    const Result<Span> window = parse_window(options.from, options.to, {whole.begin, whole.end + 1});  // as of a crop
    if (!window) return complain(kUsage, window.error().message);
    part = *window;
  }
  Result<HtmlRecording> held = held_recording(document, stamp, part);
  if (!held) return complain(kBadInput, held.error().message);
  out = std::move(*held);
  out->viewer = options.viewer.ends_with('/') ? options.viewer : options.viewer + '/';
  return kOk;
}

int overview(OverviewOptions options) {
  if (!options.json && options.html.empty())
    if (const int code = enter_run(options.trace); code != kOk) return code;
  const std::optional<FileStamp> stamp = stamp_of(options.trace);
  const std::shared_ptr<const Trace> loaded = load_or_say_why(options.trace);
  if (!loaded) return kBadInput;
  const Document document(loaded);
  std::optional<HtmlRecording> recording;
  if (options.with_trace)
    if (const int code = hold_recording(options, document, stamp, recording); code != kOk) return code;
  std::future<CompileUse> compiled;
  if (!options.json)
    compiled = start([&] {
      return compile_use(document.trace, document.lanes, document.links, document.session.ops(), args_of_file(document.trace));
    });
  document.judge();
  const RunOverview facts = make_overview(document.session);
  if (options.json) return print(overview_json(document.trace, facts, *document.diagnosis()));
  OverviewPage page = overview_page(document.trace, facts, *document.diagnosis(), compiled.get());
  return options.html.empty() ? print(overview_text(page))
                              : write_html(options, overview_html(document, facts, std::move(page), {}, std::move(recording)));
}

}  // namespace

std::function<int()> declare_overview(CLI::App& arguments) {
  auto options = std::make_shared<OverviewOptions>();
  add_trace(arguments, options->trace);
  add_roofs(arguments);
  add_plain(arguments);
  auto* json = arguments.add_flag("--json", options->json, "print JSON");
  auto* html =
      arguments.add_option("--html", options->html, "write a self-contained HTML page")->type_name("FILE")->excludes(json);
  auto* with_trace =
      arguments
          .add_flag("--with-trace", options->with_trace,
                    "include the recording: the page opens it in the web viewer of the same site, and saves it elsewhere")
          ->needs(html);
  arguments.add_option("--from", options->from, std::string("include a part that begins here: ") + kTimeHelp)
      ->type_name("T")
      ->needs(with_trace);
  arguments.add_option("--to", options->to, "and ends here, likewise")->type_name("T")->needs(with_trace);
  arguments.add_option("--viewer", options->viewer, "URL of the web viewer, relative to the page")
      ->type_name("URL")
      ->capture_default_str()
      ->needs(with_trace);
  return [options] { return overview(*options); };
}

}  // namespace gapscope
