#pragma once
// What holds a run of several ranks back: backwards from its end, each time to what was waited for, and where a collective
// waited for the last of its ranks, over to that one.
#include <array>
#include <atomic>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/ranks/run_replay.h"
#include "core/replay/path.h"

namespace gapscope {

struct RunStretch {
  Span span;               // on the axis of the ranks, of the replayed run
  std::uint32_t rank = 0;  // position in the run
  PathStretch stretch;     // in that rank's file
};
struct RunPath {
  RunReplay replay;
  Span run;                      // on the axis
  std::vector<RunStretch> path;  // in time order; they touch, and together they are `run`
  std::array<Ns, kHeldBy> by{};  // by HeldBy
  std::vector<Ns> by_rank;       // by position in the run
  bool cancelled = false;
};
RunPath run_path(const RunReport& report, const RunChange& change = {}, const std::atomic<bool>* cancel = nullptr);

struct RunPathSum {
  HeldBy by{};
  std::optional<IdleCause> cause;  // of the host: what it was in
  std::string what;                // that, or held_by_words(), for people
  std::string name;                // of the operation, the call that waited, what the host was in; may be empty
  std::uint32_t rank = 0;          // position in the run
  Ns time = 0;
};
// By rank, cause and name, most time first; together they are as long as the run. Reads the files of the ranks that the path
// goes through again, one at a time: of one that is gone no name is known.
std::vector<RunPathSum> run_path_sums(const RunReport& report, const RunPath& path, const std::atomic<bool>* cancel = nullptr);

}  // namespace gapscope
