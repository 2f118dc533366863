#include "core/ranks/doing.h"

#include <algorithm>
#include <map>

#include "core/analyze/account/host_work.h"
#include "core/session/trace_session.h"

namespace gapscope {
namespace {

std::string host_name(const Trace& trace, const HostWork& work) {
  if (!work.slice) return std::string(idle_cause_title(work.cause, program_kind(trace)));
  std::string name(trace.name(work.slice));
  if (work.op && is_call(trace.kind(work.slice))) name += " of " + std::string(trace.name(work.op));
  if (work.python && work.python != work.slice) name += " in " + std::string(trace.name(work.python));
  return name;
}

void add_host(const FullRank& rank, const DeviceAccount& device, Span span, std::map<std::string, Ns>& sums) {
  const auto [first, last] = device.gaps_in(span);
  for (std::size_t i = first; i < last; ++i)
    for (const HostWork& work : host_work(rank.session->trace(), rank.session->lanes(), rank.session->account(), device.gaps[i],
                                          intersect(device.gaps[i].span, span)))
      sums[host_name(rank.session->trace(), work)] += work.time;
}

// Each moment counts for the work that began first, so that no moment counts twice.
void add_gpu_work(const FullRank& rank, const DeviceAccount& device, const SpanSet& spans, std::map<std::string, Ns>& sums) {
  std::map<StringId, Ns> by_name;
  Ns until = spans.front().begin;
  for (const GpuOp& op : rank.session->ops()) {
    if (op.device != device.device || op.span.end <= until) continue;
    if (op.span.begin >= spans.back().end) break;
    const Ns time = length_within(spans, {std::max(until, op.span.begin), op.span.end});
    if (time > 0) by_name[rank.session->trace().name_id(op.slice)] += time;
    until = op.span.end;
  }
  for (const auto& [name, time] : by_name) sums[std::string(rank.session->trace().strings[name])] += time;
}

}  // namespace

DoingAnswer doing_in(const FullRank& rank, const SpanSet& spans, std::size_t most) {
  DoingAnswer out;
  const DeviceAccount* device = rank.session->account().device(rank.device);
  const SpanSet inside = device == nullptr ? SpanSet{} : clip(spans, device->window);
  if (inside.empty()) return out;
  std::map<std::string, Ns> sums;
  for (const Span& span : inside) {
    out.account += rank.session->account().times_in(*device, span);
    add_host(rank, *device, span, sums);
  }
  add_gpu_work(rank, *device, inside, sums);
  for (const auto& [name, time] : sums)
    if (time > 0) out.doing.push_back({name, time});
  std::stable_sort(out.doing.begin(), out.doing.end(), [](const Doing& a, const Doing& b) { return a.time > b.time; });
  if (out.doing.size() > most) out.doing.resize(most);
  return out;
}

}  // namespace gapscope
