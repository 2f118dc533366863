#pragma once
// What must happen outside the window's own world, in the order it was asked for. Panels append; app/session does it.
#include <cstddef>
#include <string>
#include <variant>
#include <vector>

#include "core/base/ids.h"
#include "core/base/time.h"
#include "core/view/compare/compare_state.h"
#include "core/view/search/search_model.h"
#include "core/view/selection/area_state.h"
#include "core/view/table/table_model.h"

namespace gapscope {

struct OpenFile {
  std::string path;
  bool beside = false;  // to compare with the open one, not in place of it
};
struct OpenSample {
  std::size_t index = 0;  // position in FrameInput::samples
  bool beside = false;
};
struct BrowseFile {
  bool beside = false;
};                      // the desktop's file chooser; what is chosen there is opened
struct SwapTraces {};   // A is B from now on, and B is A
struct CloseBeside {};  // B, or its load
struct ActOn {
  TraceSide side{};
};                       // what is asked for from here on is about that trace
struct AnalyseAgain {};  // what failed the first time
struct MakeComparison {
  CompareOptions options;
};  // answered in ViewState::compare of a later frame
struct ListFolder {
  std::string path;
};  // answered by FrameInput::folder in a later frame
struct ReadArgs {
  SliceId slice;
};  // answered in ViewState::details of a later frame
struct MakeTable {
  TableQuestion question;
};  // answered in ViewState::table of a later frame
struct MakeKernels {
  Span range;
};  // answered in ViewState::kernels of a later frame
struct MakeSteps {
  std::string annotation;
};  // answered in ViewState::steps of a later frame
struct MakeAreaStats {
  Area area;
};  // answered in ViewState::area of a later frame
struct MakeCallPaths {
  FlameQuestion question;
};  // answered in ViewState::flame of a later frame
struct FindSlices {
  SearchQuestion question;
};  // answered in ViewState::search of a later frame
struct ReloadFile {};
struct CancelLoad {};
struct CloseFile {};
struct DismissMessage {};
struct CopyText {
  std::string text;
};
struct SaveText {
  std::string ending;  // ".table.csv": the file lies beside the trace under a free name
  std::string text;
};
struct KeepMuted {
  std::vector<std::string> rules;
};  // ids of rules whose findings are hidden: remembered in the settings
struct SaveCrop {
  Span window;
};  // the trace's part in that time as a trace of its own, beside it under a free name
struct CopyEvent {
  SliceId slice;
};                     // the slice's event as it stands in the file, to the clipboard
struct StartFresh {};  // the view of last time is not wanted
struct DismissNotice {};
struct TakeScreenshot {
  std::string path;
};  // empty: beside the trace, under a free name
struct SetTitle {
  std::string title;
};
struct Quit {};

using Request = std::variant<OpenFile, OpenSample, BrowseFile, ListFolder, ReadArgs, MakeTable, MakeKernels, MakeSteps,
                             MakeAreaStats, MakeCallPaths, FindSlices, SwapTraces, CloseBeside, ActOn, AnalyseAgain,
                             MakeComparison, ReloadFile, CancelLoad, CloseFile, DismissMessage, SaveCrop, CopyEvent, StartFresh,
                             DismissNotice, CopyText, SaveText, KeepMuted, TakeScreenshot, SetTitle, Quit>;

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
};

}  // namespace gapscope
