#pragma once
// The const world that the window shows: a trace and everything computed from it. Built off the UI thread, shared, never changed.
#include <future>
#include <memory>

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
};

}  // namespace gapscope
