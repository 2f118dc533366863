#pragma once
// The tab "What if": the recording replayed with the changes that the person made, worked out by a thread.
#include <array>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/diagnose/diagnose.h"
#include "core/diagnose/verdict.h"
#include "core/replay/path_sums.h"
#include "core/view/whatif/path_row.h"
#include "core/view/whatif/replayed_rows.h"
#include "core/view/whatif/whatif_state.h"

namespace gapscope {

struct Document;

// A run, and what holds it back.
struct ReplayedRun {
  ReplayResult result;
  // Each from where the one before was done to where it is, with the work launched in it: together as long as the run where
  // that is made of whole steps.
  std::vector<ReplayedStep> steps;
  GpuBusy busy;
  Bound next{};
  PathRow path{{}};
  std::array<Ns, kHeldBy> held{};
  std::vector<PathSum> sums;
  SpanSet removed;               // host time that is not spent
  bool is_plain = false;         // without the profiler's
  std::size_t waits_inside = 0;  // waits_between_launches(), those gone that the changes take away
};

struct ReplayBase {
  explicit ReplayBase(const HostTime& h) : host(h) {}

  std::shared_ptr<const ReplayModel> model;
  const HostTime& host;                       // of the document
  std::shared_ptr<const PlainProgram> plain;  // null: what is replayed is the recording
  ReplayedRun now;                            // without a change
  StepShare step;                             // what a step has of a gain
  double profiler = 0;                        // the share of the run that recording may have added

  // Kernels at their roofline; reads the file when first asked. None when cancelled.
  std::optional<Change> roofline(const Document& document, const std::atomic<bool>* cancel) const;

 private:
  mutable std::mutex mutex_;
  mutable std::optional<Change> roofline_;
};

struct WhatIfAnswer {
  WhatIfChanges changes;
  std::shared_ptr<const ReplayBase> base;
  ReplayedRun after;
  std::vector<std::unique_ptr<const ReplayedRow>> rows;  // the GPUs, replayed; none without a change
};

// What an item is about, and what becomes of it: "aten::item (24)", "takes no host time; its waits stay".
struct ItemWords {
  std::string title, what;
};
ItemWords words_of(const Document& document, const WhatIfItem& item);

// The items that a menu offers for a slice: itself, and all of its name; with what GPU work may take. None for what a replay
// cannot change.
struct ItemChoice {
  std::string title;
  const char* help = "";
  WhatIfItem item;
};
std::vector<ItemChoice> choices_for_slice(const Document& document, SliceId slice);
// The same for a row that counts slices of the name of `slice`.
std::vector<ItemChoice> choices_for_name(const Document& document, SliceId slice);

// Changes in text, separated by `;`: "gpu 0.5", "host F", "no-wait", "graph", "overlap-copies", "roofline", "remove NAME" (all
// slices of exactly this name), "plan" (its first remedy). The document is diagnosed.
Result<WhatIfChanges> read_what_if(const Document& document, std::string_view list);

// Adds it, in place of an item about the same; or takes it away.
void set_item(WhatIfChanges& changes, const WhatIfItem& item);
void remove_item(WhatIfChanges& changes, std::size_t position);
bool has_finding(const WhatIfChanges& changes, std::int32_t finding);
void set_finding(WhatIfChanges& changes, std::int32_t finding, bool on);

// What the host was in during a stretch of the run's path that is its own, the longest first; of other stretches nothing.
std::vector<HostShare> host_of_stretch(const Trace& trace, const HostTime& host, const ReplayedRun& run,
                                       const PathStretch& stretch);

}  // namespace gapscope
