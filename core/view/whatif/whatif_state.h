#pragma once
// The state of the tab "What if", owned by TraceView, and what it asks: the recording replayed with changes
// (core/replay/GAIN.md).
#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/base/ids.h"
#include "core/base/time.h"

namespace gapscope {

struct Document;
struct ReplayBase;
struct WhatIfAnswer;

// What takes no time, or a part of it.
struct WhatIfItem {
  enum class Of : std::uint8_t {
    slice,    // one operation, call or stretch of the host
    name,     // all that are named as `slice` is
    gap,      // the host's time while a GPU was idle
    finding,  // the change that its remedy makes
  };
  Of of{};
  SliceId slice;              // of slice and name
  Span span;                  // of gap
  std::int32_t device = 0;    // of gap
  std::int32_t finding = -1;  // position in Diagnosis::findings
  double factor = 0;          // of GPU work: it takes this many times as long
  friend bool operator==(const WhatIfItem&, const WhatIfItem&) = default;
};

constexpr double kMostWhatIfFactor = 2;

struct WhatIfChanges {
  double gpu = 1, host = 1;  // times as long, up to kMostWhatIfFactor
  bool no_wait = false, graph = false, overlap_copies = false, roofline = false;
  std::vector<WhatIfItem> items;  // in the order they were made

  bool empty() const { return *this == WhatIfChanges{}; }
  friend bool operator==(const WhatIfChanges&, const WhatIfChanges&) = default;
};

// What every replay of a trace begins with: asked once.
struct ReplayBaseQuestion {
  using Answer = ReplayBase;
  static constexpr const char* kToDo = "prepare replays";
  friend bool operator==(const ReplayBaseQuestion&, const ReplayBaseQuestion&) = default;
};
std::shared_ptr<const ReplayBase> answer(const Document& document, const ReplayBaseQuestion& question,
                                         const std::atomic<bool>* cancel);

struct WhatIfQuestion {
  using Answer = WhatIfAnswer;
  static constexpr const char* kToDo = "replay the trace";
  WhatIfChanges changes;
  std::shared_ptr<const ReplayBase> base;
  friend bool operator==(const WhatIfQuestion&, const WhatIfQuestion&) = default;
};
std::shared_ptr<const WhatIfAnswer> answer(const Document& document, const WhatIfQuestion& question,
                                           const std::atomic<bool>* cancel);

struct WhatIfState {
  WhatIfChanges changes;
  bool path = false;  // the critical path has a row, and is drawn over the slices
  bool ghost = true;  // the replayed GPUs have rows while there are changes
  bool held = false;  // a slider is held: the answer under way is waited for
};

}  // namespace gapscope
