#include "core/diagnose/conditions/graph_breaks_in.h"

#include <string_view>

#include "core/analyze/compiled/compile_id.h"
#include "core/diagnose/conditions/compiled_calls.h"
#include "core/diagnose/conditions/recorded_calls.h"

namespace gapscope {

std::vector<GraphBreak> graph_breaks_in(const Facts& facts) {
  const bool has_resume = !facts.names_matching([](std::string_view n) { return n.find(kResume) != n.npos; }).empty();
  return graph_breaks_of(facts.trace, facts.lanes, facts.links, compiled_regions(facts),
                         cpu_slices_called(facts, kCompiledGraph, kIsCompiledGraph), has_resume);
}

}  // namespace gapscope
