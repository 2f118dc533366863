#pragma once
// How a trace was looked at, in words that outlive the trace's numbers: lanes are named by process and lane keys. What is
// saved between two runs, and across a reload. Needs folds that were reset for the trace.
#include <optional>
#include <string>
#include <vector>

#include "core/trace/trace.h"
#include "core/view/view_state.h"

namespace gapscope {

struct KeptLane {
  std::string process, lane;
  bool is_async = false;
  bool collapsed = false, hidden = false, pinned = false;
  friend bool operator==(const KeptLane&, const KeptLane&) = default;
};

struct KeptProcess {
  std::string key;
  bool collapsed = false, streams_together = false;
  friend bool operator==(const KeptProcess&, const KeptProcess&) = default;
};

struct KeptSlice {
  std::string process, lane, name;
  bool is_async = false;
  Span span;
  friend bool operator==(const KeptSlice&, const KeptSlice&) = default;
};

struct KeptView {
  Span visible;
  double scroll_px = 0;
  std::string tab;  // a panel's id; empty: the first
  std::optional<Span> range;
  std::optional<KeptSlice> selection;
  std::vector<KeptLane> lanes;  // in the order they were put in
  std::vector<KeptProcess> processes;
  std::string filter;
  Ns step_time = 0;          // without the profiler, as the user states it (Stated::step_time); 0: nothing is stated
  std::string stated_steps;  // Stated::steps
  std::string steps;         // the annotation chosen in the tab Steps; empty: none was
  bool python_folded = true;
  bool compact = false;
  std::vector<Note> notes;
  friend bool operator==(const KeptView&, const KeptView&) = default;
};

// All but the tab, which only ui/ can name.
KeptView keep_view(const Trace& trace, const TraceView& view);
// How a trace is looked at before any input.
KeptView fresh_view(const Trace& trace);
// Equal but for what a fresh start leaves, notes, and what the user need not have changed: the order of lanes comes from the
// account, too, the tab and how Python and depths are drawn from the settings.
bool look_alike(KeptView a, KeptView b);
// Lanes and processes that the trace no longer has are passed over, new ones stay as they are, behind the known ones. Of one
// that shows no time, as what a crop took along, come the notes alone.
void restore_view(const KeptView& kept, const Trace& trace, TraceView& view);

}  // namespace gapscope
