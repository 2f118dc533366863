#include "core/diagnose/conditions/matmul_calls.h"

#include <algorithm>

namespace gapscope {
namespace {

template <class Use>
void for_each_op(const Facts& facts, std::string_view name, Use use) {
  for (const StringId id : facts.names_matching([&](std::string_view n) { return n == name; }))
    for (const SliceId s : facts.names.slices_named(id))
      if (facts.own(s) & kIsOp) use(s);
}

}  // namespace

std::vector<SliceId> matmuls_with_child(const Facts& facts, std::string_view child) {
  std::vector<SliceId> out;
  for_each_op(facts, child, [&](SliceId s) {
    const SliceId parent = facts.parent(s);
    if (parent && (facts.own(parent) & kIsOp) && facts.trace.name(parent) == "aten::matmul") out.push_back(parent);
  });
  std::sort(out.begin(), out.end(), [](SliceId a, SliceId b) { return a.value < b.value; });
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

std::size_t count_ops(const Facts& facts, std::string_view name) {
  std::size_t count = 0;
  for_each_op(facts, name, [&](SliceId) { ++count; });
  return count;
}

}  // namespace gapscope
