#pragma once
// Traces of the beginning of a file, built beside the load that still reads the rest.
#include <atomic>
#include <functional>
#include <memory>

#include "core/base/parallel.h"
#include "core/load/event_stream.h"
#include "core/trace/trace.h"

namespace gapscope {

class PartBuilder {
 public:
  using OnPart = std::function<void(std::shared_ptr<const Trace>, const std::atomic<bool>&)>;

  explicit PartBuilder(OnPart on_part) : on_part_(std::move(on_part)) {}
  // Stops and waits: within 100 ms.
  ~PartBuilder() { stop(); }
  PartBuilder(const PartBuilder&) = delete;
  PartBuilder& operator=(const PartBuilder&) = delete;

  // Copies what `stream` has (between two of its runs) and builds `part` from it on another thread, then hands it to
  // `on_part`. While an earlier part is still being built this one is left out: the machine is busy enough. So it is where
  // memory or a thread is not to be had.
  void build(const EventStream& stream, std::shared_ptr<Trace> part);
  // No part is wanted any more.
  void stop() { cancel_ = true; }

 private:
  OnPart on_part_;
  std::atomic<bool> cancel_{false};
  std::atomic<bool> busy_{false};
  Thread thread_;  // last: it uses the above, and is joined before they go
};

}  // namespace gapscope
