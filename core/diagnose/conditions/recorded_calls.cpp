#include "core/diagnose/conditions/recorded_calls.h"

#include <algorithm>
#include <tuple>

namespace gapscope {

std::vector<SliceId> cpu_slices_called(const Facts& facts, std::string_view prefix, std::uint32_t bits) {
  std::vector<SliceId> out;
  for (const StringId name : facts.names_matching([&](std::string_view n) { return n.starts_with(prefix); }))
    for (const SliceId s : facts.names.slices_named(name))
      if (facts.own(s) & bits) out.push_back(s);
  const auto key = [&](SliceId s) { return std::tuple(facts.trace.begin(s), -facts.trace.end(s), s.value); };
  std::sort(out.begin(), out.end(), [&](SliceId a, SliceId b) { return key(a) < key(b); });
  return out;
}

std::optional<WorkCall> recorded_call(const Facts& facts, SliceId op) {
  const OpRow* row = facts.trace.op_row(op);
  if (row == nullptr || !row->input_dims) return std::nullopt;
  return parse_call(facts.trace.name(op), facts.trace.strings[row->input_dims],
                    row->input_types ? facts.trace.strings[row->input_types] : std::string_view{}, {});
}

}  // namespace gapscope
