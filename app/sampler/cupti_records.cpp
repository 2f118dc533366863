#include "app/sampler/cupti_records.h"

#include <algorithm>
#include <cctype>

#include "core/base/demangle.h"

namespace gapscope::sampler {
namespace {

// The newest layout that this toolkit knows; CUPTI writes the newest that it knows itself, and only ever adds fields.
#if CUPTI_API_VERSION >= 130000
using KernelRecord = CUpti_ActivityKernel10;
using CopyRecord = CUpti_ActivityMemcpy6;
using ContextRecord = CUpti_ActivityContext3;
#else
using KernelRecord = CUpti_ActivityKernel9;
using CopyRecord = CUpti_ActivityMemcpy5;
using ContextRecord = CUpti_ActivityContext2;
#endif

Times times_of(std::uint64_t begin, std::uint64_t end) {
  return {static_cast<Ns>(begin), static_cast<Ns>(std::max(begin, end))};
}

template <class Record>
GpuPlace place_of(const Record& r) {
  return {static_cast<std::int32_t>(r.deviceId),
          static_cast<std::int32_t>(r.contextId),
          static_cast<std::int32_t>(r.streamId),
          r.correlationId,
          r.graphId,
          r.graphId == 0 ? 0 : r.graphNodeId};
}

// CUPTI does not know when it ran: both ends are 0.
bool has_times(std::uint64_t begin, std::uint64_t end) { return begin != 0 && end != 0; }

std::optional<Seen> read_call(const CUpti_ActivityAPI& r, bool driver, Names& names) {
  if (!has_times(r.start, r.end)) return std::nullopt;
  return Call{times_of(r.start, r.end), names.call(driver, r.cbid), driver, r.cbid, r.threadId, r.correlationId};
}

std::optional<Seen> read_kernel(const KernelRecord& r, Names& names) {
  if (!has_times(r.start, r.end)) return std::nullopt;
  Kernel k;
  k.times = times_of(r.start, r.end);
  k.place = place_of(r);
  k.name = names.kernel(r.name);
  k.registers = r.registersPerThread;
  k.static_shared = static_cast<std::uint32_t>(r.staticSharedMemory);
  k.dynamic_shared = static_cast<std::uint32_t>(r.dynamicSharedMemory);
  k.grid = {r.gridX, r.gridY, r.gridZ};
  k.block = {r.blockX, r.blockY, r.blockZ};
  if (r.clusterX > 0)
    k.cluster = {static_cast<std::int32_t>(r.clusterX), static_cast<std::int32_t>(r.clusterY),
                 static_cast<std::int32_t>(r.clusterZ)};
  k.queued = static_cast<Ns>(r.queued);
  k.submitted = static_cast<Ns>(r.submitted);
  return k;
}

std::optional<Seen> read_copy(const CopyRecord& r) {
  if (!has_times(r.start, r.end)) return std::nullopt;
  return Copy{times_of(r.start, r.end), place_of(r), r.copyKind, r.srcKind, r.dstKind, r.bytes};
}

std::optional<Seen> read_peer_copy(const CUpti_ActivityMemcpyPtoP4& r) {
  if (!has_times(r.start, r.end)) return std::nullopt;
  return Copy{times_of(r.start, r.end), place_of(r), r.copyKind, r.srcKind, r.dstKind, r.bytes};
}

std::optional<Seen> read_fill(const CUpti_ActivityMemset4& r) {
  if (!has_times(r.start, r.end)) return std::nullopt;
  return Fill{times_of(r.start, r.end), place_of(r), r.memoryKind, r.bytes};
}

// The device is the context's, which the recorder knows.
std::optional<Seen> read_sync(const CUpti_ActivitySynchronization2& r) {
  if (!has_times(r.start, r.end)) return std::nullopt;
  Sync s;
  s.times = times_of(r.start, r.end);
  s.place.context = static_cast<std::int32_t>(r.contextId);
  s.place.stream = r.streamId == CUPTI_SYNCHRONIZATION_INVALID_VALUE ? -1 : static_cast<std::int32_t>(r.streamId);
  s.place.correlation = r.correlationId;
  s.type = static_cast<std::uint32_t>(r.type);
  s.event = r.cudaEventId == CUPTI_SYNCHRONIZATION_INVALID_VALUE ? 0 : r.cudaEventId;
  return s;
}

std::optional<Seen> read_marker(const CUpti_ActivityMarker2& r) {
  Marker m;
  m.time = static_cast<Ns>(r.timestamp);
  m.id = r.id;
  m.thread = r.objectId.pt.threadId;
  if (r.name) m.name = r.name;
  if (r.domain) m.domain = r.domain;
  if (r.flags & CUPTI_ACTIVITY_FLAG_MARKER_START)
    m.what = Marker::What::begin;
  else if (r.flags & CUPTI_ACTIVITY_FLAG_MARKER_END)
    m.what = Marker::What::end;
  else
    m.what = Marker::What::mark;
  return m;
}

// "cudaLaunchKernel_v7000" is cudaLaunchKernel; "cuMemcpyHtoD_v2" is a name of its own.
std::string_view without_version(std::string_view name) {
  const std::size_t at = name.rfind("_v");
  if (at == std::string_view::npos || name.size() - at < 6) return name;
  const bool digits = std::all_of(name.begin() + static_cast<std::ptrdiff_t>(at) + 2, name.end(),
                                  [](unsigned char c) { return std::isdigit(c) != 0; });
  return digits ? name.substr(0, at) : name;
}

}  // namespace

std::string_view Names::call(bool driver, std::uint32_t id) {
  const auto [at, fresh] = calls_.try_emplace(std::uint64_t{driver} << 32 | id);
  if (!fresh) return at->second;
  const char* name = nullptr;
  call_name_(driver ? CUPTI_CB_DOMAIN_DRIVER_API : CUPTI_CB_DOMAIN_RUNTIME_API, id, &name);
  at->second = name ? std::string(without_version(name)) : (driver ? "driver call " : "runtime call ") + std::to_string(id);
  return at->second;
}

std::string_view Names::kernel(const char* mangled) {
  if (!mangled) return "unnamed kernel";
  const auto [at, fresh] = kernels_.try_emplace(mangled);
  if (fresh) at->second = demangle(mangled);
  return at->second;
}

std::optional<Seen> read_record(const CUpti_Activity& record, Names& names) {
  switch (record.kind) {
    case CUPTI_ACTIVITY_KIND_RUNTIME:
    case CUPTI_ACTIVITY_KIND_DRIVER:
      return read_call(reinterpret_cast<const CUpti_ActivityAPI&>(record), record.kind == CUPTI_ACTIVITY_KIND_DRIVER, names);
    case CUPTI_ACTIVITY_KIND_KERNEL:
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL: return read_kernel(reinterpret_cast<const KernelRecord&>(record), names);
    case CUPTI_ACTIVITY_KIND_MEMCPY: return read_copy(reinterpret_cast<const CopyRecord&>(record));
    case CUPTI_ACTIVITY_KIND_MEMCPY2: return read_peer_copy(reinterpret_cast<const CUpti_ActivityMemcpyPtoP4&>(record));
    case CUPTI_ACTIVITY_KIND_MEMSET: return read_fill(reinterpret_cast<const CUpti_ActivityMemset4&>(record));
    case CUPTI_ACTIVITY_KIND_SYNCHRONIZATION: return read_sync(reinterpret_cast<const CUpti_ActivitySynchronization2&>(record));
    case CUPTI_ACTIVITY_KIND_OVERHEAD: {
      const auto& r = reinterpret_cast<const CUpti_ActivityOverhead3&>(record);
      return Overhead{times_of(r.start, r.end), static_cast<std::uint32_t>(r.overheadKind)};
    }
    case CUPTI_ACTIVITY_KIND_MARKER: return read_marker(reinterpret_cast<const CUpti_ActivityMarker2&>(record));
    case CUPTI_ACTIVITY_KIND_CONTEXT: {
      const auto& r = reinterpret_cast<const ContextRecord&>(record);
      return ContextSeen{r.contextId, static_cast<std::int32_t>(r.deviceId)};
    }
    default: return std::nullopt;
  }
}

}  // namespace gapscope::sampler
