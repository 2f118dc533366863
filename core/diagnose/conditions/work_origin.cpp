#include "core/diagnose/conditions/work_origin.h"

#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "core/analyze/captured/captures.h"
#include "core/diagnose/conditions/conditions.h"

namespace gapscope {
namespace {

// Around a captured operator, innermost first, until `use` says that it is enough.
template <class Use>
void walk_captured(const WorkOrigin& origin, Use use) {
  const std::vector<SliceId> around = slices_around(*origin.by.trace, origin.by.call);
  auto at = std::find(around.begin(), around.end(), origin.by.op);
  while (at != around.begin())
    if (use(*--at)) return;
}

}  // namespace

std::string_view WorkOrigin::text(StringId OpRow::*member) const {
  const OpRow* row = by.op ? by.trace->op_row(by.op) : nullptr;
  return row != nullptr && row->*member ? by.trace->strings[row->*member] : std::string_view{};
}

WorkOrigin origin_of(const Facts& facts, const GpuOp& op) {
  const OperatorCall by = operator_call(facts.trace, facts.links, facts.row(op));
  return {by, by.joined ? op.launch : SliceId{}};
}

std::string_view aten_around(const Facts& facts, const WorkOrigin& origin) {
  std::string_view found;
  if (!origin) return found;
  if (!origin.by.joined) {
    const SliceId outer = facts.ancestor(origin.by.op, kIsAten);
    return outer ? facts.trace.name(outer) : found;
  }
  walk_captured(origin, [&](SliceId s) {
    const std::string_view name = origin.by.trace->name(s);
    if (origin.by.trace->kind(s) == Kind::op && name.starts_with("aten::")) found = name;
    return !found.empty();
  });
  return found;
}

bool is_compiled_code(std::string_view name) {
  return name.starts_with("Torch-Compiled Region") || name.starts_with("## Call CompiledFxGraph");
}

bool CompiledOrigins::hold(const WorkOrigin& origin) {
  if (!origin) return false;
  if (!origin.by.joined) return in_compiled_code(facts_, origin.by.op);
  const auto [at, is_new] = captured_.try_emplace({origin.by.trace, origin.by.op});
  bool& is_compiled = at->second;
  if (!is_new) return is_compiled;
  is_compiled = is_compiled_code(origin.name());
  walk_captured(origin, [&](SliceId s) { return is_compiled |= is_compiled_code(origin.by.trace->name(s)); });
  return is_compiled;
}

void mark_joined(Finding& finding, std::size_t joined, std::size_t all) {
  if (joined == 0) return;
  finding.summary += joined == all ? std::string(" Operators are those of the capture of the replayed graphs.")
                                   : fmt::format(" The operators of {} are those of the capture of replayed graphs.",
                                                 counted(joined, "kernel"));
  finding.evidence.add("joined", joined);
}

}  // namespace gapscope
