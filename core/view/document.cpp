#include "core/view/document.h"

#include "core/base/parallel.h"

namespace gapscope {

Document::Document(std::shared_ptr<const Trace> t)
    : trace_owner(std::move(t)),
      trace(*trace_owner),
      names_under_way_(start([this] { return NameIndex(trace, hardware_threads()); })),
      lanes(trace, hardware_threads()),
      links(trace, lanes),
      names(names_under_way_.get()) {}

void Document::analyze(const std::atomic<bool>* cancel) const {
  if (analysis()) return;
  if (std::unique_ptr<const Analysis> facts = Analysis::make(trace, lanes, links, cancel))
    analysis_.publish(std::move(facts));
}

}  // namespace gapscope
