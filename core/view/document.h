#pragma once
// The const world that the window shows: a trace and everything computed from it. Built off the UI thread, shared,
// never changed; the analysis, the counters and the diagnosis join it when the document is already on the screen.
#include <algorithm>
#include <atomic>
#include <future>
#include <memory>

#include "core/base/published.h"
#include "core/diagnose/diagnose.h"
#include "core/index/arranged_lane.h"
#include "core/index/arrow_index.h"
#include "core/session/trace_session.h"
#include "core/trace/trace.h"
#include "core/view/timeline/counter_lanes.h"

namespace gapscope {

class Answers;  // core/view/answers.h

struct Document {
  explicit Document(std::shared_ptr<const Trace> t, const std::atomic<bool>* cancel = nullptr);
  // Null when cancelled; a document made by a constructor that was cancelled meanwhile may lack anything.
  static std::shared_ptr<const Document> make(std::shared_ptr<const Trace> t, const std::atomic<bool>* cancel);

  const std::shared_ptr<const TraceSession> session_owner;
  const TraceSession& session;
  // Of the session.
  const std::shared_ptr<const Trace>& trace_owner;
  const Trace& trace;
  const double index_seconds;  // wall time to make the three indexes
  const LaneIndex& lanes;
  const LinkIndex& links;
  const NameIndex& names;
  const Vendor vendor;  // of its GPUs

  // What was asked about it and what came of that: the UI thread's own, never null.
  const std::shared_ptr<Answers> answers;

  // Other ways to show a lane, or null until they are there.
  const Arrangements* arrangements() const { return arrangements_.get(); }

  // The session, or null while the facts that it prefetches are being worked out.
  const TraceSession* analysis() const { return is_analyzed_ ? &session : nullptr; }
  // What is drawn over time as areas, or null until the facts are there.
  const std::vector<CounterLane>* counters() const { return counters_.get(); }
  // Arrows by time, or null until then.
  const ArrowIndex* arrows() const { return arrows_.get(); }
  // How far that is, from 0 to 1.
  float analysis_fraction() const {
    const std::size_t parts = progress_.parts;
    return parts == 0 ? 0 : static_cast<float>(progress_.done) / static_cast<float>(parts);
  }
  // Works them out, on a thread that may wait; once.
  void analyze(const std::atomic<bool>* cancel = nullptr) const;

  // What limits the run, or null until then: after the analysis.
  const Headline* headline() const { return is_analyzed_ ? session.if_ready<Headline>() : nullptr; }
  // What the rules found, or null while they are at work: after the headline.
  const Diagnosis* diagnosis() const { return is_analyzed_ ? session.if_ready<Diagnosis>() : nullptr; }
  // Lets them look, and analyses before where that is not done; once.
  void diagnose(const std::atomic<bool>* cancel = nullptr) const;
  // The same without what only the window draws: arrangements, counters and arrows are not made.
  void judge(const std::atomic<bool>* cancel = nullptr) const;

 private:
  void arrange(const std::atomic<bool>* cancel) const;
  void find_facts(const std::atomic<bool>* cancel) const;
  std::future<void> begin_work(const std::atomic<bool>* cancel) const;

  mutable PrefetchProgress progress_;
  mutable std::atomic<bool> is_analyzed_{false};
  mutable Published<Arrangements> arrangements_;
  mutable Published<std::vector<CounterLane>> counters_;
  mutable Published<ArrowIndex> arrows_;
};

}  // namespace gapscope
