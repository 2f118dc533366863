#include "core/view/timeline/overview.h"

#include <algorithm>

#include "core/analyze/account/time_account.h"
#include "core/view/document.h"
#include "core/view/timeline/gap_view.h"

namespace gapscope {
namespace {

bool is_cpu_work(Kind kind) { return kind == Kind::op || is_call(kind); }

// Adds to each part what [begin, end) covers of it, times `share`.
void cover(std::vector<float>& parts, Span trace, Span item, double share) {
  const double per_ns = static_cast<double>(parts.size()) / static_cast<double>(trace.length());
  const double from = static_cast<double>(item.begin - trace.begin) * per_ns;
  const double to = static_cast<double>(item.end - trace.begin) * per_ns;
  const auto first = static_cast<std::size_t>(std::max(0.0, from));
  for (std::size_t i = first; i < parts.size() && static_cast<double>(i) < to; ++i) {
    const double part = std::min(to, static_cast<double>(i + 1)) - std::max(from, static_cast<double>(i));
    parts[i] = std::min(1.0f, parts[i] + static_cast<float>(part * share));
  }
}

// The time of those of `count` slices from `begin` on that count.
Ns time_of_run(const Trace& trace, const RowSlices& row, Ns begin, std::uint32_t count, bool (*counts)(Kind)) {
  Ns time = 0;
  auto i = static_cast<std::size_t>(std::lower_bound(row.begin.begin(), row.begin.end(), begin) - row.begin.begin());
  for (const std::size_t last = std::min(i + count, row.begin.size()); i < last; ++i)
    if (counts(trace.kind(row.id(i)))) time += row.end[i] - row.begin[i];
  return time;
}

// Of a folded run, less than a part wide, the slices' own time counts and is evenly in it.
std::vector<float> busy_parts(const Document& document, RowId id, bool (*counts)(Kind)) {
  std::vector<float> parts(kOverviewParts, 0.0f);
  std::vector<VisibleItem> items;
  const RowSlices row = document.lanes.slices_of(id);
  document.lanes.visible(id, document.trace.span, kOverviewParts, items);
  for (const VisibleItem& item : items) {
    const Span span{item.begin, item.end};
    if (span.empty()) continue;
    if (item.count == 1) {
      if (counts(document.trace.kind(item.slice))) cover(parts, document.trace.span, span, 1);
      continue;
    }
    const Ns time = time_of_run(document.trace, row, item.begin, item.count, counts);
    cover(parts, document.trace.span, span, static_cast<double>(time) / static_cast<double>(span.length()));
  }
  return parts;
}

void keep_busiest(std::vector<float>& strip, const std::vector<float>& parts) {
  if (std::all_of(parts.begin(), parts.end(), [](float p) { return p == 0; })) return;
  strip.resize(parts.size(), 0.0f);
  for (std::size_t i = 0; i < parts.size(); ++i) strip[i] = std::max(strip[i], parts[i]);
}

}  // namespace

BusyStrips busy_strips(const Document& document) {
  BusyStrips overview;
  if (document.trace.span.empty()) return overview;
  for (std::size_t i = 0; i < document.trace.rows.size(); ++i) {
    const LaneKind kind = document.trace.lane(document.trace.rows[i].lane).kind;
    if (kind == LaneKind::gpu_stream) keep_busiest(overview.gpu, busy_parts(document, RowId(i), is_gpu_work));
    if (kind == LaneKind::cpu_thread) keep_busiest(overview.cpu, busy_parts(document, RowId(i), is_cpu_work));
  }
  return overview;
}

void add_communication(const Document& document, BusyStrips& strips) {
  const TimeAccount* account = account_of(document);
  if (!account || strips.gpu.empty() || !strips.communication.empty()) return;
  strips.communication.assign(strips.gpu.size(), 0.0f);
  for (const DeviceAccount& device : account->devices())
    for (const Span& span : device.exposed_communication) cover(strips.communication, document.trace.span, span, 1);
  for (std::size_t i = 0; i < strips.gpu.size(); ++i)
    strips.communication[i] = std::min(strips.communication[i], strips.gpu[i]);
}

float mean_of(const std::vector<float>& strip, double from, double to) {
  if (strip.empty()) return 0;
  const double size = static_cast<double>(strip.size());
  const auto first = static_cast<std::size_t>(std::clamp(from * size, 0.0, size - 1));
  const auto last = static_cast<std::size_t>(std::clamp(to * size, static_cast<double>(first) + 1, size));
  float sum = 0;
  for (std::size_t i = first; i < last; ++i) sum += strip[i];
  return sum / static_cast<float>(last - first);
}

}  // namespace gapscope
