#pragma once
// What must happen outside the window's own world, in the order it was asked for. Panels append; app/session does it.
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/base/ids.h"
#include "core/base/time.h"
#include "core/view/answers.h"
#include "core/view/compare/compare_state.h"
#include "core/view/editor_settings.h"
#include "core/view/notes/notes_model.h"

namespace gapscope {

struct OpenFile {
  std::string path;
  bool as_second = false;  // to compare with the open one, not in place of it
};
struct OpenSample {
  std::size_t index = 0;  // position in FrameInput::samples
  bool as_second = false;
};
// The desktop's file chooser; what is chosen there is opened.
struct BrowseFile {
  bool as_second = false;
};
// A is B from now on, and B is A.
struct SwapTraces {};
// B, or its load.
struct CloseSecond {};
// What is asked for from here on is about that trace.
struct ActOn {
  TraceSide side{};
};
// Answered alongside that document in a later frame (core/view/answers.h).
struct Ask {
  const Document* document = nullptr;
  AnyQuestion question;
};
// Answered in WindowState::compare of a later frame.
struct MakeComparison {
  CompareOptions options;
};
// Answered by FrameInput::folder in a later frame.
struct ListFolder {
  std::string path;
};
struct ReloadFile {};
// A step of the open trace, measured without a profiler; none: it is estimated. The file is read and judged again.
struct StateStepTime {
  std::optional<Ns> step;
};
// The annotation of the open trace that is the steps (Stated::steps); empty: as they are found. The file is read and judged
// again.
struct StateSteps {
  std::string annotation;
};
struct CancelLoad {};
struct CloseFile {};
// What was saved, in the desktop's program for such files.
struct OpenOnDesktop {
  std::string path;
};
struct DismissMessage {};
struct CopyText {
  std::string text;
};
struct SaveText {
  std::string ending;  // ".table.csv": the file is next to the trace under a free name
  std::string text;
};
// Shows a line of a source file in the person's editor.
struct OpenInEditor {
  std::string file;
  std::int64_t line = 1;
};
// Source files below this folder may be read and shown from now on.
struct AllowSources {
  std::string folder;
};
// Remembered in the settings.
struct KeepEditor {
  EditorSettings editor;
};
// The page on which that is chosen.
struct ShowEditorPage {};
// Ids of rules whose findings are hidden: remembered in the settings.
struct KeepMuted {
  std::vector<std::string> rules;
};
// Queries of the tab "SQL": remembered in the settings.
struct KeepQueries {
  std::vector<std::string> recent, saved;
};
// The trace's part in that time as a trace of its own, alongside it under a free name.
struct SaveCrop {
  Span window;
};
// The overview with these notes as an HTML file next to the trace.
struct SaveHtml {
  std::vector<Note> notes;
};
// The slice's event as it is in the file, to the clipboard.
struct CopyEvent {
  SliceId slice;
};
// The view of last time is not wanted.
struct StartFresh {};
struct DismissNotice {};
// PyTorch programs that run already, and ask whether to record, are listened for, or no longer (FrameInput::attach).
struct ListenForPrograms {
  bool on = false;
};
// They record, and what they write is opened; several are opened as the ranks of one run.
struct RecordPrograms {
  std::vector<std::int64_t> pids;
  Ns duration = 500'000'000;
  bool shapes = false, memory = false, stacks = false;
  std::string folder;      // in which one is made for them; empty: AttachView::folder
  bool as_second = false;  // to compare with the open one, not in place of it
};
// The same of the last one that came to a trace, to compare with the open one.
struct RecordAgain {};
struct CancelRecording {};
// The page on which that is chosen.
struct ShowAttachPage {};
// Empty: alongside the trace, under a free name.
struct TakeScreenshot {
  std::string path;
};
struct SetTitle {
  std::string title;
};
struct Quit {};

using Request = std::variant<OpenFile, OpenSample, BrowseFile, ListFolder, Ask, SwapTraces, CloseSecond, ActOn, MakeComparison,
                             ReloadFile, StateStepTime, StateSteps, CancelLoad, CloseFile, DismissMessage, SaveCrop, CopyEvent,
                             StartFresh, DismissNotice, OpenInEditor, AllowSources, CopyText, SaveText, KeepMuted, KeepQueries,
                             TakeScreenshot, SetTitle, Quit, SaveHtml, KeepEditor, ShowEditorPage, ListenForPrograms,
                             RecordPrograms, RecordAgain, CancelRecording, ShowAttachPage, OpenOnDesktop>;

struct Requests {
  std::vector<Request> list;

  void add(Request request) { list.push_back(std::move(request)); }
  template <class R>
  bool has() const {
    for (const Request& r : list) {
      if (std::holds_alternative<R>(r)) return true;
    }
    return false;
  }
  // Whether there was one; it is gone then.
  template <class R>
  bool take() {
    return std::erase_if(list, [](const Request& r) { return std::holds_alternative<R>(r); }) > 0;
  }
};

// Asks for the answer to `question`, once: until it is another one.
template <class Q>
void ask(const Document& document, Q question, Requests& out) {
  Asked<Q>& at = asked<Q>(document);
  if (at.question == question) return;
  out.add(Ask{&document, question});
  at.trouble.clear();
  at.question = std::move(question);
}

}  // namespace gapscope
