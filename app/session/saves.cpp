#include "app/session/saves.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <filesystem>
#include <utility>

#include "app/state/kept_files.h"
#include "app/state/sibling_name.h"
#include "core/base/text.h"
#include "core/index/choose_crop.h"
#include "core/load/args.h"
#include "core/load/crop.h"
#include "core/view/document.h"
#include "core/view/overview/overview_html.h"

namespace gapscope {
namespace {

ActionQueue::Done saved(const std::string& path, const std::string& text, const OutputOptions& options) {
  const Result<std::string> at = write_file(path, text, options);
  if (!at) return {.say = at.error().message};
  return {.say = "Saved " + *at, .saved = *at};
}

}  // namespace

void Saves::save_to(const std::string& path, Save save) {
  if (!chooser_.can_save()) return save(path, IfTaken::number);
  const std::filesystem::path at(path);
  asked_ = {path, std::move(save)};
  chooser_.ask({.folder = at.parent_path().string(), .save_as = at.filename().string()});
}

void Saves::take_place(const FileChooser::Answer& chosen) {
  const std::optional<Asked> asked = std::exchange(asked_, std::nullopt);
  if (!asked) return;
  if (!chosen.was_shown)
    asked->save(asked->path, IfTaken::number);
  else if (!chosen.paths.empty())
    asked->save(chosen.paths.front(), IfTaken::replace);
}

void Saves::crop(std::shared_ptr<const Document> document, std::optional<FileStamp> stamp, Span window,
                 std::vector<Note> notes) {
  if (!document) return;
  notes = notes_in(std::move(notes), window);
  const std::string usual = sibling_name(document->trace.path, ".part.json.gz");
  save_to(usual, [this, document = std::move(document), window, stamp, notes = std::move(notes)](const std::string& path,
                                                                                                 IfTaken if_taken) {
    tell_("Saving that part of the trace...");
    actions_.add(
        "save that part of the trace",
        [document, window, stamp, notes, states = states_, path, if_taken](std::atomic<bool>& cancel) -> ActionQueue::Done {
          const CropChoice choice = choose_crop(document->trace, document->links, window);
          const Result<CropFigures> figures =
              write_crop(document->trace, choice, path, {.stamp = stamp, .if_taken = if_taken, .cancel = &cancel});
          if (!figures) return {.say = figures.error().message};
          std::string remarks;
          for (const std::string& remark : figures->remarks()) remarks += "; " + remark;
          if (const std::string lost = save_notes(states, figures->path, notes); !lost.empty())
            remarks += "; without the notes: " + lost;
          return {.say = "Saved " + figures->path + " with " + format_count(static_cast<std::int64_t>(choice.slice_count)) +
                         " slices" + remarks,
                  .saved = figures->path};
        });
  });
}

void Saves::html(std::shared_ptr<const Document> document, std::vector<Note> notes) {
  if (!document) return;
  const std::string usual = sibling_name(document->trace.path, ".overview.html");
  save_to(usual, [this, document = std::move(document), notes = std::move(notes)](const std::string& path, IfTaken if_taken) {
    actions_.add("save the overview", [document, notes, path, if_taken](std::atomic<bool>&) {
      const std::array inputs{document->trace.path};
      return saved(path, overview_html(*document, notes), {.inputs = inputs, .if_taken = if_taken});
    });
  });
}

void Saves::text(const std::string& trace, const SaveText& what) {
  actions_.add("save the text", [path = sibling_name(trace, what.ending), text = what.text](std::atomic<bool>&) {
    return saved(path, text, {.if_taken = IfTaken::number});
  });
}

void Saves::copy_event(std::shared_ptr<const Document> document, SliceId slice) {
  actions_.add("copy the event", [document = std::move(document), slice](std::atomic<bool>&) -> ActionQueue::Done {
    const Trace& trace = document->trace;
    const Result<std::string> text = read_event_text(trace, trace.slices.offset[slice.index()]);
    if (!text) return {.say = text.error().message};
    return {.copy = *text};
  });
}

}  // namespace gapscope
