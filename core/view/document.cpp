#include "core/view/document.h"

namespace gapscope {

Document::Document(std::shared_ptr<const Trace> t)
    : trace_owner(std::move(t)), trace(*trace_owner), lanes(trace), links(trace, lanes), names(trace) {}

}  // namespace gapscope
