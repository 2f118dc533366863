// Plays CUPTI for a program without a GPU: made-up launches and ranges become records in the buffers that a recorder gives, and
// the recorder reads them as it reads CUPTI's. What it does not offer returns "not supported".
#include <cupti.h>

#include <cstring>
#include <ctime>
#include <mutex>

#define STAND_IN extern "C" __attribute__((visibility("default")))

namespace {

std::mutex mutex;
CUpti_BuffersCallbackRequestFunc request = nullptr;
CUpti_BuffersCallbackCompleteFunc complete = nullptr;
bool enabled[CUPTI_ACTIVITY_KIND_COUNT] = {};
std::uint8_t* buffer = nullptr;
std::size_t size = 0, used = 0, lost = 0;
std::uint32_t last_correlation = 0, last_marker = 0;

std::uint64_t now() {
  timespec time{};
  clock_gettime(CLOCK_REALTIME, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(time.tv_nsec);
}

std::size_t bytes_of(CUpti_ActivityKind kind) {
  switch (kind) {
    case CUPTI_ACTIVITY_KIND_RUNTIME: return sizeof(CUpti_ActivityAPI);
    case CUPTI_ACTIVITY_KIND_MARKER: return sizeof(CUpti_ActivityMarker2);
    default: return sizeof(CUpti_ActivityKernel10);
  }
}

// Hands the buffer over; not under the lock, since the recorder may call in turn.
void hand_over() {
  std::unique_lock lock(mutex);
  std::uint8_t* full = buffer;
  const std::size_t bytes = size, valid = used;
  buffer = nullptr;
  size = used = 0;
  lock.unlock();
  if (full) complete(nullptr, 0, full, bytes, valid);
}

template <class Record>
void put(const Record& record) {
  {
    const std::lock_guard lock(mutex);
    if (!enabled[record.kind]) return;
    if (buffer && used + sizeof record <= size) {
      std::memcpy(buffer + used, &record, sizeof record);
      used += sizeof record;
      return;
    }
  }
  hand_over();
  std::uint8_t* fresh = nullptr;
  std::size_t bytes = 0, records = 0;
  request(&fresh, &bytes, &records);
  const std::lock_guard lock(mutex);
  if (!fresh) {
    ++lost;
    return;
  }
  buffer = fresh;
  size = bytes;
  std::memcpy(buffer, &record, sizeof record);
  used = sizeof record;
}

template <class Record>
Record zeroed(CUpti_ActivityKind kind) {
  Record record;
  std::memset(&record, 0, sizeof record);
  record.kind = kind;
  return record;
}

void put_marker(CUpti_ActivityFlag flag, std::uint32_t id, const char* name) {
  auto marker = zeroed<CUpti_ActivityMarker2>(CUPTI_ACTIVITY_KIND_MARKER);
  marker.flags = flag;
  marker.timestamp = now();
  marker.id = id;
  marker.objectKind = CUPTI_ACTIVITY_OBJECT_THREAD;
  marker.objectId.pt.threadId = 1;
  marker.name = name;
  put(marker);
}

}  // namespace

// What the program calls.
STAND_IN void stand_in_launch() {
  auto call = zeroed<CUpti_ActivityAPI>(CUPTI_ACTIVITY_KIND_RUNTIME);
  call.cbid = 211;
  call.start = now();
  call.end = call.start + 1'000;
  call.threadId = 1;
  call.correlationId = ++last_correlation;
  put(call);
  auto kernel = zeroed<CUpti_ActivityKernel10>(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
  kernel.name = "_Z3addPfS_";
  kernel.start = call.start + 2'000;
  kernel.end = kernel.start + 500;
  kernel.streamId = 7;
  kernel.correlationId = call.correlationId;
  kernel.gridX = kernel.gridY = kernel.gridZ = kernel.blockX = kernel.blockY = kernel.blockZ = 1;
  put(kernel);
}

STAND_IN std::uint32_t stand_in_push(const char* name) {
  put_marker(CUPTI_ACTIVITY_FLAG_MARKER_START, ++last_marker, name);
  return last_marker;
}

STAND_IN void stand_in_pop(std::uint32_t marker) { put_marker(CUPTI_ACTIVITY_FLAG_MARKER_END, marker, nullptr); }

STAND_IN CUptiResult cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc requested,
                                                    CUpti_BuffersCallbackCompleteFunc completed) {
  request = requested;
  complete = completed;
  return CUPTI_SUCCESS;
}
STAND_IN CUptiResult cuptiActivityEnable(CUpti_ActivityKind kind) { return enabled[kind] = true, CUPTI_SUCCESS; }
STAND_IN CUptiResult cuptiActivityDisable(CUpti_ActivityKind kind) { return enabled[kind] = false, CUPTI_SUCCESS; }
STAND_IN CUptiResult cuptiActivityFlushAll(std::uint32_t) { return hand_over(), CUPTI_SUCCESS; }
STAND_IN CUptiResult cuptiActivityGetNextRecord(std::uint8_t* records, std::size_t valid, CUpti_Activity** record) {
  std::uint8_t* next = *record ? reinterpret_cast<std::uint8_t*>(*record) + bytes_of((*record)->kind) : records;
  if (next >= records + valid) return CUPTI_ERROR_MAX_LIMIT_REACHED;
  *record = reinterpret_cast<CUpti_Activity*>(next);
  return CUPTI_SUCCESS;
}
STAND_IN CUptiResult cuptiActivityGetNumDroppedRecords(CUcontext, std::uint32_t, std::size_t* dropped) {
  const std::lock_guard lock(mutex);
  *dropped = lost;
  lost = 0;
  return CUPTI_SUCCESS;
}
STAND_IN CUptiResult cuptiGetCallbackName(CUpti_CallbackDomain domain, std::uint32_t, const char** name) {
  *name = domain == CUPTI_CB_DOMAIN_DRIVER_API ? "cuLaunchKernel" : "cudaLaunchKernel_v7000";
  return CUPTI_SUCCESS;
}
STAND_IN CUptiResult cuptiGetResultString(CUptiResult, const char** text) { return *text = "a stand-in", CUPTI_SUCCESS; }
STAND_IN CUptiResult cuptiGetVersion(std::uint32_t* version) { return *version = CUPTI_API_VERSION, CUPTI_SUCCESS; }
STAND_IN CUptiResult cuptiActivityRegisterTimestampCallback(CUpti_TimestampCallbackFunc) { return CUPTI_SUCCESS; }
STAND_IN CUptiResult cuptiActivityEnableRuntimeApi(CUpti_CallbackId, std::uint8_t) { return CUPTI_SUCCESS; }
STAND_IN CUptiResult cuptiActivityEnableDriverApi(CUpti_CallbackId, std::uint8_t) { return CUPTI_SUCCESS; }
STAND_IN CUptiResult cuptiActivityEnableLatencyTimestamps(std::uint8_t) { return CUPTI_SUCCESS; }
STAND_IN CUptiResult cuptiSetThreadIdType(CUpti_ActivityThreadIdType) { return CUPTI_SUCCESS; }
STAND_IN int InitializeInjectionNvtx2(void*) { return 1; }
