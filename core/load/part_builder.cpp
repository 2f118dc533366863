#include "core/load/part_builder.h"

#include <new>

#include "core/trace/trace_builder.h"

namespace gapscope {

void PartBuilder::build(const EventStream& stream, std::shared_ptr<Trace> part) {
  if (!on_part_ || busy_) return;
  try {
    BuildInput input{stream.copy_rows(), 1, &cancel_};
    busy_ = true;
    thread_ = Thread([this, input = std::make_shared<BuildInput>(std::move(input)), part = std::move(part)] {
      try {
        const bool built = build_trace(std::move(*input), *part);
        part->report = {};
        if (built && part->slice_count() > 0) on_part_(part, cancel_);
      } catch (const std::bad_alloc&) {
        // A part is a courtesy; the load will say what is short.
      }
      busy_ = false;
    });
  } catch (const std::bad_alloc&) {
    busy_ = false;
  }
}

}  // namespace gapscope
