#include "app/web/url_stream.h"

#include <emscripten.h>
#include <emscripten/em_js.h>
#include <emscripten/eventloop.h>
#include <emscripten/proxying.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "core/base/parallel.h"

namespace gapscope {
namespace {

constexpr std::size_t kAheadBytes = std::size_t{8} << 20;

// Runs on the thread that fetches. A stream that finds no room waits for its go(). Calls gapscope_stream_end once.
EM_JS(void, gapscope_stream_begin, (int id, void* ring, const char* url, double from, double whole), {
  globalThis.gapscopeStreams = globalThis.gapscopeStreams || new Map();
  const stream = {abort : new AbortController(), go : null};
  gapscopeStreams.set(id, stream);
  async function put(bytes) {
    for (let at = 0; at < bytes.length && !stream.abort.signal.aborted;) {
      const now = Math.min(_gapscope_stream_room(ring), bytes.length - at);
      if (now == 0) await new Promise(function(go) { stream.go = go; });
      HEAPU8.set(bytes.subarray(at, at + now), _gapscope_stream_into(ring));
      _gapscope_stream_add(ring, now);
      at += now;
    }
  }
  async function fetchFrom(address) {
    const headers = {"Range" : "bytes=" + from + "-" + (whole - 1)};
    const answer = await fetch(address, {headers, cache : "no-store", signal : stream.abort.signal});
    if (answer.status != 206 && (answer.status != 200 || from != 0)) return;
    const range = answer.headers.get("Content-Range");
    if (range && !range.endsWith("/" + whole)) return;
    // Into memory that is used again, where the browser can: else it takes new memory for each piece, a tenth of a load.
    let space = new ArrayBuffer(1 << 18);
    let reader;
    try {
      reader = answer.body.getReader({mode : "byob"});
    } catch (error) {
      reader = answer.body.getReader();
      space = null;
    }
    for (;;) {
      const got = await(space ? reader.read(new Uint8Array(space)) : reader.read());
      if (got.done) break;
      await put(got.value);
      if (space) space = got.value.buffer;
    }
  }
  function end() {
    stream.abort.abort();  // of what is too long, or another file by now
    gapscopeStreams.delete(id);
    _gapscope_stream_end(ring);
  }
  fetchFrom(UTF8ToString(url)).then(end, end);
})

EM_JS(void, gapscope_stream_wake, (int id, int is_over), {
  const stream = gapscopeStreams.get(id);
  if (!stream) return;
  if (is_over) stream.abort.abort();
  if (stream.go) stream.go();
})

// One thread fetches for all: it waits for nothing but its browser.
class FetchThread {
 public:
  FetchThread() {
    try {
      thread_ = Thread(
          [this] {
            announce();
            emscripten_runtime_keepalive_push();  // its requests continue when this has returned
          },
          []() noexcept {});
    } catch (const std::system_error&) {
      return;
    }
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return is_there_; });
  }

  // Runs `what` there, later. False where no thread was available.
  bool post(void (*what)(void*), void* with) {
    return is_there_ && emscripten_proxy_async(emscripten_proxy_get_system_queue(), thread_.native_handle(), what, with) != 0;
  }

 private:
  void announce() {
    const std::lock_guard lock(mutex_);
    is_there_ = true;
    changed_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_there_ = false;
  Thread thread_;
};

FetchThread& fetch_thread() {
  static auto* const thread = new FetchThread;  // as long as the page is there
  return *thread;
}

// Of T, which is called there.
template <class T>
bool post(T what) {
  auto task = std::make_unique<T>(std::move(what));
  const auto run = [](void* given) { (*std::unique_ptr<T>(static_cast<T*>(given)))(); };
  const bool posted = fetch_thread().post(run, task.get());
  if (posted) static_cast<void>(task.release());
  return posted;
}

}  // namespace

// Filled by the thread that fetches, emptied by the one that reads.
struct UrlRing {
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<std::uint8_t> bytes = std::vector<std::uint8_t>(kAheadBytes);
  std::size_t begin = 0, size = 0;  // of what waits to be read; it continues at the start where the vector ends
  bool is_full = false;             // the fetching thread waits for room
  bool has_ended = false;

  std::size_t end() const { return (begin + size) % kAheadBytes; }
};

namespace {

std::atomic<int> streams{0};

using SharedRing = std::shared_ptr<UrlRing>;

}  // namespace

// What gapscope_stream_begin calls.
extern "C" {

// Bytes that can be put at gapscope_stream_into. With 0 its go() is called once there are some.
EMSCRIPTEN_KEEPALIVE std::size_t gapscope_stream_room(const SharedRing* shared) {
  UrlRing& ring = **shared;
  const std::lock_guard lock(ring.mutex);
  ring.is_full = ring.size == kAheadBytes;
  return std::min(kAheadBytes - ring.size, kAheadBytes - ring.end());
}

EMSCRIPTEN_KEEPALIVE std::uint8_t* gapscope_stream_into(const SharedRing* shared) {
  UrlRing& ring = **shared;
  const std::lock_guard lock(ring.mutex);
  return ring.bytes.data() + ring.end();
}

EMSCRIPTEN_KEEPALIVE void gapscope_stream_add(const SharedRing* shared, std::size_t bytes) {
  UrlRing& ring = **shared;
  const std::lock_guard lock(ring.mutex);
  ring.size += bytes;
  ring.changed.notify_all();
}

EMSCRIPTEN_KEEPALIVE void gapscope_stream_end(SharedRing* shared) {
  const std::unique_ptr<SharedRing> owned(shared);
  const std::lock_guard lock((*owned)->mutex);
  (*owned)->has_ended = true;
  (*owned)->changed.notify_all();
}

}  // extern "C"

UrlStream::UrlStream(const std::string& url, std::uint64_t from, std::uint64_t whole)
    : at_(from), id_(++streams), ring_(std::make_shared<UrlRing>()) {
  ring_->has_ended = !post([id = id_, url, from, whole, ring = ring_] {
    gapscope_stream_begin(id, new SharedRing(ring), url.c_str(), static_cast<double>(from), static_cast<double>(whole));
  });
}

UrlStream::~UrlStream() {
  post([id = id_] { gapscope_stream_wake(id, 1); });
}

std::size_t UrlStream::read(std::uint8_t* into, std::size_t size) {
  std::size_t n = 0;
  {
    std::unique_lock lock(ring_->mutex);
    ring_->changed.wait(lock, [this] { return ring_->size > 0 || ring_->has_ended; });
    n = std::min({size, ring_->size, kAheadBytes - ring_->begin});
  }
  std::memcpy(into, ring_->bytes.data() + ring_->begin, n);  // no thread writes to what waits to be read
  bool can_go_on = false;
  {
    const std::lock_guard lock(ring_->mutex);
    ring_->begin = (ring_->begin + n) % kAheadBytes;
    ring_->size -= n;
    if (ring_->size <= kAheadBytes / 2) can_go_on = std::exchange(ring_->is_full, false);
  }
  if (can_go_on) post([id = id_] { gapscope_stream_wake(id, 0); });
  at_ += n;
  return n;
}

}  // namespace gapscope
