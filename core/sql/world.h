#pragma once
// What the tables read: the session of a trace, and the orders of its rows that SQL alone has. One thread at a time.
#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/analyze/account/time_account.h"
#include "core/analyze/work/work_table.h"
#include "core/diagnose/diagnose.h"
#include "core/session/trace_session.h"
#include "core/sql/arg_store.h"
#include "core/sql/row_index.h"
#include "core/sql/run_source.h"
#include "core/sql/slice_order.h"
#include "core/sql/tracks.h"
#include "core/trace/trace.h"

namespace gapscope {
struct RunReport;
}

namespace gapscope::sql {

class World {
 public:
  World(std::shared_ptr<const TraceSession> session, std::string spill_folder, RunSource run);
  // With a session of its own, that cancel() ends.
  World(std::shared_ptr<const Trace> trace, std::string spill_folder, RunSource run);
  ~World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  const TraceSession& session() const { return *session_; }
  const Trace& trace() const { return session_->trace(); }
  // Set by anybody: what is under way ends soon.
  std::atomic<bool>& cancel() { return cancel_; }
  // Whether a function that takes long by itself is to end: SQLite looks between its steps only. Set by the database.
  std::function<bool()> is_over = [] { return false; };

  const SliceOrder& order();
  const SliceTree& tree();
  const Tracks& tracks();
  ArgStore& args();
  const Diagnosis& diagnosis();
  // The ranks of the run, one trace alone included; and which of them the trace is.
  const RunReport& run();
  static constexpr std::uint32_t kNoRank = 0xFFFF'FFFFu;
  std::uint32_t own_rank();  // position in them
  const RunSource& run_source() const { return run_source_; }
  // Null until a table asked for the ranks.
  const RunReport* run_if_known() const { return run_.get(); }

  // Ids of `slice` by what they have.
  const DenseIndex& by_name();      // by string id
  const DenseIndex& by_track();     // by track id
  const DenseIndex& by_category();  // by position of the category's name among all of them, in the order of bytes
  const DenseIndex& by_parent();    // by id of the parent
  const SparseIndex& by_correlation();
  const SparseIndex& by_external_id();
  // String ids that slices have, in the order of their bytes.
  const std::vector<StringId>& names_in_order();
  bool has_nameless_slices();
  // Flows in the order in which their ends come: positions in Trace::flows; and of each end by slice id.
  struct Flows {
    std::vector<std::uint32_t> order;
    std::unique_ptr<DenseIndex> by_out, by_in;  // flow ids by slice id
  };
  const Flows& flows();
  // First begin to last end of slices and instants; {0, 0} where there are none.
  Span bounds();

  // What `slice` shows as a name: one without is called so, as in Perfetto. Empty: NULL.
  std::string_view shown_name(SliceRow row);

 private:
  template <class T, class Make>
  const T& made(std::unique_ptr<T>& at, Make make) {
    if (!at) at = make();
    return *at;
  }
  std::string spill_folder_;
  RunSource run_source_;
  std::shared_ptr<const RunReport> run_;
  std::shared_ptr<const RunReport> cancelled_run_;  // of no rank
  std::uint32_t own_rank_ = kNoRank;
  std::atomic<bool> cancel_{false};
  std::shared_ptr<const TraceSession> session_;
  std::unique_ptr<SliceOrder> order_;
  std::unique_ptr<SliceTree> tree_;
  std::unique_ptr<Tracks> tracks_;
  std::unique_ptr<ArgStore> args_;
  std::unique_ptr<DenseIndex> by_name_, by_track_, by_category_, by_parent_;
  std::unique_ptr<SparseIndex> by_correlation_, by_external_id_;
  std::unique_ptr<std::vector<StringId>> names_in_order_;
  std::unique_ptr<Flows> flows_;
  std::optional<Span> bounds_;
};

}  // namespace gapscope::sql
