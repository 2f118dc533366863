// Made-up records of CUPTI, where its header is there.
#if __has_include(<cupti.h>)
#include "app/sampler/cupti_records.h"

#include <doctest/doctest.h>

#include <cstring>

using namespace gapscope::sampler;

namespace {

CUptiResult name_of(CUpti_CallbackDomain domain, std::uint32_t id, const char** name) {
  *name = domain == CUPTI_CB_DOMAIN_DRIVER_API ? "cuMemcpyHtoD_v2" : id == 1 ? "cudaLaunchKernel_v7000" : nullptr;
  return CUPTI_SUCCESS;
}

template <class Record>
Record zeroed(CUpti_ActivityKind kind) {
  Record record;
  std::memset(&record, 0, sizeof record);
  record.kind = kind;
  return record;
}

template <class Value, class Record>
std::optional<Value> read(const Record& record) {
  static Names names(name_of);
  const auto seen = read_record(reinterpret_cast<const CUpti_Activity&>(record), names);
  return seen ? std::optional(std::get<Value>(*seen)) : std::nullopt;
}

}  // namespace

TEST_CASE("a call's record gives its name without CUPTI's version of it") {
  auto record = zeroed<CUpti_ActivityAPI>(CUPTI_ACTIVITY_KIND_RUNTIME);
  record.cbid = 1;
  record.start = 100;
  record.end = 150;
  record.threadId = 42;
  record.correlationId = 7;
  const auto call = read<Call>(record);
  REQUIRE(call);
  CHECK(call->name == "cudaLaunchKernel");
  CHECK(call->times.end == 150);
  CHECK(call->thread == 42);
  record.cbid = 99;
  CHECK(read<Call>(record)->name == "runtime call 99");
  record.kind = CUPTI_ACTIVITY_KIND_DRIVER;
  CHECK(read<Call>(record)->name == "cuMemcpyHtoD_v2");
}

TEST_CASE("a kernel's record gives its demangled name, its resources and its place") {
  auto record = zeroed<CUpti_ActivityKernel10>(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
  record.name = "_Z3addPfS_";
  record.start = 1000;
  record.end = 1200;
  record.deviceId = 1;
  record.streamId = 13;
  record.correlationId = 9;
  record.registersPerThread = 40;
  record.staticSharedMemory = 16;
  record.dynamicSharedMemory = 32;
  record.gridX = 2, record.gridY = 3, record.gridZ = 4;
  record.blockX = 128, record.blockY = record.blockZ = 1;
  record.graphId = 5;
  record.graphNodeId = 6;
  record.queued = 900;
  const auto kernel = read<Kernel>(record);
  REQUIRE(kernel);
  CHECK(kernel->name == "add(float*, float*)");
  CHECK(kernel->grid == std::array<std::int32_t, 3>{2, 3, 4});
  CHECK(kernel->registers == 40);
  CHECK(kernel->place.device == 1);
  CHECK(kernel->place.stream == 13);
  CHECK(kernel->place.graph_node_id == 6);
  CHECK(kernel->queued == 900);
}

TEST_CASE("a record without times is none") {
  auto record = zeroed<CUpti_ActivityKernel10>(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
  record.name = "k";
  CHECK_FALSE(read<Kernel>(record));
}

TEST_CASE("a wait for a whole context has no stream") {
  auto record = zeroed<CUpti_ActivitySynchronization2>(CUPTI_ACTIVITY_KIND_SYNCHRONIZATION);
  record.start = 1, record.end = 2;
  record.type = CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_CONTEXT_SYNCHRONIZE;
  record.streamId = CUPTI_SYNCHRONIZATION_INVALID_VALUE;
  record.cudaEventId = CUPTI_SYNCHRONIZATION_INVALID_VALUE;
  const auto sync = read<Sync>(record);
  REQUIRE(sync);
  CHECK(sync->place.stream == -1);
  CHECK(sync->event == 0);
}

TEST_CASE("markers distinguish begins from ends and marks") {
  auto record = zeroed<CUpti_ActivityMarker2>(CUPTI_ACTIVITY_KIND_MARKER);
  record.flags = CUPTI_ACTIVITY_FLAG_MARKER_START;
  record.id = 3;
  record.name = "step";
  record.objectId.pt.threadId = 77;
  CHECK(read<Marker>(record)->what == Marker::What::begin);
  CHECK(read<Marker>(record)->thread == 77);
  record.flags = CUPTI_ACTIVITY_FLAG_MARKER_END;
  record.name = nullptr;
  CHECK(read<Marker>(record)->what == Marker::What::end);
  record.flags = CUPTI_ACTIVITY_FLAG_MARKER_INSTANTANEOUS;
  CHECK(read<Marker>(record)->what == Marker::What::mark);
}
#endif
