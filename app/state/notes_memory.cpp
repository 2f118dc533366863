#include "app/state/notes_memory.h"
#include "core/view/document.h"

#include <string>
#include <utility>

namespace gapscope {

std::optional<Error> NotesMemory::adopt(const std::shared_ptr<const Document>& document) {
  if (folder_.empty()) return std::nullopt;
  const Trace& trace = document->trace;
  Result<std::optional<KeptView>> saved = read_kept(kept_file(folder_, trace.path, trace.figures.file_bytes));
  if (!saved) return saved.error();
  take_over(document, *saved ? std::move(**saved) : fresh_view(trace));
  entries_.back().is_shown = false;
  return std::nullopt;
}

void NotesMemory::take_over(const std::shared_ptr<const Document>& document, KeptView now) {
  let_go(*document);
  entries_.push_back({document, std::move(now), true});
}

void NotesMemory::let_go(const Document& document) {
  std::erase_if(entries_, [&](const Entry& entry) {
    const std::shared_ptr<const Document> of = entry.document.lock();
    return !of || of.get() == &document;
  });
}

const std::vector<Note>* NotesMemory::of(const Document& document) const {
  for (const Entry& entry : entries_)
    if (entry.document.lock().get() == &document) return &entry.view.notes;
  return nullptr;
}

void NotesMemory::track(const std::array<std::shared_ptr<const Document>, 2>& shown, ViewState& view) {
  for (Entry& entry : entries_) {
    const std::shared_ptr<const Document> document = entry.document.lock();
    const std::size_t side = document == shown[0] ? 0 : 1;
    if (!document || document != shown[side]) {
      entry.is_shown = false;
      continue;
    }
    std::vector<Note>& notes = view.traces[side].notes.notes;
    if (!std::exchange(entry.is_shown, true)) {
      notes = entry.view.notes;
      view.traces[side].edits = {};  // no change that undo takes back
    }
    if (notes == entry.view.notes) continue;
    entry.view.notes = notes;
    const std::string& path = document->trace.path;
    std::filesystem::path file = kept_file(folder_, path, document->trace.figures.file_bytes);
    if (!file.empty()) writer_.put(file, [file, now = entry.view, path] { return write_kept(file, now, path); });
  }
}

}  // namespace gapscope
