#include "core/trace/trace.h"

#include <algorithm>

namespace gapscope {
namespace {

template <class Table>
const typename Table::value_type* find_slice(const Table& table, SliceId slice) {
  const auto at = std::lower_bound(table.begin(), table.end(), slice, [](const auto& row, SliceId s) { return row.slice < s; });
  return at != table.end() && at->slice == slice ? &*at : nullptr;
}

}  // namespace

const GpuRow* Trace::gpu_row(SliceId s) const { return find_slice(gpu, s); }
const Call* Trace::call(SliceId s) const { return find_slice(calls, s); }
const OpRow* Trace::op_row(SliceId s) const { return find_slice(ops, s); }

bool Trace::has(Kind kind) const {
  std::vector<bool> wanted;
  for (const Category& c : categories) wanted.push_back(c.kind == kind);
  return std::ranges::find(wanted, true) != wanted.end() &&
         std::ranges::any_of(slices.category, [&](std::uint16_t c) { return wanted[c]; });
}

const DeviceProperties* Trace::device(std::int64_t id) const {
  const auto at = std::ranges::lower_bound(header.devices, id, {}, &DeviceProperties::id);
  return at != header.devices.end() && at->id == id ? &*at : nullptr;
}

std::string_view Header::find(std::string_view key) const {
  for (const auto& [name, text] : metadata) {
    if (name == key) return text;
  }
  return {};
}

bool Header::flag(std::string_view key) const {
  const std::string_view text = find(key);
  return !text.empty() && text != "0" && text != "false" && text != "null";
}

}  // namespace gapscope
