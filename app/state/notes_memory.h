#pragma once
// Remembers the notes of traces that ViewMemory does not: of the one that is compared with, and of both that changed places.
// They are in the trace's saved view; what else is there is left as it is. Lives on the UI thread.
#include <array>
#include <filesystem>
#include <memory>
#include <optional>
#include <vector>

#include "app/state/kept_files.h"
#include "core/view/view_state.h"

namespace gapscope {

struct Document;

class NotesMemory {
 public:
  // Without a folder nothing is remembered. The writer must outlive it.
  NotesMemory(std::filesystem::path folder, StateWriter& writer) : folder_(std::move(folder)), writer_(writer) {}

  // A trace was opened. An Error: what was saved of it cannot be used.
  std::optional<Error> adopt(const std::shared_ptr<const Document>& document);
  // From now on the notes of one that the window shows are remembered here; `now`: how it is looked at.
  void take_over(const std::shared_ptr<const Document>& document, KeptView now);
  void let_go(const Document& document);
  // Null where this one's are not remembered here.
  const std::vector<Note>* of(const Document& document) const;
  // What the window has shown in the last frame, by TraceSide. Notes come to a trace that it shows for the first time.
  void track(const std::array<std::shared_ptr<const Document>, 2>& shown, ViewState& view);

 private:
  struct Entry {
    std::weak_ptr<const Document> document;
    KeptView view;
    bool is_shown = false;
  };
  std::filesystem::path folder_;
  StateWriter& writer_;
  std::vector<Entry> entries_;
};

}  // namespace gapscope
