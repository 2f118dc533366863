#include "core/load/part_builder.h"

#include "core/build/trace_builder.h"

namespace gapscope {

// A part is a courtesy: the load itself will say what is short.
void PartBuilder::build(const EventStream& stream, std::shared_ptr<Trace> part) {
  if (!on_part_ || busy_) return;
  try {
    BuildInput input{stream.copy_rows(), 1, &cancel_};
    busy_ = true;
    thread_ = Thread(
        [this, input = std::make_shared<BuildInput>(std::move(input)), part = std::move(part)] {
          const bool built = build_trace(std::move(*input), *part);
          part->report = {};
          if (built && part->slice_count() > 0) on_part_(part, cancel_);
          busy_ = false;
        },
        [this]() noexcept { busy_ = false; });
  } catch (...) {
    busy_ = false;
  }
}

}  // namespace gapscope
