#pragma once
// The const world that the window shows: a trace and everything computed from it. Built off the UI thread, shared,
// never changed; only the analysis joins it when the document is already on the screen.
#include <atomic>
#include <future>
#include <memory>

#include "core/analyze/analysis.h"
#include "core/base/late.h"
#include "core/index/lane_index.h"
#include "core/index/link_index.h"
#include "core/index/name_index.h"
#include "core/trace/trace.h"

namespace gapscope {

struct Document {
  explicit Document(std::shared_ptr<const Trace> t);

  std::shared_ptr<const Trace> trace_owner;
  const Trace& trace;

 private:
  std::future<NameIndex> names_under_way_;  // built beside the links

 public:
  LaneIndex lanes;
  LinkIndex links;
  NameIndex names;

  // The facts, or null while they are being worked out.
  const Analysis* analysis() const { return analysis_.get(); }
  // Works them out, on a thread that may wait; once.
  void analyze(const std::atomic<bool>* cancel = nullptr) const;

 private:
  mutable Late<Analysis> analysis_;
};

}  // namespace gapscope
